/* The bytes are a rule's file: it loads or says why, and its check ends with one of four outcomes.
 */
#include "fuzz.h"
#include "replay_half.h"

#include "rules/rule.h"

#include <math.h>
#include <stdlib.h>

static void check_finding(const struct draft *draft)
{
    if (draft->finding.evidence.count == 0 || !draft->finding.remedy_text ||
        !draft->finding.condition || !draft->finding.title)
        abort();
    for (size_t i = 0; i < draft->finding.evidence.count; i++)
        if (!draft->finding.evidence.items[i].text &&
            !isfinite(draft->finding.evidence.items[i].value))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct rule_limits limits = { (size_t)8 << 20, 200000, 200000000 };
    struct arena                    arena = { .budget_bytes = (size_t)64 << 20 };
    struct intern                   names = { 0 };
    struct facts                    facts;
    struct rule                     rule = { 0 };
    struct rule_run                 run = { 0 };
    struct err                      err = { 0 };
    struct str                      script = { (const char *)bytes, len };

    if (!intern_init(&names, &arena))
        abort();
    facts_init(&facts, &arena, &names);
    struct rule_view view = {
        .facts = &facts, .format = "xspace", .framework = "jax", .replay = replay_half
    };
    if (rule_load(&rule, "fuzz.lua", script, &limits, &arena, &err) && !rule.error &&
        rule_run(&rule, &view, &arena, &run, &err))
        for (size_t i = 0; i < run.drafts.count; i++)
            check_finding(&run.drafts.items[i]);
    rule_free(&rule);
    arena_free(&arena);
    return 0;
}
