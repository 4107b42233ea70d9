/*
 * graph_names: what names of ops in graphs of TensorFlow tell of gradients. A gradient is named by
 * the op that it is for, "gradients/dense/MatMul_grad/MatMul_1" by sessions and
 * "gradient_tape/dense/MatMul/MatMul" by functions.
 */
#ifndef TFPROF_ANALYZE_EXCESS_GRAPH_NAMES_H
#define TFPROF_ANALYZE_EXCESS_GRAPH_NAMES_H

#include "base/str.h"

#include <stdbool.h>

bool graph_name_is_gradient(struct str name);
/* Behind the last `part` of a name; the whole name without it. */
struct str graph_name_behind(struct str name, struct str part);
/* Without the calls and loops that it is inside of. */
struct str graph_name_inside(struct str name);
/* The op, or the scope and more, that a gradient is for; empty: not told. */
struct str graph_name_trained(struct str gradient);

#endif
