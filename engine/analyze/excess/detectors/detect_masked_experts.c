/* masked_experts: networks of the same layers stand beside each other in a function of TensorFlow,
 * all of them run on all rows, and what they give is joined and masked by a choice that was made
 * before: each row needs those that it is sent to. Layers in a row are alike, too, but nothing
 * joins them, and a choice behind them is of a class. Names tell the networks; which op came when
 * is seen in one step.
 */
#include "analyze/excess/ledger.h"
#include "base/sample.h"

static const double ALIKE = 2; /* times the usual time of such networks, and the half of it */
static const double LEAST_JOIN = 0.05; /* of what one network takes */

enum { FEWEST_EXPERTS = 4, MOST_DEPTH = 4 };

struct scope {       /* "moe/expert_3" */
    uint32_t family; /* "moe/expert"; 0: not met */
    double   ns;     /* of products of its forward pass */
    bool     is_expert;
};
/* One step, by the clock. */
struct order {
    int64_t first_ns, end_ns;     /* of the step */
    int64_t choice_ns, chosen_ns; /* the first choice's start and end; 0: none */
    int64_t mask_ns, behind_experts_ns;
    double  experts_ns;
    size_t  chosen; /* networks that a row is sent to */
    bool    is_joined;
};
struct finder {
    struct ledger *ledger;
    struct intern  names, families;
    struct scope  *scopes;   /* by id of names */
    double        *op_ns;    /* by row of profile->ops: time of its forward product */
    uint32_t      *scope_of; /* by row of profile->ops: of an expert; 0: of none */
    uint32_t      *members;  /* by id of families */
    size_t         experts;
};

static struct str behind_tape(struct str name)
{
    static const struct str tape = STR_INIT("gradient_tape/");
    size_t                  at = str_search(name, tape);

    return at < name.len ? str_slice(name, at + tape.len, name.len) : name;
}

static bool is_gradient(struct str name)
{
    return str_contains(name, STR("gradient_tape/"));
}

/* "moe/expert_3_1": "moe/expert". */
static struct str family_of(struct str scope)
{
    struct str shorter = str_without_number(scope);

    while (shorter.len < scope.len) {
        scope = shorter;
        shorter = str_without_number(scope);
    }
    return scope;
}

static uint32_t scope_at(struct finder *finder, struct str scope)
{
    uint32_t id = intern_add(&finder->names, scope), family;

    if (id == NO_ID || finder->scopes[id].family)
        return id;
    family = intern_add(&finder->families, family_of(scope));
    if (family == NO_ID)
        return NO_ID;
    finder->scopes[id].family = family;
    finder->members[family]++;
    return id;
}

/* Adds a forward product's time to all scopes that it is in. */
static bool add_product(struct finder *finder, struct str name, double ns)
{
    size_t depth = 0;

    for (size_t i = 0; i < name.len && depth < MOST_DEPTH; i++) {
        uint32_t id;

        if (name.data[i] != '/')
            continue;
        id = scope_at(finder, str_slice(name, 0, i));
        if (id == NO_ID)
            return false;
        finder->scopes[id].ns += ns;
        depth++;
    }
    return true;
}

static bool is_product(struct str type)
{
    enum op_class op_class = op_class_of(type);

    return op_class == OP_PRODUCT || op_class == OP_CONVOLUTION;
}

static bool learn(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        const struct activity *activity = event_activity(profile, event);

        if (activity->kind == ACTIVITY_OP && activity->op != NO_ID)
            finder->op_ns[activity->op] += (double)event_duration_ns(profile, event);
    }
    for (size_t op = 0; op < profile->ops.count; op++) {
        struct str name = profile_str(profile, profile->ops.items[op].name);

        if (finder->op_ns[op] > 0 && !is_gradient(name) &&
            is_product(profile_str(profile, profile->ops.items[op].type)) &&
            !add_product(finder, name, finder->op_ns[op]))
            return false;
    }
    return true;
}

/* Networks of a family that take about as long as each other; their number. */
static size_t alike(struct finder *finder, uint32_t family, double *times, double *sum_ns)
{
    size_t count = 0, experts = 0;
    double usual_ns;

    for (uint32_t id = 1; id < finder->names.count; id++)
        if (finder->scopes[id].family == family)
            times[count++] = finder->scopes[id].ns;
    usual_ns = sample_median(times, count);
    *sum_ns = 0;
    for (uint32_t id = 1; id < finder->names.count; id++) {
        struct scope *scope = &finder->scopes[id];

        if (scope->family != family)
            continue;
        scope->is_expert = scope->ns <= ALIKE * usual_ns && scope->ns * ALIKE >= usual_ns;
        experts += scope->is_expert;
        *sum_ns += scope->is_expert ? scope->ns : 0;
    }
    return experts;
}

/* The family that most time goes to. */
static bool choose(struct finder *finder)
{
    double  *times = arena_new_array(finder->ledger->scratch, double, finder->names.count + 1);
    double   best_ns = 0, ns;
    uint32_t best = 0;

    for (uint32_t family = 1; times && family < finder->families.count; family++)
        if (finder->members[family] >= FEWEST_EXPERTS &&
            alike(finder, family, times, &ns) >= FEWEST_EXPERTS && ns > best_ns) {
            best_ns = ns;
            best = family;
        }
    for (uint32_t id = 1; id < finder->names.count; id++)
        finder->scopes[id].is_expert &= finder->scopes[id].family == best;
    finder->experts = times && best ? alike(finder, best, times, &ns) : 0;
    return times != NULL;
}

static void place(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (size_t op = 0; op < profile->ops.count; op++) {
        struct str name = behind_tape(profile_str(profile, profile->ops.items[op].name));

        for (size_t i = 0; i < name.len && !finder->scope_of[op]; i++)
            if (name.data[i] == '/') {
                uint32_t id = intern_find(&finder->names, str_slice(name, 0, i));

                if (id != NO_ID && finder->scopes[id].is_expert)
                    finder->scope_of[op] = id;
            }
    }
}

/* Events but those of the input pipeline, which makes labels one-hot, too, on threads of its own.
 */
static bool step_events_next(struct host_events *events, uint32_t *event)
{
    const struct profile *profile = events->study->profile;

    while (host_events_next(events, event))
        if (!str_starts(profile_str(profile, profile->timelines.items[events->timeline].name),
                        STR("tf_data_")))
            return true;
    return false;
}

/* The op of a step's forward pass that an event is; NO_ID: it is none. */
static uint32_t forward_op(const struct finder *finder, uint32_t event, const struct order *order)
{
    const struct profile *profile = finder->ledger->study->profile;
    uint32_t              op = event_activity(profile, event)->op;
    int64_t               start_ns = event_start_ns(profile, event);

    if (event_activity(profile, event)->kind != ACTIVITY_OP || op == NO_ID ||
        start_ns < order->first_ns || start_ns >= order->end_ns ||
        is_gradient(profile_str(profile, profile->ops.items[op].name)))
        return NO_ID;
    return op;
}

/* The first choice, and when the experts are done. */
static void look_at(const struct finder *finder, uint32_t event, struct order *order)
{
    const struct profile *profile = finder->ledger->study->profile;
    uint32_t              op = forward_op(finder, event, order);
    int64_t               start_ns = event_start_ns(profile, event);
    struct str            type;

    if (op == NO_ID)
        return;
    type = profile_str(profile, profile->ops.items[op].type);
    if (finder->scope_of[op]) {
        order->experts_ns += (double)event_duration_ns(profile, event);
        if (event_end_ns(profile, event) > order->behind_experts_ns)
            order->behind_experts_ns = event_end_ns(profile, event);
    }
    if (str_fits(type, "ArgMax|TopK*") && (!order->choice_ns || start_ns < order->choice_ns)) {
        order->choice_ns = start_ns;
        order->chosen_ns = event_end_ns(profile, event);
        order->chosen = str_equal(type, STR("ArgMax")) ? 1 : 2;
    }
}

/* The mask is made of the choice: labels that are one-hot before any choice are none. */
static void look_for_mask(const struct finder *finder, uint32_t event, struct order *order)
{
    const struct profile *profile = finder->ledger->study->profile;
    uint32_t              op = forward_op(finder, event, order);
    int64_t               start_ns = event_start_ns(profile, event);

    if (op != NO_ID && start_ns >= order->chosen_ns &&
        (!order->mask_ns || start_ns < order->mask_ns) &&
        str_fits(profile_str(profile, profile->ops.items[op].type), "OneHot|ScatterNd"))
        order->mask_ns = start_ns;
}

static bool joins(const struct finder *finder, uint32_t event, const struct order *order)
{
    const struct profile  *profile = finder->ledger->study->profile;
    const struct activity *activity = event_activity(profile, event);
    int64_t                start_ns = event_start_ns(profile, event);

    return activity->kind == ACTIVITY_OP && activity->op != NO_ID &&
           start_ns >= order->behind_experts_ns && start_ns < order->end_ns &&
           order->choice_ns < start_ns && order->mask_ns < start_ns &&
           str_fits(profile_str(profile, profile->ops.items[activity->op].type),
                    "Pack|AddN|ConcatV2") &&
           (double)event_duration_ns(profile, event) * (double)finder->experts >=
               LEAST_JOIN * order->experts_ns;
}

/* Networks that each row is sent to; 0: they are no experts. */
static size_t chosen(const struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    struct host_events   events = { .study = ledger->study };
    size_t               step = ledger->step_count / 2;
    uint32_t             first = ledger->first_unit[step], last = ledger->first_unit[step + 1];
    struct order         order = { 0 };
    uint32_t             event;

    if (last == first)
        return 0;
    order.first_ns = ledger->units.items[first].start_ns;
    order.end_ns = ledger->units.items[last - 1].end_ns;
    while (step_events_next(&events, &event))
        look_at(finder, event, &order);
    events = (struct host_events) { .study = ledger->study };
    while (order.choice_ns && step_events_next(&events, &event))
        look_for_mask(finder, event, &order);
    events = (struct host_events) { .study = ledger->study };
    while (order.choice_ns && order.mask_ns && !order.is_joined &&
           step_events_next(&events, &event))
        order.is_joined = joins(finder, event, &order);
    return order.is_joined ? order.chosen : 0;
}

static bool claim(struct finder *finder, const struct detector *self, size_t needed)
{
    struct ledger *ledger = finder->ledger;
    double         share = 1 - (double)needed / (double)finder->experts;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID || !finder->scope_of[unit->op])
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%zu networks run on all rows, and %zu of them count for each",
                              finder->experts, needed))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool make_room(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    size_t         ops = ledger->study->profile->ops.count;

    finder->scopes = arena_new_array(ledger->scratch, struct scope, MOST_DEPTH * ops + 2);
    finder->members = arena_new_array(ledger->scratch, uint32_t, MOST_DEPTH * ops + 2);
    finder->op_ns = arena_new_array(ledger->scratch, double, ops + 1);
    finder->scope_of = arena_new_array(ledger->scratch, uint32_t, ops + 1);
    return finder->scopes && finder->members && finder->op_ns && finder->scope_of &&
           intern_init(&finder->names, ledger->scratch) &&
           intern_init(&finder->families, ledger->scratch);
}

static bool has_choice(const struct profile *profile)
{
    bool found = false;

    for (size_t op = 0; op < profile->ops.count && !found; op++)
        found = str_fits(profile_str(profile, profile->ops.items[op].type), "ArgMax|TopK*");
    return found;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    size_t        needed;

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE ||
        ledger_is_jax(ledger) || !ledger->step_count || !has_choice(ledger->study->profile))
        return true;
    if (!make_room(&finder) || !learn(&finder) || !choose(&finder))
        return false;
    if (finder.experts < FEWEST_EXPERTS)
        return true;
    place(&finder);
    needed = chosen(&finder);
    return needed == 0 || claim(&finder, self, needed);
}

const struct detector detector_masked_experts = { "idle-experts", CAUSE_SHAPE, GRADE_NAMES, find };
