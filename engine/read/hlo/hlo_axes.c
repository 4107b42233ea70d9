#include "read/hlo/hlo_axes.h"

#include "base/macros.h"
#include "base/text.h"
#include "read/hlo/hlo_attrs.h"
#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto and xla_data.proto. */
enum {
    INSTRUCTION_ELEMENT = 13,
    INSTRUCTION_AXES = 14,
    INSTRUCTION_CONVOLUTION = 16,
    INSTRUCTION_SLICE = 17,
    INSTRUCTION_PADDING = 21,
    INSTRUCTION_DOT = 30,
    INSTRUCTION_COMPARES = 63,
    DOT_LEFT_INNER = 1,
    DOT_RIGHT_INNER = 2,
    DOT_LEFT_BATCH = 3,
    DOT_RIGHT_BATCH = 4,
    CONVOLUTION_INPUT_BATCH = 7,
    CONVOLUTION_OUTPUT_BATCH = 9,
    PADDING_AXIS = 1,
    AXIS_FROM = 1, /* where a slice begins, or how much is padded in front of an axis */
    AXIS_STEP = 3, /* of a slice; of a padding one less */
};

bool hlo_has_axes(struct str opcode)
{
    static const char opcodes[] =
        "broadcast|transpose|reduce|dot|concatenate|iota|compare|get-tuple-element|"
        "reduce-window|convolution|slice|pad";

    return str_fits(opcode, opcodes);
}

/* "0,2". A packed list is one field, an unpacked one of more than one number is not written. */
static bool add_list(struct profile *profile, struct op *op, const char *name,
                     const struct wire *field)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    struct str   rest = wire_numbers(field);
    uint64_t     axis;
    size_t       count = 0;
    bool         is_added;

    for (; count < TENSOR_MAX_RANK && wire_take(&rest, &axis); count++)
        text_print(&text, "%s%llu", count ? "," : "", (unsigned long long)axis);
    is_added = hlo_attr_add(profile, op, name, text_str(&text));
    arena_free(&scratch);
    return is_added;
}

static bool add_dot(struct str numbers, struct profile *profile, struct op *op)
{
    static const char *const names[] = { [DOT_LEFT_INNER] = "left_inner",
                                         [DOT_RIGHT_INNER] = "right_inner",
                                         [DOT_LEFT_BATCH] = "left_batch",
                                         [DOT_RIGHT_BATCH] = "right_batch" };

    for (struct wire field = wire_start(numbers); wire_next(&field);)
        if (field.number > 0 && field.number < ARRAY_COUNT(names) &&
            !add_list(profile, op, names[field.number], &field))
            return false;
    return true;
}

/* Zeros are not written: what is not told is the first axis. */
static bool add_convolution(struct str numbers, struct profile *profile, struct op *op)
{
    static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007";
    uint64_t          from = 0, to = 0;

    for (struct wire field = wire_start(numbers); wire_next(&field);) {
        if (field.number == CONVOLUTION_INPUT_BATCH)
            from = field.value;
        if (field.number == CONVOLUTION_OUTPUT_BATCH)
            to = field.value;
    }
    return from >= TENSOR_MAX_RANK || to >= TENSOR_MAX_RANK ||
           (hlo_attr_add(profile, op, "left_batch", str_from(digits + 2 * from)) &&
            hlo_attr_add(profile, op, "made_batch", str_from(digits + 2 * to)));
}

/* "0:1,3:2": by axis, at which place of the large array the first number of the small one lies, and
 * how far apart they are: the same for a slice and for the padding that goes back through it. */
static void add_place(struct str axis, bool is_padding, struct text *text)
{
    uint64_t from = 0, step = is_padding ? 0 : 1;

    for (struct wire field = wire_start(axis); wire_next(&field);) {
        if (field.number == AXIS_FROM)
            from = field.value;
        if (field.number == AXIS_STEP)
            step = field.value;
    }
    text_print(text, "%s%lld:%lld", text_str(text).len ? "," : "", (long long)from,
               (long long)(is_padding ? step + 1 : step));
}

static bool add_places(struct str instruction, struct profile *profile, struct op *op)
{
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    bool         is_padding = str_equal(profile_str(profile, op->type), STR("pad")), is_added;

    for (struct wire field = wire_start(instruction); wire_next(&field);) {
        if (field.type != WIRE_BYTES)
            continue;
        if (!is_padding && field.number == INSTRUCTION_SLICE)
            add_place(field.bytes, false, &text);
        for (struct wire axis = wire_start(field.bytes);
             is_padding && field.number == INSTRUCTION_PADDING && wire_next(&axis);)
            if (axis.number == PADDING_AXIS && axis.type == WIRE_BYTES)
                add_place(axis.bytes, true, &text);
    }
    is_added = hlo_attr_add(profile, op, "places", text_str(&text));
    arena_free(&scratch);
    return is_added;
}

static bool add_field(const struct wire *field, struct profile *profile, struct op *op)
{
    struct str opcode = profile_str(profile, op->type);

    switch (field->number) {
    case INSTRUCTION_AXES:
        return add_list(profile, op, "axes", field);
    case INSTRUCTION_ELEMENT:
        return !str_equal(opcode, STR("get-tuple-element")) ||
               add_list(profile, op, "element", field);
    case INSTRUCTION_DOT:
        return field->type != WIRE_BYTES || add_dot(field->bytes, profile, op);
    case INSTRUCTION_CONVOLUTION:
        return field->type != WIRE_BYTES || !str_equal(opcode, STR("convolution")) ||
               add_convolution(field->bytes, profile, op);
    case INSTRUCTION_COMPARES:
        return field->type != WIRE_BYTES || !str_equal(opcode, STR("compare")) ||
               hlo_attr_add(profile, op, "compares", field->bytes);
    default:
        return true;
    }
}

bool hlo_axes_add(struct str instruction, struct profile *profile, struct op *op)
{
    if (str_fits(profile_str(profile, op->type), "slice|pad"))
        return add_places(instruction, profile, op);
    for (struct wire field = wire_start(instruction); wire_next(&field);)
        if (!add_field(&field, profile, op))
            return false;
    return true;
}
