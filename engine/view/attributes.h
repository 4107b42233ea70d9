/*
 * attributes: what -select may name. One row each: explanation, header, number and unit. The
 * columns of a report follow from the selection.
 */
#ifndef TFPROF_VIEW_ATTRIBUTES_H
#define TFPROF_VIEW_ATTRIBUTES_H

#include "base/text.h"
#include "view/values.h"

enum attribute {
    ATTRIBUTE_ACCELERATOR_MICROS, /* in the order of their names, as reports explain them */
    ATTRIBUTE_BYTES,
    ATTRIBUTE_CPU_MICROS,
    ATTRIBUTE_DEVICE,
    ATTRIBUTE_FLOAT_OPS,
    ATTRIBUTE_INPUT_SHAPES,
    ATTRIBUTE_MICROS,
    ATTRIBUTE_HIDDEN_OPS,
    ATTRIBUTE_OCCURRENCE,
    ATTRIBUTE_OP_TYPES,
    ATTRIBUTE_OUTPUT_BYTES,
    ATTRIBUTE_PARAMS,
    ATTRIBUTE_PEAK_BYTES,
    ATTRIBUTE_RESIDUAL_BYTES,
    ATTRIBUTE_TENSOR_VALUE,
    ATTRIBUTE_COUNT
};
enum attribute_kind { /* how a column prints */
                      COLUMN_MEMORY,
                      COLUMN_TIME,
                      COLUMN_PARAMS,
                      COLUMN_FLOAT_OPS,
                      COLUMN_DEVICE,
                      COLUMN_OP_TYPES,
                      COLUMN_OCCURRENCE,
                      COLUMN_INPUT_SHAPES,
                      COLUMN_HIDDEN_OPS,
};
/* Views of single nodes put parameters first, views of several at once behind times. */
enum attribute_layout { LAYOUT_NODES, LAYOUT_GROUPS };

struct column {
    enum attribute_kind kind;
    enum view_value     value; /* of MEMORY, TIME, PARAMS, FLOAT_OPS, OCCURRENCE */
    const char         *title;
};
enum { COLUMNS_MAX = 16 };
struct columns {
    struct column items[COLUMNS_MAX];
    size_t        count;
};

const char *attribute_name(enum attribute attribute);
bool        attribute_find(struct str name, enum attribute *attribute);
/* Whether siblings can be ordered by it, and by which number. */
bool           attribute_is_number(enum attribute attribute, enum view_value *value);
struct columns columns_of(unsigned selected, enum attribute_layout layout);
/* The explanations of the selected ones, a line each, without a last line feed. */
void attributes_explain(unsigned selected, bool is_compat, struct text *text);
/* "1.50ms", "9.92KB", "3.20m": the original's numbers. */
void print_number(struct text *text, int64_t number);
void print_micros(struct text *text, int64_t micros);
void print_column_number(struct text *text, enum attribute_kind kind, int64_t number);
/* The same without a terminator, into room for COLUMN_NUMBER_BYTES: how many they are. */
enum { COLUMN_NUMBER_BYTES = 40 };
size_t put_column_number(char *to, enum attribute_kind kind, int64_t number);

#endif
