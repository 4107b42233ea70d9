/* The bytes are what a broken process for rules of others sends: 'r' and a rule, or 'f' and what a
 * run found. What is taken can be priced and ranked. */
#include "fuzz.h"
#include "replay_half.h"

#include "rules/guest_code.h"
#include "rules/rank.h"

#include <stdlib.h>

static void price_all(struct rule_run *run, const struct facts *facts, struct arena *arena)
{
    struct rule_view view = {
        .facts = facts, .format = "xspace", .framework = "jax", .replay = replay_half
    };
    struct pricing    pricing;
    struct draft_list list = { 0 };

    pricing_start(&pricing, &view);
    for (size_t i = 0; i < run->drafts.count; i++) {
        struct err err = { 0 };

        if (run->drafts.items[i].finding.evidence.count == 0)
            abort();
        if (price_draft(&pricing, &run->drafts.items[i], arena, &err) &&
            !vec_push(&list.drafts, arena, run->drafts.items[i]))
            abort();
    }
    if (rank_claims(&pricing, &list, arena))
        rank_findings(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena    arena = { .budget_bytes = (size_t)256 << 20 };
    struct intern   names = { 0 };
    struct facts    facts;
    struct rule     rule = { .info.id = "fuzz" };
    struct rule_run run = { 0 };
    struct coder    coder = { .is_reading = true, .arena = &arena };

    if (len == 0)
        return 0;
    coder.in = (struct str) { (const char *)bytes + 1, len - 1 };
    if (!intern_init(&names, &arena))
        abort();
    facts_init(&facts, &arena, &names);
    if (bytes[0] == 'r')
        code_rule(&coder, &rule);
    else
        code_run(&coder, &rule, &run);
    if (coder_is_done(&coder))
        price_all(&run, &facts, &arena);
    arena_free(&arena);
    return 0;
}
