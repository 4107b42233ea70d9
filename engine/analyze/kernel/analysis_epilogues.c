/*
 * epilogues: elementwise kernels right behind a matrix product on its stream that pass over as many
 * elements as it gave out: bias, activation, residual. A product can do those before it writes.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "model/names.h"

enum epilogue_fact { COUNT, NS, PRODUCT_NS, PRODUCT, OP };
static const struct fact_spec produces[] = {
    [COUNT] = { "epilogue.count", UNIT_COUNT,
                "elementwise kernels a step right behind a product, over its results" },
    [NS] = { "epilogue.ns", UNIT_NS, "their time a step" },
    [PRODUCT_NS] = { "epilogue.product_ns", UNIT_NS, "time of those products a step" },
    [PRODUCT] = { "epilogue.product", UNIT_NAME, "kernel of the product with the longest one" },
    [OP] = { "epilogue.op", UNIT_NAME, "op that launches that one" },
};
enum { MOST_IN_A_ROW = 2 };

struct searching {
    struct study       *study;
    struct windows      windows;
    struct arena       *scratch;
    struct kernel_times kernels;
    double              values[ARRAY_COUNT(produces)], longest_ns;
};

static enum kernel_category category_of(struct searching *searching, uint32_t event)
{
    const struct profile *profile = searching->study->profile;
    uint32_t              activity = event_activity_id(profile, event);

    if (profile->activities.items[activity].kind != ACTIVITY_KERNEL)
        return KERNEL_OTHER;
    return searching->kernels.names[activity].category;
}

/* The op that launched a kernel, or NULL. */
static const struct op *op_of(const struct searching *searching, uint32_t event)
{
    const struct profile *profile = searching->study->profile;
    uint32_t              launch = searching->study->devices->launch_of[event], op;

    if (launch == NO_ID || searching->kernels.launchers[launch] == NO_ID)
        return NULL;
    op = profile->activities.items[searching->kernels.launchers[launch]].op;
    return op < profile->ops.count ? &profile->ops.items[op] : NULL;
}

/* Elements that a product gives out: rows of the left operand times columns of the right one. */
static double product_elements(const struct profile *profile, const struct op *op)
{
    struct str           name = eager_base_name(profile_str(profile, op->type));
    const struct tensor *left = &profile->tensors.items[op->first_input], *right;
    bool                 is_linear = str_equal(name, STR("linear"));
    double               count = 1;

    if (op->input_count < 2)
        return 0;
    if (name_is(name, NAMES_ATEN_BIASED_PRODUCT) && op->input_count > 2)
        left++;
    right = left + 1;
    if (left->rank < 2 || right->rank < 2)
        return 0;
    for (int8_t i = 0; i + 1 < left->rank; i++)
        count *= (double)left->dims[i];
    return count * (double)right->dims[is_linear ? 0 : right->rank - 1];
}

static void add_epilogue(struct searching *searching, uint32_t product, uint32_t event)
{
    const struct profile *profile = searching->study->profile;
    double                ns = (double)event_duration_ns(profile, event);
    const struct op      *op = op_of(searching, event);

    searching->values[COUNT]++;
    searching->values[NS] += ns;
    if (ns <= searching->longest_ns)
        return;
    searching->longest_ns = ns;
    searching->values[PRODUCT] = event_activity(profile, product)->name;
    searching->values[OP] = op ? op->type : 0;
}

/* Whether `event` only passes over what the product gave out, long enough to matter. */
static bool is_epilogue(struct searching *searching, uint32_t product, double elements,
                        uint32_t event)
{
    const struct profile *profile = searching->study->profile;
    enum kernel_category  category = category_of(searching, event);
    const struct op      *op;

    if ((category != KERNEL_ELEMENTWISE && category != KERNEL_CAST) ||
        event_duration_ns(profile, event) * 10 < event_duration_ns(profile, product))
        return false;
    op = op_of(searching, event);
    return op && op->input_count > 0 &&
           eager_elements(profile, (uint32_t)(op - profile->ops.items)) == elements;
}

static void walk(struct searching *searching, const struct timeline *timeline)
{
    const struct profile *profile = searching->study->profile;
    uint32_t              end = timeline->first_event + timeline->event_count;

    for (uint32_t event = timeline->first_event; event < end; event++) {
        const struct op *op;
        double           elements;
        uint32_t         next = event + 1;

        if (category_of(searching, event) != KERNEL_GEMM ||
            windows_find(&searching->windows, event_start_ns(profile, event)) == SIZE_MAX)
            continue;
        op = op_of(searching, event);
        elements =
            op && op_is_product(profile_str(profile, op->type)) ? product_elements(profile, op) : 0;
        while (elements > 0 && next < end && next <= event + MOST_IN_A_ROW &&
               is_epilogue(searching, event, elements, next))
            add_epilogue(searching, event, next++);
        if (next > event + 1)
            searching->values[PRODUCT_NS] += (double)event_duration_ns(profile, event);
    }
}

static bool examine(struct searching *searching)
{
    struct study         *study = searching->study;
    const struct profile *profile = study->profile;
    bool                  is_set = true;

    if (!windows_make(study, searching->scratch, &searching->windows) ||
        !kernel_times_get(study, searching->scratch, &searching->kernels))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_STREAM &&
            profile->timelines.items[i].host == searching->windows.host)
            walk(searching, &profile->timelines.items[i]);
    for (size_t i = COUNT; i <= PRODUCT_NS; i++)
        searching->values[i] /= (double)searching->windows.count;
    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        if (i <= PRODUCT_NS || searching->values[i] > 0)
            is_set = is_set && facts_set(&study->facts, &produces[i], searching->values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena     scratch = { 0 };
    struct searching searching = { .study = study, .scratch = &scratch };
    bool             is_done;

    if (!study->devices || !study->devices->launch_of)
        is_done = facts_absent(&study->facts, "epilogue.", NULL,
                               "no accelerator's work is in the recording");
    else if (!study->profile->has_shapes)
        is_done = facts_absent(&study->facts, "epilogue.", "record_shapes=True",
                               "shapes were not recorded");
    else
        is_done = examine(&searching);
    arena_free(&scratch);
    return is_done || emit_limit("elementwise kernels behind products", err);
}

const struct analysis analysis_epilogues = {
    .name = "epilogues",
    .summary = "elementwise kernels right behind matrix products",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
