/*
 * eager loops: Python loops that an eager program runs over slices of its tensors, over time steps
 * of a cell or around a growing concatenation. What anchors a loop is a call that comes again after
 * a few others: taking a slice of a tensor of the same shape, a cell, a concatenation.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/eager/eager_rounds.h"
#include "analyze/eager/eager_typical.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum loops_column {
    ANCHOR,
    REPEATS,
    BODY,
    CALLS,
    NS,
    SPAN_NS,
    BACKWARD_NS,
    CALL_NS,
    VIEW_NS,
    PRODUCTS,
    GATES,
    CONCATS,
    CONCAT_NS,
    READBACKS,
    PICKS,
    SLICES,
    CONVERSION_NS,
    FLOPS,
    KEPT_NS,
    ELEMENTS,
    IS_GROWING,
    IS_HISTORY,
    IS_FED_BACK,
    IS_HANDED_ON,
    IS_RAGGED,
    OPS,
    SHAPES,
    SOURCE_FILE,
    SOURCE_LINE,
    RUNS
};
static const struct column_spec columns[] = {
    [ANCHOR] = { "anchor", UNIT_NAME, "op that comes again: select, slice, lstm_cell, cat, …" },
    [REPEATS] = { "repeats", UNIT_COUNT, "times it comes a step" },
    [BODY] = { "body", UNIT_COUNT, "calls from one to the next" },
    [CALLS] = { "calls", UNIT_COUNT, "calls in the loop a step" },
    [NS] = { "ns", UNIT_NS,
             "time of the host a step, backward nodes and pauses between calls included" },
    [SPAN_NS] = { "span_ns", UNIT_NS,
                  "of that, from the first to the last forward call, less long pauses" },
    [BACKWARD_NS] = { "backward_ns", UNIT_NS, "of that, nodes of the backward pass" },
    [CALL_NS] = { "call_ns", UNIT_NS,
                  "typical forward call, conversions aside: each op at its median" },
    [VIEW_NS] = { "view_ns", UNIT_NS, "quick call of the program that only makes a view" },
    [PRODUCTS] = { "products", UNIT_COUNT, "matrix products in it a step" },
    [GATES] = { "gates", UNIT_COUNT, "sigmoids, hyperbolic tangents and cells in it a step" },
    [CONCATS] = { "concats", UNIT_COUNT, "concatenations in it a step" },
    [CONCAT_NS] = { "concat_ns", UNIT_NS, "their time, both ways" },
    [READBACKS] = { "readbacks", UNIT_COUNT, "values read by Python in it a step" },
    [PICKS] = { "picks", UNIT_COUNT, "largest or drawn values that it picks a step" },
    [SLICES] = { "slices", UNIT_COUNT, "slices that it takes a step" },
    [CONVERSION_NS] = { "conversion_ns", UNIT_NS, "its forward calls that change element types" },
    [FLOPS] = { "flops", UNIT_FLOPS, "operations of its forward products a step" },
    [KEPT_NS] = { "kept_ns", UNIT_NS,
                  "time a step of its products at the best rate seen, both ways" },
    [ELEMENTS] = { "elements", UNIT_COUNT, "mean elements of the operands of its other calls" },
    [IS_GROWING] = { "is_growing", UNIT_BOOL, "what it concatenates grows" },
    [IS_HISTORY] = { "is_history", UNIT_BOOL,
                     "its products take more with each round: all that came before" },
    [IS_FED_BACK] = { "is_fed_back", UNIT_BOOL,
                      "a round picks and writes down what the next one gathers by" },
    [IS_HANDED_ON] = { "is_handed_on", UNIT_BOOL,
                       "rounds leave nothing but what the next one takes, or write it down" },
    [IS_RAGGED] = { "is_ragged", UNIT_BOOL,
                    "products of most rounds have other rows than the first" },
    [OPS] = { "ops", UNIT_NAME, "the first calls of the body" },
    [SHAPES] = { "shapes", UNIT_NAME, "of the first call" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the first call, where recorded" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
    [RUNS] = { "runs", UNIT_COUNT,
               "loops that the times stand in a step, other work between them" },
};
static const struct table_spec tables[] = {
    { "eager_loops", "Python loops over slices, cells and concatenations", columns,
      ARRAY_COUNT(columns) },
};
static const double MOST_ROUNDS = 0.9;
enum { FEWEST_REPEATS = 8, MOST_NAMED = 6, LONGEST_ROUND = 6 /* of mean rounds */ };

struct loop {
    uint32_t key, first_call, count, repeats;
    double   calls, span_ns, call_ns, backward_ns, products, gates, concats, concat_ns, readbacks,
        picks, slices, conversion_ns, flops, products_ns, elements, others, first_concat,
        last_concat, fed_back, handed_on, other_rows;
    int64_t first_rows; /* of its first product */
    bool    is_history, takes_longer;
};
struct finder {
    struct study             *study;
    const struct eager_calls *calls;
    struct arena             *scratch;
    struct eager_rounds       rounds;
    bool                     *is_taken; /* by call */
    struct eager_typical      typical;
    double                    best_rate; /* of products, operations a ns */
    uint32_t                  run_start; /* where the forward calls of the step at hand begin */
    VEC(struct eager_cluster) open, closed;
    VEC(struct loop) loops;
};

/* The first anchors join whatever lies between, as no rounds tell yet how far one may be. Those in
 * front of a pause that no round behind it has, as batches that are picked before a network runs,
 * are none of the loop's. */
static void drop_head(const struct finder *finder, struct eager_cluster *cluster)
{
    const struct eager_call *calls = finder->calls->list.items;
    uint32_t                 type = calls[cluster->first].type, before = cluster->first, seen = 1;
    struct eager_cluster     found = *cluster;
    enum anchor_class class = (enum anchor_class)eager_round_kind(&finder->rounds, type)->class;

    for (uint32_t i = before + 1; i < cluster->last && seen < FEWEST_REPEATS; i++) {
        uint32_t left = cluster->count - seen;

        if (calls[i].type != type || eager_round_key(&calls[i], class) != cluster->key)
            continue;
        if (left >= FEWEST_REPEATS &&
            (uint64_t)(i - before) * (left - 1) > (uint64_t)(cluster->last - i) * LONGEST_ROUND)
            found = (struct eager_cluster) { cluster->key, i, cluster->last, left };
        before = i;
        seen++;
    }
    *cluster = found;
}

static bool is_of_network(const struct finder *finder, uint32_t at)
{
    uint32_t type = finder->calls->list.items[at].type;

    return eager_round_kind(&finder->rounds, type)->traits & (IS_PRODUCT | IS_LAYER);
}

/* Of rounds without a product those of a network are none, in front of the loop or behind it: a
 * batch that is picked before it runs, labels that are picked before the loss. */
static void drop_network(const struct finder *finder, struct eager_cluster *cluster)
{
    enum { FEW_ANCHORS = 3 };
    const struct eager_call *calls = finder->calls->list.items;
    uint32_t type = calls[cluster->first].type, first = cluster->first, last = cluster->first;
    uint32_t head = 0, count = 0;
    bool     is_behind = false;
    enum anchor_class class = (enum anchor_class)eager_round_kind(&finder->rounds, type)->class;

    for (uint32_t i = cluster->first; i <= cluster->last; i++) {
        if (is_of_network(finder, i)) {
            is_behind = count > FEW_ANCHORS;
            if (is_behind)
                break;
            head = count;
            continue;
        }
        if (calls[i].type != type || eager_round_key(&calls[i], class) != cluster->key)
            continue;
        if (count++ == head)
            first = i;
        last = i;
    }
    if (count - head < FEWEST_REPEATS || (is_behind && count + FEW_ANCHORS < cluster->count))
        return;
    *cluster = (struct eager_cluster) { cluster->key, first, last, count - head };
}

static bool close_cluster(struct finder *finder, const struct eager_cluster *cluster)
{
    struct eager_cluster closed = *cluster;

    if (cluster->count < FEWEST_REPEATS)
        return true;
    drop_head(finder, &closed);
    drop_network(finder, &closed);
    return vec_push(&finder->closed, finder->scratch, closed);
}

/* Does the loop still run at call `at`? Once it has run a while its rounds tell how far that may
 * be. */
static bool goes_on(const struct eager_cluster *cluster, uint32_t at, uint32_t most_between)
{
    return at - cluster->last <= most_between &&
           (cluster->count < FEWEST_REPEATS ||
            (uint64_t)(at - cluster->last) * (cluster->count - 1) <=
                (uint64_t)(cluster->last - cluster->first) * LONGEST_ROUND);
}

/* Adds an anchor at call `at` to the open cluster of its key, or begins one. */
static bool add_anchor(struct finder *finder, struct id_map *rows, uint32_t key, uint32_t at,
                       uint32_t most_between)
{
    struct eager_cluster  fresh = { key, at, at, 1 };
    uint32_t              row = id_map_get(rows, key);
    struct eager_cluster *open;

    if (row == NO_ID)
        return id_map_put(rows, key, (uint32_t)finder->open.count) &&
               vec_push(&finder->open, finder->scratch, fresh);
    open = &finder->open.items[row];
    if (goes_on(open, at, most_between)) {
        open->last = at;
        open->count++;
        return true;
    }
    if (!close_cluster(finder, open))
        return false;
    *open = fresh;
    return true;
}

static int compare_clusters(const void *a, const void *b)
{
    const struct eager_cluster *left = a, *right = b;
    uint32_t                    left_covers = left->last - left->first;
    uint32_t                    right_covers = right->last - right->first;

    return IN_ORDER(COMPARE(right_covers, left_covers), COMPARE(left->first, right->first));
}

static void count_rows(const struct profile *profile, struct loop *loop,
                       const struct eager_call *call)
{
    const struct op *op = call->op != NO_ID ? &profile->ops.items[call->op] : NULL;
    int64_t rows = op && op->input_count && profile->tensors.items[op->first_input].rank > 0
                       ? profile->tensors.items[op->first_input].dims[0]
                       : 0;

    if (loop->first_rows == 0)
        loop->first_rows = rows;
    loop->other_rows += rows != loop->first_rows;
}

static void count_call(struct finder *finder, struct loop *loop, const struct eager_call *call)
{
    const struct profile    *profile = finder->study->profile;
    const struct eager_kind *kind = eager_round_kind(&finder->rounds, call->type);
    double                   ns = (double)(call->end_ns - call->start_ns);
    double                   elements = eager_elements(profile, call->op);
    bool is_conversion = kind->traits & IS_CONVERSION && call->conversion_ns > 0;

    loop->calls++;
    if (is_conversion)
        loop->conversion_ns += finder->calls->is_on_device ? call->work_ns : ns;
    else
        loop->call_ns += finder->typical.call_ns[call - finder->calls->list.items];
    loop->backward_ns += call->backward_host_ns;
    loop->products += (kind->traits & IS_PRODUCT) != 0;
    loop->gates += (kind->traits & IS_GATE) != 0;
    loop->readbacks += (kind->traits & IS_READBACK) != 0;
    loop->picks += (kind->traits & IS_PICK) != 0;
    loop->slices += (kind->traits & IS_SLICE) != 0;
    if (kind->traits & IS_PRODUCT) {
        loop->flops += eager_product_flops(profile, call->op);
        loop->products_ns += call->work_ns + call->backward_ns;
        count_rows(profile, loop, call);
    }
    if (!(kind->traits & IS_LOOK)) {
        loop->elements += elements;
        loop->others++;
    }
    if (!(kind->traits & IS_CONCAT))
        return;
    loop->concats++;
    loop->concat_ns += ns + call->backward_host_ns;
    if (loop->first_concat == 0)
        loop->first_concat = elements;
    loop->last_concat = elements;
}

static struct loop *loop_of(struct finder *finder, const struct eager_cluster *cluster)
{
    struct loop fresh = { .key = cluster->key, .first_call = cluster->first };

    for (size_t i = 0; i < finder->loops.count; i++)
        if (finder->loops.items[i].key == cluster->key)
            return &finder->loops.items[i];
    if (!vec_push(&finder->loops, finder->scratch, fresh))
        return NULL;
    return &finder->loops.items[finder->loops.count - 1];
}

/* From the first to the last call, with the pauses that starting ops takes: what a round computes
 * in Python between them is its own, and stays however the ops are called. Long pauses in few of
 * the rounds are none of theirs: the machine did something else, and does so less in less time;
 * those that are most of the span are other work of the program. */
static double span_of(const struct eager_call *calls, uint32_t first, uint32_t end, uint32_t rounds)
{
    enum { FEW = 8 };
    static const int64_t longest_pause_ns = 300000;
    int64_t              span_ns = calls[end - 1].end_ns - calls[first].start_ns, longer_ns = 0;
    uint32_t             count = 0;

    for (uint32_t i = first + 1; i < end; i++) {
        int64_t pause_ns = calls[i].start_ns - calls[i - 1].end_ns;

        if (pause_ns > longest_pause_ns) {
            longer_ns += pause_ns - longest_pause_ns;
            count++;
        }
    }
    return (double)(count * FEW > rounds || longer_ns * 2 > span_ns ? span_ns - longer_ns
                                                                    : span_ns);
}

/* Where calls only feed a device, those that take the tensors apart which the rounds walk over, and
 * the one that stacks what they give, cost as the rounds do. */
static void add_ends(struct finder *finder, struct loop *loop, uint32_t first, uint32_t end,
                     uint32_t run_end)
{
    const struct eager_call *calls = finder->calls->list.items;

    for (uint32_t i = first; finder->calls->is_on_device && i-- > finder->run_start;) {
        if (!(eager_round_kind(&finder->rounds, calls[i].type)->traits & IS_SPLIT))
            break;
        loop->span_ns += (double)(calls[i + 1].start_ns - calls[i].start_ns);
        loop->backward_ns += calls[i].backward_host_ns;
    }
    if (!finder->calls->is_on_device || end >= run_end ||
        !(eager_round_kind(&finder->rounds, calls[end].type)->traits & IS_STACK))
        return;
    loop->span_ns += (double)(calls[end].end_ns - calls[end - 1].end_ns);
    loop->backward_ns += calls[end].backward_host_ns;
}

/* Where no shapes were recorded: concatenations of what grows take longer with each round. false:
 * out of memory. */
static bool see_growth(struct finder *finder, struct loop *loop, uint32_t first, uint32_t end)
{
    enum { PARTS = 4, FEWEST_CONCATS = 16 };
    static const double      GROWTH = 2;
    const struct eager_call *calls = finder->calls->list.items;
    double                  *ns = arena_new_array(finder->scratch, double, end - first), early_ns;
    size_t                   count = 0, part;

    if (!ns)
        return false;
    for (uint32_t i = first; i < end; i++)
        if (eager_round_kind(&finder->rounds, calls[i].type)->traits & IS_CONCAT)
            ns[count++] = finder->calls->is_on_device
                              ? calls[i].work_ns
                              : (double)(calls[i].end_ns - calls[i].start_ns);
    if (count < FEWEST_CONCATS)
        return true;
    part = count / PARTS;
    early_ns = sample_median(ns, part);
    loop->takes_longer |= sample_median(&ns[part], part) > early_ns &&
                          sample_median(&ns[count - part], part) > GROWTH * early_ns;
    return true;
}

/* The body behind the last anchor belongs to the loop too. */
static bool take(struct finder *finder, const struct eager_cluster *cluster, uint32_t run_end)
{
    const struct eager_call *calls = finder->calls->list.items;
    uint32_t     body = (cluster->last - cluster->first) / (cluster->count - 1), taken = 0;
    uint32_t     end = cluster->last + body < run_end ? cluster->last + body : run_end;
    struct loop *loop;

    end = end > cluster->last ? end : cluster->last + 1;
    for (uint32_t i = cluster->first; i < end; i++)
        taken += finder->is_taken[i];
    if (taken * 4 > end - cluster->first ||
        !eager_rounds_are_loop(&finder->rounds, cluster, end, run_end))
        return true;
    loop = loop_of(finder, cluster);
    if (!loop)
        return false;
    loop->count++;
    loop->is_history = loop->is_history || eager_rounds_grow(&finder->rounds, cluster->first, end);
    loop->fed_back += eager_rounds_fed_back(&finder->rounds, cluster->first, end);
    loop->handed_on += eager_rounds_hand_on(&finder->rounds, cluster, end, run_end) ||
                               eager_rounds_note_state(&finder->rounds, cluster, run_end)
                           ? cluster->count
                           : 0;
    loop->repeats += cluster->count;
    loop->span_ns += span_of(calls, cluster->first, end, cluster->count);
    add_ends(finder, loop, cluster->first, end, run_end);
    if (!finder->study->profile->has_shapes && !see_growth(finder, loop, cluster->first, end))
        return false;
    for (uint32_t i = cluster->first; i < end; i++) {
        finder->is_taken[i] = true;
        count_call(finder, loop, &calls[i]);
    }
    return true;
}

/* As many elements as an axis has are taken along it: all of it in another order, or shifted, and
 * no slice. */
static bool takes_whole_axis(const struct profile *profile, const struct eager_call *call)
{
    const struct tensor *from = profile_op_input(profile, call->op, 0);
    int64_t              axis;

    if (!str_equal(profile_str(profile, call->type), STR("aten::index_select")) || !from ||
        profile_numbers(profile, call->event, 1, &axis, 1) != 1)
        return false;
    axis += axis < 0 ? from->rank : 0;
    if (axis < 0 || axis >= from->rank)
        return false;
    for (uint32_t i = 1; profile_op_input(profile, call->op, i); i++)
        if (profile_op_input(profile, call->op, i)->rank == 1)
            return profile_op_input(profile, call->op, i)->dims[0] == from->dims[axis];
    return false;
}

/* Loops among the forward calls [first, end) of one step, the longest first. */
static bool find_loops(struct finder *finder, uint32_t first, uint32_t end)
{
    struct arena  scratch = { 0 };
    struct id_map rows = { .arena = &scratch };
    bool          is_done = true;

    finder->open.count = finder->closed.count = 0;
    finder->run_start = first;
    for (uint32_t i = first; is_done && i < end; i++) {
        const struct eager_call *call = &finder->calls->list.items[i];
        const struct eager_kind *kind = eager_round_kind(&finder->rounds, call->type);

        if (kind->class != ANCHOR_NONE && !takes_whole_axis(finder->study->profile, call))
            is_done =
                add_anchor(finder, &rows, eager_round_key(call, (enum anchor_class)kind->class), i,
                           kind->most_between);
    }
    arena_free(&scratch);
    for (size_t i = 0; is_done && i < finder->open.count; i++)
        is_done = close_cluster(finder, &finder->open.items[i]);
    if (finder->closed.count > 1)
        qsort(finder->closed.items, finder->closed.count, sizeof *finder->closed.items,
              compare_clusters);
    for (size_t i = 0; is_done && i < finder->closed.count; i++)
        is_done = take(finder, &finder->closed.items[i], end);
    return is_done;
}

static bool find_all(struct finder *finder)
{
    const struct eager_call *calls = finder->calls->list.items;
    uint32_t                 count = (uint32_t)finder->calls->list.count, first = 0;

    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && calls[i].timeline == calls[first].timeline &&
            calls[i].window == calls[first].window && calls[i].phase == calls[first].phase)
            continue;
        if (calls[first].phase == PHASE_FORWARD && !find_loops(finder, first, i))
            return false;
        first = i;
    }
    return true;
}

static uint32_t name_body(struct finder *finder, const struct loop *loop, double body)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    uint32_t     name;

    for (uint32_t i = 0; i < MOST_NAMED && i < body; i++) {
        const struct eager_call *call = &finder->calls->list.items[loop->first_call + i];
        struct str type = eager_base_name(profile_str(finder->study->profile, call->type));

        text_print(&text, "%s%.*s", i > 0 ? " > " : "", STR_ARG(type));
    }
    if (body > MOST_NAMED)
        text_print(&text, " > …");
    name = facts_name(&finder->study->facts, text_str(&text));
    arena_free(&scratch);
    return name;
}

/* The backward pass has two products for each. A device's kernels take no longer in one call. */
static double kept_ns(const struct finder *finder, const struct loop *loop)
{
    double ns = loop->flops * (loop->backward_ns > 0 ? 3 : 1) / finder->best_rate;

    return finder->calls->is_on_device && ns > loop->products_ns ? loop->products_ns : ns;
}

static bool add_row(struct finder *finder, struct table *table, const struct loop *loop)
{
    struct study            *study = finder->study;
    const struct profile    *profile = study->profile;
    const struct eager_call *first = &finder->calls->list.items[loop->first_call];
    double                   steps = (double)finder->calls->windows.count;
    double                   factor = eager_median_factor(finder->calls);
    double                   body = loop->calls / loop->repeats;
    const struct {
        int    column;
        double total;
    } sums[] = {
        { REPEATS, loop->repeats },
        { RUNS, loop->count },
        { CALLS, loop->calls },
        { NS, loop->span_ns + loop->backward_ns },
        { SPAN_NS, loop->span_ns },
        { BACKWARD_NS, loop->backward_ns },
        { PRODUCTS, loop->products },
        { GATES, loop->gates },
        { CONCATS, loop->concats },
        { CONCAT_NS, loop->concat_ns },
        { READBACKS, loop->readbacks },
        { PICKS, loop->picks },
        { SLICES, loop->slices },
        { FLOPS, loop->flops },
        { CONVERSION_NS, loop->conversion_ns },
    };
    size_t row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(sums); i++)
        emit_number(table, sums[i].column, row,
                    sums[i].total / steps * (columns[sums[i].column].unit == UNIT_NS ? factor : 1));
    emit_number(table, KEPT_NS, row, kept_ns(finder, loop) / steps);
    emit_name(table, ANCHOR, row,
              facts_name(&study->facts, eager_base_name(profile_str(profile, first->type))));
    emit_number(table, BODY, row, body);
    emit_number(table, CALL_NS, row, loop->call_ns / loop->calls);
    emit_number(table, VIEW_NS, row, finder->typical.view_ns);
    emit_number(table, ELEMENTS, row, loop->others > 0 ? loop->elements / loop->others : 0);
    emit_number(table, IS_GROWING, row,
                profile->has_shapes ? loop->last_concat > 2 * loop->first_concat
                                    : loop->takes_longer);
    emit_number(table, IS_HISTORY, row, loop->is_history);
    emit_number(table, IS_FED_BACK, row,
                loop->fed_back + loop->count >= MOST_ROUNDS * loop->repeats);
    emit_number(table, IS_HANDED_ON, row, loop->handed_on >= MOST_ROUNDS * loop->repeats);
    emit_number(table, IS_RAGGED, row, loop->other_rows > 0.5 * loop->products);
    emit_name(table, OPS, row, name_body(finder, loop, body));
    if (first->op != NO_ID)
        emit_name(table, SHAPES, row, emit_shapes(study, &profile->ops.items[first->op]));
    emit_source(profile, table, SOURCE_FILE, row, first->source);
    return true;
}

/* Short calls say more about the dispatcher than about the processor. */
static void find_best_rate(struct finder *finder)
{
    enum { SHORTEST_NS = 20000 };
    static const double SLOWEST_CORE = 100, SLOWEST_DEVICE = 1e4; /* with vector units */
    bool                is_on_device = finder->calls->is_on_device;

    finder->best_rate = is_on_device ? SLOWEST_DEVICE : SLOWEST_CORE;
    for (size_t i = 0; i < finder->calls->list.count; i++) {
        const struct eager_call *call = &finder->calls->list.items[i];
        double ns = is_on_device ? call->work_ns : (double)(call->end_ns - call->start_ns), rate;

        if (ns < SHORTEST_NS ||
            !(eager_round_kind(&finder->rounds, call->type)->traits & IS_PRODUCT))
            continue;
        rate = eager_product_flops(finder->study->profile, call->op) / ns;
        if (rate > finder->best_rate)
            finder->best_rate = rate;
    }
}

static bool find(struct finder *finder, struct eager_calls *calls)
{
    struct study *study = finder->study;
    struct table *table = facts_table(&study->facts, &tables[0]);

    if (!table || !eager_calls_get(study, finder->scratch, calls) ||
        !eager_typical_make(study, calls, finder->scratch, &finder->typical))
        return false;
    finder->calls = calls;
    finder->rounds = (struct eager_rounds) {
        .profile = study->profile,
        .calls = calls->list.items,
        .kinds =
            arena_new_array(finder->scratch, struct eager_kind, study->profile->names.count + 1),
    };
    finder->is_taken = arena_new_array(finder->scratch, bool, calls->list.count + 1);
    if (!finder->rounds.kinds || !finder->is_taken)
        return false;
    find_best_rate(finder);
    if (!find_all(finder))
        return false;
    for (size_t i = 0; i < finder->loops.count; i++)
        if (!add_row(finder, table, &finder->loops.items[i]))
            return false;
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena       scratch = { 0 };
    struct eager_calls calls = { 0 };
    struct finder      finder = { .study = study, .scratch = &scratch };
    bool               is_done;

    if (!eager_applies(study, "eager_loops"))
        return true;
    is_done = find(&finder, &calls);
    arena_free(&scratch);
    return is_done || emit_limit("Python loops", err);
}

const struct analysis analysis_eager_loops = {
    .name = "eager_loops",
    .summary = "Python loops that eager programs run over slices, cells and concatenations",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
