/* price: impact of findings, as docs/checkers.md describes the methods. */
#include "rules/price.h"

#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"

#include <math.h>
#include <string.h>

/* What is likely, of what is possible at most. */
static const double REPLAY_LOW = 0.7, REPLAY_MID = 0.95;
static const double EXPOSED_LOW = 0.5, EXPOSED_MID = 0.75;
static const double ROOFLINE_LOW = 0.75, ROOFLINE_MID = 0.875;
static const double SHARE_LOW = 0, SHARE_MID = 0.30, SHARE_HIGH = 1;

/* A replay that is further off the recording proves less. */
static const double DOUBTFUL_ERROR = 0.05;

/* A saving this many times the wait for input is what freed cores are to give: a guess. */
static const double BEYOND_WAIT = 3;

/* A kernel that takes no time worth mention is still launched. */
static const double LEAST_FACTOR = 0.001;

/* What recorded pairs of programs say of a method's word, in log odds of the share of the step. */
enum where { WHERE_HOST, WHERE_DEVICE };
static const struct calibrated {
    double shift, low, high;
} calibrated[][METHOD_REPLAY + 1][CONFIDENCE_HIGH + 1] = {
#define CALIBRATED(where, method, confidence, shift, low, high, pairs)                             \
    [WHERE_##where][METHOD_##method][CONFIDENCE_##confidence] = { shift, low, high },
#define BEHIND(where, kind, worth, pairs)
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
};

/* And what a finding behind the first was worth beside it, of what it says: it often sees the first
 * one's time in another way, and of what a bound names most is needed. */
enum behind { BEHIND_WARNING, BEHIND_NOTE, BEHIND_BOUND };
static const double behind_worth[][BEHIND_BOUND + 1] = {
#define CALIBRATED(where, method, confidence, shift, low, high, pairs)
#define BEHIND(where, kind, worth, pairs) [WHERE_##where][BEHIND_##kind] = (worth),
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
};
static const double BOUND_POWER = 4;       /* as in tests/bench/calibrate */
static const double REST_DOUBT = 0.5;      /* as there */
static const double LARGEST_SHARE = 0.995; /* no recording tells a larger one from it */

void pricing_start(struct pricing *pricing, const struct rule_view *view)
{
    struct replay_result result = { 0 }, probed = { 0 };
    double               accelerators;
    struct edit          probe = { .kind = EDIT_SCALE, .factor = 1, .select.host = NO_ID };

    *pricing = (struct pricing) { .view = view };
    pricing->can_replay = view->replay(view->replay_context, NULL, 0, &result, &pricing->why_not);
    pricing->replayed_ns = result.step_ns;
    pricing->has_device =
        facts_get(view->facts, "coverage.accelerators", &accelerators) && accelerators > 0;
    pricing->has_path = pricing->can_replay &&
                        view->replay(view->replay_context, &probe, 1, &probed, &pricing->why_not);
    if (!facts_get(view->facts, "step.ns", &pricing->step_ns) &&
        !facts_get(view->facts, "step.median_ns", &pricing->step_ns))
        pricing->step_ns = pricing->can_replay ? result.step_ns : NAN;
}

static bool replay(const struct pricing *pricing, const struct edit *edits, size_t count,
                   struct replay_result *result, struct err *err)
{
    return pricing->view->replay(pricing->view->replay_context, edits, count, result, err);
}

/* Edits of the pipeline's stages also free cores, and EDIT_STEP names no time of the path. */
static bool is_beyond_path(enum edit_kind kind)
{
    return kind == EDIT_STEP || kind == EDIT_STAGE_PARALLEL || kind == EDIT_STAGE_SCALE;
}

/* The time a step that the selects of `edits` cover; infinity where that is no limit.
 * `recorded_ns`: the same with what recording took of the host; 0: not known. */
static bool selected_ns(const struct pricing *pricing, const struct edit_list *list, double *ns,
                        double *recorded_ns, struct err *err)
{
    *ns = *recorded_ns = 0;
    for (size_t i = 0; i < list->edits.count; i++) {
        struct replay_result result = { 0 };
        if (is_beyond_path(list->edits.items[i].kind)) {
            *ns = INFINITY;
            *recorded_ns = 0;
            return true;
        }
        if (!replay(pricing, &list->edits.items[i], 1, &result, err))
            return false;
        *ns += result.selected_ns;
        *recorded_ns += result.recorded_ns;
    }
    return true;
}

static void set_saving(struct impact *impact, double low, double mid, double high)
{
    impact->has_saving = true;
    impact->low_ns = low;
    impact->mid_ns = mid;
    impact->high_ns = high;
    impact->model_ns = mid;
}

/* A rule may know the least and the most. */
static void set_ends(struct impact *impact, const struct price_request *price)
{
    if (!isnan(price->high_ns))
        impact->high_ns = price->high_ns;
    if (!isnan(price->low_ns))
        impact->low_ns = price->low_ns;
    if (!isnan(price->low_ns) || !isnan(price->high_ns))
        impact->mid_ns = (impact->low_ns + impact->high_ns) / 2;
    impact->model_ns = impact->mid_ns;
}

/* What the rule names is the most that can go, or what it gives as the most. */
static void price_by_formula(const struct price_request *price, struct impact *impact)
{
    double ns = price->ns, gap, s = price->speedup;

    impact->method = price->method;
    impact->most_ns = isnan(price->high_ns) ? ns : fmax(ns, price->high_ns);
    switch (price->method) {
    case METHOD_NONE:
    case METHOD_REPLAY:
        impact->method = METHOD_NONE;
        return;
    case METHOD_EXPOSED:
        set_saving(impact, EXPOSED_LOW * ns, EXPOSED_MID * ns, ns);
        set_ends(impact, price);
        return;
    case METHOD_ROOFLINE:
        gap = fmax(0, ns - price->floor_ns);
        set_saving(impact, ROOFLINE_LOW * gap, ROOFLINE_MID * gap, gap);
        set_ends(impact, price);
        return;
    case METHOD_AMDAHL:
        set_saving(impact, ns * (1 - 1 / (1 + (s - 1) / 2)), ns * (1 - 1 / (1 + 0.75 * (s - 1))),
                   ns * (1 - 1 / s));
        return;
    case METHOD_SHARE:
        set_saving(impact, SHARE_LOW * ns, SHARE_MID * ns, SHARE_HIGH * ns);
        impact->model_ns = ns; /* what it is a bound of */
        impact->confidence = CONFIDENCE_LOW;
        return;
    }
}

/* Without a timeline only edits that say outright what the step then takes. */
static bool can_replay(const struct pricing *pricing, const struct edit_list *list)
{
    for (size_t i = 0; i < list->edits.count && !pricing->has_path; i++)
        if (list->edits.items[i].kind != EDIT_STEP)
            return false;
    return pricing->can_replay;
}

/* Does an edit of input stages save mostly what the step does not wait for? */
static bool is_guess(const struct pricing *pricing, const struct edit_list *list, double saving)
{
    double wait_ns = 0;

    for (size_t i = 0; i < list->edits.count; i++)
        if (list->edits.items[i].kind == EDIT_STAGE_PARALLEL ||
            list->edits.items[i].kind == EDIT_STAGE_SCALE)
            return facts_get(pricing->view->facts, "part.input_ns", &wait_ns) &&
                   saving > BEYOND_WAIT * wait_ns;
    return false;
}

static bool replay_graph(const struct pricing *pricing, const struct edit_list *list,
                         struct graph_replay_result *result)
{
    return pricing->view->replay_graph &&
           pricing->view->replay_graph(pricing->view->replay_context, list->edits.items,
                                       list->edits.count, result);
}

/* Says what is replayed, so that anyone can try it. */
static bool show_edits(struct draft *draft, struct arena *arena)
{
    for (size_t i = 0; i < draft->edits.edits.count; i++) {
        struct text text = { .arena = arena };

        edit_print(&draft->edits.edits.items[i], &text);
        if (!text_is_whole(&text) || !vec_push(&draft->finding.edits, arena, text.data))
            return false;
    }
    return true;
}

/* An accelerator's work in the graph of all events, where there is one; else on the path of the
 * step. */
static bool price_by_replay(const struct pricing *pricing, struct draft *draft, struct arena *arena,
                            struct err *err)
{
    struct impact             *impact = &draft->finding.impact;
    struct graph_replay_result after;
    struct replay_result       result = { 0 };
    double                     error, saving;

    if (!replay(pricing, draft->edits.edits.items, draft->edits.edits.count, &result, err))
        return false;
    saving = fmax(0, pricing->replayed_ns - result.step_ns);
    if (replay_graph(pricing, &draft->edits, &after)) {
        struct evidence row = { .what = "the step, scheduled again with this changed",
                                .value = after.step_ns,
                                .unit = UNIT_NS,
                                .share = NAN };

        saving = fmax(0, after.saved_ns);
        if (!vec_push(&draft->finding.evidence, arena, row))
            return err_memory(err, "the advice");
    }
    if (!show_edits(draft, arena))
        return err_memory(err, "the advice");
    impact->method = METHOD_REPLAY;
    set_saving(impact, REPLAY_LOW * saving, REPLAY_MID * saving, saving);
    impact->model_ns = saving;
    if (facts_get(pricing->view->facts, "replay.error", &error) && error > DOUBTFUL_ERROR &&
        impact->confidence > CONFIDENCE_LOW)
        impact->confidence--;
    if (is_guess(pricing, &draft->edits, saving))
        impact->confidence = CONFIDENCE_LOW;
    return true;
}

/* Claims are of work that is gone, and so are the calls that launched it. What only becomes faster
 * is still launched: at most it takes no time. */
static bool replay_claims(const struct pricing *pricing, const struct draft *draft,
                          struct graph_replay_result *without)
{
    enum { MOST_CLAIMS = 16 };
    bool is_faster = draft->price.method == METHOD_AMDAHL || draft->price.method == METHOD_ROOFLINE;
    struct edit_list list = draft->claims;
    struct edit      edits[MOST_CLAIMS];

    if (is_faster && list.edits.count <= MOST_CLAIMS) {
        memcpy(edits, list.edits.items, list.edits.count * sizeof *edits);
        for (size_t i = 0; i < list.edits.count; i++)
            edits[i].factor = LEAST_FACTOR;
        list.edits.items = edits;
    }
    return replay_graph(pricing, &list, without);
}

static void cap(struct impact *impact, double ns)
{
    impact->low_ns = fmin(impact->low_ns, ns);
    impact->mid_ns = fmin(impact->mid_ns, ns);
    impact->high_ns = fmin(impact->high_ns, ns);
    impact->model_ns = fmin(impact->model_ns, ns);
    impact->most_ns = fmin(impact->most_ns, ns);
    impact->within_ns = fmin(impact->within_ns, ns);
}

/* Recorded times, in a step without what recording took of the host. */
static void scale_impact(struct impact *impact, double factor)
{
    impact->low_ns *= factor;
    impact->mid_ns *= factor;
    impact->high_ns *= factor;
    impact->model_ns *= factor;
    impact->most_ns *= factor;
}

/* What of the named step an accelerator has nothing to do; INFINITY: not told. */
static double idle_ns(const struct pricing *pricing)
{
    double sum_ns = 0, ns;

    for (int part = 0; part < PART_COUNT; part++) {
        if (part == PART_COMPUTE || part == PART_COMMUNICATION || part == PART_COPY)
            continue;
        if (!facts_get(pricing->view->facts, part_ns_fact((enum part)part), &ns))
            return INFINITY;
        sum_ns += ns;
    }
    return sum_ns;
}

/* Never more than the cause's share of the path, nor than the step; of an accelerator's work never
 * more than the graph of all events gives back without it, and of its idle time, which is counted
 * over all steps, no more than the named one has. */
static bool cap_impact(const struct pricing *pricing, const struct draft *draft,
                       struct impact *impact, struct err *err)
{
    const struct edit_list *about = draft->claims.edits.count > 0 ? &draft->claims : &draft->edits;
    struct graph_replay_result without;
    double                     ns = INFINITY, recorded_ns = 0;

    if (!(impact->method == METHOD_REPLAY &&
          edits_change_calls(draft->edits.edits.items, draft->edits.edits.count)) &&
        can_replay(pricing, about) && about->edits.count > 0 &&
        !selected_ns(pricing, about, &ns, &recorded_ns, err))
        return false;
    if (impact->method != METHOD_REPLAY && !impact->resource && recorded_ns > 0 && ns < INFINITY)
        scale_impact(impact, ns / recorded_ns);
    cap(impact, ns);
    if (draft->claims.edits.count > 0 && !impact->resource &&
        replay_claims(pricing, draft, &without))
        cap(impact, fmax(0, without.saved_ns));
    if (pricing->has_device && !impact->resource && draft->finding.category &&
        strcmp(draft->finding.category, "idle") == 0)
        cap(impact, idle_ns(pricing));
    if (!isnan(pricing->step_ns) && !impact->resource)
        cap(impact, pricing->step_ns);
    return true;
}

static bool tell_fallback(const struct pricing *pricing, struct draft *draft, struct arena *arena)
{
    draft->finding.condition =
        arena_text(arena, "%s; priced without replay: %s", draft->finding.condition,
                   pricing->why_not.text[0] ? pricing->why_not.text : "no steps to replay");
    return draft->finding.condition != NULL;
}

/* A time's share is of the step that is named, so that the two agree. */
static void settle_shares(const struct pricing *pricing, struct finding *finding)
{
    for (size_t i = 0; i < finding->evidence.count; i++) {
        struct evidence *row = &finding->evidence.items[i];

        if (row->unit == UNIT_NS && !isnan(row->share) && pricing->step_ns > 0)
            row->share = fmin(1, row->value / pricing->step_ns);
    }
}

bool price_draft(const struct pricing *pricing, struct draft *draft, struct arena *arena,
                 struct err *err)
{
    struct impact *impact = &draft->finding.impact;
    bool           is_replay = draft->price.method == METHOD_REPLAY;

    settle_shares(pricing, &draft->finding);
    *impact = (struct impact) { .confidence = draft->confidence,
                                .resource = draft->resource,
                                .most_ns = INFINITY,
                                .within_ns = INFINITY };
    if (is_replay && can_replay(pricing, &draft->edits)) {
        if (!price_by_replay(pricing, draft, arena, err))
            return false;
    } else {
        price_by_formula(is_replay ? &draft->fallback : &draft->price, impact);
        if (is_replay && impact->confidence > CONFIDENCE_MEDIUM)
            impact->confidence = CONFIDENCE_MEDIUM;
        if (is_replay && !tell_fallback(pricing, draft, arena))
            return err_memory(err, "the advice");
    }
    if (!impact->has_saving)
        return true;
    if (!cap_impact(pricing, draft, impact, err))
        return false;
    impact->share = isnan(pricing->step_ns) || pricing->step_ns <= 0 || impact->resource
                        ? 0
                        : impact->mid_ns / pricing->step_ns;
    return true;
}

static enum where where_of(const struct pricing *pricing)
{
    return pricing->has_device ? WHERE_DEVICE : WHERE_HOST;
}

static const struct calibrated *calibration_of(const struct pricing *pricing,
                                               const struct impact  *impact)
{
    return &calibrated[where_of(pricing)][impact->method][impact->confidence];
}

/* A share that a method gives, moved by what is added to its log odds. */
static double moved_share(double share, double added)
{
    double odds;

    if (share <= 0)
        return 0;
    share = fmin(share, LARGEST_SHARE);
    odds = share / (1 - share) * exp(added);
    return odds / (1 + odds);
}

/* Where most of a step goes, a point or two of the step are much of what is left. */
static double rest_doubt(double share)
{
    share = fmin(share, LARGEST_SHARE);
    return share > 0.5 ? REST_DOUBT * log(share / (1 - share)) : 0;
}

void price_calibrate(const struct pricing *pricing, struct impact *impact)
{
    const struct calibrated *by = calibration_of(pricing, impact);
    double                   step_ns = pricing->step_ns, share = impact->model_ns / step_ns;

    if (!impact->has_saving || impact->resource || isnan(step_ns) || step_ns <= 0)
        return;
    impact->mid_ns = step_ns * moved_share(share, by->shift);
    impact->high_ns = step_ns * moved_share(share, by->high);
    if (impact->method == METHOD_SHARE) { /* which is a bound: perhaps nothing goes of it */
        impact->mid_ns = fmin(impact->mid_ns, impact->most_ns);
        impact->high_ns = fmax(impact->high_ns, impact->most_ns);
    } else {
        impact->low_ns = step_ns * moved_share(share, by->low);
        impact->high_ns = step_ns * moved_share(share, by->high + rest_doubt(share));
    }
    /* Threads share cores, so that what is left runs faster; kernels of a stream do not. */
    if (pricing->has_device)
        cap(impact, impact->within_ns);
    impact->share = impact->mid_ns / step_ns;
}

/* Edits that stand for what a draft was priced by: its own, else its claims shortened by that much.
 */
static bool add_edits(const struct pricing *pricing, struct edit_list *all,
                      const struct draft *draft, struct arena *arena)
{
    bool                    is_own = draft->edits.edits.count > 0;
    const struct edit_list *list = is_own ? &draft->edits : &draft->claims;
    double                  ns = INFINITY, recorded_ns, model_ns = draft->finding.impact.model_ns;
    struct err              err = { 0 };

    if (list->edits.count == 0 || !can_replay(pricing, list) ||
        !selected_ns(pricing, list, &ns, &recorded_ns, &err) || ns <= 0)
        return vec_push(&all->edits, arena,
                        (struct edit) { .kind = EDIT_STEP, .select.host = NO_ID, .ns = model_ns });
    for (size_t i = 0; i < list->edits.count; i++) {
        struct edit edit = list->edits.items[i];
        if (!is_own)
            edit.factor = fmax(0, 1 - model_ns / ns);
        if (!vec_push(&all->edits, arena, edit))
            return false;
    }
    return true;
}

static bool step_after(const struct pricing *pricing, const struct edit_list *list, double *ns,
                       int *bound)
{
    struct replay_result result = { 0 };
    struct err           err = { 0 };

    if (!replay(pricing, list->edits.items, list->edits.count, &result, &err))
        return false;
    *ns = result.step_ns;
    *bound = result.bound;
    return true;
}

/* Of what a draft saves alone, the share that it saves behind others: 0 where they took its time.
 * What a bound names mostly stays, and so is not taken from those behind it. */
static bool share_left(const struct pricing *pricing, struct joint *joint,
                       const struct draft *draft, struct arena *arena, double *share)
{
    struct edit_list alone = { 0 };
    double           alone_ns, after_ns, saved_ns;
    size_t           before = joint->edits.edits.count;
    int              ignored, bound;

    if (!add_edits(pricing, &alone, draft, arena) ||
        !add_edits(pricing, &joint->edits, draft, arena) ||
        !step_after(pricing, &alone, &alone_ns, &ignored) ||
        !step_after(pricing, &joint->edits, &after_ns, &bound))
        return false;
    saved_ns = pricing->replayed_ns - alone_ns;
    *share = saved_ns > 0 ? fmin(1, fmax(0, (joint->replayed_ns - after_ns) / saved_ns)) : 0;
    if (draft->finding.impact.method == METHOD_SHARE) {
        joint->edits.edits.count = before;
        return true;
    }
    joint->replayed_ns = after_ns;
    joint->bound = bound;
    return true;
}

/* A bound's time may be that of what was said before it, the likelier the more of the step that
 * took. `left` is what it left, as share. */
static double worth_behind(const struct pricing *pricing, const struct finding *finding,
                           double left)
{
    const double *worth = behind_worth[where_of(pricing)];

    if (finding->impact.method == METHOD_SHARE)
        return worth[BEHIND_BOUND] * pow(left, BOUND_POWER);
    return worth[finding->severity >= SEVERITY_WARN ? BEHIND_WARNING : BEHIND_NOTE];
}

/* What is saved of the step that is left, where `share` of it goes by the model, and `left` of what
 * it saves alone; no more than an accelerator takes of what it is about. */
static double saved_share(const struct pricing *pricing, const struct joint *joint,
                          const struct impact *impact, double share, double left)
{
    double saved;

    if (impact->method == METHOD_SHARE)
        return fmin(impact->mid_ns / impact->model_ns * share, LARGEST_SHARE);
    saved = moved_share(share, calibration_of(pricing, impact)->shift);
    if (pricing->has_device && isfinite(impact->within_ns))
        saved = fmin(saved, left * impact->within_ns / joint->step_ns);
    return saved;
}

bool price_together(const struct pricing *pricing, struct joint *joint, const struct draft *draft,
                    struct arena *arena)
{
    const struct impact *impact = &draft->finding.impact;
    bool                 is_first = joint->count++ == 0;
    double               left = 1, worth = 1, share, saved;

    if (!pricing->can_replay || isnan(pricing->step_ns))
        return false;
    if (is_first)
        *joint = (struct joint) { .count = 1,
                                  .step_ns = pricing->step_ns,
                                  .model_ns = pricing->step_ns,
                                  .replayed_ns = pricing->replayed_ns };
    if (!share_left(pricing, joint, draft, arena, &left))
        return false;
    if (is_first)
        left = 1;
    else
        worth = worth_behind(pricing, &draft->finding, joint->step_ns / pricing->step_ns);
    share = fmin(left * impact->model_ns / joint->model_ns, 1);
    saved = saved_share(pricing, joint, impact, share, left);
    joint->step_ns *= 1 - worth * saved;
    joint->model_ns *= 1 - worth * fmin(share, LARGEST_SHARE);
    return true;
}

static const struct edit_list *claims_of(const struct draft *draft)
{
    return draft->claims.edits.count > 0 ? &draft->claims : &draft->edits;
}

static bool saving_of(const struct pricing *pricing, const struct edit_list *list, double *ns)
{
    struct replay_result result = { 0 };
    struct err           err = { 0 };

    if (!replay(pricing, list->edits.items, list->edits.count, &result, &err))
        return false;
    *ns = pricing->replayed_ns - result.step_ns;
    return true;
}

int price_overlap(const struct pricing *pricing, const struct draft *a, const struct draft *b,
                  struct arena *arena)
{
    const struct edit_list *of_a = claims_of(a), *of_b = claims_of(b);
    struct edit_list        both = { 0 };
    double                  alone_a = 0, alone_b = 0, joint = 0;

    if (!pricing->can_replay || of_a->edits.count == 0 || of_b->edits.count == 0)
        return -1;
    for (size_t i = 0; i < of_a->edits.count + of_b->edits.count; i++) {
        struct edit edit =
            i < of_a->edits.count ? of_a->edits.items[i] : of_b->edits.items[i - of_a->edits.count];
        if (!vec_push(&both.edits, arena, edit))
            return -1;
    }
    if (!saving_of(pricing, of_a, &alone_a) || !saving_of(pricing, of_b, &alone_b) ||
        !saving_of(pricing, &both, &joint))
        return -1;
    return alone_a + alone_b - joint > 0.5 * fmin(alone_a, alone_b);
}

double price_weight(const struct impact *impact)
{
    static const double weights[] = {
        [CONFIDENCE_LOW] = 0.4, [CONFIDENCE_MEDIUM] = 0.7, [CONFIDENCE_HIGH] = 1.0
    };

    if (!impact->has_saving)
        return 0;
    return impact->model_ns * weights[impact->confidence] *
           (impact->method == METHOD_SHARE ? SHARE_MID : 1);
}
