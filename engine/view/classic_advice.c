#include "view/classic_advice.h"

#include "base/macros.h"
#include "base/wire_out.h"
#include "view/groups.h"

#include <string.h>

enum { SHOWN_MAX = 3, SHOWN_CODE_DEPTH = 3, SHOWN_CODE_MICROS = 1000 };

struct ends { /* of reports, as places in the text behind their last line feed */
    VEC(size_t) items;
};

/* Whatever was added since the last end is a report. */
static bool end_report(const struct view_call *call, struct ends *ends)
{
    return vec_push(&ends->items, call->arena, call->text->len);
}

/* "cpu: 1.53ms, accelerator: 4.25ms, total: 5.78ms" */
static void print_times(const int64_t *numbers, struct text *text)
{
    text_add(text, STR("cpu: "));
    print_micros(text, numbers[VALUE_CPU_MICROS]);
    text_add(text, STR(", accelerator: "));
    print_micros(text, numbers[VALUE_ACCELERATOR_MICROS]);
    text_add(text, STR(", total: "));
    print_micros(text, numbers[VALUE_EXEC_MICROS]);
}

struct use { /* of one device */
    uint32_t device;
    int64_t  start_micros, end_micros, busy_micros;
};
struct uses {
    VEC(struct use) items; /* by the device's name */
};

static struct use *use_of(struct uses *uses, const struct classic *classic, uint32_t device,
                          struct arena *arena)
{
    struct str name = profile_str(classic->profile, device);
    struct use use = { .device = device, .start_micros = INT64_MAX };
    size_t     at = 0;

    while (at < uses->items.count &&
           str_compare(profile_str(classic->profile, uses->items.items[at].device), name) < 0)
        at++;
    if (at < uses->items.count && uses->items.items[at].device == device)
        return &uses->items.items[at];
    if (!vec_push(&uses->items, arena, use))
        return NULL;
    for (size_t i = uses->items.count - 1; i > at; i--)
        uses->items.items[i] = uses->items.items[i - 1];
    uses->items.items[at] = use;
    return &uses->items.items[at];
}

/* Of each node its last step. */
static bool check_use(const struct view_call *call, struct ends *ends, struct err *err)
{
    const struct classic *classic = call->classic;
    struct uses           uses = { 0 };

    for (uint32_t i = 0; i < classic->nodes.count; i++) {
        const struct classic_node *node = &classic->nodes.items[i];
        const struct classic_exec *exec;
        struct use                *use;

        if (!node->exec_count || !str_contains(classic_device(classic, i), STR("gpu")))
            continue;
        exec = &classic->execs.items[node->first_exec + node->exec_count - 1];
        use = use_of(&uses, classic, node->device, call->arena);
        if (!use)
            return err_set(err, ERR_LIMIT, "the advice does not fit the memory limit");
        use->busy_micros += exec->sums[MEASURE_ACCELERATOR_MICROS];
        if (exec->start_micros && exec->start_micros < use->start_micros)
            use->start_micros = exec->start_micros;
        if (exec->end_micros > use->end_micros)
            use->end_micros = exec->end_micros;
    }
    for (size_t i = 0; i < uses.items.count; i++) {
        const struct use *use = &uses.items.items[i];
        double            share;

        if (use->end_micros <= use->start_micros)
            continue;
        share = (double)use->busy_micros / (double)(use->end_micros - use->start_micros);
        text_print(call->text, "device: %.*s %sutilization: %.2f\n",
                   STR_ARG(profile_str(classic->profile, use->device)), share < 0.5 ? "low " : "",
                   share);
        if (!end_report(call, ends))
            return err_set(err, ERR_LIMIT, "the advice does not fit the memory limit");
    }
    return true;
}

static bool is_nhwc(const struct classic *classic, uint32_t node)
{
    const struct profile *profile = classic->profile;
    const struct op      *op = &profile->ops.items[classic->nodes.items[node].op];

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("data_format")) &&
            str_equal(profile_str(profile, attr->value), STR("NHWC")))
            return true;
    }
    return false;
}

static bool check_operations(const struct view_call *call, struct ends *ends, struct err *err)
{
    const struct classic *classic = call->classic;
    bool                  has_norm = false, has_fused = false, has_nhwc = false, ok = true;

    for (uint32_t i = 0; i < classic->nodes.count; i++) {
        has_norm |= str_contains(classic_name(classic, i), STR("BatchNorm"));
        has_fused |= str_equal(classic_type(classic, i), STR("FusedBatchNorm"));
        has_nhwc |= str_contains(classic_device(classic, i), STR("gpu")) && is_nhwc(classic, i);
    }
    if (has_norm && !has_fused) {
        text_add(call->text, STR("Maybe use faster FusedBatchNorm instead of BatchNorm\n"));
        ok = end_report(call, ends);
    }
    if (has_nhwc) {
        text_add(call->text, STR("Found operation using NHWC data_format on GPU. Maybe NCHW is "
                                 "faster.\n"));
        ok = ok && end_report(call, ends);
    }
    return ok || err_set(err, ERR_LIMIT, "the advice does not fit the memory limit");
}

static bool say_types(const struct view_call *call, struct ends *ends)
{
    struct op_row       rows[SHOWN_MAX];
    struct view_numbers total;
    size_t              count;

    if (!op_rows(call, rows, ARRAY_COUNT(rows), &count, &total))
        return false;
    for (size_t i = 0; i < count; i++) {
        text_print(call->text, "top %zu operation type: %.*s, ", i + 1, STR_ARG(rows[i].name));
        print_times(rows[i].self.values, call->text);
        text_print(call->text, " (%.2f%%)\n",
                   100.0 * (double)rows[i].self.values[VALUE_EXEC_MICROS] /
                       ((double)total.values[VALUE_EXEC_MICROS] + 1e-10));
    }
    return count == 0 || end_report(call, ends);
}

static bool say_scopes(const struct view_call *call, struct ends *ends)
{
    struct tree tree;

    if (!scope_tree(call, &tree))
        return false;
    for (uint32_t i = 0; i < tree.states[0].shown_count && i < SHOWN_MAX; i++) {
        uint32_t row = tree.shown[tree.states[0].first_shown + i];

        text_print(call->text, "top %u graph node: %.*s, ", i + 1,
                   STR_ARG(tree.nodes.items[row].name));
        print_times(tree_self(&tree, row), call->text);
        text_add(call->text, STR("\n"));
    }
    return tree.states[0].shown_count == 0 || end_report(call, ends);
}

static void say_lines(const struct tree *tree, uint32_t above, int depth,
                      const struct view_call *call)
{
    const struct tree_state *state = &tree->states[above];

    if (state->shown_count < 2 || depth > SHOWN_CODE_DEPTH)
        return;
    for (uint32_t i = 0; i < state->shown_count && i < SHOWN_MAX; i++) {
        uint32_t row = tree->shown[state->first_shown + i];

        if (tree_total_value(tree, row, VALUE_EXEC_MICROS) < SHOWN_CODE_MICROS)
            continue;
        text_fill(call->text, ' ', (size_t)depth * 2);
        text_print(call->text, "%.*s, ", STR_ARG(tree->nodes.items[row].name));
        print_times(tree_total(tree, row), call->text);
        text_add(call->text, STR("\n"));
        say_lines(tree, row, depth + 1, call);
    }
}

static bool say_code(const struct view_call *call, struct ends *ends)
{
    struct tree tree;
    size_t      len = call->text->len;
    uint32_t    row = 0;

    if (!code_tree(call, &tree))
        return false;
    while (tree.states[row].shown_count == 1)
        row = tree.shown[tree.states[row].first_shown];
    if (tree.states[row].shown_count == 0)
        return true;
    say_lines(&tree, row, 0, call);
    if (call->text->len == len) /* a report that says nothing is a line as well */
        text_add(call->text, STR("\n"));
    return end_report(call, ends);
}

static bool check_expensive(const struct view_call *call, struct ends *ends, struct err *err)
{
    struct view_options options = { .max_depth = 3, .step = -1, .order_by = VALUE_EXEC_MICROS };
    struct view_call    inner = *call;
    bool                is_done;

    if (!call->classic->steps.count) {
        text_add(call->complaints, STR("Missing RunMetadata info. Skip ExpensiveOperationChecker\n"
                                       "Missing run_meta for ExpensiveOperationChecker\n"));
        return true;
    }
    options.is_compat = call->options->is_compat;
    options.account.is_everything = options.start.is_everything = true;
    options.show.is_everything = options.devices.is_everything = true;
    inner.options = &options;
    options.mins.values[VALUE_EXEC_MICROS] = 1;
    is_done = say_types(&inner, ends);
    options.max_depth = 100;
    options.mins.values[VALUE_EXEC_MICROS] = 100;
    is_done = is_done && say_scopes(&inner, ends);
    options.mins.values[VALUE_EXEC_MICROS] = 1;
    if (!call->classic->has_code)
        text_add(call->complaints,
                 STR("Missing op_log (code traces) for ExpensiveOperationChecker\n"));
    else
        is_done = is_done && say_code(&inner, ends);
    return is_done || err_set(err, ERR_LIMIT, "the advice does not fit the memory limit");
}

/* An entry of AdviceProto's map; reports are without their last line feed. */
static void put_checker(const struct view_call *call, const char *name,
                        const struct view_call *said, const struct ends *ends)
{
    struct text checker = { .arena = call->arena }, entry = { .arena = call->arena };
    size_t      from = 0;

    for (size_t i = 0; i < ends->items.count; i++) {
        size_t to = ends->items.items[i];

        wire_out_bytes(&checker, 2, str_slice(text_str(said->text), from, to - 1));
        from = to;
    }
    wire_out_bytes(&entry, 1, str_from(name));
    wire_out_bytes(&entry, 2, text_str(&checker));
    wire_out_bytes(call->text, 1, text_str(&entry));
}

bool classic_advice(const struct view_call *call, const struct option_list *only, bool is_proto,
                    struct err *err)
{
    static const struct {
        const char *name;
        bool (*check)(const struct view_call *call, struct ends *ends, struct err *err);
    } checkers[] = {
        { "AcceleratorUtilizationChecker", check_use },
        { "OperationChecker", check_operations },
        { "ExpensiveOperationChecker", check_expensive },
    };

    for (size_t i = 0; i < ARRAY_COUNT(checkers); i++) {
        bool             is_wanted = only->values.count == 0;
        struct text      apart = { .arena = call->arena };
        struct ends      ends = { 0 };
        struct view_call said;

        for (size_t n = 0; n < only->values.count; n++)
            is_wanted |= strcmp(only->values.items[n], checkers[i].name) == 0;
        if (!is_wanted)
            continue;
        if (!is_proto)
            text_print(call->text, "\n%s:\n", checkers[i].name);
        said = *call;
        said.text = is_proto ? &apart : call->text;
        if (!checkers[i].check(&said, &ends, err))
            return false;
        if (is_proto)
            put_checker(call, checkers[i].name, &said, &ends);
    }
    if (!is_proto)
        text_clean_lines(call->text, 0);
    return true;
}
