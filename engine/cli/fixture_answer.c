#include "cli/fixture_answer.h"

#include "rules/guest.h"
#include "rules/price.h"
#include "rules/view.h"

#include <math.h>

bool answer_ask(const struct rule *rule, struct study *study, struct arena *arena,
                struct answer *answer, struct err *err)
{
    struct rule_view  view = view_of_study(study);
    struct rule_run   run;
    struct guest_runs guests = { .rules = &rule, .runs = &run, .count = 1 };
    struct pricing    pricing;

    *answer = (struct answer) { 0 };
    if (!guest_run(&guests, &view, &rule_default_limits, arena, err))
        return false;
    answer->outcome = run.outcome;
    answer->reason = run.reason;
    pricing_start(&pricing, &view);
    for (size_t i = 0; i < run.drafts.count; i++) {
        struct draft *draft = &run.drafts.items[i];
        struct err    fault = { 0 };

        if (!price_draft(&pricing, draft, arena, &fault)) {
            answer->outcome = RULE_FAILED;
            answer->reason = arena_text(arena, "%s", fault.text);
            return answer->reason || err_memory(err, "the fixtures");
        }
        answer->title = i == 0 ? draft->finding.title : answer->title;
        if (!vec_push(&answer->impacts, arena, draft->finding.impact))
            return err_memory(err, "the fixtures");
    }
    return true;
}

static double impact_of(const struct impact *impact, bool is_share)
{
    if (!impact->has_saving)
        return 0;
    return is_share ? impact->share : impact->mid_ns;
}

static bool is_near(const struct sketch_expect *expect, const struct answer *answer)
{
    for (size_t i = 0; i < answer->impacts.count; i++)
        if (fabs(impact_of(&answer->impacts.items[i], expect->is_share) - expect->impact) <=
            expect->tolerance)
            return true;
    return !expect->has_impact;
}

bool answer_holds(const struct sketch_expect *expect, const struct answer *answer)
{
    switch (expect->outcome) {
    case EXPECT_FINDING:
        return answer->outcome == RULE_FOUND && is_near(expect, answer);
    case EXPECT_SILENT:
        return answer->outcome == RULE_QUIET;
    case EXPECT_SKIPPED:
        return answer->outcome == RULE_SKIPPED &&
               str_contains(str_from(answer->reason), expect->because);
    case EXPECT_NONE:
        return answer->outcome == RULE_QUIET || answer->outcome == RULE_SKIPPED;
    }
    return false;
}

/* "a finding with an impact of 12.0 %, more or less 2.00 %" */
void answer_print_expected(const struct sketch_expect *expect, struct text *text)
{
    static const char *const words[] = { "a finding", "silence", "to be skipped", "no finding" };
    enum unit                unit = expect->is_share ? UNIT_SHARE : UNIT_NS;

    text_print(text, "%s", words[expect->outcome]);
    if (expect->because.len)
        text_print(text, " because '%.*s'", STR_ARG(expect->because));
    if (!expect->has_impact)
        return;
    text_add(text, STR(" with an impact of "));
    unit_print(text, expect->impact, unit);
    text_add(text, STR(" +- "));
    unit_print(text, expect->tolerance, unit);
}

void answer_print(const struct sketch_expect *expect, const struct answer *answer,
                  struct text *text)
{
    enum unit unit = expect->is_share ? UNIT_SHARE : UNIT_NS;

    switch (answer->outcome) {
    case RULE_QUIET:
        text_add(text, STR("keeps quiet"));
        break;
    case RULE_FOUND:
        text_print(text, "finds '%s' with an impact of ", answer->title);
        unit_print(text, impact_of(&answer->impacts.items[0], expect->is_share), unit);
        break;
    case RULE_SKIPPED:
        text_print(text, "is skipped: %s", answer->reason);
        break;
    case RULE_FAILED:
        text_print(text, "fails: %s", answer->reason);
        break;
    }
}
