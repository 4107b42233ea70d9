#include "read/read.h"

#include "base/gzip.h"
#include "base/text.h"
#include "model/hardware.h"
#include "read/checkpoint/checkpoint.h"
#include "read/clocks.h"
#include "read/float_ops.h"
#include "read/read_paths.h"
#include "read/recognise.h"
#include "read/same_job.h"
#include "read/tf/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Smaller gzip files are inflated whole. */
enum { STREAM_BYTES = 4 << 20 };
enum { MOST_SHOWN = 4 }; /* of what is left out */

#define READER(name) extern const struct reader reader_##name;
#include "read/readers.def"
#undef READER

const struct reader *const readers[] = {
#define READER(name) &reader_##name,
#include "read/readers.def"
#undef READER
};
const size_t reader_count = sizeof readers / sizeof *readers;

struct opened {
    struct read_input    *items;
    const struct reader **kinds; /* beside items; NULL: none takes it */
    size_t                count;
};

const struct reader *reader_find(const char *name)
{
    for (size_t i = 0; i < reader_count; i++)
        if (strcmp(readers[i]->name, name) == 0)
            return readers[i];
    return NULL;
}

static const struct reader *best_reader(struct str bytes, const char *path)
{
    const struct reader *best = NULL;
    int                  best_score = 0;

    for (size_t i = 0; i < reader_count; i++) {
        int score = readers[i]->score(bytes, path);

        if (score > best_score) {
            best_score = score;
            best = readers[i];
        }
    }
    return best;
}

/* Bytes of a gzip file as stored, when it has so many at least; 0: it is none. Pipes are left
 * alone. */
static uint64_t gzip_bytes(const char *path, off_t least)
{
    struct stat status;
    char        magic[3];

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < least)
        return 0;
    return gzip_is_magic((struct str) { magic, file_peek(path, magic, sizeof magic) })
               ? (uint64_t)status.st_size
               : 0;
}

/* A reader that inflates this gzip file by itself, front to back; NULL: there is none. */
static const struct reader *streaming_reader(const char *path, const struct read_options *options)
{
    enum { HEAD_BYTES = 64 << 10 };
    const struct reader *reader = NULL;
    char                *head;

    if (options->input_format) {
        reader = reader_find(options->input_format);
    } else if ((head = malloc(HEAD_BYTES)) != NULL) {
        reader = best_reader((struct str) { head, file_head(path, head, HEAD_BYTES) }, path);
        free(head);
    }
    return reader && reader->streams ? reader : NULL;
}

static bool open_one(struct opened *opened, const struct read_path *path,
                     const struct read_options *options, struct err *err)
{
    struct read_input   *input = &opened->items[opened->count];
    uint64_t             stored_bytes = gzip_bytes(path->path, STREAM_BYTES);
    const struct reader *streaming = stored_bytes ? streaming_reader(path->path, options) : NULL;

    *input = (struct read_input) { .path = path->path,
                                   .host_name = path->host_name,
                                   .role = path->role };
    if (streaming) {
        input->file.stored_bytes = stored_bytes;
        opened->kinds[opened->count++] = streaming;
        return true;
    }
    if (!file_open(&input->file, path->path, options->memory_budget_bytes, err))
        return err_source(err, path->path);
    opened->kinds[opened->count++] = options->input_format
                                         ? reader_find(options->input_format)
                                         : best_reader(input->file.bytes, path->path);
    return true;
}

static bool open_all(struct opened *opened, const struct read_paths *paths,
                     const struct read_options *options, struct arena *arena, struct err *err)
{
    opened->items = arena_new_array(arena, struct read_input, paths->list.count);
    opened->kinds = arena_new_array(arena, const struct reader *, paths->list.count);
    if (!opened->items || !opened->kinds)
        return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    for (size_t i = 0; i < paths->list.count; i++) {
        const struct read_path *path = &paths->list.items[i];

        if (options->host && path->host_name && strcmp(options->host, path->host_name) != 0)
            continue;
        if (!open_one(opened, path, options, err))
            return false;
        if (path->role && !named_check(path->role, opened->items[opened->count - 1].file.bytes,
                                       opened->kinds[opened->count - 1], err))
            return err_source(err, path->path);
    }
    if (opened->count == 0 && options->host) {
        err_set(err, ERR_INPUT, "no file of host '%s' is there", options->host);
        return err_advise(err, "--list shows the hosts there are");
    }
    return opened->count > 0 || err_set(err, ERR_INPUT, "no input is named");
}

static bool is_better(const struct reader *reader, size_t count, const struct reader *best,
                      size_t best_count)
{
    if (reader && best && reader->is_substitute != best->is_substitute)
        return best->is_substitute;
    return count > best_count;
}

/* The reader that takes most of the files; the first of them among equals. */
static const struct reader *chosen_reader(const struct opened *opened)
{
    const struct reader *best = NULL;
    size_t               best_count = 0;

    for (size_t i = 0; i < opened->count; i++) {
        size_t count = 0;

        for (size_t n = 0; n < opened->count; n++)
            count += opened->kinds[i] && opened->kinds[n] == opened->kinds[i];
        if (is_better(opened->kinds[i], count, best, best_count)) {
            best_count = count;
            best = opened->kinds[i];
        }
    }
    return best;
}

/* Keeps the files of this reader, in order; says which operands are left out. */
static bool keep_files(struct opened *opened, const struct reader *reader, bool is_directory,
                       struct profile *profile, struct err *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < opened->count; i++) {
        struct read_input *input = &opened->items[i];
        const struct file *file = &input->file;
        struct source_file source = { .bytes =
                                          file->bytes.data ? file->bytes.len : file->stored_bytes,
                                      .host = NO_ID,
                                      .rank = -1 };

        if (opened->kinds[i] != reader && input->role) {
            named_left_out(input->role, reader, err);
            return err_source(err, input->path);
        }
        if (opened->kinds[i] != reader) {
            if (opened->kinds[i] || !is_directory)
                profile_note(profile, input->path, 1, "is left out: it is %s, not %s",
                             opened->kinds[i] ? opened->kinds[i]->name : "no profile",
                             reader->name);
            file_close(&input->file);
            continue;
        }
        if (input->file.is_damaged)
            profile_damage(profile, input->path, 1, "%s", input->file.damage);
        source.name = arena_text(profile->arena, "%s", input->path);
        input->source = (uint32_t)profile->files.count;
        if (!source.name || !vec_push(&profile->files, profile->arena, source))
            return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
        opened->items[kept++] = *input;
        if (kept - 1 != i)
            *input = (struct read_input) { 0 };
    }
    opened->count = kept;
    return true;
}

static bool align_clocks(struct profile *profile, struct err *err)
{
    struct arena scratch = { .budget_bytes = profile->arena->budget_bytes };
    bool         is_done = clocks_align(profile, &scratch);

    arena_free(&scratch);
    return is_done || err_set(err, ERR_LIMIT, "does not fit into the memory budget");
}

/* None of the files is a recording. Of several in a folder the one that should have been is told
 * of, else the folder. */
static bool refuse(const struct opened *opened, const char *folder, struct err *err)
{
    size_t at = 0;

    while (at < opened->count && !recognise_is_spoilt(opened->items[at].file.bytes))
        at++;
    if (folder && opened->count > 1 && at == opened->count) {
        err_set(err, ERR_FORMAT, "holds %zu files and no recording", opened->count);
        err_advise(err, "profiles lie in plugins/profile/RUN; event files of TensorBoard hold none "
                        "since TensorFlow 2.11");
        return err_source(err, folder);
    }
    at = at < opened->count ? at : 0;
    recognise(opened->items[at].file.bytes, err);
    return err_source(err, opened->items[at].path);
}

static bool read_opened(struct opened *opened, const struct read_options *options,
                        const char *folder, struct profile *profile, struct err *err)
{
    const struct reader *reader = chosen_reader(opened);

    if (!reader)
        return refuse(opened, folder, err);
    if (!keep_files(opened, reader, folder != NULL, profile, err))
        return false;
    profile->format = reader->format;
    if (!reader->read(opened->items, opened->count, options, profile, err))
        return err_source(err, opened->items[0].path);
    if (!hardware_settle(profile, options->hardware, options->accelerator))
        return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    /* Captures may be of batches of several sizes. */
    if (!options->is_capture && !same_job_check(profile, err))
        return false;
    return align_clocks(profile, err);
}

char *read_short_name(struct arena *arena, const char *path)
{
    struct str text = str_from(path);

    while (text.len > 1 && text.data[text.len - 1] == '/')
        text.len--;
    text = str_slice(
        text,
        text.len > 1 && str_find_last(text, '/') < text.len ? str_find_last(text, '/') + 1 : 0,
        text.len);
    return arena_text(arena, "%.*s", STR_ARG(text));
}

/* The original marks no variables in a ProfileProto. Where nothing shows variables the checkpoint
 * is read all the same: one that is not there or damaged is not passed over. */
static bool read_checkpoint(const struct read_options *options, struct profile *profile,
                            struct err *err)
{
    const struct option_list *paths = &options->checkpoint_paths;
    struct classic            unseen = { 0 };

    if (paths->values.count == 0)
        return true;
    if (paths->values.count > 1)
        return err_set(err, ERR_USAGE, "--checkpoint-path takes one checkpoint");
    return checkpoint_read(
        profile->classic ? profile->classic : &unseen, profile, paths->values.items[0],
        options->is_compat && profile->format == FORMAT_PROFILE ? CHECKPOINT_VALUES
        : options->is_compat                                    ? CHECKPOINT_TYPES
                                                                : CHECKPOINT_SHAPES,
        err);
}

/* By content, looking at little of it; NULL: no reader takes it. */
static const struct reader *kind_of(const char *path)
{
    static const struct read_options plain = { 0 };
    const struct reader *kind = gzip_bytes(path, 1) ? streaming_reader(path, &plain) : NULL;
    struct file          file = { 0 };
    struct err           ignored = { 0 };

    if (kind || !file_open(&file, path, 0, &ignored))
        return kind;
    kind = best_reader(file.bytes, path);
    file_close(&file);
    return kind;
}

bool read_is_recording(const char *path)
{
    return kind_of(path) != NULL;
}

bool read_is_of_rank(const char *path)
{
    const struct reader *kind = kind_of(path);

    return kind && (kind->format == FORMAT_KINETO || kind->format == FORMAT_XSPACE);
}

/* What a folder holds besides what is read of it, in one line. */
static bool note_left_out(const struct read_paths *found, const char *where,
                          struct profile *profile)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    size_t       count = found->left_out.count, shown = count > MOST_SHOWN ? MOST_SHOWN : count;
    bool         is_done = true;

    if (found->has_choice)
        text_print(&text, "read: %s; ", found->chosen);
    text_add(&text, STR("not read: "));
    for (size_t i = 0; i < shown; i++)
        text_print(&text, "%s%s", i ? ", " : "", found->left_out.items[i]);
    if (count > shown)
        text_print(&text, " and %zu more", count - shown);
    if (found->has_choice)
        text_print(&text, "; --run=NAME chooses, --list shows all, advise --all a line of each");
    if (count)
        is_done = profile_note(profile, where, 1, "%.*s", STR_ARG(text_str(&text)));
    arena_free(&scratch);
    return is_done && !text.is_cut;
}

/* Files of all paths; notes on what is left out of each. */
static bool find_paths(const char *const *paths, size_t count, const struct read_options *options,
                       struct arena *arena, struct read_paths *found, struct profile *profile,
                       struct err *err)
{
    const struct read_paths_how how = { .run = options->run, .is_recording = read_is_recording };

    for (size_t i = 0; i < count; i++) {
        found->left_out.count = 0;
        if (!read_paths_find(paths[i], &how, arena, found, err))
            return false;
        if (!note_left_out(found, paths[i], profile))
            return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    }
    if (options->run && !found->has_runs) {
        err_set(err, ERR_INPUT, "no run '%s' is there", options->run);
        return err_advise(err, "--run chooses among those of a log directory");
    }
    return true;
}

bool read_profile(const char *const *paths, size_t count, const struct read_options *options,
                  struct profile *profile, struct err *err)
{
    struct arena      scratch = { .budget_bytes = profile->arena->budget_bytes };
    struct read_paths found = { 0 };
    struct opened     opened = { 0 };
    const char       *folder = NULL;
    bool              ok;

    if (options->input_format && !reader_find(options->input_format))
        return err_set(err, ERR_USAGE, "no format is called '%s'", options->input_format);
    for (size_t i = 0; i < count; i++)
        folder = file_is_directory(paths[i]) ? paths[i] : folder;
    ok = find_paths(paths, count, options, &scratch, &found, profile, err) &&
         named_add(options, &scratch, &found, err) &&
         open_all(&opened, &found, options, &scratch, err) &&
         read_opened(&opened, options, folder, profile, err);
    if (ok && profile->classic && !options->is_compat)
        float_ops_fill(profile->classic);
    ok = ok && read_checkpoint(options, profile, err);
    if (ok && !profile->name && count)
        profile->name = read_short_name(profile->arena, paths[0]);
    for (size_t i = 0; i < opened.count; i++)
        file_close(&opened.items[i].file);
    arena_free(&scratch);
    return ok;
}

static const char *format_of(const char *path, uint64_t *bytes)
{
    struct file          file = { 0 };
    struct err           ignored = { 0 };
    const struct reader *reader;

    *bytes = 0;
    if (!file_open(&file, path, 0, &ignored))
        return "unreadable";
    *bytes = file.stored_bytes ? file.stored_bytes : file.bytes.len;
    reader = best_reader(file.bytes, path);
    file_close(&file);
    return reader ? reader->name : "unknown";
}

bool read_list(const char *path, struct arena *arena, struct read_listing *listing, struct err *err)
{
    const struct read_paths_how how = { .is_every_run = true, .is_recording = read_is_recording };
    struct read_paths           found = { 0 };

    if (!read_paths_find(path, &how, arena, &found, err))
        return false;
    for (size_t i = 0; i < found.list.count; i++) {
        const struct read_path *item = &found.list.items[i];
        struct read_listing_row row = { 0 };
        const char             *name = strrchr(item->path, '/');
        const char             *format = format_of(item->path, &row.bytes);

        name = item->host_name ? item->host_name : name ? name + 1 : item->path;
        row.run = arena_text(arena, "%s", item->run ? item->run : "");
        row.name = arena_text(arena, "%s", name);
        row.format = arena_text(arena, "%s", format);
        row.path = item->path;
        if (!row.run || !row.name || !row.format || !vec_push(&listing->rows, arena, row))
            return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    }
    return true;
}
