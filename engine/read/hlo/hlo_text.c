#include "read/hlo/hlo_text.h"

struct cursor {
    struct str text;
    size_t     at;
};

static char here(const struct cursor *cursor)
{
    return cursor->at < cursor->text.len ? cursor->text.data[cursor->at] : '\0';
}

static bool take(struct cursor *cursor, char c)
{
    bool is_there = here(cursor) == c;

    cursor->at += is_there;
    return is_there;
}

/* Up to the first of `ends`, or the end. */
static struct str take_until(struct cursor *cursor, struct str ends)
{
    size_t from = cursor->at;

    while (cursor->at < cursor->text.len &&
           str_find(ends, cursor->text.data[cursor->at]) == ends.len)
        cursor->at++;
    return str_slice(cursor->text, from, cursor->at);
}

/* Blanks, commas and comments as in an "index" every few parts of a tuple. */
static void skip_between(struct cursor *cursor)
{
    for (;;) {
        if (take(cursor, ' ') || take(cursor, ','))
            continue;
        if (here(cursor) != '/' ||
            str_find(str_slice(cursor->text, cursor->at, cursor->at + 2), '*') != 1)
            return;
        cursor->at += 2;
        while (cursor->at < cursor->text.len &&
               !(here(cursor) == '*' && take(cursor, '*') && here(cursor) == '/'))
            cursor->at++;
        (void)take(cursor, '/');
    }
}

static enum dtype dtype_of(struct str name)
{
    static const struct {
        const char *name;
        enum dtype  dtype;
    } rows[] = {
        { "f32", DTYPE_F32 },   { "bf16", DTYPE_BF16 },   { "f16", DTYPE_F16 },
        { "f64", DTYPE_F64 },   { "s32", DTYPE_I32 },     { "u32", DTYPE_U32 },
        { "pred", DTYPE_BOOL }, { "s64", DTYPE_I64 },     { "u64", DTYPE_U64 },
        { "s8", DTYPE_I8 },     { "u8", DTYPE_U8 },       { "s16", DTYPE_I16 },
        { "u16", DTYPE_U16 },   { "s4", DTYPE_I4 },       { "c64", DTYPE_C64 },
        { "c128", DTYPE_C128 }, { "f4e2m1fn", DTYPE_F4 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (str_equal(name, str_from(rows[i].name)))
            return rows[i].dtype;
    return str_starts(name, STR("f8")) ? DTYPE_F8 : DTYPE_OTHER;
}

/* "2,<=3]": bounds of dimensions that vary count as they are. */
static bool take_dims(struct cursor *cursor, struct tensor *tensor)
{
    tensor->rank = 0;
    while (cursor->at < cursor->text.len && !take(cursor, ']')) {
        struct str digits;
        int64_t    size;

        (void)(take(cursor, '<') && take(cursor, '='));
        digits = take_until(cursor, STR(",]"));
        if (!str_to_int64(digits, &size) || size < 0)
            size = -1;
        if (tensor->rank >= 0 && tensor->rank < TENSOR_MAX_RANK)
            tensor->dims[tensor->rank++] = size;
        else
            tensor->rank = -1;
        (void)take(cursor, ',');
    }
    return cursor->at <= cursor->text.len;
}

/* "{1,0:T(8,128)S(5)}": the memory space behind "S(". */
static int64_t take_layout(struct cursor *cursor)
{
    struct str layout, number;
    size_t     place;
    int64_t    space;

    if (!take(cursor, '{'))
        return 0;
    layout = take_until(cursor, STR("}"));
    (void)take(cursor, '}');
    place = str_search(layout, STR("S("));
    number = str_slice(layout, place + 2, layout.len);
    return place < layout.len && str_to_int64(str_slice(number, 0, str_find(number, ')')), &space)
               ? space
               : 0;
}

/* An array, or a tuple's arrays one after the other; false where none begins. */
static bool take_shape(struct cursor *cursor, struct hlo_text_tensor *list, size_t *count)
{
    unsigned depth = 0;

    do {
        struct hlo_text_tensor next = { .space = 0 };
        struct str             type;

        skip_between(cursor);
        if (take(cursor, '(')) {
            depth++;
            continue;
        }
        if (depth && take(cursor, ')')) {
            depth--;
            continue;
        }
        type = take_until(cursor, STR("[](){} ,%="));
        if (!type.len || !take(cursor, '['))
            return false;
        next.tensor.dtype = (uint8_t)dtype_of(type);
        if (!take_dims(cursor, &next.tensor))
            return false;
        next.space = take_layout(cursor);
        if (*count < HLO_TEXT_TENSORS)
            list[(*count)++] = next;
    } while (depth);
    return true;
}

bool hlo_text_read(struct str text, struct hlo_text *result)
{
    struct cursor cursor = { text, str_search(text, STR(" = ")) };

    *result = (struct hlo_text) { .result_count = 0 };
    if (cursor.at >= text.len)
        return false;
    cursor.at += 3;
    if (!take_shape(&cursor, result->results, &result->result_count))
        return result->result_count > 0;
    skip_between(&cursor);
    result->opcode = take_until(&cursor, STR("("));
    if (!take(&cursor, '('))
        return true;
    while (cursor.at < text.len && here(&cursor) != ')') {
        if (!take_shape(&cursor, result->operands, &result->operand_count))
            return true;
        (void)take_until(&cursor, STR(",)"));
        skip_between(&cursor);
    }
    return true;
}

/* What begins a copy yields where it goes and where it comes from, which its end takes in. */
enum copy_direction hlo_text_direction(const struct hlo_text *text)
{
    bool                          is_end = str_ends(text->opcode, STR("-done"));
    const struct hlo_text_tensor *pair = is_end ? text->operands : text->results;
    size_t                        count = is_end ? text->operand_count : text->result_count;

    if (count < 2 || (pair[0].space == HLO_SPACE_HOST) == (pair[1].space == HLO_SPACE_HOST))
        return COPY_D2D;
    return pair[0].space == HLO_SPACE_HOST ? COPY_D2H : COPY_H2D;
}
