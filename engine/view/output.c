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
    [OUTPUT_FOLDED] = { STR_INIT("folded"), true },
    [OUTPUT_NONE] = { STR_INIT("none"), false },
};

static bool take_pair(struct str pair, struct arena *arena, struct view_output *output,
                      struct err *err)
{
    struct str all = pair, key = str_cut(&pair, '=');

    while (pair.len && pair.data[0] == '=') /* "outfile==name" is the same */
        pair = str_slice(pair, 1, pair.len);
    if (!kinds[output->kind].has_outfile)
        return err_set(err, ERR_USAGE, "-output %.*s takes nothing behind it",
                       STR_ARG(kinds[output->kind].name));
    if (!pair.len || !str_equal(key, STR("outfile")))
        return err_set(err, ERR_USAGE, "-output %.*s takes outfile=FILE, not '%.*s'",
                       STR_ARG(kinds[output->kind].name), STR_ARG(all));
    output->outfile = arena_text(arena, "%.*s", STR_ARG(pair));
    return output->outfile || err_set(err, ERR_LIMIT, "the options do not fit the memory limit");
}

static bool missing(struct str name, struct err *err)
{
    err_set(err, ERR_USAGE, "-output %.*s needs a file", STR_ARG(name));
    return err_advise(err, "write -output %.*s:outfile=FILE", STR_ARG(name));
}

void view_output_print(const struct view_output *output, struct text *text)
{
    text_print(text, "%.*s:", STR_ARG(kinds[output->kind].name));
    if (output->outfile)
        text_print(text, "outfile=%s", output->outfile);
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
                       "-output is stdout, none, file, timeline, pprof or folded, not '%.*s'",
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
