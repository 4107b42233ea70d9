#include "view/output.h"

#include "base/arena.h"
#include "base/macros.h"

static const struct {
    struct str name;
    bool       has_outfile;
} kinds[] = {
    [OUTPUT_STDOUT] = { STR_INIT("stdout"), false },
    [OUTPUT_FILE] = { STR_INIT("file"), true },
    [OUTPUT_TIMELINE] = { STR_INIT("timeline"), true },
    [OUTPUT_PPROF] = { STR_INIT("pprof"), true },
    [OUTPUT_NONE] = { STR_INIT("none"), false },
};

static bool take_pair(struct str pair, struct arena *arena, struct view_output *output,
                      struct err *err)
{
    struct str key = str_cut(&pair, '=');

    while (pair.len && pair.data[0] == '=') /* "outfile==name" is the same */
        pair = str_slice(pair, 1, pair.len);
    if (!pair.len)
        return err_set(err, ERR_USAGE,
                       "Visualize format: -output timeline:key=value,key=value,...");
    if (!str_equal(key, STR("outfile")) || !kinds[output->kind].has_outfile)
        return err_set(err, ERR_USAGE, "Unrecognized options %.*s for output_type: %.*s",
                       STR_ARG(key), STR_ARG(kinds[output->kind].name));
    output->outfile = arena_text(arena, "%.*s", STR_ARG(pair));
    return output->outfile || err_set(err, ERR_LIMIT, "the options do not fit the memory limit");
}

static bool missing(struct str name, struct err *err)
{
    err_set(err, ERR_USAGE, "Missing required output_options for %.*s", STR_ARG(name));
    return err_advise(err, "E.g. -output %.*s:outfile=...", STR_ARG(name));
}

bool view_output_scan(const char *text, struct arena *arena, struct view_output *output,
                      struct err *err)
{
    struct str rest = str_from(text), name = str_cut(&rest, ':');
    bool       is_known = name.len == 0;

    *output = (struct view_output) { .kind = OUTPUT_STDOUT };
    for (size_t i = 0; i < ARRAY_COUNT(kinds) && !is_known; i++) {
        is_known = str_equal(name, kinds[i].name);
        if (is_known)
            output->kind = (enum view_output_kind)i;
    }
    if (!is_known)
        return err_set(err, ERR_USAGE,
                       "E.g. Unknown output type: %.*s, Valid types: "
                       "file,none,pprof,stdout,timeline",
                       STR_ARG(name));
    while (rest.len) {
        struct str pair = str_cut(&rest, ',');

        if (pair.len && !take_pair(pair, arena, output, err))
            return false;
    }
    if (kinds[output->kind].has_outfile && !output->outfile)
        return missing(name, err);
    return true;
}
