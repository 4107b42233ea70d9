/* unused_gradients: gradients that are handed to parameters and that no update takes: none ever
 * does, or they are thrown away for new ones first, as those of a generator are in the
 * discriminator's part of a step. All of a backward pass behind its last gradient that is used is
 * then for nothing; before it, what only makes such a gradient of weights, as those of a
 * discriminator on the way to the generator. By shapes: a parameter whose shape stands in no op of
 * an update, nor in one that stands between the pass and it, is not updated. Where no shapes were
 * recorded, an update of fewer ops than half the gradients, none of them over lists, cannot have
 * taken more of them than it has ops.
 */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

#include <string.h>

static const double FEWEST_UNUSED = 0.2; /* of the gradients; ties of shapes may hide some */

enum use {
    USE_UNKNOWN, /* of a shape that more gradients have than the next update takes */
    USE_TAKEN,
    USE_NONE
};
/* A gradient that is handed over, or a shape that an op of an update takes. */
struct handed {
    uint32_t unit;
    uint32_t shape;  /* of finder->shapes */
    uint32_t pass;   /* of the backward pass, or the one that the update comes behind */
    uint32_t takes;  /* by the update: tensors of that shape; 0: a gradient */
    uint32_t exact;  /* the same where the op tells how many lists it has; 0 unknown */
    uint32_t range;  /* of the optimizer's step that an update is in: its frame, or NO_ID */
    float    spare;  /* of gradients that the next update takes some of: which part it does not */
    bool     is_new; /* a gradient that is kept as it is: none of before was added to */
    uint8_t  use;
};
/* What comes of a shape behind the backward pass that is looked at. */
struct fate {
    uint32_t new_at, taken_at; /* row of finder->list */
    uint32_t pass, takes,
        made;             /* of that pass: tensors that its update takes, gradients that it makes */
    uint32_t exact;       /* tensors that all its updates take, where known */
    uint32_t range, most; /* the update looked at last, and the most that one of its ops takes */
};
struct finder {
    struct ledger *ledger;
    struct intern  shapes;   /* as bytes */
    VEC(struct handed) list; /* by time */
    struct fate *fates;      /* by shape */
    uint32_t    *unused_in;  /* by shape: 1 + the pass that makes such, and none that is taken */
    uint32_t     pass;
    bool         is_behind; /* the pass: the next gradient is of another */
    bool         may_read;  /* right behind it: ops may take the gradient of an input */
};

static bool takes_lists(struct str name)
{
    return str_fits(name, "aten::_fused_*|aten::_foreach_*");
}

/* The bytes of a shape, in `words`. */
static struct str shape_key(const struct tensor *tensor, int64_t words[TENSOR_MAX_RANK + 1])
{
    size_t count = 0;

    words[count++] = (uint8_t)tensor->rank;
    for (int8_t i = 0; i < tensor->rank; i++)
        words[count++] = tensor->dims[i];
    return (struct str) { (const char *)words, count * sizeof *words };
}

static uint32_t shape_of(struct finder *finder, const struct tensor *tensor)
{
    int64_t words[TENSOR_MAX_RANK + 1];

    return intern_add(&finder->shapes, shape_key(tensor, words));
}

/* Its lists are equally long, and of one shape or more there is one tensor in each: as many times
 * as the rarest shape comes there are lists. An op of single tensors says nothing about how many.
 */
static void count_lists(struct finder *finder, size_t first, bool is_list)
{
    uint32_t lists = UINT32_MAX;

    for (size_t i = first; i < finder->list.count; i++)
        if (finder->list.items[i].takes < lists)
            lists = finder->list.items[i].takes;
    for (size_t i = first; i < finder->list.count; i++)
        finder->list.items[i].takes =
            is_list ? (finder->list.items[i].takes + lists - 1) / lists : UINT32_MAX;
}

/* As many as an op always has: parameters, gradients and moments; 0 unknown. */
static uint32_t lists_of(struct str optimizer, struct str op)
{
    if (str_fits(op, "aten::_fused_adam*"))
        return 4;
    if (str_equal(op, STR("aten::_foreach_addcdiv_")))
        return 3;
    return str_contains(optimizer, STR("#SGD")) && str_equal(op, STR("aten::_foreach_add_")) ? 2
                                                                                             : 0;
}

/* Shapes of rank 0 are counters of steps. */
static bool add_update(struct finder *finder, const struct work_unit *unit)
{
    const struct profile *profile = finder->ledger->study->profile;
    const struct op      *op = &profile->ops.items[unit->op];
    size_t                first = finder->list.count;
    struct str            name = { 0 }, type = unit_type(finder->ledger, unit);
    uint32_t              range = unit_optimizer_step(finder->ledger, unit, &name);
    uint32_t              lists = range == NO_ID ? 0 : lists_of(name, type);

    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];
        struct handed        row = { .unit = (uint32_t)(unit - finder->ledger->units.items),
                                     .pass = finder->pass,
                                     .range = range,
                                     .takes = 1 };
        size_t               same = first;

        if (tensor->rank <= 0)
            continue;
        row.shape = shape_of(finder, tensor);
        while (same < finder->list.count && finder->list.items[same].shape != row.shape)
            same++;
        if (same < finder->list.count)
            finder->list.items[same].takes++;
        else if (row.shape == NO_ID || !vec_push(&finder->list, finder->ledger->scratch, row))
            return false;
    }
    for (size_t i = first; lists && i < finder->list.count; i++)
        finder->list.items[i].exact = finder->list.items[i].takes / lists;
    count_lists(finder, first, takes_lists(type));
    return true;
}

/* What is there already is added to; else the gradient itself is kept. */
static bool is_kept(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct path *path = ledger->path;
    uint32_t           first = unit->frame + 1;

    return first < path->frames.count && path->frames.items[first].parent == unit->frame &&
           str_equal(
               profile_str(
                   ledger->study->profile,
                   event_activity(ledger->study->profile, path->frames.items[first].event)->name),
               STR("aten::detach"));
}

static bool add_gradient(struct finder *finder, const struct work_unit *unit)
{
    const struct tensor *gradient = unit_input(finder->ledger, unit, 0);
    struct handed        row = { .unit = (uint32_t)(unit - finder->ledger->units.items) };

    if (!gradient || gradient->rank < 0)
        return true;
    finder->pass += finder->is_behind;
    finder->is_behind = false;
    finder->may_read = true;
    row.pass = finder->pass;
    row.shape = shape_of(finder, gradient);
    row.is_new = is_kept(finder->ledger, unit);
    return row.shape != NO_ID && vec_push(&finder->list, finder->ledger->scratch, row);
}

/* Optimizers that ask their closure anew multiply vectors of all weights before they do. */
static bool begins_anew(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->is_trained ||
           (unit_is_forward_product(unit) && unit_optimizer_step(ledger, unit, NULL) == NO_ID);
}

/* An attack on an input takes its gradient, a loop by hand those of weights. */
static bool takes(struct finder *finder, const struct work_unit *unit)
{
    if (unit->phase == UNIT_UPDATE || takes_lists(unit_type(finder->ledger, unit)) ||
        begins_anew(finder->ledger, unit))
        finder->may_read = false;
    return unit->op != NO_ID &&
           (unit->phase == UNIT_UPDATE || takes_lists(unit_type(finder->ledger, unit)) ||
            (finder->may_read && unit->phase == UNIT_FORWARD && unit->op_class != OP_VIEW));
}

/* Ops of a forward pass or of an update end a backward pass. */
static bool list_all(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        if (unit_hands_gradient(ledger, unit)) {
            if (!add_gradient(finder, unit))
                return false;
            continue;
        }
        finder->is_behind |= unit->phase != UNIT_BACKWARD;
        if (takes(finder, unit) && !add_update(finder, unit))
            return false;
    }
    return true;
}

static enum use use_of(const struct finder *finder, const struct handed *gradient, bool is_updated)
{
    const struct fate *fate = &finder->fates[gradient->shape];

    if (!is_updated)
        return USE_NONE;
    if (fate->pass == gradient->pass && fate->takes && fate->takes < fate->made)
        return USE_UNKNOWN;
    return fate->new_at < fate->taken_at ? USE_NONE : USE_TAKEN;
}

/* Of one pass and the update behind it: what is made and taken of each shape. */
static void look_at_pass(struct finder *finder, size_t first, size_t end)
{
    for (size_t i = end; i > first; i--) {
        const struct handed *row = &finder->list.items[i - 1];
        struct fate         *fate = &finder->fates[row->shape];

        if (fate->pass != row->pass)
            fate->pass = row->pass, fate->takes = fate->made = fate->exact = fate->most = 0;
        if (row->takes)
            fate->taken_at = (uint32_t)(i - 1);
        fate->made += !row->takes;
        fate->takes = row->takes > fate->takes ? row->takes : fate->takes;
        if (row->exact && row->range != fate->range)
            fate->range = row->range, fate->most = 0;
        if (row->exact > fate->most)
            fate->exact += row->exact - fate->most, fate->most = row->exact;
    }
}

/* Its gradients; then those that are new are what a pass before it sees. */
static void judge_pass(struct finder *finder, const bool *is_updated, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct handed *row = &finder->list.items[i];

        if (row->takes)
            continue;
        row->use = (uint8_t)use_of(finder, row, is_updated[row->shape]);
        row->spare =
            row->use == USE_UNKNOWN && finder->fates[row->shape].exact
                ? 1 - (float)finder->fates[row->shape].exact / (float)finder->fates[row->shape].made
                : 0;
    }
    for (size_t i = end; i > first; i--) {
        const struct handed *row = &finder->list.items[i - 1];

        if (!row->takes && row->is_new)
            finder->fates[row->shape].new_at = (uint32_t)(i - 1);
    }
}

/* From the end on: what comes behind each pass is known when it is looked at. */
static void judge_all(struct finder *finder, const bool *is_updated)
{
    for (size_t end = finder->list.count, first; end > 0; end = first) {
        first = end;
        while (first > 0 && finder->list.items[first - 1].pass == finder->list.items[end - 1].pass)
            first--;
        look_at_pass(finder, first, end);
        judge_pass(finder, is_updated, first, end);
    }
}

/* What comes behind the last pass is what comes at the beginning: the program goes on alike. */
static bool judge(struct finder *finder)
{
    struct arena *scratch = finder->ledger->scratch;
    bool         *is_updated = arena_new_array(scratch, bool, finder->shapes.count + 1);
    uint32_t      count = (uint32_t)finder->list.count;

    finder->fates = arena_new_array(scratch, struct fate, finder->shapes.count + 1);
    finder->unused_in = arena_new_array(scratch, uint32_t, finder->shapes.count + 1);
    if (!is_updated || !finder->fates || !finder->unused_in)
        return false;
    for (uint32_t s = 0; s <= finder->shapes.count; s++)
        finder->fates[s] =
            (struct fate) { .new_at = UINT32_MAX, .taken_at = UINT32_MAX, .pass = UINT32_MAX };
    for (size_t i = 0; i < count; i++)
        is_updated[finder->list.items[i].shape] |= finder->list.items[i].takes > 0;
    judge_all(finder, is_updated);
    for (uint32_t s = 0; s <= finder->shapes.count; s++) {
        struct fate *fate = &finder->fates[s];

        fate->pass = UINT32_MAX;
        fate->new_at += fate->new_at == UINT32_MAX ? 0 : count;
        fate->taken_at += fate->taken_at == UINT32_MAX ? 0 : count;
    }
    judge_all(finder, is_updated);
    return true;
}

/* One backward pass: what of it is behind the last gradient that is taken. */
struct pass {
    uint32_t taken_unit, last_unit; /* its last gradient that is taken, and its last */
    uint32_t maybe_unit;            /* its last that may be taken */
    uint32_t made, unused;
};

static struct pass sum_up(const struct finder *finder, size_t *row)
{
    uint32_t    number = finder->list.items[*row].pass;
    struct pass pass = { 0 };

    for (; *row < finder->list.count && finder->list.items[*row].pass == number; ++*row) {
        const struct handed *gradient = &finder->list.items[*row];

        if (gradient->takes)
            continue;
        pass.made++;
        pass.unused += gradient->use == USE_NONE;
        pass.last_unit = gradient->unit;
        if (gradient->use != USE_NONE)
            pass.maybe_unit = gradient->unit;
        if (gradient->use == USE_TAKEN)
            pass.taken_unit = gradient->unit;
    }
    /* Without a sure one, what may be taken counts. */
    pass.taken_unit = pass.taken_unit ? pass.taken_unit : pass.maybe_unit;
    return pass;
}

static bool open_cell(struct finder *finder, const struct detector *self, const struct pass *pass,
                      const struct work_unit *at, uint32_t *cell)
{
    if (*cell != NO_ID)
        return true;
    *cell = ledger_cell(finder->ledger, self, at);
    return *cell != NO_ID &&
           ledger_tell(finder->ledger, *cell,
                       "%u of %u gradients of a backward pass are taken by no update", pass->unused,
                       pass->made);
}

/* Does a product of the backward pass make the gradient of weights? */
static bool makes_weights(const struct finder *finder, const struct work_unit *unit,
                          const struct tensor *gradient)
{
    const struct tensor *left = unit_input(finder->ledger, unit, 0),
                        *right = unit_input(finder->ledger, unit, 1);

    if (unit->op_class != OP_PRODUCT || !left || !right || left->rank != 2 || right->rank != 2 ||
        gradient->rank != 2)
        return false;
    return (left->dims[0] == gradient->dims[0] && right->dims[1] == gradient->dims[1]) ||
           (left->dims[0] == gradient->dims[1] && right->dims[1] == gradient->dims[0]);
}

/* What makes the gradient stands shortly before it is handed over. */
static bool claim_on_the_way(struct finder *finder, const struct detector *self,
                             const struct pass *pass, const struct handed *row, uint32_t *cell)
{
    enum { FARTHEST = 12 };
    struct ledger       *ledger = finder->ledger;
    const struct tensor *gradient = unit_input(ledger, &ledger->units.items[row->unit], 0);

    for (uint32_t i = 1; gradient->rank >= 2 && i <= FARTHEST && i <= row->unit; i++) {
        struct work_unit *unit = &ledger->units.items[row->unit - i];

        if (unit->phase != UNIT_BACKWARD || unit->cell != NO_ID ||
            !makes_weights(finder, unit, gradient))
            continue;
        if (!open_cell(finder, self, pass, unit, cell))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
        return true;
    }
    return true;
}

/* Convolutions say whose gradient they make: half of the work of each, also where a network runs
 * more than once before its gradients are handed over. */
static bool claim_convolutions(struct finder *finder, const struct detector *self,
                               const struct pass *pass, uint32_t number, uint32_t *cell)
{
    static const double WEIGHTS_PART = 0.5;
    struct ledger      *ledger = finder->ledger;

    for (uint32_t u = pass->taken_unit; u > 0; u--) {
        struct work_unit    *unit = &ledger->units.items[u - 1];
        const struct tensor *weights;
        int64_t              words[TENSOR_MAX_RANK + 1];
        uint32_t             shape;

        if (unit->kind == UNIT_OP && unit->phase != UNIT_BACKWARD)
            return true;
        if (unit->kind != UNIT_OP || unit->cell != NO_ID ||
            !str_ends(unit_type(ledger, unit), STR("convolution_backward")))
            continue;
        weights = unit_input(ledger, unit, 2);
        if (!weights || weights->rank <= 0)
            continue;
        shape = intern_find(&finder->shapes, shape_key(weights, words));
        if (shape == NO_ID || finder->unused_in[shape] != number + 1)
            continue;
        if (!open_cell(finder, self, pass, unit, cell))
            return false;
        ledger_claim(ledger, *cell, unit, WEIGHTS_PART);
    }
    return true;
}

/* Before the last gradient of a pass that is taken: `first` to `end` of the list are this pass's.
 */
static bool claim_before(struct finder *finder, const struct detector *self,
                         const struct pass *pass, size_t first, size_t end, uint32_t *cell)
{
    uint32_t number = finder->list.items[first].pass;

    for (size_t i = first; i < end; i++)
        if (!finder->list.items[i].takes && finder->list.items[i].use == USE_NONE)
            finder->unused_in[finder->list.items[i].shape] = number + 1;
    for (size_t i = first; i < end; i++)
        if (!finder->list.items[i].takes && finder->list.items[i].use != USE_NONE)
            finder->unused_in[finder->list.items[i].shape] = 0;
    for (size_t i = first; i < end; i++) {
        const struct handed *row = &finder->list.items[i];

        if (!row->takes && row->use == USE_NONE && row->unit < pass->taken_unit &&
            !claim_on_the_way(finder, self, pass, row, cell))
            return false;
    }
    return claim_convolutions(finder, self, pass, number, cell);
}

static bool claim(struct finder *finder, const struct detector *self, const struct pass *pass,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    for (uint32_t u = pass->taken_unit + 1; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (u > pass->last_unit && unit->kind == UNIT_OP && unit->phase != UNIT_BACKWARD)
            break;
        if (unit->phase != UNIT_BACKWARD || unit->left_ns <= 0)
            continue;
        if (!open_cell(finder, self, pass, unit, cell))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
    }
    return true;
}

/* A pass through two networks of the same shapes, one of which no update takes, as a teacher's that
 * was not run without gradients: of each shape the same part is spare. */
static double spare_of(const struct finder *finder, size_t first, size_t end)
{
    double spare = 0;

    for (size_t i = first; i < end; i++) {
        const struct handed *row = &finder->list.items[i];

        if (row->takes)
            continue;
        if (row->use != USE_UNKNOWN || (spare > 0 && row->spare != (float)spare))
            return 0;
        spare = (double)row->spare;
    }
    return spare;
}

static bool claim_spare(struct finder *finder, const struct detector *self, struct pass *pass,
                        uint32_t first_unit, double spare, uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    pass->unused = (uint32_t)(spare * pass->made + 0.5);
    while (first_unit > 0 && (ledger->units.items[first_unit - 1].kind != UNIT_OP ||
                              ledger->units.items[first_unit - 1].phase == UNIT_BACKWARD))
        first_unit--;
    for (uint32_t u = first_unit; u <= pass->last_unit; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->phase != UNIT_BACKWARD || unit->left_ns <= 0)
            continue;
        if (!open_cell(finder, self, pass, unit, cell))
            return false;
        ledger_claim(ledger, *cell, unit, spare);
    }
    return true;
}

/* Without shapes: what comes behind as many gradients as the update has ops. */
static bool claim_by_count(struct finder *finder, const struct detector *self,
                           const uint32_t *gradients, uint32_t made, uint32_t updates,
                           uint32_t *cell)
{
    enum { FEWEST_GRADIENTS = 8 };
    struct pass pass = { .made = made, .unused = made - updates };

    if (made < FEWEST_GRADIENTS || !updates || updates * 2 > made)
        return true;
    pass.taken_unit = gradients[updates - 1];
    pass.last_unit = gradients[made - 1];
    return claim(finder, self, &pass, cell);
}

static bool find_by_count(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t      *gradients = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    uint32_t       made = 0, updates = 0, cell = NO_ID, step = NO_ID;
    bool           has_lists = false;

    for (size_t u = 0; gradients && u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        /* An update may be off the path, where other ranks are waited for. */
        if (unit->step != step && !updates)
            made = 0;
        step = unit->step;
        if (unit_hands_gradient(ledger, unit)) {
            if (updates) {
                if (!claim_by_count(finder, self, gradients, made, updates, &cell))
                    return false;
                made = updates = 0;
            }
            gradients[made++] = (uint32_t)u;
        }
        has_lists |= takes_lists(unit_type(ledger, unit));
        updates += unit->phase == UNIT_UPDATE && unit->op_class != OP_VIEW;
        if (has_lists)
            return true;
    }
    return gradients && claim_by_count(finder, self, gradients, made, updates, &cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch)
        return true;
    if (!ledger->study->profile->has_shapes)
        return find_by_count(&finder, self);
    if (!intern_init(&finder.shapes, ledger->scratch) || !list_all(&finder) || !judge(&finder))
        return false;
    for (size_t row = 0; row < finder.list.count;) {
        size_t      first = row;
        struct pass pass = sum_up(&finder, &row);
        double      spare = spare_of(&finder, first, row);

        if (spare > FEWEST_UNUSED &&
            !claim_spare(&finder, self, &pass, finder.list.items[first].unit, spare, &cell))
            return false;
        if (spare > 0 || !pass.taken_unit || pass.unused < FEWEST_UNUSED * pass.made)
            continue;
        if (!claim(&finder, self, &pass, &cell) ||
            !claim_before(&finder, self, &pass, first, row, &cell))
            return false;
    }
    return true;
}

const struct detector detector_unused_gradients = { "unused-gradients", CAUSE_UNUSED,
                                                    GRADE_STRUCTURE, find };
