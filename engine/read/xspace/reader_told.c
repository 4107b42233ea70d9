/* What is shown of an XSpace, where the XSpace itself was not kept: read as one. */
#include "read/read.h"
#include "read/xspace/told_trace.h"

extern const struct reader reader_xspace;

static int score(struct str bytes, const char *path)
{
    (void)path;
    return told_trace_kind(bytes) == TOLD_NONE ? 0 : 96;
}

static bool convert(struct read_input *input, struct profile *profile, struct arena *arena,
                    struct err *err)
{
    bool is_cut;

    if (!told_trace_read(input->file.bytes, arena, &input->file.bytes, &is_cut, err))
        return false;
    input->file.is_mapped = false; /* not the bytes of a file any more */
    return (!is_cut || profile_damage(profile, input->path, 1, "the trace is cut or damaged")) &&
           profile_note(
               profile, input->path, 1,
               "is a trace made of a profile: programs, shapes and device models are in the "
               ".xplane.pb file beside it, if that was kept");
}

static bool read_told(struct read_input *inputs, size_t count, const struct read_options *options,
                      struct profile *profile, struct err *err)
{
    struct arena       arena = { .budget_bytes = profile->arena->budget_bytes };
    struct read_input *shown = arena_new_array(&arena, struct read_input, count);
    bool               ok = shown != NULL || err_set(err, ERR_LIMIT, "does not fit into memory");

    for (size_t i = 0; ok && i < count; i++) {
        shown[i] = inputs[i];
        ok = convert(&shown[i], profile, &arena, err);
    }
    ok = ok && reader_xspace.read(shown, count, options, profile, err);
    arena_free(&arena);
    return ok;
}

const struct reader reader_told = {
    .name = "xspace-trace",
    .summary = "traces made of an XSpace (*.trace.json.gz, local.trace)",
    .format = FORMAT_XSPACE,
    .is_substitute = true,
    .score = score,
    .read = read_told,
};
