#include "view/own_types.h"

#include "base/file.h"

#include <inttypes.h>

enum { MOST_BYTES = 16 << 20 };

static bool add(struct str name, struct str regex, uint32_t line, struct arena *arena,
                struct own_types *types, struct err *err)
{
    struct own_type type = { .line = line };
    char           *copy = arena_text(arena, "%.*s", STR_ARG(name));

    type.pattern = copy ? pattern_new(regex, PATTERN_WHOLE, false, err) : NULL;
    if (!type.pattern)
        return copy ? false : err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    type.name = str_from(copy);
    if (vec_push(&types->items, arena, type))
        return true;
    pattern_free(type.pattern);
    return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
}

/* Blank lines and those that begin with # say nothing. */
static bool add_line(struct str text, uint32_t line, struct arena *arena, struct own_types *types,
                     struct err *err)
{
    struct str rest = str_trim(text), name;
    bool       is_added;

    if (!rest.len || rest.data[0] == '#')
        return true;
    name = str_trim(str_cut(&rest, '='));
    rest = str_trim(rest);
    is_added = name.len && rest.len && add(name, rest, line, arena, types, err);
    if (!name.len || !rest.len) {
        err_set(err, ERR_USAGE, "expected TYPE = REGEX");
        err_advise(err, "a line gives ops of such names a type: encoder = model/encoder/.*");
    }
    err->line = is_added ? 0 : line;
    err->column = is_added ? 0 : (uint32_t)(rest.data - text.data) + 1;
    return is_added;
}

bool own_types_read(const char *path, struct arena *arena, struct own_types *types, struct err *err)
{
    struct file file;
    uint32_t    line = 1;
    bool        is_read;

    if (!file_open(&file, path, MOST_BYTES, err))
        return err_source(err, path);
    is_read = !file.is_damaged || err_set(err, ERR_FORMAT, "%s", file.damage);
    for (struct str rest = file.bytes; is_read && rest.len; line++)
        is_read = add_line(str_cut(&rest, '\n'), line, arena, types, err);
    file_close(&file);
    return is_read || err_source(err, path);
}

void own_types_free(struct own_types *types)
{
    for (size_t i = 0; i < types->items.count; i++)
        pattern_free(types->items.items[i].pattern);
    *types = (struct own_types) { 0 };
}

bool own_types_give(const struct own_types *types, size_t at, struct str op)
{
    return pattern_matches(types->items.items[at].pattern, op) == PATTERN_YES;
}

void own_types_tell_unused(const struct own_types *types, const char *path,
                           const struct classic *classic, struct text *complaints)
{
    for (size_t i = 0; i < types->items.count; i++) {
        const struct own_type *type = &types->items.items[i];
        uint32_t               node = 0, count = (uint32_t)classic->nodes.count;

        while (node < count && !own_types_give(types, i, classic_name(classic, node)))
            node++;
        if (node == count)
            text_print(complaints, "%s:%" PRIu32 ": no op has a name as '%.*s' wants it\n", path,
                       type->line, STR_ARG(type->name));
    }
}

bool own_types_settled(const struct own_types *types, struct err *err)
{
    for (size_t i = 0; i < types->items.count; i++)
        if (!pattern_settled(types->items.items[i].pattern, err))
            return false;
    return true;
}
