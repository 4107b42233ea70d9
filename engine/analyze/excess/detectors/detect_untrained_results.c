/* untrained_results: behind the forward pass of a graph that trains, ops multiply, convolve, sort
 * or decode, and no gradient is for them: metrics that are computed in each step, of what the model
 * gives. What does not need it, as a teacher, a target network or targets, begins while the model
 * runs; what an optimizer computes comes behind the gradients. Names of gradients tell which ops
 * they are for. What tf.image compares pictures by is told by its scope, and what counts
 * predictions from run to run, by a scope that joins comparisons and adds to variables. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "analyze/step/steps.h"
#include "model/names.h"

static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
enum { FEWEST_STEPS = 3 };

enum role { ROLE_OTHER, ROLE_GRADIENT, ROLE_TRAINED, ROLE_UNTRAINED };
/* Flags of a branch. */
enum {
    IS_MARK = 1,
    IS_EARLY = 2,
    IS_BESIDE = 4,
    IS_UPDATE = 8,
    IS_METRIC = 16,
    JOINS = 32, /* what comparisons gave */
    ADDS = 64   /* to a variable */
};
struct window { /* a looked-at step */
    int64_t start_ns;
    int64_t forward_ns;  /* the end of the last product that is trained */
    int64_t backward_ns; /* the end of the last gradient */
};
struct finder {
    struct ledger *ledger;
    struct intern  trained;     /* names and scopes with an op that a gradient is for */
    struct intern  branches;    /* scopes without one, or names of ops that have none around them */
    uint8_t       *role;        /* by row of profile->ops: enum role */
    bool          *is_heavy;    /* by row of profile->ops */
    uint32_t      *branch_of;   /* by row of profile->ops that is untrained: id of branches */
    uint8_t       *flags;       /* by id of branches */
    VEC(struct window) windows; /* by row of path->step_rows */
};

static struct str name_of(const struct profile *profile, uint32_t op)
{
    return graph_name_inside(profile_str(profile, profile->ops.items[op].name));
}

/* Search, counting and selection, which nothing can be trained through. */
static bool has_no_gradient(struct str type)
{
    return str_fits(type, "CTCBeamSearchDecoder*|CTCGreedyDecoder*|EditDistance|*Bincount|"
                          "NonMaxSuppression*|CombinedNonMaxSuppression*");
}

static bool is_heavy(struct str type)
{
    enum op_class class = op_class_of(type);

    /* Rows of a sparse gradient are put together so, before an optimizer takes them. */
    if (str_fits(type, "Unique*"))
        return false;
    return class == OP_PRODUCT || class == OP_CONVOLUTION || class == OP_SORT || class == OP_SCAN ||
           class == OP_DECOMPOSITION || has_no_gradient(type);
}

/* All scopes of a name, and itself. */
static bool add_scopes(struct intern *to, struct str name)
{
    for (size_t i = 0; i <= name.len; i++)
        if ((i == name.len || name.data[i] == '/') && i > 0 &&
            intern_add(to, str_slice(name, 0, i)) == NO_ID)
            return false;
    return true;
}

static bool is_in(const struct intern *set, struct str name)
{
    return intern_find(set, name) != NO_ID;
}

/* A session's gradient names the op; a function's may name the scope alone, since ops that were
 * fused into one have the name of the last. */
static bool is_trained(const struct finder *finder, struct str name, bool by_scope)
{
    size_t slash = str_find_last(name, '/');

    return is_in(&finder->trained, name) ||
           (by_scope && (slash >= name.len || is_in(&finder->trained, str_slice(name, 0, slash))));
}

/* Where an op belongs that is not trained: the widest scope in which nothing is. */
static uint32_t branch_of(struct finder *finder, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == '/' && !is_in(&finder->trained, str_slice(name, 0, i)))
            return intern_add(&finder->branches, str_slice(name, 0, i));
    return intern_add(&finder->branches, name);
}

static bool learn(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    bool                  by_scope = false;

    for (uint32_t op = 0; op < profile->ops.count; op++) {
        struct str name = profile_str(profile, profile->ops.items[op].name);

        if (!graph_name_is_gradient(name))
            continue;
        finder->role[op] = ROLE_GRADIENT;
        by_scope |= str_contains(name, STR("gradient_tape/"));
        if (!add_scopes(&finder->trained, graph_name_trained(name)))
            return false;
    }
    for (uint32_t op = 0; finder->trained.count && op < profile->ops.count; op++) {
        struct str name = name_of(profile, op);
        struct str type = profile_str(profile, profile->ops.items[op].type);

        finder->is_heavy[op] = is_heavy(type);
        if (finder->role[op] == ROLE_GRADIENT || str_contains(name, STR("while/")))
            continue;
        finder->role[op] = !has_no_gradient(type) && is_trained(finder, name, by_scope)
                               ? ROLE_TRAINED
                               : ROLE_UNTRAINED;
        finder->branch_of[op] = branch_of(finder, name);
        if (finder->branch_of[op] == NO_ID)
            return false;
    }
    return true;
}

/* The name of a scope says so. What such a metric needs of the target may begin with the step. */
static bool is_in_metric(struct str name)
{
    while (name.len)
        if (name_is(str_without_number(str_cut(&name, '/')), NAMES_TF_IMAGE_METRIC))
            return true;
    return false;
}

static uint8_t flags_of(const struct profile *profile, uint32_t op)
{
    struct str type = profile_str(profile, profile->ops.items[op].type);
    uint8_t    flags = is_in_metric(name_of(profile, op)) ? IS_METRIC : 0;

    if (str_equal(type, STR("LogicalAnd")))
        flags |= JOINS;
    if (str_starts(type, STR("AssignAdd")))
        flags |= ADDS;
    return flags;
}

static struct window *window_at(const struct finder *finder, int64_t at_ns)
{
    size_t row = path_step_at(finder->ledger->study, at_ns);

    return row < finder->windows.count && finder->windows.items[row].start_ns <= at_ns
               ? &finder->windows.items[row]
               : NULL;
}

/* The op's row if an event is a call of one in a looked-at step, else NO_ID. */
static uint32_t op_of(const struct finder *finder, uint32_t event, struct window **window)
{
    const struct profile  *profile = finder->ledger->study->profile;
    const struct activity *activity = event_activity(profile, event);

    if (activity->kind != ACTIVITY_OP || activity->op == NO_ID)
        return NO_ID;
    *window = window_at(finder, event_start_ns(profile, event));
    return *window ? activity->op : NO_ID;
}

static bool open_windows(struct finder *finder)
{
    const struct ledger  *ledger = finder->ledger;
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    struct window        *window;
    uint32_t              event;

    for (size_t row = 0; row < ledger->path->step_rows.count; row++) {
        const struct step *step =
            &ledger->study->steps.list.items[ledger->path->step_rows.items[row]];

        if (!vec_push(&finder->windows, ledger->scratch,
                      (struct window) { step->start_ns, INT64_MIN, INT64_MIN }))
            return false;
    }
    while (host_events_next(&events, &event)) {
        uint32_t op = op_of(finder, event, &window);
        int64_t *last = op == NO_ID                         ? NULL
                        : finder->role[op] == ROLE_GRADIENT ? &window->backward_ns
                        : finder->role[op] == ROLE_TRAINED && finder->is_heavy[op]
                            ? &window->forward_ns
                            : NULL;

        if (last && event_end_ns(profile, event) > *last)
            *last = event_end_ns(profile, event);
    }
    return true;
}

static void mark_branches(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct host_events    events = { .study = finder->ledger->study };
    struct window        *window;
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        uint32_t op = op_of(finder, event, &window);
        uint8_t *flags;

        if (op == NO_ID || finder->role[op] != ROLE_UNTRAINED)
            continue;
        flags = &finder->flags[finder->branch_of[op]];
        if (name_is(profile_str(profile, profile->ops.items[op].type), NAMES_TF_UPDATE))
            *flags |= IS_UPDATE;
        if (!finder->is_heavy[op])
            continue;
        *flags |= IS_MARK;
        if (event_start_ns(profile, event) < window->forward_ns)
            *flags |= IS_EARLY;
        else if (event_start_ns(profile, event) < window->backward_ns)
            *flags |= IS_BESIDE;
    }
}

static bool is_found(const struct finder *finder, const struct work_unit *unit)
{
    uint8_t flags;

    if (unit->kind != UNIT_OP || unit->op == NO_ID || finder->role[unit->op] != ROLE_UNTRAINED)
        return false;
    flags = finder->flags[finder->branch_of[unit->op]];
    return (flags & (IS_MARK | IS_EARLY | IS_BESIDE | IS_UPDATE | IS_METRIC)) ==
               (IS_MARK | IS_BESIDE) ||
           (flags & (IS_METRIC | IS_UPDATE)) == IS_METRIC ||
           (flags & (JOINS | ADDS)) == (JOINS | ADDS);
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_found(finder, unit))
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "behind the forward pass, no gradient is for it"))
            return false;
        ledger_claim(ledger, cell, unit, RARE_SHARE);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };

    if (ledger->is_torch || profile->format == FORMAT_KINETO || ledger_is_jax(ledger) ||
        ledger->step_count < FEWEST_STEPS)
        return true;
    finder.role = arena_new_array(ledger->scratch, uint8_t, profile->ops.count + 1);
    finder.is_heavy = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    finder.branch_of = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    if (!finder.role || !finder.is_heavy || !finder.branch_of ||
        !intern_init(&finder.trained, ledger->scratch) ||
        !intern_init(&finder.branches, ledger->scratch) || !learn(&finder))
        return false;
    if (!finder.trained.count)
        return true;
    finder.flags = arena_new_array(ledger->scratch, uint8_t, finder.branches.count + 1);
    if (!finder.flags || !open_windows(&finder))
        return false;
    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (finder.role[op] == ROLE_UNTRAINED)
            finder.flags[finder.branch_of[op]] |= flags_of(profile, op);
    mark_branches(&finder);
    return claim(&finder, self);
}

const struct detector detector_untrained_results = { "untrained-results", CAUSE_RARE, GRADE_NAMES,
                                                     find };
