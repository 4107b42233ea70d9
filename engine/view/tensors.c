#include "view/tensors.h"

#include "base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_BYTES = 10000, HUGE_COUNT = 100000 };
/* The types that the original shows. */
enum { TYPE_FLOAT = 1, TYPE_DOUBLE = 2, TYPE_INT32 = 3, TYPE_STRING = 7, TYPE_INT64 = 9 };

double tensor_short_number(double number)
{
    char digits[64];

    snprintf(digits, sizeof digits, "%g", number);
    return strtod(digits, NULL);
}

static void print_value(const struct classic_tensor *tensor, size_t at, bool is_compat,
                        struct text *text)
{
    double number;

    switch (tensor->kind) {
    case TENSOR_NUMBERS:
        number = tensor->numbers[at];
        if (is_compat)
            number = tensor_short_number(number);
        text_print(text, "%.2f ", number);
        return;
    case TENSOR_INTEGERS:
        text_print(text, "%" PRId64 " ", tensor->integers[at]);
        return;
    case TENSOR_STRINGS:
        text_add(text, STR("'"));
        text_add(text, tensor->strings[at]);
        text_add(text, STR("' "));
        return;
    case TENSOR_UNKNOWN:
        return;
    }
}

struct printer {
    const struct classic_tensor *tensor;
    struct text                 *text;
    size_t                       from, at; /* start in the text; next value */
    bool                         is_compat;
};

static bool is_full(const struct printer *printer)
{
    return printer->text->len - printer->from > SHOWN_BYTES;
}

/* Bytes behind the limit are never seen, so that printing stops there. */
static void print_level(struct printer *printer, int level)
{
    const struct tensor *shape = &printer->tensor->shape;
    int64_t              count = shape->rank > 0 ? shape->dims[level] : 1;

    text_add_byte(printer->text, '[');
    for (int64_t i = 0; i < count && !is_full(printer); i++) {
        if (level + 1 < shape->rank)
            print_level(printer, level + 1);
        else
            print_value(printer->tensor, printer->at++, printer->is_compat, printer->text);
    }
    if (is_full(printer))
        printer->text->len = printer->from + SHOWN_BYTES;
    text_add(printer->text, STR("],\n"));
}

/* "[[1.00 2.00 ],\n[3.00 4.00 ],\n],\n", cut behind 10000 bytes. is_compat: numbers of six digits.
 */
static void print_tensor_values(const struct classic_tensor *tensor, bool is_compat,
                                struct text *text)
{
    struct printer printer = {
        .tensor = tensor, .text = text, .from = text->len, .is_compat = is_compat
    };

    if (tensor->kind == TENSOR_UNKNOWN)
        return;
    print_level(&printer, 0);
    if (text->len - printer.from >= SHOWN_BYTES)
        text_add(text, STR("...omitted from display\n\n"));
}

bool tensor_is_shown(int type, bool is_compat)
{
    return !is_compat || type == TYPE_FLOAT || type == TYPE_DOUBLE || type == TYPE_INT32 ||
           type == TYPE_STRING || type == TYPE_INT64;
}

void print_tensor(struct str name, const struct view_call *call)
{
    const struct classic_checkpoint *checkpoint = call->classic->checkpoint;
    const struct classic_variable   *variable;
    struct classic_tensor            tensor = { 0 };
    struct arena                     scratch = { .budget_bytes = call->arena->budget_bytes };
    struct err                       why = { 0 };
    char                             line[ERR_TEXT_BYTES + ERR_SOURCE_BYTES];

    if (!checkpoint || !(call->options->selected & 1u << ATTRIBUTE_TENSOR_VALUE))
        return;
    variable = classic_variable_find(checkpoint, name);
    if (!variable)
        text_print(call->complaints,
                   checkpoint->is_v1 ? "%.*s not found in checkpoint file\n"
                                     : "Key %.*s not found in checkpoint\n",
                   STR_ARG(name));
    else if (!tensor_is_shown(variable->type, call->options->is_compat))
        text_print(call->complaints, "Not Supported type %d\n", variable->type);
    else if (!checkpoint->read(checkpoint, variable, &scratch, &tensor, &why))
        text_print(call->complaints, "%.*s: %s\n", STR_ARG(name),
                   err_format(&why, line, sizeof line));
    else if (tensor.kind == TENSOR_UNKNOWN)
        text_print(call->complaints, "Not Supported type %d\n", variable->type);
    if (tensor.count > HUGE_COUNT)
        text_add(call->complaints, STR("Showing huge tensor, the tool might halt...\n"));
    if (tensor.kind != TENSOR_UNKNOWN && why.code == ERR_NONE)
        print_tensor_values(&tensor, call->options->is_compat, call->text);
    arena_free(&scratch);
}
