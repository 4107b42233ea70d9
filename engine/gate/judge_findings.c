/* judge_findings: advice that the baseline does not have, and what it had that is gone. */
#include "gate/judge.h"

#include <math.h>
#include <string.h>

static const double WORTH_SHARE = 0.01; /* of the step: findings below come and go by chance */

static bool was_known(const struct summary *before, const struct finding *finding)
{
    for (size_t i = 0; i < before->findings.count; i++)
        if (strcmp(before->findings.items[i].fingerprint, finding->fingerprint) == 0 ||
            strcmp(before->findings.items[i].rule, finding->rule) == 0)
            return true;
    return false;
}

static bool is_worth(const struct finding *finding)
{
    return !finding->hidden_by && finding->severity >= SEVERITY_WARN &&
           (!finding->impact.has_saving || finding->impact.resource ||
            finding->impact.share >= WORTH_SHARE);
}

static bool is_still_there(const struct advice *advice, const struct known_finding *known)
{
    for (size_t i = 0; i < advice->findings.count; i++)
        if (strcmp(advice->findings.items[i].rule, known->rule) == 0)
            return true;
    return false;
}

static int severity_limit(const char *name)
{
    for (int i = SEVERITY_INFO; i <= SEVERITY_VETO; i++)
        if (strcmp(name, severity_name((enum severity)i)) == 0)
            return i;
    return SEVERITY_VETO;
}

static bool add_check(struct judging *judging, const struct finding *finding)
{
    struct check check = {
        .id = arena_text(judging->arena, "finding/%s", finding->rule),
        .rule = finding->rule,
        .kind = CHECK_FINDING,
        .outcome = OUTCOME_FAIL,
        .title = arena_text(judging->arena, "new advice: %s", finding->title),
        .detail = finding->remedy_text,
    };

    if (finding->locations.count > 0) {
        check.file = finding->locations.items[0].file;
        check.line = finding->locations.items[0].line;
    }
    return judge_add(judging, check);
}

bool judge_findings(struct judging *judging)
{
    const struct advice *advice = &judging->after->advice;
    const char          *fail_on = judging->limits->fail_on;

    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (was_known(judging->before, finding) || !is_worth(finding))
            continue;
        if (!vec_push(&judging->result->added, judging->arena, finding))
            return false;
        if (fail_on && (int)finding->severity >= severity_limit(fail_on) &&
            !add_check(judging, finding))
            return false;
    }
    for (size_t i = 0; i < judging->before->findings.count; i++) {
        const struct known_finding *known = &judging->before->findings.items[i];

        if (known->severity >= SEVERITY_WARN && !is_still_there(advice, known) &&
            !vec_push(&judging->result->fixed, judging->arena, known))
            return false;
    }
    return true;
}
