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

void values_add(struct view_numbers *sum, const struct view_numbers *added); /* saturates */
/* Of one node; definitions 1. */
struct view_numbers values_of_node(const struct classic *classic, uint32_t node, int64_t step);

#endif
