#include "analyze/emit.h"

#include <math.h>

void emit_name(struct table *table, int column, size_t row, uint32_t name)
{
    if (name != NO_ID && name != 0)
        table->columns[column][row] = name;
}

void emit_number(struct table *table, int column, size_t row, double value)
{
    if (isfinite(value))
        table->columns[column][row] = value;
}

uint32_t emit_scope(struct study *study, uint32_t name)
{
    struct str text = intern_str(study->facts.names, name);
    size_t     slash = str_find_last(text, '/');

    if (slash >= text.len)
        return 0;
    return facts_name(&study->facts, str_slice(text, 0, slash));
}

static void print_shape(struct text *text, const struct tensor *tensor)
{
    if (tensor->rank < 0) {
        text_print(text, "[?]");
        return;
    }
    text_add_byte(text, '[');
    for (int i = 0; i < tensor->rank && i < TENSOR_MAX_RANK; i++) {
        if (i > 0)
            text_add_byte(text, ',');
        if (tensor->dims[i] < 0)
            text_add_byte(text, '?');
        else
            text_print(text, "%lld", (long long)tensor->dims[i]);
    }
    text_add_byte(text, ']');
}

uint32_t emit_shapes(struct study *study, const struct op *op)
{
    enum { MOST_OPERANDS = 8 };
    const struct tensor *tensors = study->profile->tensors.items;
    struct arena         scratch = { 0 };
    struct text          text = { .arena = &scratch };
    uint32_t             name;

    if (op->input_count + op->output_count == 0)
        return 0;
    for (uint32_t i = 0; i < op->input_count && i < MOST_OPERANDS; i++) {
        if (i > 0)
            text_add_byte(&text, 'x');
        print_shape(&text, &tensors[op->first_input + i]);
    }
    if (op->input_count > MOST_OPERANDS)
        text_print(&text, "x...");
    for (uint32_t i = 0; i < op->output_count && i < MOST_OPERANDS; i++) {
        text_print(&text, i == 0 ? "->" : ",");
        print_shape(&text, &tensors[op->first_output + i]);
    }
    name = facts_name(&study->facts, text_str(&text));
    arena_free(&scratch);
    return name;
}

bool emit_limit(const char *what, struct err *err)
{
    return err_set(err, ERR_LIMIT, "no memory left for %s", what);
}

static void swap(double *a, double *b)
{
    double other = *a;

    *a = *b;
    *b = other;
}

/* Brings the value of rank `wanted` to its place, smaller ones before it. Linear on average. */
static void select_rank(double *values, size_t count, size_t wanted)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2, i = low, j = high;
        double pivot;

        if (values[middle] < values[low])
            swap(&values[middle], &values[low]);
        if (values[high] < values[low])
            swap(&values[high], &values[low]);
        if (values[high] < values[middle])
            swap(&values[high], &values[middle]);
        pivot = values[middle];
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i >= j)
                break;
            swap(&values[i++], &values[j--]);
        }
        if (wanted <= j)
            high = j;
        else
            low = j + 1;
    }
}

double median_of(double *values, size_t count)
{
    double below;

    if (count == 0)
        return 0;
    select_rank(values, count, count / 2);
    if (count % 2)
        return values[count / 2];
    below = values[0];
    for (size_t i = 1; i < count / 2; i++)
        below = values[i] > below ? values[i] : below;
    return (below + values[count / 2]) / 2;
}
