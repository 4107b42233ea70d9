/* rule_run: whether a rule can look at a profile, and what it says of it. */
#include "rules/rule.h"

#include "rules/bind.h"
#include "rules/names.h"
#include "rules/read_finding.h"
#include "rules/sandbox.h"

#include <lauxlib.h>

#include <string.h>

struct call {
    const struct rule      *rule;
    const struct rule_view *view;
    struct arena           *arena;
    struct rule_run        *run;
};

static void push_params(lua_State *lua, const struct rule_info *info)
{
    lua_newtable(lua);
    for (size_t i = 0; i < info->params.count; i++) {
        const struct rule_param *param = &info->params.items[i];
        switch (param->kind) {
        case RULE_PARAM_NUMBER:
            lua_pushnumber(lua, param->number);
            break;
        case RULE_PARAM_BOOL:
            lua_pushboolean(lua, param->number != 0);
            break;
        case RULE_PARAM_TEXT:
            lua_pushstring(lua, param->text);
            break;
        }
        lua_setfield(lua, -2, param->name);
    }
}

static int call_check(lua_State *lua)
{
    struct call    *call = lua_touserdata(lua, 1);
    struct sandbox *sandbox = sandbox_of(lua);

    bind_push_rule(lua, call->rule);
    lua_getfield(lua, -1, "check"); /* rule check */
    lua_rawgeti(lua, LUA_REGISTRYINDEX, sandbox->host);
    lua_getfield(lua, -1, "profile");
    lua_remove(lua, -2); /* rule check profile */
    lua_pushstring(lua, call->view->format);
    lua_pushstring(lua, call->view->framework);
    lua_call(lua, 2, 1); /* rule check p */
    push_params(lua, &call->rule->info);
    lua_call(lua, 2, 1); /* rule result */
    read_outcome(lua, -1, call->rule, call->arena, call->run);
    return 0;
}

/* Why a rule that needs `name` cannot look. */
static bool explain_absence(const struct facts *facts, const char *name, struct arena *arena,
                            struct rule_run *run)
{
    const struct absence *absence = facts_why_absent(facts, name);

    run->outcome = RULE_SKIPPED;
    run->capture = absence ? absence->capture : NULL;
    run->reason = absence ? absence->reason : arena_text(arena, "the profile has no %s", name);
    return run->reason != NULL;
}

const char *rule_message(const struct rule *rule, const char *message, struct arena *arena)
{
    if (str_starts(str_from(message), str_from(rule->info.file)))
        return message;
    const char *text = arena_text(arena, "%s: %s", rule->info.file, message);
    return text ? text : message;
}

bool rule_can_look(const struct rule *rule, const struct rule_view *view, struct arena *arena,
                   struct rule_run *run, bool *can_look, struct err *err)
{
    const struct rule_info *info = &rule->info;
    int                     format = rule_format_from_name(view->format);

    *run = (struct rule_run) { .outcome = RULE_QUIET };
    *can_look = false;
    if (format >= 0 && !(info->format_mask >> format & 1)) {
        run->outcome = RULE_SKIPPED;
        run->is_other_format = true;
        run->reason = arena_text(arena, "not for profiles of the format %s", view->format);
        return run->reason || err_memory(err, "the advice");
    }
    for (size_t i = 0; i < info->needs.count; i++) {
        const char *name = info->needs.items[i];
        if (facts_find(view->facts, name) || facts_find_table(view->facts, name))
            continue;
        return explain_absence(view->facts, name, arena, run) || err_memory(err, "the advice");
    }
    *can_look = true;
    return true;
}

bool rule_run(const struct rule *rule, const struct rule_view *view, struct arena *arena,
              struct rule_run *run, struct err *err)
{
    struct call call = { rule, view, arena, run };
    bool        can_look;

    if (!rule_can_look(rule, view, arena, run, &can_look, err))
        return false;
    if (!can_look)
        return true;
    rule->sandbox->view = view;
    const char *message = sandbox_call(rule->sandbox, call_check, &call, arena);
    rule->sandbox->view = NULL;
    if (message)
        *run = (struct rule_run) { .outcome = RULE_FAILED,
                                   .reason = rule_message(rule, message, arena) };
    return true;
}
