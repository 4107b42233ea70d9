/* rule_load: runs a checker's file in a sandbox and reads what the rule says about itself. */
#include "rules/rule.h"

#include "analyze/analysis.h"
#include "model/profile.h"
#include "rules/bind.h"
#include "rules/builtin.h"
#include "rules/fields.h"
#include "rules/names.h"
#include "rules/sandbox.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

enum { MAX_PARAMS = 100 };

struct load {
    struct rule  *rule;
    struct str    script;
    struct arena *arena;
};

static int refuse_global(lua_State *lua)
{
    return luaL_error(lua, "global variable '%s'; make it local", luaL_tolstring(lua, 2, NULL));
}

/* Gives the chunk on top of the stack an environment that reads the globals and takes none. */
static void set_environment(lua_State *lua)
{
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushglobaltable(lua);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_global);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_setupvalue(lua, -2, 1);
}

static uint32_t read_formats(lua_State *lua, int index, struct arena *arena)
{
    struct names names = { 0 };
    uint32_t     mask = 0;

    field_names(lua, index, "formats", arena, &names);
    for (size_t i = 0; i < names.list.count; i++) {
        int format = rule_format_from_name(names.list.items[i]);
        if (format < 0)
            luaL_error(lua, "formats: no profile format is called '%s'", names.list.items[i]);
        mask |= 1u << format;
    }
    return mask ? mask : (1u << (FORMAT_KINETO + 1)) - 1;
}

static void read_needs(lua_State *lua, int index, struct load *load)
{
    struct names names = { 0 };

    field_names(lua, index, "needs", load->arena, &names);
    for (size_t i = 0; i < names.list.count; i++) {
        const char *name = names.list.items[i];

        if (!analysis_fact(name) && !analysis_table(name))
            bind_raise_unknown(lua, "fact or table", name);
        if (!vec_push(&load->rule->info.needs, load->arena, name))
            luaL_error(lua, "not enough memory");
    }
}

static void read_number_param(lua_State *lua, int index, struct rule_param *param,
                              struct arena *arena)
{
    const char *unit = field_text(lua, index, "unit", false, arena);

    if (unit && !unit_from_name(str_from(unit), &param->unit))
        luaL_error(lua, "params.%s: no unit is called '%s'", param->name, unit);
    param->min = field_number(lua, index, "min", -INFINITY);
    param->max = field_number(lua, index, "max", INFINITY);
    param->number = field_number(lua, index, "default", 0);
    param->strict = field_number(lua, index, "strict", NAN);
    if (!(param->number >= param->min && param->number <= param->max))
        luaL_error(lua, "params.%s: the default is out of its own range", param->name);
    if (param->strict < param->min || param->strict > param->max)
        luaL_error(lua, "params.%s: strict is out of its own range", param->name);
}

/* The parameter at the top of the stack, its name below. */
static struct rule_param read_param(lua_State *lua, struct arena *arena)
{
    int               index = lua_gettop(lua);
    struct rule_param param = {
        .unit = UNIT_NONE, .min = -INFINITY, .max = INFINITY, .strict = NAN
    };

    param.name = field_copy(lua, index - 1, "a parameter's name", arena);
    if (strcmp(param.name, "severity") == 0)
        luaL_error(lua, "params.severity: projects set a rule's severity by that name");
    if (!lua_istable(lua, index))
        luaL_error(lua, "params.%s must be a table", param.name);
    field_check_class(lua, index, "a parameter", API_PARAM, API_CLASS_COUNT);
    param.doc = field_text(lua, index, "doc", true, arena);
    switch (lua_getfield(lua, index, "default")) {
    case LUA_TNUMBER:
        param.kind = RULE_PARAM_NUMBER;
        break;
    case LUA_TBOOLEAN:
        param.kind = RULE_PARAM_BOOL;
        param.unit = UNIT_BOOL;
        param.number = lua_toboolean(lua, -1);
        break;
    case LUA_TSTRING:
        param.kind = RULE_PARAM_TEXT;
        param.text = field_copy(lua, -1, "default", arena);
        break;
    default:
        luaL_error(lua, "params.%s needs a default: a number, true, false or a text", param.name);
    }
    lua_pop(lua, 1);
    if (param.kind == RULE_PARAM_NUMBER)
        read_number_param(lua, index, &param, arena);
    return param;
}

static void read_params(lua_State *lua, int index, struct load *load)
{
    struct rule_info *info = &load->rule->info;

    switch (lua_getfield(lua, index, "params")) {
    case LUA_TNIL:
        break;
    case LUA_TTABLE:
        lua_pushnil(lua);
        while (lua_next(lua, -2)) {
            struct rule_param param = read_param(lua, load->arena);
            size_t            at = info->params.count;

            if (at == MAX_PARAMS)
                luaL_error(lua, "more than %d params", MAX_PARAMS);
            if (!vec_push(&info->params, load->arena, param))
                luaL_error(lua, "not enough memory");
            for (; at > 0 && strcmp(info->params.items[at - 1].name, param.name) > 0; at--)
                info->params.items[at] = info->params.items[at - 1];
            info->params.items[at] = param;
            lua_pop(lua, 1);
        }
        break;
    default:
        luaL_error(lua, "params must be a table");
    }
    lua_pop(lua, 1);
}

bool rule_id_fits(const char *rule_id, const char *file)
{
    struct str id = str_from(rule_id), stem = str_from(file);
    size_t     slash = str_find_last(stem, '/');

    if (!str_ends(stem, STR(".lua")))
        return true;
    if (slash < stem.len)
        stem = str_slice(stem, slash + 1, stem.len);
    stem.len -= 4;
    slash = str_find_last(id, '/');
    if (slash < id.len)
        id = str_slice(id, slash + 1, id.len);
    return str_equal(id, stem);
}

static void read_preset(lua_State *lua, int index, struct load *load)
{
    const char *name = field_text(lua, index, "preset", false, load->arena);
    int         preset = name ? preset_from_name(name) : PRESET_RECOMMENDED;

    if (preset < 0)
        luaL_error(lua, "preset is one of recommended, strict, all");
    load->rule->info.preset = (enum rule_preset)preset;
}

static void read_info(lua_State *lua, int index, struct load *load)
{
    struct rule_info *info = &load->rule->info;
    struct names      tags = { 0 }, specific = { 0 };
    int               severity;

    field_check_class(lua, index, "a rule", API_RULE, API_CLASS_COUNT);
    info->id = field_text(lua, index, "id", true, load->arena);
    if (!rule_id_fits(info->id, info->file))
        luaL_error(lua, "id is '%s', but the file is '%s'", info->id, info->file);
    if (field_number(lua, index, "api", 0) != RULE_API)
        luaL_error(lua, "api must be %d", RULE_API);
    info->version = field_text(lua, index, "version", true, load->arena);
    info->title = field_text(lua, index, "title", true, load->arena);
    info->category = field_text(lua, index, "category", true, load->arena);
    severity = severity_from_name(field_text(lua, index, "severity", true, load->arena));
    if (severity < 0)
        luaL_error(lua, "severity is one of info, warn, error, veto");
    info->severity = (enum severity)severity;
    read_preset(lua, index, load);
    info->cause = field_text(lua, index, "cause", false, load->arena);
    info->doc = field_text(lua, index, "doc", false, load->arena);
    info->format_mask = read_formats(lua, index, load->arena);
    read_needs(lua, index, load);
    field_names(lua, index, "tags", load->arena, &tags);
    field_names(lua, index, "more_specific_than", load->arena, &specific);
    memcpy(&info->tags, &tags.list, sizeof info->tags);
    memcpy(&info->more_specific_than, &specific.list, sizeof info->more_specific_than);
    read_params(lua, index, load);
    if (lua_getfield(lua, index, "check") != LUA_TFUNCTION)
        luaL_error(lua, "check must be a function");
    lua_pop(lua, 1);
}

void bind_read_rule(lua_State *lua, int index, struct rule *rule, struct arena *arena)
{
    struct load load = { .rule = rule, .arena = arena };

    index = lua_absindex(lua, index);
    read_info(lua, index, &load);
    lua_pushvalue(lua, index);
    rule->table = luaL_ref(lua, LUA_REGISTRYINDEX);
}

/* Pushes what the script returns. `mode` is lua_load's: only our own build is trusted with
 * bytecode. */
static void run_script(lua_State *lua, const char *file, struct str script, const char *mode)
{
    const char *name = lua_pushfstring(lua, "@%s", file);

    if (luaL_loadbufferx(lua, script.data, script.len, name, mode) != LUA_OK)
        lua_error(lua);
    lua_remove(lua, -2);
    set_environment(lua);
    lua_call(lua, 0, 1);
}

static int load_rule(lua_State *lua)
{
    struct load *load = lua_touserdata(lua, 1);

    run_script(lua, load->rule->info.file, load->script, "t");
    if (!field_is_tagged(lua, -1, "rule"))
        return luaL_error(lua, "%s: the file must return rule { … }", load->rule->info.file);
    bind_read_rule(lua, -1, load->rule, load->arena);
    return 0;
}

/* The comment the file begins with, without its dashes. */
static const char *first_comment(struct str script, struct arena *arena)
{
    struct str line = str_trim(str_cut(&script, '\n'));
    struct str rest = str_trim(str_slice(line, 2, line.len));

    return str_starts(line, STR("--")) ? arena_str(arena, rest).data : "";
}

void bind_push_rule(lua_State *lua, const struct rule *rule)
{
    const struct builtin_rule *builtin = rule->builtin;

    if (!builtin) {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, rule->table);
        return;
    }
    if (lua_rawgetp(lua, LUA_REGISTRYINDEX, builtin) != LUA_TNIL)
        return;
    lua_pop(lua, 1);
    run_script(lua, builtin->info.file, builtin->bytecode, "b");
    lua_pushvalue(lua, -1);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, builtin);
}

bool rule_load(struct rule *rule, const char *file, struct str script,
               const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    struct load     load = { rule, script, arena };
    struct sandbox *sandbox = sandbox_new(limits, arena, err);

    *rule = (struct rule) { 0 };
    if (!sandbox)
        return false;
    *rule = (struct rule) { .info = { .id = file, .title = "", .file = file }, .sandbox = sandbox };
    rule->info.summary = first_comment(script, arena);
    rule->error = sandbox_call(sandbox, load_rule, &load, arena);
    if (rule->error)
        rule->error = rule_message(rule, rule->error, arena);
    return true;
}

bool rule_take_builtin(struct rule *rule, const struct builtin_rule *builtin,
                       struct sandbox *sandbox, struct arena *arena, struct err *err)
{
    *rule = (struct rule) { .info = builtin->info, .builtin = builtin, .sandbox = sandbox };
    memset(&rule->info.params, 0, sizeof rule->info.params);
    for (size_t i = 0; i < builtin->info.params.count; i++) /* a copy, which settings may change */
        if (!vec_push(&rule->info.params, arena, builtin->info.params.items[i]))
            return err_memory(err, "the rules");
    return true;
}

void rule_free(struct rule *rule)
{
    if (!rule->builtin)
        sandbox_free(rule->sandbox);
    rule->sandbox = NULL;
}
