/* values: the numbers that a view sums, for one node alone and with what is below it. */
#ifndef TFPROF_VIEW_VALUES_H
#define TFPROF_VIEW_VALUES_H

#include "model/classic.h"

enum view_value {
    VALUE_RUNS = MEASURE_RUNS,
    VALUE_EXEC_MICROS = MEASURE_EXEC_MICROS,
    VALUE_ACCELERATOR_MICROS = MEASURE_ACCELERATOR_MICROS,
    VALUE_CPU_MICROS = MEASURE_CPU_MICROS,
    VALUE_REQUESTED_BYTES = MEASURE_REQUESTED_BYTES,
    VALUE_PEAK_BYTES = MEASURE_PEAK_BYTES,
    VALUE_RESIDUAL_BYTES = MEASURE_RESIDUAL_BYTES,
    VALUE_OUTPUT_BYTES = MEASURE_OUTPUT_BYTES,
    VALUE_PARAMETERS = MEASURE_COUNT,
    VALUE_FLOAT_OPS,
    VALUE_DEFINITIONS, /* nodes */
    VIEW_VALUE_COUNT
};

struct view_numbers {
    int64_t values[VIEW_VALUE_COUNT];
};

/* Which values a showing needs: of a million nodes the others are neither summed nor kept. */
struct value_set {
    uint8_t count;
    uint8_t values[VIEW_VALUE_COUNT]; /* enum view_value, ascending */
    uint8_t place[VIEW_VALUE_COUNT];  /* of a value among them; VIEW_VALUE_COUNT: not there */
};
/* mask: a bit a value; all of them: value v has place v. */
struct value_set value_set_of(unsigned mask);
enum { VALUES_ALL = (1 << VIEW_VALUE_COUNT) - 1 };

void numbers_add(int64_t *sum, const int64_t *added, size_t count); /* saturates */
void values_add(struct view_numbers *sum, const struct view_numbers *added);
/* Of one node, by place; definitions 1. */
void values_fill(const struct classic *classic, uint32_t node, int64_t step,
                 const struct value_set *set, int64_t *numbers);
/* What is known of a node's float operations; bits, so that sums of nodes are or-ed. */
enum flops_known { FLOPS_NONE = 0, FLOPS_KNOWN = 1, FLOPS_UNKNOWN = 2, FLOPS_IN_PART = 3 };
enum flops_known flops_known_of(const struct classic *classic, uint32_t node);
enum flops_known flops_known_of_all(const struct classic *classic, const uint32_t *nodes,
                                    size_t count);
/* All of them. */
struct view_numbers values_of_node(const struct classic *classic, uint32_t node, int64_t step);

#endif
