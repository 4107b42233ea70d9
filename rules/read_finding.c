/* read_finding: reads finding { … } tables field by field into drafts. */
#include "rules/read_finding.h"

#include "rules/bind.h"
#include "rules/fields.h"
#include "rules/names.h"

#include <lauxlib.h>

#include <math.h>

enum { MAX_FINDINGS = 50, MAX_ROWS = 50 };

static void raise_memory(lua_State *lua)
{
    luaL_error(lua, "not enough memory");
}

/* Pushes a field that must be a table; false (and nothing pushed) where it is absent. */
static bool push_table(lua_State *lua, int index, const char *field)
{
    if (lua_getfield(lua, index, field) == LUA_TNIL) {
        lua_pop(lua, 1);
        return false;
    }
    if (!lua_istable(lua, -1))
        luaL_error(lua, "%s must be a table", field);
    return true;
}

static void read_subject(lua_State *lua, int index, struct arena *arena, struct subject *subject)
{
    *subject = (struct subject) { .rank = -1, .step = -1 };
    if (!push_table(lua, index, "subject"))
        return;
    int at = lua_gettop(lua);
    field_check_class(lua, at, "subject", API_SUBJECT, API_CLASS_COUNT);
    subject->op = field_text(lua, at, "op", false, arena);
    subject->kernel = field_text(lua, at, "kernel", false, arena);
    subject->device = field_text(lua, at, "device", false, arena);
    subject->host = field_text(lua, at, "host", false, arena);
    subject->scope = field_text(lua, at, "scope", false, arena);
    subject->rank = (int64_t)fmax(-1, fmin(field_number(lua, at, "rank", -1), 1e15));
    subject->step = (int64_t)fmax(-1, fmin(field_number(lua, at, "step", -1), 1e15));
    lua_pop(lua, 1);
}

static bool is_listed(const struct finding *finding, const struct location *place)
{
    for (size_t i = 0; i < finding->locations.count; i++) {
        const struct location *other = &finding->locations.items[i];

        if (other->line == place->line && !strcmp(other->file, place->file) &&
            !strcmp(other->function ? other->function : "", place->function ? place->function : ""))
            return true;
    }
    return false;
}

/* Each place once: several rows of a table may lie at one line. */
static void read_locations(lua_State *lua, int index, struct arena *arena, struct finding *finding)
{
    if (!push_table(lua, index, "locations"))
        return;
    int list = lua_gettop(lua);
    for (lua_Integer i = 1; i <= MAX_ROWS && lua_rawgeti(lua, list, i) == LUA_TTABLE; i++) {
        int    at = lua_gettop(lua);
        double line = field_number(lua, at, "line", 0);

        field_check_class(lua, at, "a location", API_LOCATION, API_CLASS_COUNT);
        struct location location = { .file = field_text(lua, at, "file", true, arena),
                                     .function = field_text(lua, at, "func", false, arena),
                                     .line = line > 0 && line < 1e9 ? (uint32_t)line : 0 };
        if (!is_listed(finding, &location) && !vec_push(&finding->locations, arena, location))
            raise_memory(lua);
        lua_settop(lua, list);
    }
    lua_settop(lua, list - 1);
}

/* { "input wait a step", 61.2e6, "ns", share = 0.288 } or { "slowest stage", "Map" } */
static void read_evidence_row(lua_State *lua, int at, struct arena *arena, struct finding *finding)
{
    struct evidence row = { .unit = UNIT_NAME, .share = NAN };

    lua_rawgeti(lua, at, 1);
    row.what = field_copy(lua, -1, "evidence: what", arena);
    if (lua_rawgeti(lua, at, 2) == LUA_TSTRING) {
        row.text = field_copy(lua, -1, "evidence: value", arena);
    } else {
        row.value = luaL_checknumber(lua, -1);
        if (!isfinite(row.value))
            luaL_error(lua, "evidence '%s' is not finite", row.what);
        row.unit = UNIT_COUNT;
        if (lua_rawgeti(lua, at, 3) != LUA_TNIL &&
            !unit_from_name(str_from(luaL_checkstring(lua, -1)), &row.unit))
            luaL_error(lua, "evidence '%s': no unit is called '%s'", row.what,
                       lua_tostring(lua, -1));
    }
    if (lua_getfield(lua, at, "share") != LUA_TNIL)
        row.share = luaL_checknumber(lua, -1);
    if (!vec_push(&finding->evidence, arena, row))
        raise_memory(lua);
}

static void read_evidence(lua_State *lua, int index, struct arena *arena, struct finding *finding)
{
    if (push_table(lua, index, "evidence")) {
        int list = lua_gettop(lua);
        for (lua_Integer i = 1; i <= MAX_ROWS && lua_rawgeti(lua, list, i) == LUA_TTABLE; i++) {
            read_evidence_row(lua, lua_gettop(lua), arena, finding);
            lua_settop(lua, list);
        }
        lua_settop(lua, list - 1);
    }
    if (finding->evidence.count == 0)
        luaL_error(lua, "a finding needs evidence");
}

static void read_remedy(lua_State *lua, int index, struct arena *arena, struct finding *finding)
{
    if (!push_table(lua, index, "remedy"))
        luaL_error(lua, "remedy is missing");
    int at = lua_gettop(lua);
    field_check_class(lua, at, "remedy", API_REMEDY, API_CLASS_COUNT);
    finding->remedy_text = field_text(lua, at, "text", true, arena);
    finding->remedy_code = field_text(lua, at, "code", false, arena);
    finding->remedy_flags = field_text(lua, at, "flags", false, arena);
    lua_pop(lua, 1);
}

/* The price that the impact table at `at` asks for. */
static struct price_request read_price(lua_State *lua, int at, struct arena *arena)
{
    struct price_request price = { .ns = NAN };
    int                  method;

    if (!field_is_tagged(lua, at, "impact"))
        luaL_error(lua, "impact is made by impact.replay{…}, impact.exposed{…} and so on");
    field_check_class(lua, at, "impact", API_PRICE, API_CLASS_COUNT);
    method = method_from_name(field_text(lua, at, "method", true, arena));
    price.method = method < 0 ? METHOD_NONE : (enum method)method;
    price.ns = field_number(lua, at, "ns", NAN);
    price.low_ns = field_number(lua, at, "low", NAN);
    price.high_ns = field_number(lua, at, "high", NAN);
    price.floor_ns = field_number(lua, at, "floor_ns", NAN);
    price.speedup = field_number(lua, at, "speedup", NAN);
    if (price.method != METHOD_NONE && price.method != METHOD_REPLAY && !(price.ns >= 0))
        luaL_error(lua, "impact.%s needs ns", method_name(price.method));
    if (price.method == METHOD_ROOFLINE && !(price.floor_ns >= 0))
        luaL_error(lua, "impact.roofline needs floor_ns");
    if (price.method == METHOD_AMDAHL && !(price.speedup >= 1))
        luaL_error(lua, "impact.amdahl needs a speedup of 1 or more");
    return price;
}

static void read_impact(lua_State *lua, int index, struct arena *arena, struct draft *draft)
{
    if (!push_table(lua, index, "impact"))
        luaL_error(lua, "impact is missing; impact.none() for a finding without a price");
    int at = lua_gettop(lua);
    draft->price = read_price(lua, at, arena);
    if (draft->price.method == METHOD_REPLAY) {
        bind_read_edits(lua, at, arena, &draft->edits);
        if (push_table(lua, at, "fallback")) {
            draft->fallback = read_price(lua, lua_gettop(lua), arena);
            if (draft->fallback.method == METHOD_REPLAY)
                luaL_error(lua, "a fallback cannot be a replay");
            lua_pop(lua, 1);
        }
    }
    lua_pop(lua, 1);
}

static void read_finding(lua_State *lua, int index, const struct rule *rule, struct arena *arena,
                         struct draft *draft)
{
    struct finding *finding = &draft->finding;
    const char     *severity, *confidence, *category;
    int             number;

    if (!field_is_tagged(lua, index, "finding"))
        luaL_error(lua, "check returns finding { … }, a list of them, skip { … } or nil");
    field_check_class(lua, index, "a finding", API_FINDING, API_CLASS_COUNT);
    *draft = (struct draft) { .rule = rule, .confidence = CONFIDENCE_MEDIUM };
    finding->rule = rule->info.id;
    finding->title = field_text(lua, index, "title", false, arena);
    if (!finding->title)
        finding->title = rule->info.title;
    category = field_text(lua, index, "category", false, arena);
    finding->category = category ? category : rule->info.category;
    severity = field_text(lua, index, "severity", false, arena);
    number = severity ? severity_from_name(severity) : (int)rule->info.severity;
    if (number < 0)
        luaL_error(lua, "severity is one of info, warn, error, veto");
    finding->severity = (enum severity)number;
    confidence = field_text(lua, index, "confidence", false, arena);
    number = confidence ? confidence_from_name(confidence) : CONFIDENCE_MEDIUM;
    if (number < 0)
        luaL_error(lua, "confidence is one of low, medium, high");
    draft->confidence = (enum confidence)number;
    finding->condition = field_text(lua, index, "condition", true, arena);
    draft->resource = field_text(lua, index, "resource", false, arena);
    read_subject(lua, index, arena, &finding->subject);
    read_locations(lua, index, arena, finding);
    read_evidence(lua, index, arena, finding);
    read_remedy(lua, index, arena, finding);
    read_impact(lua, index, arena, draft);
    if (push_table(lua, index, "claims")) {
        bind_read_claims(lua, -1, arena, &draft->claims);
        lua_pop(lua, 1);
    }
}

static void add_finding(lua_State *lua, int index, const struct rule *rule, struct arena *arena,
                        struct rule_run *run)
{
    struct draft draft;

    if (run->drafts.count == MAX_FINDINGS)
        luaL_error(lua, "more than %d findings", MAX_FINDINGS);
    read_finding(lua, index, rule, arena, &draft);
    if (!vec_push(&run->drafts, arena, draft))
        raise_memory(lua);
    run->outcome = RULE_FOUND;
}

void read_outcome(lua_State *lua, int index, const struct rule *rule, struct arena *arena,
                  struct rule_run *run)
{
    index = lua_absindex(lua, index);
    if (lua_isnil(lua, index))
        return;
    if (field_is_tagged(lua, index, "skip")) {
        run->reason = field_text(lua, index, "reason", true, arena);
        run->capture = field_text(lua, index, "capture", false, arena);
        run->outcome = RULE_SKIPPED;
        return;
    }
    if (field_is_tagged(lua, index, "finding") || !lua_istable(lua, index)) {
        add_finding(lua, index, rule, arena, run);
        return;
    }
    for (lua_Integer i = 1; lua_rawgeti(lua, index, i) != LUA_TNIL; i++) {
        add_finding(lua, lua_gettop(lua), rule, arena, run);
        lua_settop(lua, index);
    }
    lua_settop(lua, index);
}
