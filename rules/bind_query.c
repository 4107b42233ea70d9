/*
 * bind_query: a table of the facts as rules ask it. A query holds the rows that are left; where
 * makes a smaller one, and sums run over the C columns. Texts appear as Lua strings.
 *     p:table("iterators"):where{ type = "Map", self_ns = { min = 1e6 } }:sum("self_ns")
 */
#include "rules/bind.h"
#include "rules/sandbox.h"

#include "base/pattern.h"
#include "base/sort.h"
#include "model/op_class.h"

#include <lauxlib.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1000 };

struct query {
    const struct facts *facts;
    const struct table *table;
    size_t              count;
    uint32_t            rows[];
};

static struct query *push_query(lua_State *lua, const struct facts *facts,
                                const struct table *table, size_t capacity)
{
    struct query *query = lua_newuserdatauv(lua, sizeof *query + capacity * sizeof *query->rows, 0);

    query->facts = facts;
    query->table = table;
    query->count = 0;
    luaL_setmetatable(lua, "tfprof.query");
    return query;
}

static struct query *check_query(lua_State *lua)
{
    return luaL_checkudata(lua, 1, "tfprof.query");
}

static int check_column(lua_State *lua, const struct query *query, int index)
{
    const char *name = luaL_checkstring(lua, index);
    int         column = table_column(query->table, name);

    if (column < 0)
        return luaL_error(lua, "table %s has no column %s", query->table->spec->name, name);
    return column;
}

static bool is_text(const struct query *query, int column)
{
    return query->table->spec->columns[column].unit == UNIT_NAME;
}

static struct str text_of(const struct query *query, double value)
{
    return isnan(value) ? (struct str) { 0 } : intern_str(query->facts->names, (uint32_t)value);
}

static void push_value(lua_State *lua, const struct query *query, int column, size_t row)
{
    double     value = query->table->columns[column][query->rows[row]];
    enum unit  unit = query->table->spec->columns[column].unit;
    struct str text;

    if (isnan(value)) {
        lua_pushnil(lua);
    } else if (unit == UNIT_NAME) {
        text = text_of(query, value);
        lua_pushlstring(lua, text.data ? text.data : "", text.len);
    } else if (unit == UNIT_BOOL) {
        lua_pushboolean(lua, value != 0);
    } else {
        lua_pushnumber(lua, value);
    }
}

/* What was decided of texts lately, by name + 1: types of ops come again all the time. */
enum { SEEN_TEXTS = 64 };
struct seen_text {
    uint32_t name;
    bool     is_kept;
};

static struct seen_text *seen_of(struct seen_text *seen, double value)
{
    return &seen[(uint32_t)value % SEEN_TEXTS];
}

/* Keeps the rows whose text matches. */
static void keep_matching(lua_State *lua, struct query *query, int column, int index)
{
    const struct pattern *pattern = bind_pattern(lua, index);
    const double         *values = query->table->columns[column];
    size_t                kept = 0;
    struct seen_text      texts[SEEN_TEXTS] = { 0 };

    for (size_t i = 0; i < query->count; i++) {
        double            value = values[query->rows[i]];
        struct seen_text *seen = isnan(value) ? NULL : seen_of(texts, value);

        if (!seen)
            continue;
        if (seen->name != (uint32_t)value + 1) {
            sandbox_check_time(lua);
            enum pattern_match match = pattern_matches(pattern, text_of(query, value));
            if (match == PATTERN_TOO_COSTLY)
                luaL_error(lua, "pattern '%s' is too costly", lua_tostring(lua, index));
            *seen = (struct seen_text) { (uint32_t)value + 1, match == PATTERN_YES };
        }
        if (seen->is_kept)
            query->rows[kept++] = query->rows[i];
    }
    query->count = kept;
}

/* "product|convolution" as a bit a class. */
static uint64_t check_classes(lua_State *lua, int index)
{
    struct str text = { 0 };
    uint64_t   wanted = 0;

    text.data = luaL_checklstring(lua, index, &text.len);
    while (text.len) {
        struct str word = str_slice(text, 0, str_find(text, '|'));
        int class = op_class_find(word);

        if (class < 0)
            luaL_error(lua, "'%s' has a word that is no class of ops", lua_tostring(lua, index));
        wanted |= UINT64_C(1) << class;
        text = str_slice(text, word.len + 1, text.len);
    }
    return wanted;
}

/* Keeps the rows whose text names an op of one of the classes. */
static void keep_classes(lua_State *lua, struct query *query, int column, int index)
{
    uint64_t         wanted = check_classes(lua, index);
    const double    *values = query->table->columns[column];
    size_t           kept = 0;
    struct seen_text texts[SEEN_TEXTS] = { 0 };

    for (size_t i = 0; i < query->count; i++) {
        double            value = values[query->rows[i]];
        struct seen_text *seen = isnan(value) ? NULL : seen_of(texts, value);

        if (!seen)
            continue;
        if (seen->name != (uint32_t)value + 1)
            *seen = (struct seen_text) { (uint32_t)value + 1,
                                         wanted >> op_class_of(text_of(query, value)) & 1 };
        if (seen->is_kept)
            query->rows[kept++] = query->rows[i];
    }
    query->count = kept;
}

static void keep_text(lua_State *lua, struct query *query, int column, int index)
{
    struct str    wanted;
    const double *values = query->table->columns[column];
    size_t        kept = 0;

    wanted.data = lua_tolstring(lua, index, &wanted.len);
    uint32_t id = intern_find(query->facts->names, wanted);
    for (size_t i = 0; i < query->count; i++)
        if (id != NO_ID && values[query->rows[i]] == (double)id)
            query->rows[kept++] = query->rows[i];
    query->count = kept;
}

static void keep_between(struct query *query, int column, double min, double max)
{
    const double *values = query->table->columns[column];
    size_t        kept = 0;

    for (size_t i = 0; i < query->count; i++)
        if (values[query->rows[i]] >= min && values[query->rows[i]] <= max)
            query->rows[kept++] = query->rows[i];
    query->count = kept;
}

static double limit_field(lua_State *lua, int index, const char *name, double otherwise)
{
    double value = otherwise;

    if (lua_getfield(lua, index, name) != LUA_TNIL)
        value = luaL_checknumber(lua, -1);
    lua_pop(lua, 1);
    return value;
}

/* A condition on texts under this name, as { like = }; false: it has none. */
static bool keep_by_text(lua_State *lua, struct query *query, int column, int index,
                         const char *name,
                         void (*keep)(lua_State *lua, struct query *query, int column, int index))
{
    bool is_there = lua_getfield(lua, index, name) == LUA_TSTRING;

    if (is_there && !is_text(query, column))
        luaL_error(lua, "column %s holds numbers", lua_tostring(lua, index - 1));
    if (is_there)
        keep(lua, query, column, lua_gettop(lua));
    lua_pop(lua, 1);
    return is_there;
}

/* One condition: column name at -2, what it must be at -1. */
static void keep_rows(lua_State *lua, struct query *query)
{
    int  column, index = lua_gettop(lua);
    bool has_text;

    if (lua_type(lua, -2) != LUA_TSTRING)
        luaL_error(lua, "where takes names of columns");
    column = check_column(lua, query, index - 1);
    switch (lua_type(lua, index)) {
    case LUA_TSTRING:
        if (!is_text(query, column))
            luaL_error(lua, "column %s holds numbers", lua_tostring(lua, index - 1));
        keep_text(lua, query, column, index);
        return;
    case LUA_TNUMBER:
        keep_between(query, column, lua_tonumber(lua, index), lua_tonumber(lua, index));
        return;
    case LUA_TBOOLEAN:
        keep_between(query, column, lua_toboolean(lua, index), lua_toboolean(lua, index));
        return;
    case LUA_TTABLE:
        has_text = keep_by_text(lua, query, column, index, "like", keep_matching);
        if (keep_by_text(lua, query, column, index, "class", keep_classes) || has_text)
            return;
        keep_between(query, column, limit_field(lua, index, "min", -INFINITY),
                     limit_field(lua, index, "max", INFINITY));
        return;
    default:
        luaL_error(lua, "where takes values, { min =, max = }, { like = } and { class = }");
    }
}

/* What asking the condition on top costs: the bytes that its pattern is to see, each text in a row
 * once; without a pattern next to nothing. */
static size_t cost_of(lua_State *lua, const struct query *query)
{
    int    top = lua_gettop(lua), column = -1;
    size_t bytes = 0;
    double last = NAN;

    if (lua_istable(lua, top) && lua_type(lua, top - 1) == LUA_TSTRING &&
        lua_getfield(lua, top, "like") != LUA_TNIL)
        column = table_column(query->table, lua_tostring(lua, top - 1));
    lua_settop(lua, top);
    for (size_t i = 0; column >= 0 && is_text(query, column) && i < query->count; i++) {
        double value = query->table->columns[column][query->rows[i]];

        if (!isnan(value) && !(value == last))
            bytes += text_of(query, value).len + 1;
        last = value;
    }
    return bytes;
}

/* Applies the condition that costs least of those not yet applied, which *done has a bit for. */
static bool keep_cheapest(lua_State *lua, struct query *query, uint64_t *done)
{
    size_t least = SIZE_MAX;
    int    cheapest = -1, at = 0;

    for (lua_pushnil(lua); lua_next(lua, 2); lua_pop(lua, 1), at++) {
        size_t cost = *done >> at & 1 ? SIZE_MAX : cost_of(lua, query);

        if (cost < least) {
            least = cost;
            cheapest = at;
        }
    }
    if (cheapest < 0)
        return false;
    at = 0;
    for (lua_pushnil(lua); lua_next(lua, 2); lua_pop(lua, 1))
        if (at++ == cheapest)
            keep_rows(lua, query);
    *done |= UINT64_C(1) << cheapest;
    return true;
}

static int query_where(lua_State *lua)
{
    struct query *query = check_query(lua), *left;
    uint64_t      done = 0;
    int           at, conditions = 0;

    luaL_checktype(lua, 2, LUA_TTABLE);
    left = push_query(lua, query->facts, query->table, query->count);
    left->count = query->count;
    if (query->count > 0)
        memcpy(left->rows, query->rows, query->count * sizeof *query->rows);
    at = lua_gettop(lua);
    for (lua_pushnil(lua); lua_next(lua, 2); lua_pop(lua, 1))
        conditions++;
    if (conditions > 64)
        return luaL_error(lua, "where takes 64 conditions at most");
    while (keep_cheapest(lua, left, &done))
        ;
    lua_settop(lua, at);
    return 1;
}

static int query_count(lua_State *lua)
{
    lua_pushinteger(lua, (lua_Integer)check_query(lua)->count);
    return 1;
}

static int check_number_column(lua_State *lua, const struct query *query, int index)
{
    int column = check_column(lua, query, index);

    if (is_text(query, column))
        return luaL_error(lua, "column %s holds texts", lua_tostring(lua, index));
    return column;
}

static int query_sum(lua_State *lua)
{
    struct query *query = check_query(lua);
    int           column = check_number_column(lua, query, 2);
    double        sum = 0;

    for (size_t i = 0; i < query->count; i++) {
        double value = query->table->columns[column][query->rows[i]];
        sum += isnan(value) ? 0 : value;
    }
    lua_pushnumber(lua, sum);
    return 1;
}

/* max and min: nil without rows that have a value. */
static int query_extreme(lua_State *lua, double sign)
{
    struct query *query = check_query(lua);
    int           column = check_number_column(lua, query, 2);
    double        best = -INFINITY;
    bool          is_found = false;

    for (size_t i = 0; i < query->count; i++) {
        double value = sign * query->table->columns[column][query->rows[i]];
        if (!isnan(value) && (!is_found || value > best)) {
            best = value;
            is_found = true;
        }
    }
    if (is_found)
        lua_pushnumber(lua, sign * best);
    else
        luaL_pushfail(lua);
    return 1;
}

static int query_max(lua_State *lua)
{
    return query_extreme(lua, 1);
}

static int query_min(lua_State *lua)
{
    return query_extreme(lua, -1);
}

static void push_row(lua_State *lua, const struct query *query, size_t row)
{
    lua_createtable(lua, 0, (int)query->table->spec->column_count);
    for (size_t column = 0; column < query->table->spec->column_count; column++) {
        push_value(lua, query, (int)column, row);
        lua_setfield(lua, -2, query->table->spec->columns[column].name);
    }
}

static int query_rows(lua_State *lua)
{
    struct query *query = check_query(lua);
    size_t        count = query->count < MAX_ROWS ? query->count : MAX_ROWS;

    lua_createtable(lua, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_row(lua, query, i);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* q:places() -> the lines of the program that the rows name, as a finding's locations; rows of
 * unknown origin are passed over. */
static int query_places(lua_State *lua)
{
    struct query *query = check_query(lua);
    int           file = table_column(query->table, "source_file");
    int           line = table_column(query->table, "source_line");
    lua_Integer   count = 0;

    if (file < 0 || line < 0)
        return luaL_error(lua, "table '%s' has no source_file and source_line",
                          query->table->spec->name);
    lua_newtable(lua);
    for (size_t i = 0; i < query->count && count < MAX_ROWS; i++) {
        double     id = query->table->columns[file][query->rows[i]];
        double     at = query->table->columns[line][query->rows[i]];
        struct str text =
            isnan(id) ? (struct str) { 0 } : intern_str(query->facts->names, (uint32_t)id);

        if (text.len == 0)
            continue;
        lua_createtable(lua, 0, 2);
        lua_pushlstring(lua, text.data, text.len);
        lua_setfield(lua, -2, "file");
        if (!isnan(at)) {
            lua_pushnumber(lua, at);
            lua_setfield(lua, -2, "line");
        }
        lua_rawseti(lua, -2, ++count);
    }
    return 1;
}

static int next_row(lua_State *lua)
{
    struct query *query = lua_touserdata(lua, lua_upvalueindex(1));
    size_t        row = (size_t)lua_tointeger(lua, lua_upvalueindex(2));

    if (row >= query->count)
        return 0;
    lua_pushinteger(lua, (lua_Integer)row + 1);
    lua_replace(lua, lua_upvalueindex(2));
    push_row(lua, query, row);
    return 1;
}

/* for row in q:each() do … end */
static int query_each(lua_State *lua)
{
    check_query(lua);
    lua_settop(lua, 1);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, next_row, 2);
    return 1;
}

struct ranked {
    double   value;
    uint32_t row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return IN_ORDER(COMPARE(y->value, x->value), COMPARE(x->row, y->row));
}

/* top(column, n): a query of the n rows with most of it, most first. */
static int query_top(lua_State *lua)
{
    struct query *query = check_query(lua), *top;
    int           column = check_number_column(lua, query, 2);
    lua_Integer   wanted = luaL_optinteger(lua, 3, 1);
    size_t        count = 0;

    struct ranked *ranked = lua_newuserdatauv(lua, (query->count + 1) * sizeof *ranked, 0);
    for (size_t i = 0; i < query->count; i++) {
        double value = query->table->columns[column][query->rows[i]];
        if (!isnan(value))
            ranked[count++] = (struct ranked) { value, query->rows[i] };
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    if (wanted < 0)
        wanted = 0;
    if ((size_t)wanted < count)
        count = (size_t)wanted;
    top = push_query(lua, query->facts, query->table, count);
    for (size_t i = 0; i < count; i++)
        top->rows[i] = ranked[i].row;
    top->count = count;
    return 1;
}

struct group {
    double   key, sum;
    uint32_t row; /* of the query: first of the group */
    uint32_t count;
};

static int compare_keys(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return IN_ORDER(COMPARE(x->key, y->key), COMPARE(x->row, y->row));
}

static int compare_sums(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return IN_ORDER(COMPARE(y->sum, x->sum), COMPARE(x->row, y->row));
}

static size_t merge_groups(struct group *groups, size_t count)
{
    size_t merged = 0;

    qsort(groups, count, sizeof *groups, compare_keys);
    for (size_t i = 0; i < count; i++) {
        if (merged > 0 && groups[merged - 1].key == groups[i].key) {
            groups[merged - 1].sum += groups[i].sum;
            groups[merged - 1].count++;
        } else {
            groups[merged++] = groups[i];
        }
    }
    qsort(groups, merged, sizeof *groups, compare_sums);
    return merged;
}

/* group(by, column): a list of { key =, sum =, count =, first = row }, most first. */
static int query_group(lua_State *lua)
{
    struct query *query = check_query(lua);
    int           by = check_column(lua, query, 2), column = check_number_column(lua, query, 3);
    struct group *groups = lua_newuserdatauv(lua, (query->count + 1) * sizeof *groups, 0);
    size_t        count = 0;

    for (size_t i = 0; i < query->count; i++) {
        double key = query->table->columns[by][query->rows[i]];
        double value = query->table->columns[column][query->rows[i]];
        if (!isnan(key))
            groups[count++] = (struct group) { key, isnan(value) ? 0 : value, (uint32_t)i, 1 };
    }
    count = merge_groups(groups, count);
    lua_newtable(lua);
    for (size_t i = 0; i < count && i < MAX_ROWS; i++) {
        lua_createtable(lua, 0, 4);
        push_value(lua, query, by, groups[i].row);
        lua_setfield(lua, -2, "key");
        lua_pushnumber(lua, groups[i].sum);
        lua_setfield(lua, -2, "sum");
        lua_pushinteger(lua, groups[i].count);
        lua_setfield(lua, -2, "count");
        push_row(lua, query, groups[i].row);
        lua_setfield(lua, -2, "first");
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

void bind_push_query(lua_State *lua, const struct facts *facts, const struct table *table)
{
    static const luaL_Reg methods[] = {
        { "where", query_where },   { "count", query_count }, { "sum", query_sum },
        { "max", query_max },       { "min", query_min },     { "top", query_top },
        { "group", query_group },   { "rows", query_rows },   { "each", query_each },
        { "places", query_places }, { NULL, NULL },
    };

    if (luaL_newmetatable(lua, "tfprof.query")) {
        luaL_newlib(lua, methods);
        lua_setfield(lua, -2, "__index");
        lua_pushboolean(lua, false);
        lua_setfield(lua, -2, "__metatable");
    }
    lua_pop(lua, 1);
    struct query *query = push_query(lua, facts, table, table->row_count);
    for (size_t i = 0; i < table->row_count; i++)
        query->rows[i] = (uint32_t)i;
    query->count = table->row_count;
}

bool bind_query_rows(lua_State *lua, int index, struct query_rows *rows)
{
    const struct query *query = luaL_testudata(lua, index, "tfprof.query");

    if (query)
        *rows = (struct query_rows) { query->facts, query->table, query->rows, query->count };
    return query != NULL;
}
