#include "cli/fixture.h"

#include "base/macros.h"
#include "read/read.h"
#include "synth/write.h"

#include <string.h>

bool fixture_open(struct fixture *fixture, const char *path, struct err *err)
{
    *fixture = (struct fixture) { .path = path };
    return (file_open(&fixture->file, path, SKETCH_MOST_BYTES, err) &&
            sketch_parse(fixture->file.bytes, &fixture->arena, &fixture->sketch, err)) ||
           err_source(err, path);
}

void fixture_close(struct fixture *fixture)
{
    arena_free(&fixture->arena);
    file_close(&fixture->file);
}

/* The files that the ranks would have recorded. */
static bool make_files(const struct fixture *fixture, const struct recording_change *change,
                       enum sketch_format format, struct arena *arena, struct read_input *inputs,
                       struct err *err)
{
    for (uint32_t rank = 0; rank < fixture->sketch.rank_count; rank++) {
        struct recording_options options = { .rank = rank, .change = *change };
        struct text              bytes = { .arena = arena }, notes = { .arena = arena };
        struct recording         recording;

        if (!recording_make(&fixture->sketch, &options, arena, &recording, err) ||
            !write_recording(&recording, format, &bytes, &notes, err))
            return false;
        inputs[rank] = (struct read_input) { .path = fixture->path,
                                             .source = NO_ID,
                                             .file.bytes = text_str(&bytes) };
    }
    return true;
}

static bool read_described(const struct fixture *fixture, const struct recording_change *change,
                           struct input *input, struct arena *arena, struct err *err)
{
    const struct read_options options = { .threads = 1 };
    enum sketch_format        format = fixture->sketch.format;
    struct read_input        *inputs =
        arena_new_array(arena, struct read_input, fixture->sketch.rank_count);
    const struct reader *reader;

    input->options = (struct study_options) { .first_step = INT64_MIN, .last_step = INT64_MAX };
    if (format == SKETCH_ANY)
        format = SKETCH_XSPACE;
    reader = reader_find(write_format_name(format));
    if (!inputs || !reader || !profile_init(&input->profile, &input->profile_arena))
        return err_memory(err, "the fixture");
    input->profile.format = reader->format;
    return make_files(fixture, change, format, arena, inputs, err) &&
           reader->read(inputs, fixture->sketch.rank_count, &options, &input->profile, err) &&
           input_study(input, err);
}

/* The recorded profile stands beside the fixture, unless its path is absolute. */
static bool read_recorded(const struct fixture *fixture, struct input *input, struct arena *arena,
                          struct err *err)
{
    struct input_values values = { .threads = 1, .notes = NOTES_KEEP };
    struct option_list  operands = { 0 };
    struct str          folder = str_from(fixture->path), name = fixture->sketch.profile;
    const char         *path;

    folder.len = name.data[0] == '/' || str_find_last(folder, '/') == folder.len
                     ? 0
                     : str_find_last(folder, '/') + 1;
    path = arena_text(arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(name));
    if (!path || !vec_push(&operands.values, arena, path))
        return err_memory(err, "the fixture");
    if (file_exists(path) && !file_is_plain(path) && !file_is_directory(path))
        return err_set(err, ERR_USAGE, "%s is no file", path); /* a pipe or device may never end */
    return input_load(input, &values, &operands, err);
}

bool fixture_study(const struct fixture *fixture, const struct recording_change *change,
                   struct input *input, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done;

    *input = (struct input) { 0 };
    if (fixture->sketch.profile.len) {
        is_done = read_recorded(fixture, input, &scratch, err);
    } else {
        is_done = read_described(fixture, change, input, &scratch, err);
        if (!is_done)
            input_free(input);
    }
    arena_free(&scratch);
    return is_done || err_source(err, fixture->path);
}
