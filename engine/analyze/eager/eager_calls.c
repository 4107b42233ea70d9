#include "analyze/eager/eager_calls.h"

#include "analyze/device/device_activity.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/names.h"

#include <ctype.h>
#include <stdlib.h>

struct inside {      /* of what an event is */
    uint32_t source; /* row of profile->sources: the innermost line of the user's, or NO_ID */
    uint8_t  phase;
    bool     is_in_op;
};
struct update { /* an optimizer's step, by start */
    int64_t  start_ns, end_ns;
    int64_t  trained_ns; /* end of the last node in it; its start: none */
    uint32_t event;
};
struct walker {
    const struct study   *study;
    const struct profile *profile;
    struct eager_calls   *calls;
    struct arena         *scratch;
    struct inside        *inside;  /* by event of a thread */
    const float      *enqueued_ns; /* by event: work it launched on an accelerator; NULL: none */
    struct eager_sum *gradient;    /* sum that work up to gradient_end_ns belongs to */
    VEC(struct update) updates;
    uint32_t timeline;
    int64_t  trained_ns; /* of the last optimizer's step of the thread */
    int64_t  node_end_ns, copy_end_ns, cast_end_ns, gradient_end_ns;
};

static bool is_update(const struct profile *profile, const struct activity *activity)
{
    return activity->kind == ACTIVITY_ANNOTATION &&
           str_starts(profile_str(profile, activity->name), STR("Optimizer.step"));
}

static uint8_t range_phase(const struct profile *profile, const struct activity *activity,
                           uint8_t outer)
{
    struct str name = profile_str(profile, activity->name);

    if (activity->kind == ACTIVITY_INPUT_WAIT)
        return PHASE_INPUT;
    if (activity->kind == ACTIVITY_EXECUTOR)
        return PHASE_BACKWARD;
    if (activity->kind == ACTIVITY_COLLECTIVE)
        return PHASE_COMMUNICATION;
    if (activity->kind != ACTIVITY_ANNOTATION || !str_starts(name, STR("Optimizer.")))
        return outer;
    if (str_starts(name, STR("Optimizer.zero_grad")))
        return PHASE_CLEAR;
    return is_update(profile, activity) ? PHASE_UPDATE : outer;
}

static int compare_updates(const void *a, const void *b)
{
    const struct update *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->event, right->event));
}

static struct update *update_at(const struct walker *walker, int64_t at_ns)
{
    size_t low = LOWER_BOUND(walker->updates.count, i, walker->updates.items[i].start_ns <= at_ns);

    return low > 0 && at_ns < walker->updates.items[low - 1].end_ns
               ? &walker->updates.items[low - 1]
               : NULL;
}

/* An optimizer that is given a closure, as Lightning's are, calls the model and goes back within
 * its step: the update is what comes behind the last node. */
static bool find_updates(struct walker *walker)
{
    const struct profile *profile = walker->profile;

    for (uint32_t event = 0; event < profile->event_count; event++) {
        int64_t       start_ns = event_start_ns(profile, event);
        struct update update = { start_ns, event_end_ns(profile, event), start_ns, event };

        if (is_update(profile, event_activity(profile, event)) &&
            !vec_push(&walker->updates, walker->scratch, update))
            return false;
    }
    if (walker->updates.count > 1)
        qsort(walker->updates.items, walker->updates.count, sizeof *walker->updates.items,
              compare_updates);
    for (uint32_t event = 0; walker->updates.count && event < profile->event_count; event++) {
        struct update *update;

        if (event_activity(profile, event)->kind != ACTIVITY_EXECUTOR)
            continue;
        update = update_at(walker, event_start_ns(profile, event));
        if (update && update->trained_ns < event_end_ns(profile, event))
            update->trained_ns = event_end_ns(profile, event);
    }
    return true;
}

/* Where frames of Python were recorded, the line is that of the innermost one of the user's; else
 * what the op itself says. */
static uint32_t source_of(const struct walker *walker, uint32_t event)
{
    uint32_t own = event_activity(walker->profile, event)->source;

    return walker->inside[event].source != NO_ID  ? walker->inside[event].source
           : own < walker->profile->sources.count ? profile_user_source(walker->profile, own)
                                                  : NO_ID;
}

static bool add_call(struct walker *walker, uint32_t event, uint32_t window, uint8_t phase)
{
    const struct profile  *profile = walker->profile;
    const struct activity *activity = event_activity(profile, event);
    struct eager_call      call = {
             .start_ns = event_start_ns(profile, event),
             .end_ns = event_end_ns(profile, event),
             .sequence = -1,
             .event = event,
             .type = activity->name,
             .op = activity->op,
             .source = source_of(walker, event),
             .timeline = walker->timeline,
             .window = window,
             .phase = phase,
    };

    if (!walker->enqueued_ns)
        call.work_ns = (double)(call.end_ns - call.start_ns);
    if ((phase != PHASE_FORWARD && phase != PHASE_BACKWARD) ||
        !profile_stat(profile, STAT_SEQUENCE, event, &call.sequence))
        call.sequence = -1;
    return vec_push(&walker->calls->list, walker->scratch, call);
}

/* The engine's own work shows as short pauses between nodes: it adds what a node gave to what
 * others gave for the same tensor. Longer ones are other work. */
static bool add_node(struct walker *walker, uint32_t event, uint32_t window)
{
    enum { LONGEST_PAUSE_NS = 200000 };
    double            duration_ns = (double)event_duration_ns(walker->profile, event);
    struct eager_node node = { -1, 0, duration_ns, 0, event, window };
    int64_t           pause_ns = 0;

    if (walker->node_end_ns != INT64_MAX)
        pause_ns = event_start_ns(walker->profile, event) - walker->node_end_ns;
    if (pause_ns > 0 && pause_ns < LONGEST_PAUSE_NS)
        walker->calls->nodes.items[walker->calls->nodes.count - 1].pause_ns = (double)pause_ns;
    walker->node_end_ns = event_end_ns(walker->profile, event);
    if (!walker->enqueued_ns)
        node.work_ns = duration_ns;
    if (!profile_stat(walker->profile, STAT_SEQUENCE, event, &node.sequence))
        node.sequence = -1;
    return vec_push(&walker->calls->nodes, walker->scratch, node);
}

static void add_sum(struct walker *walker, struct eager_sum *sum, uint32_t event)
{
    const struct activity *activity = event_activity(walker->profile, event);

    sum->count++;
    if (!walker->enqueued_ns)
        sum->ns += (double)event_duration_ns(walker->profile, event);
    sum->elements += eager_elements(walker->profile, activity->op);
    walker->gradient = sum;
    walker->gradient_end_ns = event_end_ns(walker->profile, event);
}

/* Gradients that are cleared, and those that the backward pass hands over. */
static void add_gradient(struct walker *walker, uint32_t event, uint8_t phase)
{
    const struct activity *activity = event_activity(walker->profile, event);
    struct str             name = profile_str(walker->profile, activity->name);

    if (phase == PHASE_CLEAR && str_equal(name, STR("aten::zero_")))
        add_sum(walker, &walker->calls->cleared, event);
    else if (phase == PHASE_BACKWARD && str_equal(name, STR("torch::autograd::AccumulateGrad"))) {
        add_sum(walker, &walker->calls->accumulated, event);
        if (activity->op != NO_ID)
            walker->calls->handed[activity->op]++;
    }
}

/* Copies inside a call: conversions of its operands that the call asked for. */
static void add_conversion(struct walker *walker, uint32_t event)
{
    struct str name = profile_str(walker->profile, event_activity(walker->profile, event)->name);
    double     ns = (double)event_duration_ns(walker->profile, event);
    struct eager_call *call;

    if (walker->calls->list.count == 0)
        return;
    if (str_equal(name, STR("aten::_to_copy")))
        walker->cast_end_ns = event_end_ns(walker->profile, event);
    if (!str_equal(name, STR("aten::copy_")))
        return;
    call = &walker->calls->list.items[walker->calls->list.count - 1];
    if (!walker->enqueued_ns) {
        call->conversion_ns += ns;
        call->cast_ns += event_start_ns(walker->profile, event) < walker->cast_end_ns ? ns : 0;
    }
    walker->copy_end_ns = event_end_ns(walker->profile, event);
}

/* What a call on the host is made of: products, and whether it drops anything. A product that
 * another one is made of has a name of its own. */
static void add_part(struct walker *walker, uint32_t event)
{
    struct str name = profile_str(walker->profile, event_activity(walker->profile, event)->name);
    struct eager_call *call;

    if (walker->enqueued_ns || walker->calls->list.count == 0)
        return;
    call = &walker->calls->list.items[walker->calls->list.count - 1];
    if (str_equal(name, STR("aten::matmul")))
        call->products_ns += (double)event_duration_ns(walker->profile, event);
    else if (str_fits(name, "aten::dropout|aten::native_dropout"))
        call->drops = true;
}

/* A launch: its work is that of the innermost call and node around it. */
static void add_enqueued(struct walker *walker, uint32_t event)
{
    struct eager_calls *calls = walker->calls;
    int64_t             start_ns = event_start_ns(walker->profile, event);
    double              work_ns = walker->enqueued_ns ? (double)walker->enqueued_ns[event] : 0;
    struct eager_call  *call = NULL;

    if (work_ns <= 0)
        return;
    if (calls->list.count > 0)
        call = &calls->list.items[calls->list.count - 1];
    if (call && call->timeline == walker->timeline && start_ns < call->end_ns) {
        call->work_ns += work_ns;
        if (call->phase == PHASE_FORWARD && start_ns < walker->copy_end_ns)
            call->conversion_ns += work_ns;
    }
    if (walker->node_end_ns != INT64_MAX && start_ns < walker->node_end_ns)
        calls->nodes.items[calls->nodes.count - 1].work_ns += work_ns;
    if (walker->gradient && start_ns < walker->gradient_end_ns)
        walker->gradient->ns += work_ns;
}

/* The op that asks for an embedding's gradient does not say of which kind; one inside it does. */
static void mark_sparse(struct walker *walker, uint32_t event)
{
    struct str name = profile_str(walker->profile, event_activity(walker->profile, event)->name);

    if (walker->calls->list.count > 0 &&
        str_fits(name, "aten::embedding_sparse_backward|aten::_embedding_bag_sparse_backward"))
        walker->calls->list.items[walker->calls->list.count - 1].is_sparse = true;
}

/* A node of the backward pass, or a range of another phase: an update from where it trains no more.
 */
static bool add_range(struct walker *walker, uint32_t event, uint32_t window, uint8_t phase)
{
    int64_t            start_ns = event_start_ns(walker->profile, event);
    struct eager_range range = { start_ns, event_end_ns(walker->profile, event), window, phase };

    if (phase == PHASE_BACKWARD)
        return add_node(walker, event, window);
    if (phase == PHASE_UPDATE && walker->trained_ns > start_ns)
        range.start_ns = walker->trained_ns < range.end_ns ? walker->trained_ns : range.end_ns;
    return vec_push(&walker->calls->ranges, walker->scratch, range);
}

/* As vllm::unified_attention, which PyTorch's dispatcher knows by the name of its library; nodes of
 * autograd, and what they run, have names of PyTorch. */
static bool is_of_other_library(struct str name)
{
    size_t len = 0;

    while (len < name.len && (isalnum((unsigned char)name.data[len]) || name.data[len] == '_'))
        len++;
    return len > 0 && len + 2 < name.len && name.data[len] == ':' && name.data[len + 1] == ':' &&
           !str_fits(name, "torch::*|autograd::*|prims::*|profiler::*|c10d::*");
}

static bool visit(struct walker *walker, uint32_t event)
{
    const struct profile  *profile = walker->profile;
    const struct activity *activity = event_activity(profile, event);
    int64_t                start_ns = event_start_ns(profile, event);
    uint32_t               around = walker->study->around[event];
    struct inside         *inside = &walker->inside[event];
    size_t                 window;
    uint8_t                outer;

    *inside =
        around == NO_ID ? (struct inside) { NO_ID, PHASE_FORWARD, false } : walker->inside[around];
    if (activity->kind == ACTIVITY_PYTHON) {
        if (activity->source < profile->sources.count && walker->calls->is_user[activity->source])
            inside->source = activity->source;
        return true;
    }
    add_enqueued(walker, event);
    if (inside->is_in_op) {
        if (inside->phase == PHASE_FORWARD) {
            add_conversion(walker, event);
            add_part(walker, event);
        } else if (windows_find(&walker->calls->windows, start_ns) != SIZE_MAX)
            add_gradient(walker, event, inside->phase);
        if (inside->phase == PHASE_BACKWARD)
            mark_sparse(walker, event);
        return true;
    }
    outer = inside->phase;
    if (is_update(profile, activity)) {
        const struct update *update = update_at(walker, start_ns);

        walker->trained_ns = update ? update->trained_ns : INT64_MIN;
    }
    inside->phase = range_phase(profile, activity, outer);
    if (activity->kind == ACTIVITY_OP && inside->phase == PHASE_UPDATE &&
        start_ns < walker->trained_ns)
        inside->phase = PHASE_FORWARD;
    window = windows_find(&walker->calls->windows, start_ns);
    if (window != SIZE_MAX)
        add_gradient(walker, event, inside->phase);
    if (window != SIZE_MAX && activity->kind == ACTIVITY_OP) {
        struct str name = profile_str(profile, activity->name);

        /* What DDP does with buckets, and an op of another library within itself, is no call of
         * the program. */
        bool is_call = str_starts(name, STR("aten::")) || is_of_other_library(name);

        inside->is_in_op = is_call || str_fits(name, "torch::distributed::*|torch.distributed.*");
        if (is_call && !add_call(walker, event, (uint32_t)window, inside->phase))
            return false;
    } else if (window != SIZE_MAX && inside->phase != outer) {
        return add_range(walker, event, (uint32_t)window, inside->phase);
    }
    return true;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct eager_node *left = a, *right = b;

    return IN_ORDER(COMPARE(left->sequence, right->sequence), COMPARE(left->event, right->event));
}

double eager_node_ns(const struct eager_calls *calls, const struct eager_node *node)
{
    return node->work_ns + (calls->is_on_device ? 0 : node->pause_ns);
}

/* Time of the backward nodes whose numbers are in [first, end), and what the host takes for them,
 * with the pauses behind them. O(log nodes + nodes in it). */
static double backward_ns(const struct eager_calls *calls, int64_t first, int64_t end,
                          double *host_ns)
{
    size_t low = LOWER_BOUND(calls->nodes.count, i, calls->nodes.items[i].sequence < first);
    double sum_ns = 0;

    *host_ns = 0;
    for (; low < calls->nodes.count && calls->nodes.items[low].sequence < end; low++) {
        sum_ns += eager_node_ns(calls, &calls->nodes.items[low]);
        *host_ns += calls->nodes.items[low].host_ns + calls->nodes.items[low].pause_ns;
    }
    return sum_ns;
}

/* Numbers go up within a thread, by the nodes that a call makes: none where nothing that it takes
 * is trained. The last call of a step owns a few, for its inner ops. */
static void join_backward(struct eager_calls *calls)
{
    enum { LAST_CALL_NODES = 8 };
    struct eager_call *next = NULL;

    for (size_t i = calls->list.count; i-- > 0;) {
        struct eager_call *call = &calls->list.items[i];
        int64_t            end;

        if (call->phase != PHASE_FORWARD || call->sequence < 0)
            continue;
        end = call->sequence + LAST_CALL_NODES;
        if (next && next->timeline == call->timeline) {
            end = next->sequence;
            call->makes_node = end > call->sequence;
        }
        if (end > call->sequence)
            call->backward_ns = backward_ns(calls, call->sequence, end, &call->backward_host_ns);
        next = call;
    }
}

static bool clears(const struct profile *profile, const struct eager_call *call)
{
    return call->phase == PHASE_FORWARD &&
           str_equal(profile_str(profile, call->type), STR("aten::zero_"));
}

/* A module clears its gradients without a range of its own: one tensor behind the other. */
static bool find_clears(const struct profile *profile, struct arena *scratch,
                        struct eager_calls *calls)
{
    enum { FEWEST_IN_A_ROW = 4 };

    for (size_t first = 0, end; first < calls->list.count; first = end) {
        const struct eager_call *call = &calls->list.items[first];
        struct eager_range       range = { call->start_ns, 0, call->window, PHASE_CLEAR };

        end = first + 1;
        if (!clears(profile, call))
            continue;
        while (end < calls->list.count && clears(profile, &calls->list.items[end]) &&
               calls->list.items[end].window == call->window)
            end++;
        if (end - first < FEWEST_IN_A_ROW)
            continue;
        for (size_t i = first; i < end; i++) {
            struct eager_call *one = &calls->list.items[i];

            one->phase = PHASE_CLEAR;
            calls->cleared.count++;
            calls->cleared.ns += one->work_ns;
            calls->cleared.elements += eager_elements(profile, one->op);
        }
        range.end_ns = calls->list.items[end - 1].end_ns;
        if (!vec_push(&calls->ranges, scratch, range))
            return false;
    }
    return true;
}

/* By event: the time of what it launched on accelerators. */
static bool find_enqueued(const struct study *study, struct arena *scratch, struct walker *walker)
{
    const struct profile *profile = study->profile;
    const uint32_t       *launch_of = study->devices ? study->devices->launch_of : NULL;
    float                *enqueued_ns;

    walker->calls->is_on_device = study->path.has_device && launch_of;
    if (!walker->calls->is_on_device)
        return true;
    enqueued_ns = arena_new_array(scratch, float, (size_t)profile->event_count + 1);
    if (!enqueued_ns)
        return false;
    for (uint32_t event = 0; event < profile->event_count; event++)
        if (launch_of[event] < profile->event_count)
            enqueued_ns[launch_of[event]] += (float)event_duration_ns(profile, event);
    walker->enqueued_ns = enqueued_ns;
    return true;
}

bool eager_calls_make(const struct study *study, struct arena *scratch, struct eager_calls *calls)
{
    const struct profile *profile = study->profile;
    struct walker         walker = { .study = study,
                                     .profile = profile,
                                     .inside = arena_new_array(scratch, struct inside,
                                                               (size_t)profile->event_count + 1),
                                     .calls = calls,
                                     .scratch = scratch };

    *calls = (struct eager_calls) {
        .handed = arena_new_array(scratch, uint32_t, profile->ops.count + 1),
        .is_user = profile_user_sources(profile, scratch),
    };
    if (!calls->handed || !walker.inside || !calls->is_user ||
        !windows_make_called(study, scratch, &calls->windows) ||
        !find_enqueued(study, scratch, &walker) || !find_updates(&walker))
        return false;
    for (uint32_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];

        if (timeline->host != calls->windows.host || timeline->kind != TIMELINE_THREAD)
            continue;
        walker.timeline = t;
        walker.node_end_ns = INT64_MAX;
        walker.trained_ns = INT64_MIN;
        walker.copy_end_ns = walker.cast_end_ns = walker.gradient_end_ns = INT64_MIN;
        for (uint32_t i = 0; i < timeline->event_count; i++)
            if (!visit(&walker, timeline->first_event + i))
                return false;
    }
    if (calls->nodes.count > 1)
        qsort(calls->nodes.items, calls->nodes.count, sizeof *calls->nodes.items, compare_nodes);
    join_backward(calls);
    return find_clears(profile, scratch, calls);
}

double eager_median_factor(const struct eager_calls *calls)
{
    double mean_ns = (double)calls->windows.total_ns / (double)calls->windows.count;

    return calls->windows.step_ns < mean_ns ? calls->windows.step_ns / mean_ns : 1;
}

bool eager_applies(struct study *study, const char *name)
{
    const struct profile *profile = study->profile;

    if (str_equal(profile_str(profile, profile->framework), STR("pytorch")) &&
        profile->event_count > 0)
        return true;
    facts_absent(&study->facts, name, NULL, "the recording has no timeline of PyTorch ops");
    return false;
}

bool eager_calls_get(struct study *study, struct arena *scratch, struct eager_calls *calls)
{
    struct eager_calls *kept;

    if (study->calls) {
        *calls = *study->calls;
        return true;
    }
    if (!study->lane_arena)
        return eager_calls_make(study, scratch, calls);
    kept = arena_new(study->lane_arena, struct eager_calls);
    if (!kept || !eager_calls_make(study, study->lane_arena, kept))
        return false;
    study->calls = kept;
    *calls = *kept;
    return true;
}

struct str eager_base_name(struct str type)
{
    if (str_starts(type, STR("aten::")))
        type = str_slice(type, 6, type.len);
    while (type.len > 1 && type.data[0] == '_')
        type = str_slice(type, 1, type.len);
    if (type.len > 1 && type.data[type.len - 1] == '_')
        type = str_slice(type, 0, type.len - 1);
    return type;
}

double eager_elements(const struct profile *profile, uint32_t op)
{
    double most = 0;

    if (op == NO_ID)
        return 0;
    for (uint32_t i = 0; i < profile->ops.items[op].input_count; i++) {
        const struct tensor *tensor =
            &profile->tensors.items[profile->ops.items[op].first_input + i];
        double count = tensor->rank < 0 ? 0 : 1;

        for (int8_t j = 0; j < tensor->rank; j++)
            count *= tensor->dims[j] > 0 ? (double)tensor->dims[j] : 0;
        most = count > most ? count : most;
    }
    return most;
}

static double product_of(const struct tensor *tensor, int8_t end)
{
    double product = 1;

    for (int8_t i = 0; i < end; i++)
        product *= (double)tensor->dims[i];
    return product;
}

/* A recurrent cell multiplies its input and its state with weights of their own: the matrices among
 * its operands that do not have a row for each of the batch. */
static double cell_flops(const struct op *op, const struct tensor *inputs)
{
    double flops = 0;

    for (uint32_t i = 1; i < op->input_count; i++)
        if (inputs[0].rank == 2 && inputs[i].rank == 2 && inputs[i].dims[0] != inputs[0].dims[0])
            flops += 2 * (double)inputs[0].dims[0] * product_of(&inputs[i], 2);
    return flops;
}

double eager_product_flops(const struct profile *profile, uint32_t row)
{
    const struct op     *op;
    const struct tensor *left, *right;
    struct str           name;

    if (row == NO_ID || profile->ops.items[row].input_count < 2)
        return 0;
    op = &profile->ops.items[row];
    name = eager_base_name(profile_str(profile, op->type));
    left = &profile->tensors.items[op->first_input];
    if (str_ends(name, STR("_cell")))
        return cell_flops(op, left);
    if (name_is(name, NAMES_ATEN_BIASED_PRODUCT) && op->input_count > 2)
        left++;
    right = left + 1;
    if (left->rank < 2 || right->rank < 1)
        return 0;
    return 2 * product_of(left, left->rank) *
           (double)right->dims[str_equal(name, STR("linear")) ? 0 : right->rank - 1];
}

bool eager_is_together(const struct eager_call *a, const struct eager_call *b)
{
    return a->timeline == b->timeline && a->window == b->window;
}

bool eager_is_unrecorded(const struct eager_call *call)
{
    return call->phase == PHASE_FORWARD && call->backward_ns <= 0;
}

double eager_span(const struct eager_calls *calls, size_t first, size_t end)
{
    double work_ns = 0;

    if (!calls->is_on_device)
        return (double)(calls->list.items[end - 1].end_ns - calls->list.items[first].start_ns);
    for (size_t i = first; i < end; i++)
        work_ns += calls->list.items[i].work_ns;
    return work_ns;
}
