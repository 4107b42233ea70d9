/* rank: claims, order and fingerprints of findings. */
#include "rules/rank.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of the step nothing is worth a warning, whoever wants one. */
static const double SMALL_SHARE = 0.005;
/* What a warning and an error save at the low end of their range, of the step. */
static const double WARN_SHARE = 0.125, ERROR_SHARE = 0.2;

static bool has_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_more_specific(const struct draft *draft, const struct draft *than)
{
    return has_name(draft->rule->info.more_specific_than.items,
                    draft->rule->info.more_specific_than.count, than->rule->info.id);
}

static bool has_same_cause(const struct draft *a, const struct draft *b)
{
    const char *x = a->rule->info.cause, *y = b->rule->info.cause;

    return x && y && strcmp(x, y) == 0;
}

/* One cause at two places: two loops are two findings, where nothing says that their time is the
 * same. */
static bool are_apart(const struct draft *a, const struct draft *b)
{
    const char *x = a->finding.subject.op, *y = b->finding.subject.op;

    return has_same_cause(a, b) && x && y && strcmp(x, y) != 0;
}

/* Rules about one input pipeline name remedies of which one is enough: the nearest one is said. */
static bool are_alternatives(const struct draft *a, const struct draft *b)
{
    return strcmp(a->rule->info.category, "input") == 0 &&
           strcmp(b->rule->info.category, "input") == 0;
}

/* The more specific one, but not where it is about so little of the other's time that most is left
 * to say. What is vague has no time of its own: it is left beside what is about little of it. */
static struct draft *explains(const struct pricing *pricing, struct draft *specific,
                              struct draft *general)
{
    static const double LEAST = 0.25;
    bool                is_vague = rank_is_vague(&general->finding) && !pricing->has_device;

    if (are_alternatives(specific, general) ||
        specific->finding.impact.mid_ns >= LEAST * general->finding.impact.mid_ns)
        return specific;
    return is_vague ? NULL : general;
}

/* Of two that claim the same time, the one that keeps it; NULL: both do. */
static struct draft *keeper(const struct pricing *pricing, struct draft *a, struct draft *b,
                            struct arena *arena)
{
    bool a_wins = is_more_specific(a, b), b_wins = is_more_specific(b, a);
    int  overlap;

    if (!a_wins && !b_wins && !has_same_cause(a, b))
        return NULL;
    overlap = price_overlap(pricing, a, b, arena);
    if (overlap == 0 || (overlap < 0 && are_apart(a, b)))
        return NULL;
    if (a_wins != b_wins)
        return a_wins ? explains(pricing, a, b) : explains(pricing, b, a);
    return price_weight(&b->finding.impact) > price_weight(&a->finding.impact) ? b : a;
}

/* Findings of one rule never hide each other: they are about different subjects. */
static bool can_clash(const struct draft *a, const struct draft *b)
{
    return a->rule != b->rule && a->finding.impact.has_saving && b->finding.impact.has_saving &&
           !a->finding.impact.resource && !b->finding.impact.resource;
}

static struct draft *find_rule(struct draft_list *list, const char *id)
{
    for (size_t i = 0; i < list->drafts.count; i++)
        if (strcmp(list->drafts.items[i].finding.rule, id) == 0)
            return &list->drafts.items[i];
    return NULL;
}

/* The visible finding above a hidden one; chains end because each step was decided once. */
static struct draft *top_of(struct draft_list *list, struct draft *draft)
{
    for (size_t i = 0; i < list->drafts.count && draft->finding.hidden_by; i++) {
        struct draft *above = find_rule(list, draft->finding.hidden_by);
        if (!above)
            break;
        draft = above;
    }
    return draft;
}

static bool list_children(struct draft_list *list, struct arena *arena)
{
    for (size_t i = 0; i < list->drafts.count; i++) {
        struct draft *draft = &list->drafts.items[i];

        if (!draft->finding.hidden_by)
            continue;
        struct draft   *top = top_of(list, draft);
        struct finding *finding = &top->finding;
        draft->finding.hidden_by = finding->rule;
        draft->finding.impact.has_saving = false;
        if (!has_name(finding->children.items, finding->children.count, draft->finding.rule) &&
            !vec_push(&finding->children, arena, draft->finding.rule))
            return false;
    }
    return true;
}

bool rank_is_vague(const struct finding *finding)
{
    return finding->impact.method == METHOD_SHARE && finding->severity == SEVERITY_INFO;
}

/* Hardly worth a look, if it is sure. */
static bool is_small(const struct finding *finding)
{
    static const double HARDLY_SHARE = 0.05;

    return !finding->impact.resource && finding->impact.share < HARDLY_SHARE;
}

/* A fact without a price says nothing that the finding does not say, which is the more specific
 * one and has one worth a look. */
static bool is_said_by(const struct draft *fact, const struct draft *by)
{
    return !fact->finding.impact.has_saving && fact->finding.severity == SEVERITY_INFO &&
           by->finding.impact.has_saving && !by->finding.impact.resource &&
           !by->finding.hidden_by && !is_small(&by->finding) && is_more_specific(by, fact);
}

static void fold_facts(struct draft_list *list)
{
    for (size_t i = 0; i < list->drafts.count; i++)
        for (size_t j = 0; j < list->drafts.count; j++)
            if (is_said_by(&list->drafts.items[i], &list->drafts.items[j])) {
                list->drafts.items[i].finding.hidden_by = list->drafts.items[j].finding.rule;
                break;
            }
}

bool rank_claims(const struct pricing *pricing, struct draft_list *list, struct arena *arena)
{
    for (size_t i = 0; i < list->drafts.count; i++)
        for (size_t j = i + 1; j < list->drafts.count; j++) {
            struct draft *a = &list->drafts.items[i], *b = &list->drafts.items[j];
            if (!can_clash(a, b) || a->finding.hidden_by || b->finding.hidden_by)
                continue;
            struct draft *kept = keeper(pricing, a, b, arena);
            if (kept)
                (kept == a ? b : a)->finding.hidden_by = kept->finding.rule;
        }
    fold_facts(list);
    return list_children(list, arena);
}

static struct draft *first_veto(struct draft_list *list)
{
    for (size_t i = 0; i < list->drafts.count; i++)
        if (list->drafts.items[i].finding.severity == SEVERITY_VETO &&
            !list->drafts.items[i].finding.hidden_by)
            return &list->drafts.items[i];
    return NULL;
}

/* Kernels are as long as they are, whatever a step is. */
static bool survives_veto(const struct finding *finding)
{
    return finding->impact.resource || finding->severity == SEVERITY_VETO ||
           strcmp(finding->category, "validity") == 0 ||
           (!finding->impact.has_saving && strcmp(finding->category, "kernels") == 0);
}

/* Whether it had one. */
static bool lose_price(struct finding *finding)
{
    bool had_price = finding->impact.has_saving;

    if (survives_veto(finding))
        return false;
    finding->severity = SEVERITY_INFO;
    finding->impact.has_saving = false;
    finding->impact.method = METHOD_NONE;
    return had_price;
}

bool rank_veto(struct draft_list *list, struct arena *arena)
{
    struct draft   *veto = first_veto(list);
    struct evidence lost = { .what = "findings without a price for this reason",
                             .unit = UNIT_COUNT,
                             .share = NAN };

    for (size_t i = 0; veto && i < list->drafts.count; i++)
        lost.value += lose_price(&list->drafts.items[i].finding);
    return lost.value <= 0 || vec_push(&veto->finding.evidence, arena, lost);
}

/* Order: vetoes, without which nothing else is read right; priced by step time, priced by another
 * resource, what is wrong without a price, facts of which an unknown share goes and what is small,
 * the likely more first, then the rest, hidden ones last. */
static int rank_class(const struct finding *finding)
{
    if (finding->hidden_by)
        return 6;
    if (finding->severity == SEVERITY_VETO)
        return 0;
    if (rank_is_vague(finding) ||
        (finding->impact.has_saving && is_small(finding) && finding->severity == SEVERITY_INFO))
        return 4;
    if (finding->impact.has_saving)
        return finding->impact.resource ? 2 : 1;
    return finding->severity >= SEVERITY_WARN ? 3 : 5;
}

/* What is about the limit that the verdict names is said before other things without a price. */
static const struct {
    const char *verdict, *category;
} fitting[] = {
    { "input-bound", "input" },        { "compile-bound", "compile" },
    { "host-bound", "host" },          { "host-bound", "idle" },
    { "imbalanced", "communication" }, { "communication-bound", "communication" },
    { "copy-bound", "copies" },        { "compute-bound", "kernels" },
    { "compute-bound", "precision" },  { "memory-bound", "kernels" },
    { "memory-bound", "precision" },
};

void rank_verdict(struct draft_list *list, const char *class_name)
{
    for (size_t i = 0; i < list->drafts.count; i++) {
        struct draft *draft = &list->drafts.items[i];

        for (size_t j = 0; j < sizeof fitting / sizeof *fitting; j++)
            draft->is_of_verdict |= strcmp(fitting[j].verdict, class_name) == 0 &&
                                    strcmp(fitting[j].category, draft->finding.category) == 0;
    }
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Of two vague ones: computing is what the program is for, Python and waits around it are not. Of
 * what such findings named, mending the flaws of the kept programs saved 0.34 where it was
 * computing (260 findings), and 0.49 elsewhere (102): a finding whose rule was not the right one
 * saved nothing. */
static double rank_weight(const struct finding *finding)
{
    static const double FOR_ITS_OWN_SAKE = 0.7;

    return price_weight(&finding->impact) *
           (rank_is_vague(finding) && strcmp(finding->category, "kernels") == 0 ? FOR_ITS_OWN_SAKE
                                                                                : 1);
}

static int compare_drafts(const void *x, const void *y)
{
    const struct draft   *of_a = x, *of_b = y;
    const struct finding *a = &of_a->finding, *b = &of_b->finding;

    return IN_ORDER(COMPARE(rank_class(a), rank_class(b)), COMPARE(rank_weight(b), rank_weight(a)),
                    COMPARE(of_b->is_of_verdict, of_a->is_of_verdict),
                    COMPARE(b->severity, a->severity), compare_texts(a->rule, b->rule),
                    compare_texts(a->subject.op, b->subject.op), compare_texts(a->title, b->title));
}

/* FNV-1a over the text without its digits, which name instances, not programs. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        if (*text < '0' || *text > '9')
            hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (hash ^ 0xff) * 1099511628211u;
}

static void set_fingerprint(struct finding *finding)
{
    const struct subject *subject = &finding->subject;
    uint64_t              hash = 14695981039346656037u;

    hash = hash_text(hash, finding->rule);
    hash = hash_text(hash, subject->op);
    hash = hash_text(hash, subject->kernel);
    hash = hash_text(hash, subject->device);
    hash = hash_text(hash, subject->scope);
    snprintf(finding->fingerprint, sizeof finding->fingerprint, "%016llx",
             (unsigned long long)hash);
}

void rank_fingerprints(struct draft_list *list)
{
    for (size_t i = 0; i < list->drafts.count; i++)
        set_fingerprint(&list->drafts.items[i].finding);
}

/* How loud a finding may be: only what is most probably worth it, by more than a guess, warns. */
static enum severity loudest(const struct draft *draft)
{
    const struct impact *impact = &draft->finding.impact;
    double               low_share;

    if (!impact->has_saving || impact->resource)
        return SEVERITY_VETO;
    if (impact->share < SMALL_SHARE)
        return SEVERITY_INFO;
    low_share = impact->share * impact->low_ns / impact->mid_ns;
    if (draft->keeps_severity)
        return SEVERITY_ERROR;
    if (impact->confidence == CONFIDENCE_LOW)
        return SEVERITY_INFO;
    if (low_share >= ERROR_SHARE)
        return SEVERITY_ERROR;
    return low_share >= WARN_SHARE ? SEVERITY_WARN : SEVERITY_INFO;
}

void rank_findings(struct draft_list *list)
{
    /* How loud they are is part of the order. */
    for (size_t i = 0; i < list->drafts.count; i++) {
        struct draft *draft = &list->drafts.items[i];

        if (draft->finding.severity != SEVERITY_VETO && draft->finding.severity > loudest(draft))
            draft->finding.severity = loudest(draft);
    }
    if (list->drafts.count > 0)
        qsort(list->drafts.items, list->drafts.count, sizeof *list->drafts.items, compare_drafts);
    for (size_t i = 0; i < list->drafts.count; i++)
        list->drafts.items[i].finding.rank = (uint32_t)i + 1;
}
