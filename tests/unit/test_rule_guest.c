/* Rules in a process of their own: hostile ones fail alone, and bytes of a broken process are read
 * without harm. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "testing.h"

#include "base/trace.h"
#include "no_replay.h"
#include "rules/guest.h"
#include "rules/guest_code.h"

static const struct rule_limits limits = { (size_t)4 << 20, 2000000, 2000000000 };

/* A replay that is broken in C, and one that never ends: what no limit of Lua sees. */
static bool crash(void *context, const struct edit *edits, size_t count,
                  struct replay_result *result, struct err *err)
{
    (void)edits;
    (void)count;
    (void)result;
    (void)err;
    return *(volatile bool *)context;
}

static bool hang(void *context, const struct edit *edits, size_t count,
                 struct replay_result *result, struct err *err)
{
    volatile int turn = 0;

    (void)context;
    (void)edits;
    (void)count;
    (void)result;
    while (turn >= 0)
        turn = (turn + 1) & 0xffff;
    return err_set(err, ERR_LIMIT, "never");
}

/* As a machine that has other work to do. */
static bool wait_idly(void *context, const struct edit *edits, size_t count,
                      struct replay_result *result, struct err *err)
{
    const struct timespec time = { .tv_nsec = 150000000 };

    (void)context;
    (void)edits;
    (void)count;
    (void)result;
    nanosleep(&time, NULL);
    return err_set(err, ERR_INCONCLUSIVE, "no steps");
}

struct fixture {
    struct arena  arena;
    struct intern names;
    struct facts  facts;
};

static void fixture_make(struct fixture *f)
{
    *f = (struct fixture) { 0 };
    assert_true(intern_init(&f->names, &f->arena));
    facts_init(&f->facts, &f->arena, &f->names);
}

static struct rule script_of(struct fixture *f, const char *name, const char *body)
{
    const char *script =
        arena_text(&f->arena,
                   "-- Sees.\nreturn rule { id = '%s', api = 1, version = '1', title = 't', "
                   "category = 'c', severity = 'warn', params = { n = { default = 3, doc = 'd' } "
                   "}, check = function(p, cfg) %s end }",
                   name, body);

    return (struct rule) { .info.file = arena_text(&f->arena, "%s.lua", name),
                           .script = str_from(script) };
}

/* Loads and runs one rule per body apart, all in one batch. */
static void run_all(struct fixture *f, const char *const *bodies, size_t count,
                    replay_function *replay, struct rule_run *runs)
{
    struct rule       *rules = arena_new_array(&f->arena, struct rule, count);
    const struct rule *pointers[100];
    struct guest_runs  guests = { .rules = pointers, .runs = runs, .count = count };
    struct rule_limits brief = limits;
    struct rule_view   view = {
          .facts = &f->facts, .format = "xspace", .framework = "jax", .replay = replay
    };
    struct err err = { 0 };

    assert_true(count <= ARRAY_COUNT(pointers));
    for (size_t i = 0; i < count; i++) {
        rules[i] = script_of(f, "x", bodies[i]);
        pointers[i] = &rules[i];
    }
    guest_load(rules, count, &limits, &f->arena);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].error)
            fail_msg("%s: %s", bodies[i], rules[i].error);
        assert_string_equal(rules[i].info.id, "x");
        rules[i].info.params.items[0].number = 5;
    }
    if (replay == hang)
        brief.cpu_ns = 60000000;
    assert_true(guest_run(&guests, &view, &brief, &f->arena, &err));
}

/* Each fails with what it did; those behind it still run. */
TEST(attacks_fail_alone)
{
    static const struct {
        const char *body, *said;
    } rows[] = {
        { "while true do end", "too long" },
        { "while true do pcall(function() while true do end end) end", "too long" },
        { "pcall(function() while true do end end) return nil", "too long" },
        { "local function f() return 1 + f() end return f()", "not enough memory" },
        { "local s = 'a' while true do s = s .. s end", "not enough memory" },
        { "local t = {} while true do t[#t + 1] = { 1, 2, 3, 4 } end", "not enough memory" },
        { "return (('a'):rep(40) .. 'b'):match('^(a+)+$')", "too costly" },
        { "local t = setmetatable({}, { __gc = function() end })", "__gc" },
        { "error(setmetatable({}, { __tostring = function() while true do end end }))",
          "raised a table" },
        { "coroutine.wrap(function() end)()", "nil value" },
        { "load(string.char(27) .. 'Lua')", "nil value" },
        { "local l = {} for i = 1, 51 do l[i] = finding { condition = 'c', evidence = { { 'w', 1 } "
          "}, remedy = { text = 'r' }, impact = impact.none() } end return l",
          "more than 50 findings" },
        { "local l = setmetatable({}, { __index = function(_, i) return i end }) return l", "" },
        { "local e = {} for i = 1, 300 do e[i] = { 'scale' } end p:whatif(e)", "more than 200" },
        { "local l = {} for i = 1, 50 do l[i] = finding { title = ('x'):rep(60000), condition = "
          "('y'):rep(60000), evidence = { { 'w', 1 } }, remedy = { text = 'r' }, impact = "
          "impact.none() } end return l",
          "not enough memory" },
        { "return finding { condition = 'c', evidence = { { 'n', cfg.n } }, remedy = { text = 'r' "
          "}, impact = impact.exposed { ns = 2 } }",
          NULL },
    };
    const char     *bodies[ARRAY_COUNT(rows)];
    struct rule_run runs[ARRAY_COUNT(rows)];
    struct fixture  f;

    fixture_make(&f);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        bodies[i] = rows[i].body;
    run_all(&f, bodies, ARRAY_COUNT(rows), no_replay, runs);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!rows[i].said || !rows[i].said[0]) {
            assert_int_equal(runs[i].outcome, rows[i].said ? RULE_QUIET : RULE_FOUND);
            continue;
        }
        if (runs[i].outcome != RULE_FAILED || !strstr(runs[i].reason, rows[i].said))
            fail_msg("%s: %s", rows[i].body, runs[i].reason ? runs[i].reason : "no failure");
    }
    /* The parameter that was set here reached the rule there. */
    assert_float_equal(runs[ARRAY_COUNT(rows) - 1].drafts.items[0].finding.evidence.items[0].value,
                       5, 0);
    arena_free(&f.arena);
}

/* What breaks out of Lua ends the process, and no more. */
TEST(broken_processes_fail_alone)
{
    static const char *const bodies[] = { "p:whatif { { 'scale' } }", "return nil",
                                          "p:whatif { { 'scale' } }" };
    static const struct {
        replay_function *replay;
        const char      *said;
    } rows[] = { { crash, "process" }, { hang, "ran for too long" } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct rule_run runs[3];
        struct fixture  f;
        int64_t         start_ns = trace_now_ns();

        fixture_make(&f);
        run_all(&f, bodies, 3, rows[i].replay, runs);
        assert_int_equal(runs[0].outcome, RULE_FAILED);
        assert_non_null(strstr(runs[0].reason, rows[i].said));
        assert_int_equal(runs[1].outcome, RULE_QUIET);
        assert_int_equal(runs[2].outcome, RULE_FAILED);
        assert_true(trace_now_ns() - start_ns < 20000000000);
        arena_free(&f.arena);
    }
}

/* Each is ended after ten times its 50 ms, all of a folder after fifteen times; those of another
 * folder have their own. */
TEST(many_slow_rules_share_a_limit)
{
    static const char *const body = "p:whatif { { 'scale' } }";
    const struct rule_limits brief = { (size_t)4 << 20, 2000000, 50000000 };
    const struct rule       *rules[13];
    struct rule              rule = { .info = { .id = "x", .file = "a/x.lua", .format_mask = 15 } };
    struct rule       other = { .info = { .id = "x", .file = "b/x.lua", .format_mask = 15 } };
    struct rule_run   runs[13];
    struct guest_runs guests = { .rules = rules, .runs = runs, .count = 13 };
    struct fixture    f;
    struct err        err = { 0 };
    int64_t           start_ns = trace_now_ns();

    fixture_make(&f);
    struct rule_view view = {
        .facts = &f.facts, .format = "xspace", .framework = "jax", .replay = hang
    };
    rule.script = script_of(&f, "x", body).script;
    other.script = script_of(&f, "x", "return nil").script;
    for (size_t i = 0; i < 12; i++)
        rules[i] = &rule;
    rules[12] = &other;
    assert_true(guest_run(&guests, &view, &brief, &f.arena, &err));
    assert_non_null(strstr(runs[11].reason, "together"));
    assert_int_equal(runs[12].outcome, RULE_QUIET);
    assert_true(trace_now_ns() - start_ns < 5000000000);
    arena_free(&f.arena);
}

/* A rule that was kept from working for longer than it may work has not run for too long. */
TEST(waiting_is_no_work)
{
    static const char *const body = "p:whatif { { 'scale' } } for i = 1, 100000 do end return nil";
    const struct rule_limits brief = { (size_t)4 << 20, 2000000, 60000000 };
    struct rule              rule = { .info = { .id = "x", .file = "x.lua", .format_mask = 15 } };
    const struct rule       *rules[] = { &rule };
    struct rule_run          runs[1];
    struct guest_runs        guests = { .rules = rules, .runs = runs, .count = 1 };
    struct fixture           f;
    struct err               err = { 0 };

    fixture_make(&f);
    struct rule_view view = {
        .facts = &f.facts, .format = "xspace", .framework = "jax", .replay = wait_idly
    };
    rule.script = script_of(&f, "x", body).script;
    assert_true(guest_run(&guests, &view, &brief, &f.arena, &err));
    if (runs[0].outcome != RULE_QUIET)
        fail_msg("%s", runs[0].reason ? runs[0].reason : "found something");
    arena_free(&f.arena);
}

TEST(loading_is_apart_too)
{
    static const struct {
        const char *script, *said;
    } rows[] = {
        { "while true do end", "too long" },
        { "local s = 'a' while true do s = s .. s end", "not enough memory" },
        { "\x1bLua\x54", "binary" },
        { "return 5", "must return rule" },
        { "return rule { id = 'hot-op', api = 1 }", "but the file is" },
    };
    struct rule    rules[ARRAY_COUNT(rows)];
    struct fixture f;

    fixture_make(&f);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        rules[i] = (struct rule) { .info.file = "x.lua", .script = str_from(rows[i].script) };
    guest_load(rules, ARRAY_COUNT(rows), &limits, &f.arena);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_non_null(rules[i].error);
        if (!strstr(rules[i].error, rows[i].said))
            fail_msg("%s: %s", rows[i].script, rules[i].error);
    }
    arena_free(&f.arena);
}

/* An answer with something of everything. */
static struct str encoded_run(struct fixture *f, const struct rule *rule)
{
    struct coder    coder = { .out.arena = &f->arena };
    struct rule_run run = { .outcome = RULE_FOUND };
    struct draft    draft = {
           .finding = { .title = "t",
                        .category = "c",
                        .condition = "d",
                        .remedy_text = "r",
                        .subject = { .op = "conv", .rank = 1, .step = -1 } },
           .price = { .method = METHOD_REPLAY },
           .fallback = { .method = METHOD_EXPOSED, .ns = 1 },
           .rule = rule,
    };
    struct evidence row = { .what = "w", .value = 1 };
    struct location place = { .file = "train.py", .line = 3 };
    struct edit     edit = { .kind = EDIT_SCALE, .select.name = ".*" };

    assert_true(vec_push(&draft.finding.evidence, &f->arena, row));
    assert_true(vec_push(&draft.finding.locations, &f->arena, place));
    assert_true(vec_push(&draft.edits.edits, &f->arena, edit));
    assert_true(vec_push(&draft.claims.edits, &f->arena, edit));
    assert_true(vec_push(&run.drafts, &f->arena, draft));
    code_run(&coder, rule, &run);
    assert_false(coder.is_bad);
    return text_str(&coder.out);
}

static bool decodes(struct fixture *f, const struct rule *rule, struct str bytes,
                    struct rule_run *run)
{
    struct coder coder = { .is_reading = true, .in = bytes, .arena = &f->arena };

    *run = (struct rule_run) { 0 };
    code_run(&coder, rule, run);
    return coder_is_done(&coder);
}

TEST(answers_are_checked)
{
    struct fixture  f;
    struct rule     rule = { .info.id = "x" };
    struct rule_run run;

    fixture_make(&f);
    struct str whole = encoded_run(&f, &rule);
    assert_true(decodes(&f, &rule, whole, &run));
    assert_string_equal(run.drafts.items[0].finding.locations.items[0].file, "train.py");
    assert_string_equal(run.drafts.items[0].edits.edits.items[0].select.name, ".*");
    assert_string_equal(run.drafts.items[0].finding.rule, "x");
    for (size_t len = 0; len < whole.len; len++)
        assert_false(decodes(&f, &rule, str_slice(whole, 0, len), &run));
    for (size_t at = 0; at < whole.len; at++)
        for (unsigned byte = 0; byte < 256; byte += 51) { /* no byte breaks the reader */
            char *copy = arena_alloc(&f.arena, whole.len);

            memcpy(copy, whole.data, whole.len);
            copy[at] = (char)byte;
            (void)decodes(&f, &rule, (struct str) { copy, whole.len }, &run);
        }
    arena_free(&f.arena);
}
