#include "rules/repl.h"

#include "analyze/study.h"
#include "rules/bind.h"
#include "rules/fields.h"
#include "rules/rank.h"
#include "rules/read_finding.h"
#include "rules/repl_print.h"
#include "rules/sandbox.h"
#include "rules/view.h"

#include <lauxlib.h>

#include <string.h>

enum { MOST_BYTES = 64 << 10 }; /* of a statement */

static const char CHUNK[] = "line";

struct repl {
    struct study     *study;
    struct repl_shape shape;
    struct rule_view  view;
    struct pricing    pricing;
    struct sandbox   *sandbox;
    struct rule       typed; /* the rule that findings without one belong to */
    struct text       pending;
    int               environment; /* what lines see and set: a reference in the registry */
};

/* One line at work. */
struct evaluation {
    struct repl        *repl;
    struct repl_answer *answer;
    struct arena       *arena;
    struct rule_run     run;  /* of findings that were typed */
    struct rule         rule; /* that was typed */
    bool                is_open, has_rule;
};

/* env = { p =, cfg = } above the globals */
static int make_environment(lua_State *lua)
{
    struct repl *repl = lua_touserdata(lua, 1);

    lua_newtable(lua); /* env */
    lua_newtable(lua); /* env meta */
    lua_pushglobaltable(lua);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2); /* env */
    lua_rawgeti(lua, LUA_REGISTRYINDEX, repl->sandbox->host);
    lua_getfield(lua, -1, "profile");
    lua_pushstring(lua, repl->view.format);
    lua_pushstring(lua, repl->view.framework);
    lua_call(lua, 2, 1); /* env host p */
    lua_setfield(lua, -3, "p");
    lua_pop(lua, 1); /* env */
    lua_newtable(lua);
    lua_setfield(lua, -2, "cfg");
    repl->environment = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

struct repl *repl_new(struct study *study, const struct repl_shape *shape, struct arena *arena,
                      struct err *err)
{
    struct repl *repl = arena_new(arena, struct repl);
    const char  *fault;

    if (!repl) {
        err_memory(err, "the rules");
        return NULL;
    }
    repl->study = study;
    repl->shape = *shape;
    repl->view = view_of_study(study);
    repl->pending.arena = arena;
    repl->typed.info = (struct rule_info) { .id = "typed",
                                            .title = "A finding",
                                            .category = "typed",
                                            .severity = SEVERITY_WARN,
                                            .file = CHUNK };
    pricing_start(&repl->pricing, &repl->view);
    repl->sandbox = sandbox_new(&rule_default_limits, arena, err);
    if (!repl->sandbox)
        return NULL;
    fault = sandbox_call(repl->sandbox, make_environment, repl, arena);
    if (!fault)
        return repl;
    err_set(err, ERR_LIMIT, "%s", fault);
    repl_free(repl);
    return NULL;
}

void repl_free(struct repl *repl)
{
    if (repl)
        sandbox_free(repl->sandbox);
}

/* Forgets lines that wait for more. */
static void repl_forget(struct repl *repl)
{
    repl->pending.len = 0;
}

static bool load_text(lua_State *lua, struct str text)
{
    return luaL_loadbufferx(lua, text.data, text.len, "=line", "t") == LUA_OK;
}

/* Pushes the chunk: an expression, or statements. False: it goes on. Raises for wrong ones. */
static bool load(lua_State *lua, const struct evaluation *evaluation)
{
    struct str  typed = text_str(&evaluation->repl->pending);
    struct text expression = { .arena = evaluation->arena };

    text_print(&expression, "return ");
    text_add(&expression, typed);
    if (load_text(lua, text_str(&expression)))
        return true;
    lua_pop(lua, 1);
    if (load_text(lua, typed))
        return true;
    if (!str_ends(str_from(lua_tostring(lua, -1)), STR("<eof>")))
        lua_error(lua);
    return false;
}

static bool is_fact_table(lua_State *lua, int index, const struct repl *repl)
{
    bool is_it;

    lua_rawgeti(lua, LUA_REGISTRYINDEX, repl->environment);
    lua_getfield(lua, -1, "p");
    if (!lua_istable(lua, -1)) {
        lua_pop(lua, 2);
        return false;
    }
    lua_getfield(lua, -1, "fact");
    is_it = lua_istable(lua, index) && lua_rawequal(lua, -1, index);
    lua_pop(lua, 3);
    return is_it;
}

/* finding { … }, skip { … }, or a list of findings. */
static bool is_outcome(lua_State *lua, int index)
{
    bool is_it = field_is_tagged(lua, index, "finding") || field_is_tagged(lua, index, "skip");

    if (is_it || !lua_istable(lua, index))
        return is_it;
    lua_rawgeti(lua, index, 1);
    is_it = field_is_tagged(lua, -1, "finding");
    lua_pop(lua, 1);
    return is_it;
}

static void show(lua_State *lua, int index, struct evaluation *evaluation)
{
    const struct repl *repl = evaluation->repl;

    if (field_is_tagged(lua, index, "rule")) {
        evaluation->rule = (struct rule) { .info.file = CHUNK, .sandbox = repl->sandbox };
        bind_read_rule(lua, index, &evaluation->rule, evaluation->arena);
        evaluation->has_rule = true;
    } else if (is_outcome(lua, index)) {
        read_outcome(lua, index, &repl->typed, evaluation->arena, &evaluation->run);
    } else if (is_fact_table(lua, index, repl)) {
        repl_print_facts(repl->view.facts, &evaluation->answer->text);
    } else {
        repl_print(lua, index, &repl->shape, &evaluation->answer->text);
    }
}

static int evaluate(lua_State *lua)
{
    struct evaluation *evaluation = lua_touserdata(lua, 1);

    if (!load(lua, evaluation)) {
        evaluation->is_open = true;
        return 0;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation->repl->environment);
    lua_setupvalue(lua, -2, 1);
    int first = lua_gettop(lua);
    lua_call(lua, 0, LUA_MULTRET);
    int last = lua_gettop(lua);
    for (int i = first; i <= last; i++)
        if (last > first || !lua_isnil(lua, i))
            show(lua, i, evaluation);
    return 0;
}

static bool add_findings(struct evaluation *evaluation, struct rule_run *run)
{
    struct draft_list list = { 0 };
    struct err        err = { 0 };

    for (size_t i = 0; i < run->drafts.count; i++) {
        struct draft *draft = &run->drafts.items[i];

        if (!price_draft(&evaluation->repl->pricing, draft, evaluation->arena, &err) ||
            !vec_push(&list.drafts, evaluation->arena, *draft)) {
            evaluation->answer->fault = arena_text(evaluation->arena, "%s", err.text);
            return false;
        }
        price_calibrate(&evaluation->repl->pricing,
                        &list.drafts.items[list.drafts.count - 1].finding.impact);
    }
    rank_findings(&list);
    for (size_t i = 0; i < list.drafts.count; i++)
        if (!vec_push(&evaluation->answer->findings, evaluation->arena,
                      list.drafts.items[i].finding))
            return false;
    return true;
}

/* What a typed rule or skip came to, in words. */
static bool tell_outcome(struct evaluation *evaluation, const struct rule_run *run, bool is_rule)
{
    struct text *text = &evaluation->answer->text;

    switch (run->outcome) {
    case RULE_QUIET:
        if (is_rule)
            text_print(text, "%s looked and found nothing to say.\n", evaluation->rule.info.id);
        return true;
    case RULE_FOUND:
        return true;
    case RULE_SKIPPED:
        text_print(text, "skipped: %s%s%s\n", run->reason, run->capture ? "; to record: " : "",
                   run->capture ? run->capture : "");
        return true;
    case RULE_FAILED:
        break;
    }
    evaluation->answer->fault = run->reason;
    return false;
}

static bool finish(struct evaluation *evaluation)
{
    struct rule_run run;
    struct err      err = { 0 };

    if (!tell_outcome(evaluation, &evaluation->run, false) ||
        !add_findings(evaluation, &evaluation->run))
        return false;
    if (!evaluation->has_rule)
        return true;
    if (!rule_run(&evaluation->rule, &evaluation->repl->view, evaluation->arena, &run, &err)) {
        evaluation->answer->fault = arena_text(evaluation->arena, "%s", err.text);
        return false;
    }
    return tell_outcome(evaluation, &run, true) && add_findings(evaluation, &run);
}

enum repl_outcome repl_line(struct repl *repl, const char *line, struct arena *arena,
                            struct repl_answer *answer)
{
    struct evaluation evaluation = { .repl = repl, .answer = answer, .arena = arena };
    size_t            budget_bytes = repl->sandbox->scratch.budget_bytes;

    *answer = (struct repl_answer) { .text.arena = arena };
    if (repl->pending.len + strlen(line) > MOST_BYTES) {
        repl_forget(repl);
        answer->fault = "the statement is too long";
        return REPL_FAULT;
    }
    if (repl->pending.len > 0)
        text_add_byte(&repl->pending, '\n');
    text_add(&repl->pending, str_from(line));
    arena_free(&repl->sandbox->scratch);
    repl->sandbox->scratch.budget_bytes = budget_bytes;
    repl->sandbox->view = &repl->view;
    answer->fault = sandbox_call(repl->sandbox, evaluate, &evaluation, arena);
    repl->sandbox->view = NULL;
    if (!answer->fault && evaluation.is_open)
        return REPL_MORE;
    repl_forget(repl);
    return !answer->fault && finish(&evaluation) ? REPL_DONE : REPL_FAULT;
}
