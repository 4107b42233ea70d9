/* Rules that attack: each fails with a message, in time, and leaves the process whole. */
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "base/trace.h"
#include "no_replay.h"
#include "rules/rule.h"

/* Little memory and much time: which of the two ends an attack must not hang on the load. */
static const struct rule_limits limits = { (size_t)4 << 20, 2000000, 5000000000 };

struct fixture {
    struct arena    arena;
    struct intern   names;
    struct facts    facts;
    struct rule     rule;
    struct rule_run run;
};

/* Runs a rule whose check has `body`; the message it failed with, or "". */
static const char *run_body(struct fixture *f, const char *body, const struct rule_limits *bounds)
{
    char             script[4096];
    struct rule_view view = {
        .facts = &f->facts, .format = "xspace", .framework = "jax", .replay = no_replay
    };
    struct err err = { 0 };

    *f = (struct fixture) { 0 };
    snprintf(script, sizeof script,
             "return rule { id = 'x', api = 1, version = '1', title = 't', category = 'c', "
             "severity = 'warn', check = function(p, cfg) %s end }",
             body);
    assert_true(intern_init(&f->names, &f->arena));
    facts_init(&f->facts, &f->arena, &f->names);
    assert_true(rule_load(&f->rule, "x.lua", str_from(script), bounds, &f->arena, &err));
    if (f->rule.error)
        return f->rule.error;
    assert_true(rule_run(&f->rule, &view, &f->arena, &f->run, &err));
    return f->run.outcome == RULE_FAILED ? f->run.reason : "";
}

static void finish(struct fixture *f)
{
    rule_free(&f->rule);
    arena_free(&f->arena);
}

TEST(attacks_fail)
{
    static const struct {
        const char *body, *message;
    } rows[] = {
        { "while true do end", "too long" },
        { "while true do pcall(function() while true do end end) end", "too long" },
        { "for i = 1, 1e9 do pcall(error) end", "too long" },
        { "local function f() return f() end return f()", "too long" },
        { "local function f() return 1 + f() end return f()", "not enough memory" },
        { "local t = setmetatable({}, { __gc = function() while true do end end })", "__gc" },
        { "local t = setmetatable({}, { __close = function() end })", "__close" },
        { "local t = setmetatable({}, { __mode = 'k' })", "__mode" },
        { "return (''):rep(1e18) .. nil", "nil value" },
        { "return ('a'):rep(1e9)", "rep makes at most" },
        { "local s = 'a' while true do s = s .. s end", "not enough memory" },
        { "local t = {} while true do t[#t + 1] = { 1, 2, 3, 4, 5, 6 } end", "not enough memory" },
        { "local t = {} for i = 1, 1e9 do t[i] = ('%d'):format(i) end", "not enough memory" },
        { "return ('a'):rep(40):find('(a+)+$b')", "" },
        { "return (('a'):rep(40) .. 'b'):match('^(a+)+$')", "too costly" },
        { "return ('a'):rep(28):find(('a?'):rep(28) .. ('a'):rep(28) .. 'b')", "" },
        { "table.move({}, 1, 1e15, 2)", "nil value" },
        { "table.insert(setmetatable({}, { __len = function() return 1e15 end }), 1, 1)",
          "plain table" },
        { "table.concat(setmetatable({}, { __index = tostring }), '', 1, 1e15)", "plain table" },
        { "table.concat({}, '', 1, 1e15)", "nil" },
        { "table.sort({ 3, 2, 1 }, function() while true do end end)", "too long" },
        { "table.unpack({}, 1, 1e9)", "too many" },
        { "load('return 1')", "nil value" },
        { "loadstring('return 1')", "nil value" },
        { "dofile('/etc/passwd')", "nil value" },
        { "require 'os'", "nil value" },
        { "os.exit(1)", "nil value" },
        { "io.open('/etc/passwd')", "nil value" },
        { "debug.sethook()", "nil value" },
        { "coroutine.wrap(function() end)()", "nil value" },
        { "collectgarbage('stop')", "nil value" },
        { "print('x')", "nil value" },
        { "math.random()", "nil value" },
        { "string.dump(function() end)", "nil value" },
        { "getmetatable('').__index = nil", "boolean" },
        { "setmetatable('', {})", "table expected" },
        { "next({})", "nil value" },
        { "x = 1", "global variable 'x'" },
        { "_G.x = 1", "nil value" },
        { "return ('%p'):format('x')", "%p" },
        { "return ('%s'):format({})", "texts and numbers" },
        { "error({})", "raised a table" },
        { "error()", "raised a nil" },
        { "error(nil)", "raised a nil" },
        { "return 5", "check returns" },
        { "return { 5 }", "check returns" },
        { "return finding { }", "condition is missing" },
        { "return finding { condition = 'c' }", "needs evidence" },
        { "return finding { condition = 'c', evidence = { { 'w', 0 / 0 } } }", "not finite" },
        { "return finding { condition = 'c', evidence = { { 'w', 1, 'parsec' } } }", "no unit" },
        { "return finding { condition = 'c', evidence = { { 'w', 1 } } }", "remedy is missing" },
        { "return finding { condition = 'c', evidence = { { 'w', 1 } }, remedy = { text = 'r' } }",
          "impact is missing" },
        { "return finding { colour = 1 }", "no field 'colour'" },
        { "return p.fact['step.medain_ns']", "did you mean 'step.median_ns'" },
        { "p.fact.x = 1", "cannot be changed" },
        { "return p:table('nonsense')", "no analysis makes a table" },
        { "p:whatif { { 'scael' } }", "did you mean 'scale'" },
        { "p:whatif { { 'scale', parts = 'lunch' } }", "no part" },
        { "p:whatif { { 'scale', name = '(' } }", "pattern" },
        { "return ('a'):find('(')", "pattern" },
        { "local t = {} t.t = t return finding(t)", "no field 't'" },
        { "impact.replay()", "" },
        { "fmt.ms(1 / 0)", "finite" },
        { "pcall(function() while true do end end)", "too long" },
        { "return pcall(function() while true do end end)", "check returns" },
        { "local l = {} for i = 1, 51 do l[i] = finding { condition = 'c', evidence = { { 'w', 1 } "
          "}, "
          "remedy = { text = 'r' }, impact = impact.none() } end return l",
          "more than 50 findings" },
        { "local e = {} for i = 1, 1e4 do e[i] = { 'scale' } end p:whatif(e)", "more than 200" },
        { "return finding { condition = ('c'):rep(70000), evidence = { { 'w', 1 } } }",
          "too long" },
        { "return finding { condition = 'a\\0b' }", "needs evidence" }, /* as names may be */
        { "return setmetatable({}, { __index = function() return finding {} end })", "" },
        { "return ipairs(setmetatable({}, { __index = function(_, i) return i end }))",
          "check returns" },
        { "for i in ipairs(setmetatable({}, { __index = function(_, i) return i end })) do end",
          "too long" },
        { "local t = {} for i = 1, 1e6 do t = { t } end return finding(t)", "not enough memory" },
        { "error(setmetatable({}, { __tostring = function() while true do end end }))",
          "raised a table" },
        { "return ('x'):rep(1e6):gsub('.', ('y'):rep(1e6))", "not enough memory" },
        { "while true do for x in ('x'):rep(1e6):gmatch('') do end end", "too long" },
    };

    int faults = 0;

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        int64_t        start_ns = trace_cpu_ns();
        const char    *message = run_body(&f, rows[i].body, &limits);

        if (!strstr(message, rows[i].message) || (!rows[i].message[0] && message[0])) {
            print_error("%s: '%s' lacks '%s'\n", rows[i].body, message, rows[i].message);
            faults++;
        }
        if (trace_cpu_ns() - start_ns > 8000000000)
            fail_msg("%s took too long", rows[i].body);
        finish(&f);
    }
    assert_int_equal(faults, 0);
}

/* Where instructions would last for hours, the clock ends a rule: also between calls of C. */
TEST(time_is_bounded)
{
    static const struct rule_limits brief = { (size_t)4 << 20, INT64_MAX, 20000000 };
    static const char *const bodies[] = { "while true do end", "while true do pcall(error) end",
                                          "while true do local s = ('a'):rep(1000) end" };

    for (size_t i = 0; i < ARRAY_COUNT(bodies); i++) {
        struct fixture f;
        int64_t        start_ns = trace_cpu_ns();

        assert_non_null(strstr(run_body(&f, bodies[i], &brief), "too long"));
        assert_true(trace_cpu_ns() - start_ns > 20000000);
        finish(&f);
    }
}

TEST(bytecode_is_refused)
{
    struct arena arena = { 0 };
    struct rule  rule;
    struct err   err = { 0 };

    assert_true(rule_load(&rule, "x.lua", STR("\x1bLua\x54"), &limits, &arena, &err));
    assert_non_null(strstr(rule.error, "binary"));
    rule_free(&rule);
    arena_free(&arena);
}

/* Lua seeds its hashes a state; nothing a rule can see may depend on that. */
TEST(runs_are_the_same)
{
    static const char body[] =
        "local s = '' local t = {} for i = 1, 50 do t['k' .. (i * 7919 % 101)] = i end "
        "for k, v in pairs(t) do s = s .. k .. v end "
        "return skip { reason = s .. tostring({}) .. tostring(print) .. tostring(pairs) }";
    char first[4096] = "";

    for (int i = 0; i < 5; i++) {
        struct fixture f;
        assert_string_equal(run_body(&f, body, &limits), "");
        assert_int_equal(f.run.outcome, RULE_SKIPPED);
        if (i == 0)
            snprintf(first, sizeof first, "%s", f.run.reason);
        assert_string_equal(f.run.reason, first);
        finish(&f);
    }
}

TEST(a_small_heap_is_told)
{
    struct rule_limits small = limits;

    for (small.memory_bytes = 1000; small.memory_bytes < 200000; small.memory_bytes += 1009) {
        struct arena arena = { 0 };
        struct rule  rule = { 0 };
        struct err   err = { 0 };

        if (!rule_load(&rule, "x.lua", STR("return rule { id = 'x' }"), &small, &arena, &err))
            assert_int_equal(err.code, ERR_LIMIT);
        else
            assert_non_null(rule.error);
        rule_free(&rule);
        arena_free(&arena);
    }
}
