/*
 * eager step: what an eager training step is made of, forward, backward, clearing gradients and
 * updating, and work in it that nothing uses: forward passes whose results no backward pass needs,
 * gradients of parameters that took no part, checks of every gradient.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/eager/eager_grown.h"
#include "analyze/eager/eager_lines.h"
#include "analyze/eager/eager_models.h"
#include "analyze/eager/eager_pauses.h"
#include "analyze/eager/eager_repeats.h"
#include "analyze/eager/eager_tables.h"
#include "analyze/eager/eager_updates.h"
#include "analyze/emit.h"
#include "analyze/step/own_lines.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/op_class.h"

#include <stdlib.h>
#include <string.h>

enum step_fact {
    FORWARD_NS,
    FORWARD_CALLS,
    FORWARD_GAP_NS,
    PAUSES_NS,
    LONGEST_PAUSE_NS,
    RECORDED_CALLS,
    RECORDED_SHORT_NS,
    BACKWARD_NS,
    BACKWARD_NODES,
    UPDATE_NS,
    UPDATE_HOST_NS,
    UPDATES,
    UPDATE_CALLS,
    UPDATE_FUSED_CALLS,
    UPDATE_READBACKS,
    CLEAR_NS,
    CLEARED_COUNT,
    CLEARED_ELEMENTS,
    ACCUMULATED_COUNT,
    ACCUMULATED_NS,
    ACCUMULATED_ELEMENTS,
    CLIP_NS,
    CLIP_HOST_NS,
    CLIP_NORMS,
    CLIP_CALLS,
    CHECK_COUNT,
    CHECK_NS,
    REPEATED_NS,
    REPEATED_PRODUCTS,
    UNTRAINED_NS,
    UNTRAINED_PRODUCTS,
    RECOMPUTED_NS,
    RECOMPUTED_CALLS,
    COPIES_NS,
    COPIES_COUNT,
    APPENDS_NS,
    APPENDS_COUNT,
    DROPOUT_NS,
    OWN_STATISTICS_NS,
    EMBEDDING_NS,
    EMBEDDING_ROWS,
    EMBEDDING_LOOKUPS,
    EMBEDDING_ELEMENTS,
    CONV_NS,
    CONV_FIRST_NS,
    CONV_FIRST_DEPTHWISE_NS,
    BY_HAND_NS,
    BY_HAND_HOST_NS,
    BY_HAND_CALLS,
    BY_HAND_WRITES,
    BY_HAND_CALL_NS,
    AGAIN_NS,
    AGAIN_NODES,
    PASSES,
    PRODUCT_ROWS,
    GROWN_COUNT,
    GROWN_NS,
    GROWN_LAST_NS,
    MODEL_CALLS,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [FORWARD_NS] = { "torch.forward_ns", UNIT_NS, "calls of the forward pass a step" },
    [FORWARD_CALLS] = { "torch.forward_calls", UNIT_COUNT, "how many" },
    [FORWARD_GAP_NS] = { "torch.forward_gap_ns", UNIT_NS, "pauses between them a step" },
    [PAUSES_NS] = { "torch.pauses_ns", UNIT_NS,
                    "long pauses between calls that come in every step, outside input and "
                    "optimizers" },
    [LONGEST_PAUSE_NS] = { "torch.longest_pause_ns", UNIT_NS, "the longest of them" },
    [RECORDED_CALLS] = { "torch.recorded_calls", UNIT_COUNT,
                         "of them, those recorded for a backward pass" },
    [RECORDED_SHORT_NS] = { "torch.recorded_short_ns", UNIT_NS,
                            "a quarter of the calls that a backward node is for take the thread no "
                            "longer" },
    [BACKWARD_NS] = { "torch.backward_ns", UNIT_NS, "nodes of the backward pass a step" },
    [BACKWARD_NODES] = { "torch.backward_nodes", UNIT_COUNT, "how many" },
    [UPDATE_NS] = { "torch.update_ns", UNIT_NS, "optimizers' steps a step" },
    [UPDATE_HOST_NS] = { "torch.update_host_ns", UNIT_NS, "what the host takes for those" },
    [UPDATES] = { "torch.updates", UNIT_COUNT, "how many of them" },
    [UPDATE_CALLS] = { "torch.update_calls", UNIT_COUNT, "ops called in them" },
    [UPDATE_FUSED_CALLS] = { "torch.update_fused_calls", UNIT_COUNT,
                             "of them, those over many parameters at once" },
    [UPDATE_READBACKS] = { "torch.update_readbacks", UNIT_COUNT,
                           "of them, those that Python waits for" },
    [CLEAR_NS] = { "torch.clear_ns", UNIT_NS, "clearing gradients a step" },
    [CLEARED_COUNT] = { "torch.cleared_gradients", UNIT_COUNT, "gradients set to zero a step" },
    [CLEARED_ELEMENTS] = { "torch.cleared_elements", UNIT_COUNT, "their elements" },
    [ACCUMULATED_COUNT] = { "torch.accumulated_gradients", UNIT_COUNT,
                            "gradients handed to parameters a step" },
    [ACCUMULATED_NS] = { "torch.accumulated_ns", UNIT_NS, "time of that a step" },
    [ACCUMULATED_ELEMENTS] = { "torch.accumulated_elements", UNIT_COUNT, "their elements" },
    [CLIP_NS] = { "torch.clip_ns", UNIT_NS,
                  "from the end of the backward pass to the optimizer, where norms are taken" },
    [CLIP_HOST_NS] = { "torch.clip_host_ns", UNIT_NS, "what the host takes for that" },
    [CLIP_NORMS] = { "torch.clip_norms", UNIT_COUNT, "norms taken then a step" },
    [CLIP_CALLS] = { "torch.clip_calls", UNIT_COUNT, "ops called then a step" },
    [CHECK_COUNT] = { "torch.gradient_checks", UNIT_COUNT,
                      "tests for NaN inside the backward pass a step" },
    [CHECK_NS] = { "torch.gradient_checks_ns", UNIT_NS, "their time" },
    [REPEATED_NS] = { "torch.repeated_forward_ns", UNIT_NS,
                      "forward work of the shapes of the trained one that no backward needs" },
    [REPEATED_PRODUCTS] = { "torch.repeated_products", UNIT_COUNT, "products in it a step" },
    [UNTRAINED_NS] = { "torch.untrained_forward_ns", UNIT_NS,
                       "the same where nothing was recorded for a backward pass" },
    [UNTRAINED_PRODUCTS] = { "torch.untrained_products", UNIT_COUNT, "products in it a step" },
    [RECOMPUTED_NS] = { "torch.recomputed_ns", UNIT_NS,
                        "layers of the forward pass that run again inside the backward pass" },
    [RECOMPUTED_CALLS] = { "torch.recomputed_calls", UNIT_COUNT, "how many of them a step" },
    [COPIES_NS] = { "torch.copies_ns", UNIT_NS,
                    "copies into another layout and clones in the forward pass a step, both ways" },
    [COPIES_COUNT] = { "torch.copies", UNIT_COUNT, "how many a step" },
    [APPENDS_NS] = { "torch.appends_ns", UNIT_NS,
                     "concatenations that copy a long tensor to add a little to it, a step, and "
                     "giving back what they copied" },
    [APPENDS_COUNT] = { "torch.appends", UNIT_COUNT, "how many a step" },
    [DROPOUT_NS] = { "torch.dropout_ns", UNIT_NS,
                     "dropout a step; of attention that drops, all but its products, since one "
                     "kernel does it otherwise" },
    [OWN_STATISTICS_NS] = { "torch.own_statistics_ns", UNIT_NS,
                            "batch norms a step that take the batch's own statistics, as while "
                            "a model trains" },
    [EMBEDDING_NS] = { "torch.embedding_gradient_ns", UNIT_NS,
                       "dense gradients of embedding tables a step" },
    [EMBEDDING_ROWS] = { "torch.embedding_rows", UNIT_COUNT, "rows of the largest table" },
    [EMBEDDING_LOOKUPS] = { "torch.embedding_lookups", UNIT_COUNT, "rows looked up in it at most" },
    [EMBEDDING_ELEMENTS] = { "torch.embedding_elements", UNIT_COUNT,
                             "elements of all gradients of tables of which few rows are looked "
                             "up" },
    [CONV_NS] = { "torch.conv_ns", UNIT_NS, "two-dimensional convolutions a step, both ways" },
    [CONV_FIRST_NS] = { "torch.conv_channels_first_ns", UNIT_NS,
                        "of that, on tensors with channels before pixels" },
    [CONV_FIRST_DEPTHWISE_NS] = { "torch.conv_channels_first_depthwise_ns", UNIT_NS,
                                  "of that, with one filter a channel" },
    [BY_HAND_NS] = { "torch.by_hand_ns", UNIT_NS,
                     "ops that write as many tensors as there are parameters, one by one outside "
                     "the optimizer, a step" },
    [BY_HAND_HOST_NS] = { "torch.by_hand_host_ns", UNIT_NS,
                          "what the host takes for them, pauses included" },
    [BY_HAND_CALLS] = { "torch.by_hand_calls", UNIT_COUNT, "how many ops" },
    [BY_HAND_WRITES] = { "torch.by_hand_writes", UNIT_COUNT, "of them, those that write" },
    [BY_HAND_CALL_NS] = { "torch.by_hand_call_ns", UNIT_NS,
                          "one of them with the pause behind it: what nine of ten take at most" },
    [AGAIN_NS] = { "torch.backward_again_ns", UNIT_NS,
                   "backward nodes that run again for the same forward call a step" },
    [AGAIN_NODES] = { "torch.backward_again_nodes", UNIT_COUNT, "how many" },
    [PASSES] = { "torch.backward_passes", UNIT_COUNT, "backward passes a step" },
    [PRODUCT_ROWS] = { "torch.product_rows", UNIT_COUNT,
                       "rows that a product which is trained works on, median" },
    [GROWN_COUNT] = { "torch.grown", UNIT_COUNT,
                      "concatenations a step of what the one before made and one part more" },
    [GROWN_NS] = { "torch.grown_ns", UNIT_NS, "their time" },
    [GROWN_LAST_NS] = { "torch.grown_last_ns", UNIT_NS,
                        "of that, the last of each row, which has all parts" },
    [MODEL_CALLS] = { "torch.model_calls", UNIT_COUNT,
                      "calls of one model in the whole recording, as stacks of Python tell" },
};

static const struct table_spec tables[] = {
    { "eager_step_lines", "lines of the program at which the parts of an eager step lie",
      eager_line_columns, EAGER_LINE_COLUMNS },
};

enum trait {
    TRAIT_NONE,
    TRAIT_NORM,
    TRAIT_CHECK,
    TRAIT_PRODUCT,
    TRAIT_CONV,
    TRAIT_DROPOUT,
    TRAIT_EMBEDDING,
    TRAIT_READBACK,
    TRAIT_FUSED,
    TRAIT_LAYER,
    TRAIT_COPY,
    TRAIT_CONCAT,
    TRAIT_QUESTION /* compares tensors for Python, computes nothing */
};
static const struct {
    const char *names; /* str_fits */
    enum trait  trait;
} traits[] = {
    { "norm|linalg_vector_norm|linalg_norm|frobenius_norm", TRAIT_NORM },
    { "isnan|is_any_true", TRAIT_CHECK },
    { "conv1d|conv3d", TRAIT_PRODUCT },
    { "conv2d|convolution", TRAIT_CONV },
    { "dropout|native_dropout|feature_dropout", TRAIT_DROPOUT },
    { "embedding|embedding_dense_backward|embedding_backward|embedding_bag|"
      "embedding_bag_backward|embedding_bag_dense_backward",
      TRAIT_EMBEDDING },
    { "item", TRAIT_READBACK },
    { "contiguous|clone|reshape", TRAIT_COPY },
    { "cat|concat", TRAIT_CONCAT },
    { "*has_compatible_shallow_copy_type", TRAIT_QUESTION },
    { "layer_norm|batch_norm|group_norm|gelu|silu|relu|softmax|"
      "scaled_dot_product_attention|max_pool2d",
      TRAIT_LAYER },
};

struct summer {
    struct study             *study;
    const struct eager_calls *calls;
    struct arena             *scratch;
    uint8_t                  *trait_of; /* by name, plus 1 */
    struct eager_products     products;
    struct eager_tables       tables;
    VEC(double) recorded_ns;       /* durations of the calls that a backward node is for */
    VEC(int64_t) backward_ends_ns; /* of backward calls of all threads, in order */
    struct eager_lines lines;
    double             sums[FACT_COUNT];
};

/* Time that a fact counts, of a call. */
static void spend(struct summer *summer, enum step_fact fact, const struct eager_call *call,
                  double ns)
{
    summer->sums[fact] += ns;
    eager_lines_add(&summer->lines, fact, call->source, ns);
}

static enum trait trait_of(struct summer *summer, uint32_t type)
{
    struct str raw = profile_str(summer->study->profile, type), name;
    enum trait trait = TRAIT_NONE;

    if (summer->trait_of[type])
        return (enum trait)(summer->trait_of[type] - 1);
    name = eager_base_name(raw);
    if (op_class_of(name) == OP_PRODUCT)
        trait = TRAIT_PRODUCT;
    for (size_t i = 0; i < ARRAY_COUNT(traits); i++)
        if (str_fits(name, traits[i].names))
            trait = traits[i].trait;
    if (str_fits(raw, "aten::_foreach_*|aten::_fused_*"))
        trait = TRAIT_FUSED;
    summer->trait_of[type] = (uint8_t)(trait + 1);
    return trait;
}

/* The stride of the channels of the first operand: "[[262144, 4096, 64, 1], …": 4096. */
static int64_t channel_stride(const struct profile *profile, uint32_t event)
{
    int64_t    text, stride;
    struct str rest;

    if (!profile_stat(profile, STAT_STRIDES, event, &text))
        return -1;
    rest = profile_str(profile, (uint32_t)text);
    while (str_starts(rest, STR("[")))
        rest = str_slice(rest, 1, rest.len);
    str_cut(&rest, ',');
    return str_to_int64(str_trim(str_cut(&rest, ',')), &stride) ? stride : -1;
}

static void count_conv(struct summer *summer, const struct eager_call *call)
{
    const struct profile *profile = summer->study->profile;
    const struct tensor  *input = profile_op_input(profile, call->op, 0);
    const struct tensor  *weight = profile_op_input(profile, call->op, 1);
    double                ns = call->work_ns + call->backward_ns;

    spend(summer, CONV_NS, call, ns);
    if (!input || !weight || input->rank != 4 || weight->rank != 4 || input->dims[1] <= 4 ||
        channel_stride(profile, call->event) <= 1)
        return;
    spend(summer, CONV_FIRST_NS, call, ns);
    if (weight->dims[1] == 1)
        summer->sums[CONV_FIRST_DEPTHWISE_NS] += ns;
}

/* A concatenation whose longest operand is nearly all of it. */
static bool appends(const struct profile *profile, uint32_t op)
{
    enum { LITTLE = 16 }; /* what is added is no more than one of so many parts */
    double most = eager_elements(profile, op), sum = 0;

    if (op == NO_ID || profile->ops.items[op].input_count < 2)
        return false;
    for (uint32_t i = 0; i < profile->ops.items[op].input_count; i++) {
        const struct tensor *tensor = profile_op_input(profile, op, i);
        double               count = tensor->rank > 0 ? 1 : 0;

        for (int8_t j = 0; j < tensor->rank; j++)
            count *= (double)tensor->dims[j];
        sum += count;
    }
    return most > 0 && sum > most && (sum - most) * LITTLE <= sum;
}

/* On the host, attention that drops is computed in steps, and otherwise by one kernel. */
static double dropout_ns(struct summer *summer, const struct eager_call *call)
{
    struct str name = profile_str(summer->study->profile, call->type);

    if (trait_of(summer, call->type) == TRAIT_DROPOUT)
        return call->work_ns;
    if (!call->drops || !str_equal(name, STR("aten::scaled_dot_product_attention")) ||
        call->work_ns < call->products_ns)
        return 0;
    return call->work_ns - call->products_ns;
}

/* Its module counts the batches right before, while it trains. */
static bool takes_own_statistics(const struct profile *profile, const struct eager_call *call,
                                 const struct eager_call *before)
{
    return before && eager_is_together(before, call) &&
           str_equal(profile_str(profile, call->type), STR("aten::batch_norm")) &&
           str_equal(profile_str(profile, before->type), STR("aten::add_"));
}

static bool is_append(struct summer *summer, const struct eager_call *call)
{
    return trait_of(summer, call->type) == TRAIT_CONCAT &&
           appends(summer->study->profile, call->op);
}

static bool count_forward(struct summer *summer, uint32_t at, const struct eager_call *before)
{
    const struct eager_call *call = &summer->calls->list.items[at];
    double                   ns = call->work_ns;
    enum trait               trait = trait_of(summer, call->type);
    uint32_t                 op = summer->study->profile->has_shapes ? call->op : NO_ID;
    struct eager_product     product = { at, op, call->backward_ns > 0, call->sequence >= 0 };

    spend(summer, FORWARD_NS, call, ns);
    summer->sums[FORWARD_CALLS]++;
    summer->sums[RECORDED_CALLS] += call->makes_node;
    if (call->backward_ns > 0 &&
        !vec_push(&summer->recorded_ns, summer->scratch,
                  summer->calls->is_on_device ? (double)(call->end_ns - call->start_ns) : ns))
        return false;
    if (before && !summer->calls->is_on_device && before->phase == PHASE_FORWARD &&
        before->window == call->window && before->timeline == call->timeline &&
        call->start_ns > before->end_ns) {
        double pause_ns = (double)(call->start_ns - before->end_ns);

        summer->sums[FORWARD_GAP_NS] += pause_ns;
        /* What was copied is given back to the system, which takes no longer than writing it. */
        if (is_append(summer, before))
            spend(summer, APPENDS_NS, before,
                  pause_ns < before->work_ns ? pause_ns : before->work_ns);
    }
    spend(summer, DROPOUT_NS, call, dropout_ns(summer, call));
    if (takes_own_statistics(summer->study->profile, call, before))
        spend(summer, OWN_STATISTICS_NS, call, ns);
    if (trait == TRAIT_COPY && call->conversion_ns > 0) {
        summer->sums[COPIES_COUNT]++;
        spend(summer, COPIES_NS, call, ns + call->backward_ns);
    }
    if (is_append(summer, call)) {
        summer->sums[APPENDS_COUNT]++;
        spend(summer, APPENDS_NS, call, ns);
    }
    if (trait == TRAIT_CONV)
        count_conv(summer, call);
    if (trait == TRAIT_EMBEDDING)
        eager_lines_add(&summer->lines, EMBEDDING_NS, call->source, call->backward_ns);
    if (trait == TRAIT_EMBEDDING &&
        !eager_tables_add(&summer->tables, summer->study->profile, call, summer->scratch))
        return false;
    return (trait != TRAIT_PRODUCT && trait != TRAIT_CONV) ||
           vec_push(&summer->products.list, summer->scratch, product);
}

static void count_other(struct summer *summer, const struct eager_call *call)
{
    enum trait trait = trait_of(summer, call->type);
    double     ns = call->work_ns;

    if (call->phase == PHASE_UPDATE) {
        if (summer->calls->is_on_device)
            summer->sums[UPDATE_NS] += ns;
        eager_lines_add(&summer->lines, UPDATE_NS, call->source, ns);
        summer->sums[UPDATE_CALLS]++;
        summer->sums[UPDATE_FUSED_CALLS] += trait == TRAIT_FUSED;
        summer->sums[UPDATE_READBACKS] += trait == TRAIT_READBACK;
    }
    if (call->phase == PHASE_CLEAR)
        eager_lines_add(&summer->lines, CLEAR_NS, call->source, ns);
    /* Formulas of gradients use plain products; layers there are the forward pass, run again. */
    if (call->phase == PHASE_BACKWARD &&
        (trait == TRAIT_LAYER || trait == TRAIT_CONV ||
         (trait == TRAIT_PRODUCT &&
          str_equal(profile_str(summer->study->profile, call->type), STR("aten::linear"))))) {
        summer->sums[RECOMPUTED_CALLS]++;
        spend(summer, RECOMPUTED_NS, call, ns);
    }
    if (call->phase == PHASE_BACKWARD && trait == TRAIT_CHECK) {
        summer->sums[CHECK_COUNT]++;
        spend(summer, CHECK_NS, call, ns);
    }
    if (call->phase == PHASE_BACKWARD && trait == TRAIT_EMBEDDING && !call->is_sparse)
        summer->sums[EMBEDDING_NS] += ns;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;

    return COMPARE(*left, *right);
}

static bool find_backward_ends(struct summer *summer)
{
    const struct eager_calls *calls = summer->calls;

    for (size_t i = 0; i < calls->list.count; i++)
        if (calls->list.items[i].phase == PHASE_BACKWARD &&
            !vec_push(&summer->backward_ends_ns, summer->scratch, calls->list.items[i].end_ns))
            return false;
    if (summer->backward_ends_ns.count > 1)
        qsort(summer->backward_ends_ns.items, summer->backward_ends_ns.count, sizeof(int64_t),
              compare_times);
    return true;
}

/* The first of the forward calls in [first, end) that begins behind the backward pass, which with
 * an accelerator runs on a thread of its own; end: none. */
static uint32_t behind_backward(const struct summer *summer, uint32_t first, uint32_t end)
{
    const struct eager_call *calls = summer->calls->list.items;
    const int64_t           *ends = summer->backward_ends_ns.items;
    size_t                   count = summer->backward_ends_ns.count;
    size_t                   behind = LOWER_BOUND(count, i, ends[i] <= calls[end].start_ns);
    int64_t                  after_ns;

    if (behind == 0)
        return end;
    after_ns = ends[behind - 1];
    return first + (uint32_t)LOWER_BOUND(end - first, i, calls[first + i].start_ns < after_ns);
}

/* Forward calls behind the last backward call of a step and before its update: where gradients are
 * clipped, if norms are taken there. */
static void count_clip(struct summer *summer, uint32_t first, uint32_t end)
{
    enum { FEW_NORMS = 4 };
    const struct eager_call *calls = summer->calls->list.items;
    double                   norms = 0, scales = 0, work_ns = 0, host_ns;

    if (end >= summer->calls->list.count || calls[end].phase != PHASE_UPDATE ||
        calls[end].window != calls[first].window || calls[end].timeline != calls[first].timeline)
        return;
    first = behind_backward(summer, first, end);
    for (uint32_t i = first; i < end; i++) {
        struct str name = profile_str(summer->study->profile, calls[i].type);

        norms += trait_of(summer, calls[i].type) == TRAIT_NORM;
        scales += str_fits(name, "aten::mul*|aten::div*|aten::clamp_*|aten::_foreach*");
        work_ns += calls[i].work_ns;
    }
    /* Norms that scale nothing are only looked at. */
    if (norms == 0 || scales == 0 || (norms > FEW_NORMS && scales * 2 < norms))
        return;
    host_ns = (double)(calls[end - 1].end_ns - calls[first].start_ns);
    summer->sums[CLIP_NORMS] += norms;
    summer->sums[CLIP_CALLS] += end - first;
    spend(summer, CLIP_NS, &calls[first], summer->calls->is_on_device ? work_ns : host_ns);
    summer->sums[CLIP_HOST_NS] += host_ns;
}

/* Passes that run again, at the line where the longest parts from the one that it repeats. */
static void place_repeat(struct summer *summer, enum step_fact fact, const struct eager_pair *pair)
{
    const struct eager_call *calls = summer->calls->list.items;

    if (pair->ns > 0)
        eager_lines_add(&summer->lines, fact,
                        own_line_apart(summer->study, summer->calls->is_user,
                                       calls[pair->call].event, calls[pair->of].event),
                        summer->sums[fact]);
}

static bool count_calls(struct summer *summer)
{
    const struct eager_call *calls = summer->calls->list.items;
    uint32_t                 count = (uint32_t)summer->calls->list.count, first = 0;
    struct eager_repeats     repeated;
    struct eager_tables_sum  largest;

    if (!find_backward_ends(summer))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (calls[i].phase != PHASE_FORWARD)
            count_other(summer, &calls[i]);
        else if (trait_of(summer, calls[i].type) == TRAIT_QUESTION)
            continue;
        else if (!count_forward(summer, i, i > 0 ? &calls[i - 1] : NULL))
            return false;
    }
    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && calls[i].phase == calls[first].phase &&
            calls[i].timeline == calls[first].timeline && calls[i].window == calls[first].window)
            continue;
        if (calls[first].phase == PHASE_FORWARD)
            count_clip(summer, first, i);
        first = i;
    }
    /* The lower half has the quarter for its median. */
    sample_middle(summer->recorded_ns.items, summer->recorded_ns.count);
    summer->sums[RECORDED_SHORT_NS] =
        sample_middle(summer->recorded_ns.items, summer->recorded_ns.count / 2);
    largest = eager_tables_sum(&summer->tables, summer->study->profile, summer->calls);
    summer->sums[EMBEDDING_ROWS] = largest.rows;
    summer->sums[EMBEDDING_LOOKUPS] = largest.lookups;
    summer->sums[EMBEDDING_ELEMENTS] = largest.elements;
    repeated = eager_repeats_count(summer->calls, &summer->products);
    summer->sums[REPEATED_PRODUCTS] = repeated.products;
    summer->sums[REPEATED_NS] = repeated.ns;
    summer->sums[UNTRAINED_PRODUCTS] = repeated.untrained_products;
    summer->sums[UNTRAINED_NS] = repeated.untrained_ns;
    place_repeat(summer, REPEATED_NS, &repeated.longest);
    place_repeat(summer, UNTRAINED_NS, &repeated.longest_untrained);
    return true;
}

static void count_ranges(struct summer *summer)
{
    const struct eager_calls *calls = summer->calls;

    for (size_t i = 0; i < calls->ranges.count; i++) {
        const struct eager_range *range = &calls->ranges.items[i];

        summer->sums[UPDATES] += range->phase == PHASE_UPDATE;
        if (range->phase == PHASE_UPDATE)
            summer->sums[UPDATE_HOST_NS] += (double)(range->end_ns - range->start_ns);
        if (range->phase == PHASE_CLEAR && !calls->is_on_device)
            summer->sums[CLEAR_NS] += (double)(range->end_ns - range->start_ns);
    }
    if (!calls->is_on_device)
        summer->sums[UPDATE_NS] = summer->sums[UPDATE_HOST_NS];
    for (size_t i = 0; i < calls->nodes.count; i++)
        summer->sums[BACKWARD_NS] += calls->nodes.items[i].work_ns;
    if (calls->nodes.count > 0)
        eager_lines_add(&summer->lines, BACKWARD_NS,
                        own_line(summer->study, calls->is_user, calls->nodes.items[0].event),
                        summer->sums[BACKWARD_NS]);
    if (calls->is_on_device)
        summer->sums[CLEAR_NS] = calls->cleared.ns;
    summer->sums[BACKWARD_NODES] = (double)calls->nodes.count;
    summer->sums[CLEARED_COUNT] = calls->cleared.count;
    summer->sums[CLEARED_ELEMENTS] = calls->cleared.elements;
    summer->sums[ACCUMULATED_COUNT] = calls->accumulated.count;
    summer->sums[ACCUMULATED_NS] = calls->accumulated.ns;
    summer->sums[ACCUMULATED_ELEMENTS] = calls->accumulated.elements;
}

static const bool is_size[FACT_COUNT] = {
    [RECORDED_SHORT_NS] = true,  [EMBEDDING_ROWS] = true, [EMBEDDING_LOOKUPS] = true,
    [EMBEDDING_ELEMENTS] = true, [PRODUCT_ROWS] = true,   [BY_HAND_CALL_NS] = true,
    [MODEL_CALLS] = true
};

/* Facts that say what the host spends, which nothing follows from where it only feeds a device. */
static bool is_host_time(size_t fact)
{
    return fact == FORWARD_GAP_NS || fact == PAUSES_NS || fact == LONGEST_PAUSE_NS;
}

static bool set_facts(struct summer *summer, const struct eager_calls *calls)
{
    struct study *study = summer->study;
    bool          is_set = true;

    for (size_t i = 0; is_set && i < FACT_COUNT; i++) {
        double steps = is_size[i] ? 1 : (double)calls->windows.count;

        if (calls->is_on_device && is_host_time(i))
            facts_absent(&study->facts, produces[i].name, NULL,
                         "the ops only feed a device: their time on the host is not the work's");
        else
            is_set = facts_set(&study->facts, &produces[i], summer->sums[i] / steps);
    }
    return is_set;
}

static bool count_updates(struct summer *summer)
{
    struct eager_updates updates;

    if (!eager_updates_find(summer->study, summer->calls, summer->scratch, &updates))
        return false;
    summer->sums[BY_HAND_NS] = updates.by_hand_ns;
    summer->sums[BY_HAND_HOST_NS] = updates.by_hand_host_ns;
    summer->sums[BY_HAND_CALLS] = updates.by_hand_calls;
    summer->sums[BY_HAND_WRITES] = updates.by_hand_writes;
    summer->sums[BY_HAND_CALL_NS] = updates.by_hand_call_ns;
    summer->sums[AGAIN_NS] = updates.again_ns;
    summer->sums[AGAIN_NODES] = updates.again_nodes;
    summer->sums[PASSES] = updates.passes;
    summer->sums[PRODUCT_ROWS] = updates.product_rows;
    eager_lines_add(&summer->lines, BY_HAND_NS, updates.by_hand_source, updates.by_hand_ns);
    eager_lines_add(&summer->lines, AGAIN_NS,
                    own_line(summer->study, summer->calls->is_user, updates.again_event),
                    updates.again_ns);
    return true;
}

static bool count_rest(struct summer *summer)
{
    struct eager_grown grown;

    if (!eager_grown_find(summer->study, summer->calls, summer->scratch, &grown) ||
        !eager_models_count(summer->study, summer->scratch, &summer->sums[MODEL_CALLS]))
        return false;
    summer->sums[GROWN_COUNT] = grown.count;
    summer->sums[GROWN_NS] = grown.ns;
    summer->sums[GROWN_LAST_NS] = grown.last_ns;
    eager_lines_add(&summer->lines, GROWN_NS, grown.source, grown.ns);
    return true;
}

static bool sum(struct summer *summer, struct eager_calls *calls)
{
    struct study *study = summer->study;
    double        pauses_ns = 0, longest_ns = 0;

    if (!eager_calls_get(study, summer->scratch, calls))
        return false;
    summer->calls = calls;
    eager_lines_init(&summer->lines, summer->scratch);
    summer->trait_of = arena_alloc(summer->scratch, (size_t)study->profile->names.count + 1);
    if (!summer->trait_of || !count_calls(summer) || !count_updates(summer) ||
        !count_rest(summer) ||
        (!calls->is_on_device && !eager_pauses(calls, summer->scratch, &pauses_ns, &longest_ns)))
        return false;
    count_ranges(summer);
    for (size_t i = 0; i < FACT_COUNT; i++)
        if (produces[i].unit == UNIT_NS && !is_size[i])
            summer->sums[i] *= eager_median_factor(calls);
    summer->sums[PAUSES_NS] = pauses_ns * (double)calls->windows.count;
    summer->sums[LONGEST_PAUSE_NS] = longest_ns * (double)calls->windows.count;
    return set_facts(summer, calls) &&
           eager_lines_emit(study, &summer->lines, calls, produces, &tables[0]);
}

static bool run(struct study *study, struct err *err)
{
    struct arena       scratch = { 0 };
    struct eager_calls calls = { 0 };
    struct summer      summer = { .study = study, .scratch = &scratch };
    bool               is_done;

    if (!eager_applies(study, "torch.|eager_step_lines"))
        return true;
    is_done = sum(&summer, &calls);
    arena_free(&scratch);
    return is_done || emit_limit("the parts of eager steps", err);
}

const struct analysis analysis_eager_step = {
    .name = "eager_step",
    .summary = "parts of an eager training step and work in it that nothing uses",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
