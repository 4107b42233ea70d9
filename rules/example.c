#include "rules/example.h"

#include "analyze/analysis.h"
#include "rules/fields.h"
#include "rules/names.h"
#include "rules/price.h"
#include "rules/sandbox.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

struct reading {
    struct rule    *rule;
    struct arena   *arena;
    int             number;
    struct example *example;
    bool            is_there;
};
static const char *const example_fields[] = { "name",    "format",  "framework", "facts",
                                              "tables",  "absent",  "replay",    "selected_ns",
                                              "finding", "skipped", "impact_ns", "severity" };

static const struct fact_spec *check_spec(lua_State *lua, const char *name)
{
    const struct fact_spec *spec = analysis_fact(name);

    if (!spec)
        luaL_error(lua, "no analysis makes a fact '%s'", name);
    return spec;
}

static double text_value(lua_State *lua, struct facts *facts, int index)
{
    struct str text;

    text.data = luaL_checklstring(lua, index, &text.len);
    uint32_t id = facts_name(facts, text);
    if (id == NO_ID)
        luaL_error(lua, "not enough memory");
    return id;
}

/* The value on top of the stack, as a fact or a cell of that unit. */
static double read_value(lua_State *lua, struct facts *facts, enum unit unit, const char *name)
{
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        if (unit == UNIT_NAME)
            return text_value(lua, facts, -1);
        break;
    case LUA_TBOOLEAN:
        if (unit == UNIT_BOOL)
            return lua_toboolean(lua, -1);
        break;
    case LUA_TNUMBER:
        if (unit != UNIT_NAME && unit != UNIT_BOOL && isfinite(lua_tonumber(lua, -1)))
            return lua_tonumber(lua, -1);
        break;
    default:
        break;
    }
    luaL_error(lua, "example: %s is a %s, not a %s", name, unit_name(unit), luaL_typename(lua, -1));
    return 0;
}

static void read_facts(lua_State *lua, int index, struct facts *facts)
{
    if (lua_getfield(lua, index, "facts") == LUA_TTABLE) {
        lua_pushnil(lua);
        while (lua_next(lua, -2)) {
            const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
            const struct fact_spec *spec = check_spec(lua, name);
            if (!facts_set(facts, spec, read_value(lua, facts, spec->unit, name)))
                luaL_error(lua, "not enough memory");
            lua_pop(lua, 1);
        }
    }
    lua_pop(lua, 1);
}

static void read_row(lua_State *lua, int index, struct facts *facts, struct table *table)
{
    size_t row = table_add(table, facts->arena);

    if (row == SIZE_MAX)
        luaL_error(lua, "not enough memory");
    lua_pushnil(lua);
    while (lua_next(lua, index)) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
        int         column = table_column(table, name);
        if (column < 0)
            luaL_error(lua, "example: table %s has no column %s", table->spec->name, name);
        table->columns[column][row] =
            read_value(lua, facts, table->spec->columns[column].unit, name);
        lua_pop(lua, 1);
    }
}

static void read_tables(lua_State *lua, int index, struct facts *facts)
{
    if (lua_getfield(lua, index, "tables") == LUA_TTABLE) {
        lua_pushnil(lua);
        while (lua_next(lua, -2)) {
            const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
            const struct table_spec *spec = analysis_table(name);
            struct table            *table = spec ? facts_table(facts, spec) : NULL;
            if (!table || !lua_istable(lua, -1))
                luaL_error(lua, "example: no analysis makes a table '%s'", name);
            int rows = lua_gettop(lua);
            for (lua_Integer i = 1; lua_rawgeti(lua, rows, i) == LUA_TTABLE; i++) {
                read_row(lua, lua_gettop(lua), facts, table);
                lua_settop(lua, rows);
            }
            lua_settop(lua, rows - 1);
        }
    }
    lua_pop(lua, 1);
}

static bool flag_field(lua_State *lua, int index, const char *field)
{
    lua_getfield(lua, index, field);
    bool is_set = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return is_set;
}

static void read_savings(lua_State *lua, int index, struct example *example)
{
    if (lua_getfield(lua, index, "replay") == LUA_TTABLE)
        for (lua_Integer i = 1; i <= MAX_SAVINGS && lua_rawgeti(lua, -1, i) != LUA_TNIL; i++) {
            example->saved_ns[example->saved_count++] = luaL_checknumber(lua, -1);
            lua_pop(lua, 1);
        }
    lua_settop(lua, index);
}

static void read_example(lua_State *lua, int index, struct reading *reading)
{
    struct example *example = reading->example;
    const char     *format, *framework, *severity;

    field_check_known(lua, index, "an example", example_fields, ARRAY_COUNT(example_fields));
    example->name = field_text(lua, index, "name", false, reading->arena);
    format = field_text(lua, index, "format", false, reading->arena);
    framework = field_text(lua, index, "framework", false, reading->arena);
    example->format = format ? format : "";
    example->framework = framework ? framework : "";
    read_facts(lua, index, &example->facts);
    read_tables(lua, index, &example->facts);
    facts_settle(&example->facts);
    if (!facts_get(&example->facts, "step.ns", &example->step_ns) &&
        !facts_get(&example->facts, "step.median_ns", &example->step_ns))
        example->step_ns = NAN;
    read_savings(lua, index, example);
    example->selected_ns = field_number(lua, index, "selected_ns", example->step_ns);
    example->is_finding = flag_field(lua, index, "finding");
    example->is_skipped = flag_field(lua, index, "skipped");
    example->impact_ns = field_number(lua, index, "impact_ns", NAN);
    severity = field_text(lua, index, "severity", false, reading->arena);
    example->severity = severity ? severity_from_name(severity) : -1;
    if (severity && example->severity < 0)
        luaL_error(lua, "severity is one of info, warn, error, veto");
}

static int read_one(lua_State *lua)
{
    struct reading *reading = lua_touserdata(lua, 1);

    lua_rawgeti(lua, LUA_REGISTRYINDEX, reading->rule->table);
    if (lua_getfield(lua, -1, "examples") != LUA_TTABLE)
        return 0;
    if (lua_rawgeti(lua, -1, reading->number) != LUA_TTABLE)
        return 0;
    reading->is_there = true;
    read_example(lua, lua_gettop(lua), reading);
    return 0;
}

static bool replay_example(void *context, const struct edit *edits, size_t count,
                           struct replay_result *result, struct err *err)
{
    const struct example *example = context;

    (void)edits;
    if (example->saved_count == 0)
        return err_set(err, ERR_INCONCLUSIVE, "the example gives no replay");
    *result = (struct replay_result) { .step_ns = example->step_ns };
    if (count > 0) {
        size_t at = count < example->saved_count ? count : example->saved_count;
        result->step_ns -= example->saved_ns[at - 1];
        result->selected_ns = example->selected_ns;
    }
    return true;
}

/* What is wrong with how the rule answered, or NULL. */
static const char *judge(const struct example *example, const struct rule_run *run,
                         const struct draft *first, struct arena *arena)
{
    static const char *const outcomes[] = { "is quiet", "finds something", "skips", "fails" };
    enum rule_outcome        wanted = example->is_finding   ? RULE_FOUND
                                      : example->is_skipped ? RULE_SKIPPED
                                                            : RULE_QUIET;

    if (run->outcome != wanted)
        return arena_text(arena, "should be one that %s, but %s%s%s", outcomes[wanted],
                          outcomes[run->outcome], run->reason ? ": " : "",
                          run->reason ? run->reason : "");
    if (first && example->severity >= 0 && (int)first->finding.severity != example->severity)
        return arena_text(arena, "should be of severity %s, but is of %s",
                          severity_name((enum severity)example->severity),
                          severity_name(first->finding.severity));
    if (isnan(example->impact_ns) || !first)
        return NULL;
    const struct impact *impact = &first->finding.impact;
    if (!impact->has_saving || example->impact_ns < 0.99 * impact->low_ns ||
        example->impact_ns > 1.01 * impact->high_ns)
        return arena_text(arena, "should save %g ns, but saves %g to %g", example->impact_ns,
                          impact->low_ns, impact->high_ns);
    return NULL;
}

const char *example_run(struct rule *rule, struct example *example, struct arena *arena,
                        bool *has_fired)
{
    struct rule_view view = { .facts = &example->facts,
                              .format = example->format,
                              .framework = example->framework,
                              .replay = replay_example,
                              .replay_context = example };
    struct rule_run  run;
    struct pricing   pricing;
    struct err       err = { 0 };

    if (!rule_run(rule, &view, arena, &run, &err))
        return err.text[0] ? arena_text(arena, "%s", err.text) : "failed";
    pricing_start(&pricing, &view);
    for (size_t i = 0; i < run.drafts.count; i++)
        if (!price_draft(&pricing, &run.drafts.items[i], arena, &err))
            return arena_text(arena, "%s", err.text);
    *has_fired = run.outcome == RULE_FOUND;
    return judge(example, &run, run.drafts.count > 0 ? &run.drafts.items[0] : NULL, arena);
}

const char *example_read(struct rule *rule, int number, struct arena *arena,
                         struct example *example, bool *is_there)
{
    struct reading reading = { rule, arena, number, example, false };
    const char    *fault;

    *example = (struct example) { 0 };
    *is_there = false;
    if (!intern_init(&example->names, arena))
        return "no memory left for the examples";
    facts_init(&example->facts, arena, &example->names);
    fault = sandbox_call(rule->sandbox, read_one, &reading, arena);
    *is_there = reading.is_there || fault;
    return fault;
}
