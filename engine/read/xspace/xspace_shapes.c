#include "read/xspace/xspace_shapes.h"

#include "read/kineto/kineto_names.h"

static enum dtype dtype_of(struct str name)
{
    for (int dtype = DTYPE_UNKNOWN + 1; dtype < DTYPE_OTHER; dtype++)
        if (str_equal(name, str_from(dtype_name((enum dtype)dtype))))
            return (enum dtype)dtype;
    return kineto_dtype(name);
}

/* "half[4,384]"; a size that is no number, as "?", is unknown. */
static bool parse(struct str text, struct tensor *tensor)
{
    size_t     open = str_find(text, '[');
    struct str dims = str_slice(text, open + 1, text.len - 1);

    *tensor = (struct tensor) { .dtype = (uint8_t)dtype_of(str_slice(text, 0, open)) };
    if (open >= text.len || !str_ends(text, STR("]")))
        return false;
    while (dims.len && tensor->rank < TENSOR_MAX_RANK) {
        int64_t size;

        tensor->dims[tensor->rank++] =
            str_to_int64(str_trim(str_cut(&dims, ',')), &size) && size >= 0 ? size : -1;
    }
    if (dims.len)
        tensor->rank = -1;
    return true;
}

bool xspace_shapes(struct profile *profile, struct str text, struct op *op)
{
    uint32_t first = (uint32_t)profile->tensors.count;

    if (op->input_count + op->output_count > 0 || text.len < 2 || text.data[0] != '(' ||
        text.data[text.len - 1] != ')')
        return true;
    text = str_slice(text, 1, text.len - 1);
    while (text.len) {
        struct tensor tensor;

        if (!parse(str_cut(&text, ';'), &tensor)) {
            profile->tensors.count = first;
            return true;
        }
        if (!vec_push(&profile->tensors, profile->arena, tensor))
            return false;
    }
    op->first_input = first;
    op->input_count = (uint32_t)profile->tensors.count - first;
    op->first_output = (uint32_t)profile->tensors.count;
    return true;
}
