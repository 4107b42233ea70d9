#include "rules/repl_print.h"

#include "base/grid.h"
#include "rules/bind.h"
#include "rules/sandbox.h"

#include <lauxlib.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1000, MAX_KEYS = 200, MAX_CELL = 48, MAX_TEXT = 2000, MAX_DEPTH = 3 };

/* Whole characters of UTF-8 alone. */
static struct str shorten(struct str s, size_t columns)
{
    if (s.len <= columns)
        return s;
    while (columns > 0 && ((unsigned char)s.data[columns] & 0xc0) == 0x80)
        columns--;
    return str_slice(s, 0, columns);
}

static struct str cell_of(struct arena *arena, struct str s)
{
    struct text text = { .arena = arena };
    struct str  part = shorten(s, MAX_CELL);

    text_add(&text, STR(""));
    text_add_clean(&text, part);
    if (part.len < s.len)
        text_add(&text, STR("…"));
    return text_str(&text);
}

static struct str number_cell(struct arena *arena, double value, enum unit unit)
{
    struct text text = { .arena = arena };

    if (unit == UNIT_NONE && value == floor(value) && fabs(value) < 1e15)
        text_print(&text, "%.0f", value);
    else if (unit == UNIT_NONE)
        text_print(&text, "%.6g", value);
    else
        unit_print(&text, value, unit);
    return text_str(&text);
}

static void print_more(size_t shown, size_t count, struct text *text)
{
    if (shown < count)
        text_print(text, "… %zu more row%s\n", count - shown, count - shown == 1 ? "" : "s");
}

static size_t rows_shown(const struct repl_shape *shape, size_t count)
{
    size_t most = shape->row_count && shape->row_count < MAX_ROWS ? shape->row_count : MAX_ROWS;

    return count < most ? count : most;
}

static struct str query_cell(struct arena *arena, const struct query_rows *query, size_t column,
                             size_t row)
{
    double    value = query->table->columns[column][query->rows[row]];
    enum unit unit = query->table->spec->columns[column].unit;

    if (isnan(value))
        return (struct str) { "", 0 };
    if (unit == UNIT_NAME)
        return cell_of(arena, intern_str(query->facts->names, (uint32_t)value));
    return number_cell(arena, value, unit);
}

static void print_query(lua_State *lua, const struct query_rows *query,
                        const struct repl_shape *shape, struct text *text)
{
    const struct table_spec *spec = query->table->spec;
    size_t                   shown = rows_shown(shape, query->count);
    struct grid              grid;

    text_print(text, "%s: %zu row%s\n", spec->name, query->count, query->count == 1 ? "" : "s");
    if (!grid_make(&grid, text->arena, spec->column_count, shown))
        return;
    for (size_t column = 0; column < spec->column_count; column++) {
        enum unit unit = spec->columns[column].unit;

        grid.cells[column] = str_from(spec->columns[column].name);
        grid.is_right[column] = unit != UNIT_NAME && unit != UNIT_BOOL;
        for (size_t row = 0; row < shown; row++)
            grid.cells[(row + 1) * spec->column_count + column] =
                query_cell(text->arena, query, column, row);
        sandbox_check_time(lua);
    }
    grid_print(&grid, shape->width, text);
    print_more(shown, query->count, text);
}

/* Keys of a table in the order of pairs. */
struct key {
    bool        is_number;
    double      number;
    const char *text;
};
struct keys {
    struct key list[MAX_KEYS];
    size_t     count;
    bool       is_cut;
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;

    if (a->is_number != b->is_number)
        return a->is_number ? -1 : 1;
    return a->is_number ? (a->number > b->number) - (a->number < b->number)
                        : strcmp(a->text, b->text);
}

static bool has_key(const struct keys *keys, const char *text)
{
    for (size_t i = 0; i < keys->count; i++)
        if (!keys->list[i].is_number && strcmp(keys->list[i].text, text) == 0)
            return true;
    return false;
}

/* Adds the texts and numbers among the keys of the table at the index, each text once. The strings
 * stay as long as the table. */
static void add_keys(lua_State *lua, int index, bool has_numbers, struct keys *keys)
{
    lua_pushnil(lua);
    while (lua_next(lua, index)) {
        lua_pop(lua, 1);
        if (keys->count == MAX_KEYS) {
            keys->is_cut = true;
            lua_pop(lua, 1);
            return;
        }
        if (lua_type(lua, -1) == LUA_TSTRING && !has_key(keys, lua_tostring(lua, -1)))
            keys->list[keys->count++] = (struct key) { .text = lua_tostring(lua, -1) };
        else if (lua_type(lua, -1) == LUA_TNUMBER && has_numbers)
            keys->list[keys->count++] =
                (struct key) { .is_number = true, .number = lua_tonumber(lua, -1) };
        sandbox_check_time(lua);
    }
}

static void push_key(lua_State *lua, int index, const struct key *key)
{
    if (!key->is_number)
        lua_pushstring(lua, key->text);
    else if (key->number == floor(key->number) && fabs(key->number) < 1e15)
        lua_pushinteger(lua, (lua_Integer)key->number);
    else
        lua_pushnumber(lua, key->number);
    lua_rawget(lua, index);
}

static void add_scalar(lua_State *lua, int index, bool is_quoted, struct text *text)
{
    struct str s;

    switch (lua_type(lua, index)) {
    case LUA_TSTRING:
        s.data = lua_tolstring(lua, index, &s.len);
        text_add(text, is_quoted ? STR("\"") : STR(""));
        text_add_clean(text, shorten(s, MAX_TEXT));
        text_add(text, is_quoted ? STR("\"") : STR(""));
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(lua, index))
            text_print(text, "%lld", (long long)lua_tointeger(lua, index));
        else
            text_print(text, "%.14g", lua_tonumber(lua, index));
        break;
    case LUA_TBOOLEAN:
        text_add(text, lua_toboolean(lua, index) ? STR("true") : STR("false"));
        break;
    default:
        text_add(text, str_from(luaL_typename(lua, index)));
    }
}

/* { 1, 2, name = "x" } */
static void add_inline(lua_State *lua, int index, unsigned depth, struct text *text)
{
    struct keys keys = { 0 };
    const char *glue = " ";

    if (!lua_istable(lua, index)) {
        add_scalar(lua, index, true, text);
        return;
    }
    if (depth == 0) {
        text_add(text, STR("{ … }"));
        return;
    }
    index = lua_absindex(lua, index);
    luaL_checkstack(lua, 4, "too deep");
    add_keys(lua, index, true, &keys);
    if (keys.count > 0)
        qsort(keys.list, keys.count, sizeof *keys.list, compare_keys);
    text_add_byte(text, '{');
    for (size_t i = 0; i < keys.count && text->len < MAX_TEXT; i++) {
        text_add(text, str_from(glue));
        if (!keys.list[i].is_number) {
            text_add(text, cell_of(text->arena, str_from(keys.list[i].text)));
            text_add(text, STR(" = "));
        }
        push_key(lua, index, &keys.list[i]);
        add_inline(lua, -1, depth - 1, text);
        lua_pop(lua, 1);
        glue = ", ";
    }
    text_add(text, keys.is_cut ? STR(", … }") : keys.count > 0 ? STR(" }") : STR("}"));
}

/* "path_ns" is in ns: names end in what they measure. */
static enum unit unit_of_key(const char *name)
{
    static const struct {
        struct str end;
        enum unit  unit;
    } ends[] = { { STR_INIT("_ns"), UNIT_NS },
                 { STR_INIT("_share"), UNIT_SHARE },
                 { STR_INIT("_bytes"), UNIT_BYTES } };

    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        if (str_ends(str_from(name), ends[i].end))
            return ends[i].unit;
    return UNIT_NONE;
}

static struct str value_cell(lua_State *lua, const char *key, struct arena *arena)
{
    struct text text = { .arena = arena };
    size_t      len;

    if (lua_isnil(lua, -1))
        return (struct str) { "", 0 };
    if (lua_type(lua, -1) == LUA_TNUMBER && isfinite(lua_tonumber(lua, -1)))
        return number_cell(arena, lua_tonumber(lua, -1), unit_of_key(key));
    if (lua_type(lua, -1) == LUA_TSTRING) {
        const char *s = lua_tolstring(lua, -1, &len);
        return cell_of(arena, (struct str) { s, len });
    }
    add_inline(lua, -1, 1, &text);
    return cell_of(arena, text_str(&text));
}

/* A list of tables: one row each, a column for each key that one of them has. */
static void print_rows(lua_State *lua, int index, const struct repl_shape *shape, struct text *text)
{
    size_t      count = lua_rawlen(lua, index), shown = rows_shown(shape, count);
    struct keys keys = { 0 };
    struct grid grid;

    for (size_t row = 1; row <= shown; row++) {
        if (lua_rawgeti(lua, index, (lua_Integer)row) == LUA_TTABLE)
            add_keys(lua, lua_gettop(lua), false, &keys);
        lua_pop(lua, 1);
    }
    if (keys.count > 0)
        qsort(keys.list, keys.count, sizeof *keys.list, compare_keys);
    if (!grid_make(&grid, text->arena, keys.count, shown))
        return;
    for (size_t column = 0; column < keys.count; column++) {
        grid.cells[column] = cell_of(text->arena, str_from(keys.list[column].text));
        for (size_t row = 1; row <= shown; row++) {
            if (lua_rawgeti(lua, index, (lua_Integer)row) == LUA_TTABLE)
                push_key(lua, lua_gettop(lua), &keys.list[column]);
            else
                lua_pushnil(lua);
            grid.is_right[column] |= lua_type(lua, -1) == LUA_TNUMBER;
            grid.cells[row * keys.count + column] =
                value_cell(lua, keys.list[column].text, text->arena);
            lua_pop(lua, 2);
        }
        sandbox_check_time(lua);
    }
    grid_print(&grid, shape->width, text);
    print_more(shown, count, text);
}

static bool is_row_list(lua_State *lua, int index)
{
    bool is_list = lua_rawgeti(lua, index, 1) == LUA_TTABLE;

    if (is_list) {
        struct keys keys = { 0 };

        add_keys(lua, lua_gettop(lua), false, &keys);
        is_list = keys.count > 0;
    }
    lua_pop(lua, 1);
    return is_list;
}

/* A line a key. */
static void print_table(lua_State *lua, int index, const struct repl_shape *shape,
                        struct text *text)
{
    struct keys keys = { 0 };
    struct grid grid;

    add_keys(lua, index, true, &keys);
    if (keys.count == 0) {
        text_add(text, STR("{}\n"));
        return;
    }
    qsort(keys.list, keys.count, sizeof *keys.list, compare_keys);
    if (!grid_make(&grid, text->arena, 2, keys.count))
        return;
    grid.cells[0] = STR("key");
    grid.cells[1] = STR("value");
    for (size_t i = 0; i < keys.count; i++) {
        struct text value = { .arena = text->arena };

        push_key(lua, index, &keys.list[i]);
        add_inline(lua, -1, MAX_DEPTH, &value);
        lua_pop(lua, 1);
        grid.cells[2 * i + 2] = keys.list[i].is_number
                                    ? number_cell(text->arena, keys.list[i].number, UNIT_NONE)
                                    : cell_of(text->arena, str_from(keys.list[i].text));
        grid.cells[2 * i + 3] = text_str(&value);
    }
    grid_print(&grid, shape->width, text);
    if (keys.is_cut)
        text_add(text, STR("…\n"));
}

void repl_print(lua_State *lua, int index, const struct repl_shape *shape, struct text *text)
{
    struct query_rows query;

    index = lua_absindex(lua, index);
    luaL_checkstack(lua, 8, "too deep");
    if (bind_query_rows(lua, index, &query)) {
        print_query(lua, &query, shape, text);
    } else if (!lua_istable(lua, index)) {
        add_scalar(lua, index, false, text);
        text_add_byte(text, '\n');
    } else if (is_row_list(lua, index)) {
        print_rows(lua, index, shape, text);
    } else {
        print_table(lua, index, shape, text);
    }
}

void repl_print_facts(const struct facts *facts, struct text *text)
{
    struct grid grid;

    if (!grid_make(&grid, text->arena, 2, facts->list.count))
        return;
    grid.cells[0] = STR("fact");
    grid.cells[1] = STR("value");
    for (size_t i = 0; i < facts->list.count; i++) {
        const struct fact *fact = &facts->list.items[i];

        grid.cells[2 * i + 2] = str_from(fact->spec->name);
        grid.cells[2 * i + 3] =
            fact->spec->unit == UNIT_NAME
                ? cell_of(text->arena, intern_str(facts->names, (uint32_t)fact->value))
                : number_cell(text->arena, fact->value, fact->spec->unit);
    }
    grid_print(&grid, 0, text);
}
