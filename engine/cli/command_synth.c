/* synth: a profile described in text, as the file that a profiler would have written. */
#include "base/file.h"
#include "base/gzip.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/rank_input.h"
#include "ranks/job_made.h"
#include "synth/write.h"

#include <stdio.h>

struct synth_values {
    const char *output;
    int64_t     seed;
};

#define FIELD(field) offsetof(struct synth_values, field)
static const struct option options[] = {
    { .name = "output",
      .kind = OPTION_TEXT,
      .offset = FIELD(output),
      .choices = "FILE",
      .short_name = "o",
      .help = "the file to write; its name says the format" },
    { .name = "seed",
      .kind = OPTION_INTEGER,
      .offset = FIELD(seed),
      .preset = "-1",
      .choices = "N",
      .help = "the seed of noise instead of the sketch's; -1: the sketch's" },
};

/* One file a rank: "run.json" becomes "run-0.json", "run-1.json" … where there are several. */
static const char *rank_path(const char *path, const struct sketch *sketch, uint32_t rank,
                             struct arena *arena)
{
    struct str whole = str_from(path);
    size_t     slash = str_find_last(whole, '/'), dot;

    if (sketch->rank_count == 1)
        return path;
    slash = slash < whole.len ? slash + 1 : 0;
    dot = slash + str_find(str_slice(whole, slash, whole.len), '.');
    return arena_text(arena, "%.*s-%u%s", (int)dot, path, rank, path + dot);
}

struct target {
    const char        *path;
    enum sketch_format format;
    bool               is_gzip;
};

static bool write_rank(const struct sketch *sketch, const struct recording_options *how,
                       const struct target *target, struct text *notes, struct err *err)
{
    struct arena     arena = { 0 };
    struct text      bytes = { .arena = &arena }, packed = { .arena = &arena };
    struct recording recording;
    const char      *path = rank_path(target->path, sketch, how->rank, notes->arena);
    bool             is_done;

    notes->len = 0; /* each rank's are the same */
    is_done = recording_make(sketch, how, &arena, &recording, err) &&
              write_recording(&recording, target->format, &bytes, notes, err);
    if (is_done && target->is_gzip)
        gzip_store(text_str(&bytes), &packed);
    if (is_done && (!path || packed.is_cut))
        is_done = err_memory(err, "the file");
    is_done = is_done && file_write(path, text_str(target->is_gzip ? &packed : &bytes), err);
    arena_free(&arena);
    return is_done;
}

static bool write_all(const struct sketch *sketch, const struct synth_values *values,
                      struct text *notes, struct err *err)
{
    struct recording_options how = { .change.factor = 1,
                                     .has_seed = values->seed >= 0,
                                     .seed = (uint64_t)values->seed };
    struct target            target = { .path = values->output };

    target.format = write_format_of(str_from(values->output), &target.is_gzip);
    if (target.format == SKETCH_ANY) {
        err_set(err, ERR_USAGE, "the name '%s' tells no format", values->output);
        return err_advise(err, "it ends in .xplane.pb, .json, .json.gz or .profile");
    }
    if (sketch->profile.len)
        return err_set(err, ERR_USAGE, "the sketch names a recorded profile and describes none");
    for (how.rank = 0; how.rank < sketch->rank_count; how.rank++)
        if (!write_rank(sketch, &how, &target, notes, err))
            return false;
    return true;
}

/* A job of many ranks: one file of their summaries. */
static bool write_job(struct str bytes, const struct synth_values *values, struct arena *arena,
                      struct err *err)
{
    struct rank_records records = { 0 };
    struct job_sketch   sketch;

    if (!str_ends(str_from(values->output), STR(RANK_FILE_ENDING))) {
        err_set(err, ERR_USAGE, "the name '%s' is none of summaries", values->output);
        return err_advise(err, "a job of many ranks is written as FILE%s", RANK_FILE_ENDING);
    }
    if (!job_sketch_parse(bytes, arena, &sketch, err))
        return false;
    if (values->seed >= 0)
        sketch.seed = values->seed;
    if (!job_made_add(&sketch, &records, arena, err))
        return false;
    rank_records_settle(&records);
    return rank_input_write(&records, values->output, arena, err);
}

static bool write_sketch(struct str bytes, const struct synth_values *values, struct text *notes,
                         struct err *err)
{
    struct sketch sketch;

    return sketch_parse(bytes, notes->arena, &sketch, err) &&
           write_all(&sketch, values, notes, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct synth_values *values = call->values;
    struct text                notes = { .arena = call->arena };
    struct file                file;
    const char                *path;
    bool                       is_done;

    if (call->operands.values.count != 1)
        return err_set(err, ERR_USAGE,
                       call->operands.values.count
                           ? "one sketch is written at a time"
                           : "no sketch given; docs/synth.md shows what one looks like");
    if (!values->output)
        return err_set(err, ERR_USAGE, "--output says where to: -o run.xplane.pb");
    path = call->operands.values.items[0];
    if (!file_open(&file, path, SKETCH_MOST_BYTES, err))
        return false;
    is_done = job_sketch_is(file.bytes) ? write_job(file.bytes, values, call->arena, err)
                                        : write_sketch(file.bytes, values, &notes, err);
    if (!is_done && err->line)
        err_source(err, path);
    for (struct str rest = text_str(&notes); is_done && rest.len;) {
        struct str note = str_cut(&rest, '\n');

        fprintf(stderr, "tfprof: %s: %.*s\n", values->output, STR_ARG(note));
    }
    file_close(&file);
    return is_done;
}

const struct command command_synth = {
    .name = "synth",
    .summary = "write a profile that a few lines of text describe",
    .operands = "FILE",
    .description =
        "Writes what FILE describes (steps, threads, ops, kernels, copies, iterators, memory, "
        "ranks) as a real file of a profiler, for tests of rules and gates. The output's name "
        "says which: .xplane.pb, .json, .json.gz or .profile; with several ranks a number goes "
        "before the first dot, one file a rank. What the format cannot hold is said on standard "
        "error. A job of thousands of ranks, with faults in it, is written as their summaries: "
        "FILE.ranks. docs/synth.md is the reference of the language.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct synth_values),
    .run = run,
};
