#include "cli/rules_verbs.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/rules_fixtures.h"
#include "report/rules_markdown.h"
#include "rules/catalogue.h"
#include "rules/pack.h"

#include <stdio.h>
#include <string.h>

static bool is_id_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-';
}

/* "slow-decode" or "acme/slow-decode": letters, digits and dashes, at most one slash inside. */
static bool is_rule_id(const char *id)
{
    size_t len = strlen(id), slashes = 0;

    for (size_t i = 0; i < len; i++) {
        slashes += id[i] == '/';
        if (!is_id_byte(id[i]) && (id[i] != '/' || i == 0 || i + 1 == len))
            return false;
    }
    return len > 0 && slashes <= 1;
}

/* Without it an editor would offer Lua's own libraries, most of which rules do not have. */
static const char editor_settings[] =
    "{\n"
    "  \"runtime.version\": \"Lua 5.4\",\n"
    "  \"runtime.builtin\": {\n"
    "    \"basic\": \"disable\", \"coroutine\": \"disable\", \"debug\": \"disable\", \"io\": "
    "\"disable\",\n"
    "    \"math\": \"disable\", \"os\": \"disable\", \"package\": \"disable\", \"string\": "
    "\"disable\",\n"
    "    \"table\": \"disable\", \"utf8\": \"disable\"\n"
    "  },\n"
    "  \"workspace.library\": [\"" TFPROF_DATA_DIR "/lua\"]\n"
    "}\n";

static bool write_editor_settings(const char *directory, struct arena *arena, struct err *err)
{
    const char *path = arena_text(arena, "%s/.luarc.json", directory);

    if (!path)
        return err_set(err, ERR_LIMIT, "no memory left");
    return file_exists(path) || file_write(path, str_from(editor_settings), err);
}

/* In a pack the id begins with its name. */
static bool fits_pack(const char *id, const char *directory, struct arena *arena, struct err *err)
{
    struct pack_manifest manifest;
    struct str           pack = str_from(id), name;

    if (!pack_read(directory, arena, &manifest, err))
        return false;
    if (!manifest.name)
        return true;
    name = pack;
    pack = str_slice(pack, 0, str_find(pack, '/'));
    if (pack.len < name.len && str_equal(pack, str_from(manifest.name)))
        return true;
    name = pack.len < name.len ? str_slice(name, pack.len + 1, name.len) : name;
    return err_set(err, ERR_USAGE, "rules of the pack %s are called so: %s/%.*s, not %s",
                   manifest.name, manifest.name, STR_ARG(name), id);
}

static bool run_new(struct call *call, struct err *err)
{
    struct text script = { .arena = call->arena };
    const char *id, *name, *path, *directory = ".";

    if (call->operands.values.count < 1 || call->operands.values.count > 2)
        return err_set(err, ERR_USAGE,
                       "tfprof rules new takes an id and a directory: "
                       "tfprof rules new acme/slow-decode my-rules");
    id = call->operands.values.items[0];
    if (!is_rule_id(id))
        return err_set(err, ERR_USAGE,
                       "'%s' is no id: small letters, digits and dashes, "
                       "a pack before a slash if there is one",
                       id);
    if (call->operands.values.count == 2)
        directory = call->operands.values.items[1];
    if (!file_make_directory(directory, err) || !fits_pack(id, directory, call->arena, err))
        return false;
    name = strchr(id, '/') ? strchr(id, '/') + 1 : id;
    path = arena_text(call->arena, "%s/%s.lua", directory, name);
    if (!path)
        return err_set(err, ERR_LIMIT, "no memory left");
    if (file_exists(path))
        return err_set(err, ERR_USAGE, "%s is there already", path);
    rule_template(id, &script);
    if (!file_write(path, text_str(&script), err) ||
        !write_editor_settings(directory, call->arena, err))
        return false;
    script.len = 0;
    text_print(&script,
               "%s is a rule that works; make it yours, then\n"
               "  tfprof rules test %s\n"
               "  tfprof advise --rules %s PROFILE\n",
               path, directory, directory);
    return file_write("-", text_str(&script), err);
}

static bool has_directory(const struct call *call, struct err *err)
{
    return call->operands.values.count > 0 ||
           err_set(err, ERR_USAGE, "no directory of rules given");
}

static void print_count(struct text *text, uint32_t count, const char *what, const char *more)
{
    text_print(text, "%u %s%s%s", count, what, count == 1 ? "" : "s", more);
}

/* A directory that holds neither rules nor fixtures is a wrong one: nothing tested is no success.
 */
static bool test_directory(const char *directory, struct fixtures_run *fixtures,
                           struct rules_checked *checked, struct text *report, struct err *err)
{
    uint32_t before = checked->rule_count + checked->fault_count + fixtures->fixture_count +
                      fixtures->fault_count;

    fixtures->trials = (struct rule_trials) { 0 };
    if (!rules_fixtures(directory, report->arena, report, fixtures, err) ||
        !rules_check(directory, &fixtures->trials, report->arena, report, checked, err))
        return false;
    if (checked->rule_count + checked->fault_count + fixtures->fixture_count +
            fixtures->fault_count >
        before)
        return true;
    err_set(err, ERR_USAGE, "holds no rules and no fixtures: there is nothing to test");
    err_advise(err, "name the directory of the rules' *.lua files");
    return err_source(err, directory);
}

static bool run_test(struct call *call, struct err *err)
{
    struct text          text = { .arena = call->arena };
    struct rules_checked checked = { 0 };
    struct fixtures_run  fixtures = { 0 };

    if (!has_directory(call, err))
        return false;
    for (size_t i = 0; i < call->operands.values.count; i++)
        if (!test_directory(call->operands.values.items[i], &fixtures, &checked, &text, err))
            return false;
    checked.fault_count += fixtures.fault_count;
    print_count(&text, checked.rule_count, "rule", fixtures.fixture_count ? ", " : " tested, ");
    if (fixtures.fixture_count)
        print_count(&text, fixtures.fixture_count, "fixture", " tested, ");
    print_count(&text, checked.fault_count, "fault", ", ");
    text_print(&text, "%u untested\n", checked.untested_count);
    progress_end();
    project_warn_unfiltered(checked.is_unfiltered);
    call->status = checked.fault_count > 0;
    return file_write("-", text_str(&text), err);
}

static bool run_lint(struct call *call, struct err *err)
{
    struct text text = { .arena = call->arena };
    uint32_t    sum = 0;
    bool        is_unfiltered = false;

    if (!has_directory(call, err))
        return false;
    for (size_t i = 0; i < call->operands.values.count; i++) {
        struct rules_linted linted;

        if (!rules_lint(call->operands.values.items[i], call->arena, &text, &linted, err))
            return false;
        sum += linted.remark_count;
        is_unfiltered |= linted.is_unfiltered;
    }
    text_print(&text, "%u remark%s\n", sum, sum == 1 ? "" : "s");
    project_warn_unfiltered(is_unfiltered);
    call->status = sum > 0;
    return file_write("-", text_str(&text), err);
}

/* Which comes with its line. */
static void print_fault(const char *fault)
{
    if (fault)
        fputs(fault, stderr);
}

static bool run_docs(struct call *call, struct err *err)
{
    const struct rules_values *values = call->values;
    struct text                text = { .arena = call->arena };
    struct rule_list           list = { 0 };

    if (!has_directory(call, err))
        return false;
    if (!rules_of_directories(&call->operands, call->arena, &list, err))
        return false;
    rules_markdown(&list, &text);
    call->status = list.failed.count > 0;
    for (size_t i = 0; i < list.failed.count; i++)
        print_fault(list.failed.items[i].place);
    project_warn_unfiltered(list.is_unfiltered);
    return result_write(&values->result, &text, err);
}

static bool run_bench(struct call *call, struct err *err)
{
    static const char *const   outcomes[] = { "quiet", "found", "skipped", "failed" };
    const struct rules_values *values = call->values;
    struct input_values        how = { 0 };
    struct input               input;
    struct rule_costs          costs = { 0 };
    struct text                text = { .arena = call->arena };
    bool                       is_done;
    int64_t                    sum_ns = 0;

    if (!input_load(&input, &how, &call->operands, err))
        return false;
    is_done = rules_bench(&values->directories, &input.study, call->arena, &costs, err);
    for (size_t i = 0; i < costs.list.count; i++) {
        const struct rule_cost *cost = &costs.list.items[i];

        sum_ns += cost->best_ns;
        text_print(&text, "%10.3f ms  %-8s %s\n", (double)cost->best_ns / 1e6,
                   outcomes[cost->outcome], cost->rule);
        print_fault(cost->fault);
    }
    text_print(&text, "%10.3f ms  %zu rules\n", (double)sum_ns / 1e6, costs.list.count);
    is_done = is_done && result_write(&values->result, &text, err);
    input_free(&input);
    progress_end();
    project_warn_unfiltered(costs.is_unfiltered);
    return is_done;
}

static const struct rules_verb verbs[] = {
    { "new", run_new },   { "test", run_test },   { "lint", run_lint },
    { "docs", run_docs }, { "bench", run_bench },
};

const struct rules_verb *rules_verb_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}
