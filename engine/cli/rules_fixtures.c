#include "cli/rules_fixtures.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/fixture.h"
#include "cli/fixture_answer.h"
#include "rules/script_line.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FOLDERS = 16 };
static const double factors[] = { 0.5, 2 };

struct running {
    struct rule_set      set;
    struct arena        *arena; /* of the report */
    struct text         *report;
    struct fixtures_run *run;
};
/* One fixture, and how its expectations fare. */
struct case_run {
    struct running *running;
    struct fixture *fixture;
    bool           *holds; /* by expectation: as the fixture is */
};

/* Where a line and a column stand in a text. */
static size_t offset_of(struct str bytes, uint32_t line, uint32_t column)
{
    size_t at = 0;

    for (; line > 1 && at < bytes.len; at++)
        line -= bytes.data[at] == '\n';
    return at + column - 1;
}

static void report_fault(struct running *running, const struct fixture *fixture, uint32_t line,
                         uint32_t column, const char *message)
{
    running->run->fault_count++;
    script_line_print(running->report, fixture->path, fixture->file.bytes,
                      offset_of(fixture->file.bytes, line, column), message);
}

/* What kept the fixture from being run at all. */
static void report_broken(struct running *running, const struct fixture *fixture,
                          const struct err *err)
{
    struct err what = *err;
    char       line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

    if (!err->line) {
        running->run->fault_count++;
        text_print(running->report, "%s\n", err_format(err, line, sizeof line));
        return;
    }
    what.source[0] = '\0';
    what.line = 0;
    report_fault(running, fixture, err->line, err->column, err_format(&what, line, sizeof line));
}

static struct rule *find_rule(struct running *running, struct str id)
{
    for (size_t i = 0; i < running->set.rules.count; i++)
        if (str_equal(str_from(running->set.rules.items[i].info.id), id))
            return &running->set.rules.items[i];
    return NULL;
}

static struct rule_trial *trial_of(struct running *running, const struct rule *rule)
{
    struct rule_trials *trials = &running->run->trials;

    for (size_t i = 0; i < trials->list.count; i++)
        if (strcmp(trials->list.items[i].rule, rule->info.id) == 0)
            return &trials->list.items[i];
    return vec_push(&trials->list, running->arena, (struct rule_trial) { .rule = rule->info.id })
               ? &trials->list.items[trials->list.count - 1]
               : NULL;
}

static void report_answer(const struct case_run *run, const struct sketch_expect *expect,
                          const struct rule *rule, const struct answer *answer)
{
    struct text text = { .arena = run->running->arena };

    text_print(&text, "%s ", rule->info.id);
    answer_print(expect, answer, &text);
    text_add(&text, STR("; expected is "));
    answer_print_expected(expect, &text);
    report_fault(run->running, run->fixture, expect->number, expect->column,
                 text.data ? text.data : "does not hold");
}

/* Every rule, for "expect none"; else the one that is named. */
static bool is_meant(const struct sketch_expect *expect, const struct rule *rule)
{
    return !rule->error &&
           (expect->outcome == EXPECT_NONE || str_equal(str_from(rule->info.id), expect->rule));
}

static bool note_answer(struct running *running, const struct sketch_expect *expect,
                        const struct rule *rule, const struct answer *answer)
{
    struct rule_trial *trial = trial_of(running, rule);

    if (!trial)
        return false;
    trial->has_fired |= answer->outcome == RULE_FOUND;
    trial->has_kept_quiet |= answer->outcome == RULE_QUIET && expect->outcome == EXPECT_SILENT;
    return true;
}

static bool check_expect(const struct case_run *run, size_t at, struct study *study,
                         struct err *err)
{
    const struct sketch_expect *expect = &run->fixture->sketch.expects.items[at];
    struct running             *running = run->running;
    bool                        is_known = expect->outcome == EXPECT_NONE;

    run->holds[at] = true;
    for (size_t i = 0; i < running->set.rules.count; i++) {
        const struct rule *rule = &running->set.rules.items[i];
        struct answer      answer;

        if (!is_meant(expect, rule))
            continue;
        is_known = true;
        if (!answer_ask(rule, study, running->arena, &answer, err))
            return false;
        if (!answer_holds(expect, &answer)) {
            run->holds[at] = false;
            report_answer(run, expect, rule, &answer);
        } else if (!note_answer(running, expect, rule, &answer)) {
            return err_memory(err, "the fixtures");
        }
    }
    if (!is_known) {
        const char *message =
            arena_text(running->arena, "no rule here is called '%.*s'", STR_ARG(expect->rule));

        run->holds[at] = false;
        report_fault(running, run->fixture, expect->number, expect->column,
                     message ? message : "no such rule");
    }
    return true;
}

/* Expectations that name one rule, hold, and say more than that it is skipped. */
static struct rule *rule_to_shake(const struct case_run *run, size_t at)
{
    const struct sketch_expect *expect = &run->fixture->sketch.expects.items[at];

    if (!run->holds[at] || (expect->outcome != EXPECT_FINDING && expect->outcome != EXPECT_SILENT))
        return NULL;
    return find_rule(run->running, expect->rule);
}

/* Whether the expectation still holds for a study that was changed, or a rule that was. */
static bool still_holds(const struct case_run *run, size_t at, const struct rule *rule,
                        struct study *study, bool *holds, struct err *err)
{
    struct arena  scratch = { 0 };
    struct answer answer;
    bool          is_asked = answer_ask(rule, study, &scratch, &answer, err);

    *holds = is_asked && answer_holds(&run->fixture->sketch.expects.items[at], &answer);
    arena_free(&scratch);
    return is_asked;
}

static bool shake_param(const struct case_run *run, size_t at, struct rule *rule,
                        struct rule_param *param, struct study *study, struct err *err)
{
    struct rule_trial *trial = trial_of(run->running, rule);
    double             preset = param->number;
    bool               holds = true, is_done = true;

    if (!trial)
        return err_memory(err, "the fixtures");
    if (param->kind != RULE_PARAM_NUMBER || preset == 0 || trial_has_param(trial, param->name))
        return true;
    for (size_t f = 0; f < ARRAY_COUNT(factors) && holds && is_done; f++) {
        param->number = fmin(fmax(preset * factors[f], param->min), param->max);
        if (param->number != preset)
            is_done = still_holds(run, at, rule, study, &holds, err);
    }
    param->number = preset;
    if (is_done && !holds && !vec_push(&trial->params, run->running->arena, param->name))
        return err_memory(err, "the fixtures");
    return is_done;
}

static bool shake_params(const struct case_run *run, struct study *study, struct err *err)
{
    for (size_t at = 0; at < run->fixture->sketch.expects.count; at++) {
        struct rule *rule = rule_to_shake(run, at);

        for (size_t i = 0; rule && i < rule->info.params.count; i++)
            if (!shake_param(run, at, rule, &rule->info.params.items[i], study, err))
                return false;
    }
    return true;
}

/* Whether some rule has yet to notice a change of this fixture. */
static bool is_worth_shaking(const struct case_run *run)
{
    for (size_t at = 0; at < run->fixture->sketch.expects.count; at++) {
        const struct rule       *rule = rule_to_shake(run, at);
        const struct rule_trial *trial =
            rule ? trial_find(&run->running->run->trials, rule->info.id) : NULL;

        if (trial && !trial->is_noticed)
            return true;
    }
    return false;
}

static bool shake_times(const struct case_run *run, const struct recording_change *change,
                        struct err *err)
{
    struct input input;
    struct err   fault = { 0 };
    bool         is_done = true;

    /* What cannot be placed any more is no answer of a rule. */
    if (!fixture_study(run->fixture, change, &input, &fault))
        return fault.code != ERR_LIMIT || err_memory(err, "the fixtures");
    for (size_t at = 0; at < run->fixture->sketch.expects.count && is_done; at++) {
        struct rule       *rule = rule_to_shake(run, at);
        struct rule_trial *trial = rule ? trial_of(run->running, rule) : NULL;
        bool               holds = true;

        if (!trial)
            continue;
        trial->is_changed = true;
        is_done = still_holds(run, at, rule, &input.study, &holds, err);
        trial->is_noticed |= is_done && !holds;
    }
    input_free(&input);
    return is_done;
}

static bool can_change(const struct sketch *sketch, enum sketch_word word)
{
    for (size_t i = 0; i < sketch->lines.count; i++)
        if (sketch->lines.items[i].word == word && recording_can_change(&sketch->lines.items[i]))
            return true;
    return false;
}

static bool shake_all_times(const struct case_run *run, struct err *err)
{
    for (int word = 0; word < WORD_COUNT; word++) {
        struct recording_change change = { .word = (enum sketch_word)word };

        if (!can_change(&run->fixture->sketch, change.word))
            continue;
        for (size_t f = 0; f < ARRAY_COUNT(factors) && is_worth_shaking(run); f++) {
            change.factor = factors[f];
            if (!shake_times(run, &change, err))
                return false;
        }
    }
    return true;
}

static bool run_study(const struct case_run *run, struct study *study, struct err *err)
{
    for (size_t at = 0; at < run->fixture->sketch.expects.count; at++)
        if (!check_expect(run, at, study, err))
            return false;
    return shake_params(run, study, err);
}

static bool run_fixture(struct running *running, struct fixture *fixture, struct err *err)
{
    const struct recording_change unchanged = { .factor = 1 };
    struct case_run               run = { .running = running, .fixture = fixture };
    struct input                  input;
    struct err                    fault = { 0 };
    bool                          is_done;

    run.holds = arena_new_array(&fixture->arena, bool, fixture->sketch.expects.count + 1);
    if (!run.holds)
        return err_memory(err, "the fixtures");
    if (fixture->sketch.expects.count == 0) {
        report_fault(running, fixture, 1, 1, "the fixture expects nothing of any rule");
        return true;
    }
    if (!fixture_study(fixture, &unchanged, &input, &fault)) {
        report_broken(running, fixture, &fault);
        return true;
    }
    is_done = run_study(&run, &input.study, err);
    input_free(&input);
    return is_done && (fixture->sketch.profile.len || shake_all_times(&run, err));
}

static bool run_file(struct running *running, const char *path, struct err *err)
{
    struct fixture fixture;
    struct err     fault = { 0 };
    bool           is_done = true;

    running->run->fixture_count++;
    if (fixture_open(&fixture, path, &fault))
        is_done = run_fixture(running, &fixture, err);
    else
        report_broken(running, &fixture, &fault);
    fixture_close(&fixture);
    return is_done;
}

/* Folders that are links may lead back to where they stand. */
static bool is_link(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* A line of it may stand in the report: it is to be the pack's own. */
static bool report_link(struct running *running, const char *path)
{
    running->run->fixture_count++;
    running->run->fault_count++;
    script_line_print(running->report, path, STR(""), SIZE_MAX, "is no file of its folder");
    return true;
}

static bool run_folder(struct running *running, const char *folder, int depth, struct err *err)
{
    char **names;
    size_t count;

    if (!file_list(folder, running->arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_text(running->arena, "%s/%s", folder, names[i]);
        bool        is_done = true;

        if (!path)
            return err_memory(err, "the fixtures");
        if (file_is_directory(path))
            is_done = depth == MAX_FOLDERS || names[i][0] == '.' || is_link(path) ||
                      run_folder(running, path, depth + 1, err);
        else if (str_ends(str_from(path), STR(".synth")))
            is_done = file_is_plain(path) && file_is_inside(path, folder)
                          ? run_file(running, path, err)
                          : report_link(running, path);
        if (!is_done)
            return false;
    }
    return true;
}

bool rules_fixtures(const char *directory, struct arena *arena, struct text *report,
                    struct fixtures_run *run, struct err *err)
{
    struct running running = { .arena = arena, .report = report, .run = run };
    bool is_done = rule_set_add_directory(&running.set, directory, directory, &rule_default_limits,
                                          arena, err) &&
                   (!file_is_directory(directory) || run_folder(&running, directory, 0, err));

    rule_set_free(&running.set);
    return is_done;
}
