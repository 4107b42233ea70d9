/*
 * AttrValue: what of an op's attributes is kept. Constants are not: they are data, not facts.
 * Upstream: tensorflow/core/framework/{attr_value,tensor_shape,types}.proto
 */
#include "model/names.h"
#include "read/tf/tf_classic.h"
#include "read/tf/tf_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEPT_VALUE_BYTES = 128 };

uint8_t tf_dtype(uint64_t data_type)
{
    static const uint8_t dtypes[] = {
        DTYPE_UNKNOWN, DTYPE_F32, DTYPE_F64,   DTYPE_I32,   DTYPE_U8,    DTYPE_I16, DTYPE_I8,
        DTYPE_STRING,  DTYPE_C64, DTYPE_I64,   DTYPE_BOOL,  DTYPE_I8,    DTYPE_U8,  DTYPE_I32,
        DTYPE_BF16,    DTYPE_I16, DTYPE_U16,   DTYPE_U16,   DTYPE_C128,  DTYPE_F16, DTYPE_OTHER,
        DTYPE_OTHER,   DTYPE_U32, DTYPE_U64,   DTYPE_F8,    DTYPE_F8,    DTYPE_F8,  DTYPE_F8,
        DTYPE_F8,      DTYPE_I4,  DTYPE_OTHER, DTYPE_OTHER, DTYPE_OTHER,
    };

    if (data_type > 100)
        data_type -= 100;
    return data_type < ARRAY_COUNT(dtypes) ? dtypes[data_type] : DTYPE_OTHER;
}

static bool read_output_shapes(struct tf_model *model, uint32_t op, struct message list,
                               struct err *err)
{
    struct field     field;
    struct tf_output output = { .op = op };

    while (message_next(&list, &field, err)) {
        if (!field_is_bytes(&field, 7))
            continue;
        output.shape = tf_shape_of(&model->shapes, message_inside(&list, field.bytes), err);
        if (output.shape == NO_ID)
            return err_in(err, "list.shape[%u]", output.slot);
        if (!vec_push(&model->outputs, &model->scratch, output) ||
            !tf_classic_output(model, &output))
            return tf_model_full(err);
        output.slot++;
    }
    return !list.is_damaged;
}

/* Lists of whole numbers ("1,2,2,1"): strides, kernel sizes. Others are left out. */
static bool read_list(struct tf_model *model, uint32_t op, struct str name, struct message list,
                      struct err *err)
{
    struct field field;
    int64_t      values[16];
    size_t       count = 0, used = 0;
    char         text[16 * 21 + 1];

    while (message_next(&list, &field, err))
        if (field.number == 3)
            count = field_numbers(&field, values, count, ARRAY_COUNT(values));
    if (list.is_damaged)
        return false;
    if (count == 0 || count > ARRAY_COUNT(values))
        return true;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, i ? "," : "",
                                 values[i]);
    return tf_model_add_attr(model, op, name, (struct str) { .data = text, .len = used }) ||
           tf_model_full(err);
}

static bool is_variable(const struct tf_model *model, uint32_t op)
{
    const struct profile *profile = model->profile;
    struct str            type = profile_str(profile, profile->ops.items[op].type);

    return name_is(type, NAMES_TF_VARIABLE);
}

static bool read_number(struct tf_model *model, uint32_t op, struct str name,
                        const struct field *field, struct err *err)
{
    char        text[32];
    const char *value = text;
    float       number;
    uint32_t    bits = (uint32_t)field->value;

    if (field->number == 6) {
        uint8_t dtype = tf_dtype(field->value);
        bool    is_result = str_fits(name, "dtype|DstT|output_type");

        value = dtype_name(dtype);
        if (is_result || (str_equal(name, STR("T")) && !model->states.items[op].dtype))
            model->states.items[op].dtype = dtype;
    } else if (field->number == 5) {
        value = field->value ? "true" : "false";
    } else if (field->number == 4) {
        memcpy(&number, &bits, sizeof number);
        snprintf(text, sizeof text, "%g", (double)number);
    } else {
        snprintf(text, sizeof text, "%" PRId64, field_int64(field));
    }
    return tf_model_add_attr(model, op, name, str_from(value)) || tf_model_full(err);
}

static bool read_shape(struct tf_model *model, uint32_t op, struct str name, struct message value,
                       struct err *err)
{
    struct tensor tensor = { 0 };

    if (!tf_shape_read(value, &tensor, err))
        return err_in(err, "shape");
    if (str_equal(name, STR("shape")) && is_variable(model, op))
        model->profile->ops.items[op].parameters = tensor_count(&tensor);
    return !str_equal(name, STR("shape")) || tf_classic_shape(model, op, &tensor) ||
           tf_model_full(err);
}

bool tf_attr_read(struct tf_model *model, uint32_t op, struct str name, struct message value,
                  struct err *err)
{
    struct field field;

    while (message_next(&value, &field, err)) {
        struct message inner = message_inside(&value, field.bytes);
        bool           is_read = true;

        if (field_is_bytes(&field, 1))
            is_read = str_equal(name, STR("_output_shapes"))
                          ? read_output_shapes(model, op, inner, err)
                          : read_list(model, op, name, inner, err);
        else if (field_is_bytes(&field, 2))
            is_read = field.bytes.len > KEPT_VALUE_BYTES ||
                      tf_model_add_attr(model, op, name, field.bytes) || tf_model_full(err);
        else if (field_is_bytes(&field, 7))
            is_read = read_shape(model, op, name, inner, err);
        else if ((field.type == WIRE_VARINT &&
                  (field.number == 3 || field.number == 5 || field.number == 6)) ||
                 (field.type == WIRE_32 && field.number == 4))
            is_read = read_number(model, op, name, &field, err);
        if (!is_read)
            return false;
    }
    return !value.is_damaged;
}
