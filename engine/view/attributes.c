#include "view/attributes.h"

#include "base/macros.h"

#include <inttypes.h>

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

void attributes_explain(unsigned selected, struct text *text)
{
    bool is_first = true;

    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++) {
        if (!(selected & 1u << i))
            continue;
        text_print(text, "%s%s", is_first ? "" : "\n", attributes[i].doc);
        is_first = false;
    }
}

/* Most numbers of a report are small: they go without printf. */
static void print_small(struct text *text, int64_t number, struct str unit)
{
    char   digits[4];
    size_t at = sizeof digits;

    if (number < 0) {
        text_print(text, "%" PRId64, number);
    } else {
        do
            digits[--at] = (char)('0' + number % 10);
        while ((number /= 10) > 0 && at > 0);
        text_add(text, (struct str) { digits + at, sizeof digits - at });
    }
    text_add(text, unit);
}

void print_number(struct text *text, int64_t number)
{
    if (number < 1000)
        print_small(text, number, STR(""));
    else if (number < 1000000)
        text_print(text, "%.2fk", (double)number / 1e3);
    else if (number < 1000000000)
        text_print(text, "%.2fm", (double)number / 1e6);
    else
        text_print(text, "%.2fb", (double)number / 1e9);
}

void print_micros(struct text *text, int64_t micros)
{
    if (micros < 1000)
        print_small(text, micros, STR("us"));
    else if (micros < 1000000)
        text_print(text, "%.2fms", (double)micros / 1e3);
    else
        text_print(text, "%.2fsec", (double)micros / 1e6);
}

void print_bytes(struct text *text, int64_t bytes)
{
    if (bytes < 1000)
        print_small(text, bytes, STR("B"));
    else if (bytes < 1000000)
        text_print(text, "%.2fKB", (double)bytes / 1e3);
    else
        text_print(text, "%.2fMB", (double)bytes / 1e6);
}

void print_column_number(struct text *text, enum attribute_kind kind, int64_t number)
{
    switch (kind) {
    case COLUMN_MEMORY:
        print_bytes(text, number);
        return;
    case COLUMN_TIME:
        print_micros(text, number);
        return;
    case COLUMN_PARAMS:
    case COLUMN_FLOAT_OPS:
    case COLUMN_OCCURRENCE:
    case COLUMN_DEVICE:
    case COLUMN_OP_TYPES:
    case COLUMN_INPUT_SHAPES:
        print_number(text, number);
        return;
    }
}
