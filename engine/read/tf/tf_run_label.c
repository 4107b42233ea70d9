/*
 * What the records of a run tell of ops that no graph defines: "name = Type(input, input:1,
 * ^control)". Bodies of loops and branches of functions are laid out in the main graph, and the
 * optimiser makes ops of its own, before anything runs; a graph that the program wrote has neither.
 */
#include "read/tf/tf_run.h"

static struct str read_label(struct message node)
{
    struct field field;
    struct str   label = { 0 };
    struct err   ignored = { 0 }; /* the scan saw the record whole */

    while (message_next(&node, &field, &ignored))
        if (field_is_bytes(&field, 8))
            label = field.bytes;
    return label;
}

/* Memory that an op took comes first: "[mklcpu 0.4MB 0.4MB] name = …". */
static struct str behind_memory(struct str label)
{
    size_t end = str_starts(label, STR("[")) ? str_search(label, STR("] ")) : label.len;

    return end < label.len ? str_slice(label, end + 2, label.len) : label;
}

/* The text between the brackets that it ends with; false: it is no label of that op. */
static bool split(struct str label, struct str name, struct str *type, struct str *inputs)
{
    size_t open;

    if (label.len < name.len + 3 || !str_starts(label, name) ||
        !str_starts(str_slice(label, name.len, label.len), STR(" = ")) ||
        !str_ends(label, STR(")")))
        return false;
    label = str_slice(label, name.len + 3, label.len - 1);
    open = str_find(label, '(');
    *type = str_slice(label, 0, open);
    *inputs = str_slice(label, open + 1, label.len);
    return open < label.len && type->len > 0;
}

static bool add_input(struct tf_model *model, uint32_t op, struct str input)
{
    size_t before = model->inputs.count;

    if (!tf_model_add_input(model, op, input))
        return false;
    for (size_t i = before; i < model->inputs.count; i++)
        model->inputs.items[i].may_lack = true;
    return true;
}

/* What comes round a loop again is no input, since a graph with cycles has no order. */
static bool add_inputs(struct tf_model *model, uint32_t op, struct str inputs, bool is_merge)
{
    bool is_first = true;

    for (; inputs.len; is_first = false) {
        size_t     comma = str_search(inputs, STR(", "));
        struct str input = str_slice(inputs, 0, comma);
        bool       is_next = is_merge && !is_first;

        if (is_next && !tf_model_add_attr(model, op, STR("next_round"), input))
            return false;
        if (!is_next && input.len && !add_input(model, op, input))
            return false;
        inputs = comma < inputs.len ? str_slice(inputs, comma + 2, inputs.len) : STR("");
    }
    return true;
}

bool tf_run_define(struct tf_model *model, uint32_t op, struct message node)
{
    struct profile *profile = model->profile;
    struct str      type, inputs;
    uint32_t        interned;

    if (!split(behind_memory(read_label(node)), profile_str(profile, profile->ops.items[op].name),
               &type, &inputs))
        return true;
    interned = profile_intern(profile, type);
    if (interned == NO_ID)
        return false;
    profile->ops.items[op].type = interned;
    return add_inputs(model, op, inputs, str_ends(type, STR("Merge")));
}
