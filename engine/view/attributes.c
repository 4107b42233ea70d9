#include "view/attributes.h"

#include "base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32 }; /* of any number without its unit */

#define CPU_DOC                                                                                    \
    "cpu execution time: The time from the start to the end of the operation. It's the sum of "    \
    "actual cpu run time plus the time that it spends waiting if part of computation is "          \
    "launched asynchronously."
#define ACCELERATOR_DOC                                                                            \
    "accelerator execution time: Time spent executing on the accelerator. This is normally "       \
    "measured by the actual hardware library."

/* Places say where the column stands; 0: it has none. */
static const struct {
    const char         *name, *doc, *title, *title_of_groups;
    enum attribute_kind kind;
    int                 value; /* enum view_value; -1: no number */
    unsigned            place, place_of_groups;
} attributes[ATTRIBUTE_COUNT] = {
    [ATTRIBUTE_ACCELERATOR_MICROS] = { "accelerator_micros", ACCELERATOR_DOC,
                                       "accelerator execution time", NULL, COLUMN_TIME,
                                       VALUE_ACCELERATOR_MICROS, 8, 6 },
    [ATTRIBUTE_BYTES] = { "bytes",
                          "requested bytes: The memory requested by the operation, accumulatively.",
                          "requested bytes", NULL, COLUMN_MEMORY, VALUE_REQUESTED_BYTES, 3, 1 },
    [ATTRIBUTE_CPU_MICROS] = { "cpu_micros", CPU_DOC, "cpu execution time", NULL, COLUMN_TIME,
                               VALUE_CPU_MICROS, 9, 7 },
    [ATTRIBUTE_DEVICE] = { "device", "device: which device is placed on.", "assigned devices", NULL,
                           COLUMN_DEVICE, -1, 10, 10 },
    [ATTRIBUTE_FLOAT_OPS] = { "float_ops",
                              "flops: Number of float operations. Note: Please read the "
                              "implementation for the math behind it.",
                              "# float_ops", NULL, COLUMN_FLOAT_OPS, VALUE_FLOAT_OPS, 2, 9 },
    [ATTRIBUTE_INPUT_SHAPES] = { "input_shapes", "input shape: The shape of input tensors",
                                 "input shapes", NULL, COLUMN_INPUT_SHAPES, -1, 13, 13 },
    [ATTRIBUTE_MICROS] = { "micros",
                           "total execution time: Sum of accelerator execution time and cpu "
                           "execution time.\n" CPU_DOC "\n" ACCELERATOR_DOC,
                           "total execution time", NULL, COLUMN_TIME, VALUE_EXEC_MICROS, 7, 5 },
    [ATTRIBUTE_HIDDEN_OPS] = { "num_hidden_ops",
                               "hidden ops: The ops that count and stand in no row, at the nearest "
                               "row before them.",
                               "hidden ops", NULL, COLUMN_HIDDEN_OPS, -1, 14, 14 },
    [ATTRIBUTE_OCCURRENCE] = { "occurrence", "occurrence: The number of times it occurs",
                               "op count (run|defined)", "op occurrence (run|defined)",
                               COLUMN_OCCURRENCE, VALUE_RUNS, 12, 12 },
    [ATTRIBUTE_OP_TYPES] = { "op_types",
                             "op_types: The attributes of the operation, includes the Kernel name "
                             "device placed on and user-defined strings.",
                             "op types", NULL, COLUMN_OP_TYPES, -1, 11, 11 },
    [ATTRIBUTE_OUTPUT_BYTES] = { "output_bytes",
                                 "output bytes: The memory that is output from the operation (not "
                                 "necessarily allocated by the operation)",
                                 "output bytes", NULL, COLUMN_MEMORY, VALUE_OUTPUT_BYTES, 6, 4 },
    [ATTRIBUTE_PARAMS] = { "params", "param: Number of parameters (in the Variable).",
                           "# parameters", NULL, COLUMN_PARAMS, VALUE_PARAMETERS, 1, 8 },
    [ATTRIBUTE_PEAK_BYTES] = { "peak_bytes",
                               "peak bytes: The peak amount of memory that the operation is "
                               "holding at some point.",
                               "peak bytes", NULL, COLUMN_MEMORY, VALUE_PEAK_BYTES, 4, 2 },
    [ATTRIBUTE_RESIDUAL_BYTES] = { "residual_bytes",
                                   "residual bytes: The memory not de-allocated after the "
                                   "operation finishes.",
                                   "residual bytes", NULL, COLUMN_MEMORY, VALUE_RESIDUAL_BYTES, 5,
                                   3 },
    [ATTRIBUTE_TENSOR_VALUE] = { "tensor_value", "tensor_value: Not supported now.", NULL, NULL,
                                 COLUMN_MEMORY, -1, 0, 0 },
};

const char *attribute_name(enum attribute attribute)
{
    return attributes[attribute].name;
}

bool attribute_find(struct str name, enum attribute *attribute)
{
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++) {
        if (!str_equal(name, str_from(attributes[i].name)))
            continue;
        *attribute = (enum attribute)i;
        return true;
    }
    return false;
}

bool attribute_is_number(enum attribute attribute, enum view_value *value)
{
    if (attributes[attribute].value < 0)
        return false;
    *value = (enum view_value)attributes[attribute].value;
    return true;
}

static void add_column(struct columns *columns, enum attribute attribute,
                       enum attribute_layout layout)
{
    const char *title = attributes[attribute].title;

    if (layout == LAYOUT_GROUPS && attributes[attribute].title_of_groups)
        title = attributes[attribute].title_of_groups;
    columns->items[columns->count++] = (struct column) {
        .kind = attributes[attribute].kind,
        .value = attributes[attribute].value < 0 ? VALUE_RUNS
                                                 : (enum view_value)attributes[attribute].value,
        .title = title,
    };
}

struct columns columns_of(unsigned selected, enum attribute_layout layout)
{
    struct columns columns = { 0 };

    if (selected & 1u << ATTRIBUTE_MICROS) /* time stands with its parts */
        selected |= 1u << ATTRIBUTE_ACCELERATOR_MICROS | 1u << ATTRIBUTE_CPU_MICROS;
    for (unsigned place = 1; place <= ATTRIBUTE_COUNT; place++)
        for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
            if ((selected & 1u << i) &&
                place ==
                    (layout == LAYOUT_NODES ? attributes[i].place : attributes[i].place_of_groups))
                add_column(&columns, (enum attribute)i, layout);
    return columns;
}

void attributes_explain(unsigned selected, bool is_compat, struct text *text)
{
    bool is_first = true;

    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++) {
        if (!(selected & 1u << i))
            continue;
        /* The original shows them, and says that it does not. */
        text_print(text, "%s%s", is_first ? "" : "\n",
                   i == ATTRIBUTE_TENSOR_VALUE && !is_compat
                       ? "tensor_value: Values of variables in the checkpoint."
                       : attributes[i].doc);
        is_first = false;
    }
}

struct scale { /* numbers up to a limit are printed by this divisor */
    int64_t    below;
    int64_t    divisor; /* 1: whole numbers */
    struct str unit;
};
static const struct scale numbers[] = {
    { 1000, 1, STR_INIT("") },
    { 1000000, 1000, STR_INIT("k") },
    { 1000000000, 1000000, STR_INIT("m") },
    { INT64_MAX, 1000000000, STR_INIT("b") },
};
static const struct scale times[] = {
    { 1000, 1, STR_INIT("us") },
    { 1000000, 1000, STR_INIT("ms") },
    { INT64_MAX, 1000000, STR_INIT("sec") },
};
static const struct scale memory[] = {
    { 1000, 1, STR_INIT("B") },
    { 1000000, 1000, STR_INIT("KB") },
    { INT64_MAX, 1000000, STR_INIT("MB") },
};

/* Digits of a number that is not negative, from the end of the room backwards. */
static size_t put_digits(char *room, size_t end, int64_t number)
{
    do
        room[--end] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

static size_t put_plain(char *to, int64_t number)
{
    char   digits[NUMBER_BYTES];
    size_t at;

    if (number < 0)
        return (size_t)snprintf(to, NUMBER_BYTES, "%" PRId64, number);
    at = put_digits(digits, sizeof digits, number);
    memcpy(to, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

/* Two decimals as printf rounds the quotient: in whole numbers, except halfway between two, where
 * it depends on what the quotient is in binary. Reports are full of these. */
static size_t put_decimals(char *to, int64_t number, int64_t divisor)
{
    enum { EXACT_BELOW_LOG2 = 49 }; /* the quotient's error is smaller than a unit of the number */
    int64_t step = divisor / 100, hundredths = number / step, rest = number % step;
    char    digits[NUMBER_BYTES];
    size_t  at = sizeof digits;

    if (rest * 2 == step || number >> EXACT_BELOW_LOG2)
        return (size_t)snprintf(to, NUMBER_BYTES, "%.2f", (double)number / (double)divisor);
    hundredths += rest * 2 > step;
    digits[--at] = (char)('0' + hundredths % 10);
    digits[--at] = (char)('0' + hundredths / 10 % 10);
    digits[--at] = '.';
    at = put_digits(digits, at, hundredths / 100);
    memcpy(to, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static size_t put_scaled(char *to, const struct scale *scale, int64_t number)
{
    size_t len;

    while (number >= scale->below && scale->below != INT64_MAX)
        scale++;
    len = scale->divisor == 1 ? put_plain(to, number) : put_decimals(to, number, scale->divisor);
    memcpy(to + len, scale->unit.data, scale->unit.len);
    return len + scale->unit.len;
}

static void print_scaled(struct text *text, const struct scale *scale, int64_t number)
{
    char room[COLUMN_NUMBER_BYTES];

    text_add(text, (struct str) { room, put_scaled(room, scale, number) });
}

void print_number(struct text *text, int64_t number)
{
    print_scaled(text, numbers, number);
}

void print_micros(struct text *text, int64_t micros)
{
    print_scaled(text, times, micros);
}

size_t put_column_number(char *to, enum attribute_kind kind, int64_t number)
{
    switch (kind) {
    case COLUMN_MEMORY:
        return put_scaled(to, memory, number);
    case COLUMN_TIME:
        return put_scaled(to, times, number);
    case COLUMN_PARAMS:
    case COLUMN_FLOAT_OPS:
    case COLUMN_OCCURRENCE:
    case COLUMN_DEVICE:
    case COLUMN_OP_TYPES:
    case COLUMN_INPUT_SHAPES:
    case COLUMN_HIDDEN_OPS:
        return put_scaled(to, numbers, number);
    }
    return 0;
}

void print_column_number(struct text *text, enum attribute_kind kind, int64_t number)
{
    char room[COLUMN_NUMBER_BYTES];

    text_add(text, (struct str) { room, put_column_number(room, kind, number) });
}
