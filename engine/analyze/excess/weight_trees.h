/*
 * weight_trees: arguments of JAX's programs that are weights. They are told by how JAX names
 * arguments: several arrays of floats of one tree, none of which the program gives back.
 */
#ifndef TFPROF_ANALYZE_EXCESS_WEIGHT_TREES_H
#define TFPROF_ANALYZE_EXCESS_WEIGHT_TREES_H

#include "analyze/excess/waste.h"
#include "base/intern.h"

struct weight_tree { /* arguments of a program whose names begin alike */
    uint32_t leaves;
    bool     is_other; /* one of them is given back, or is no float */
};
struct weight_trees {
    const struct waste *waste;
    struct intern       names;
    struct id_map       tree_of; /* by program and name: row of trees */
    VEC(struct weight_tree) trees;
    bool *has_gradients; /* by program, a name of the profile: it has no trees here */
};

/* Of a profile with compiled programs. false: out of memory. */
bool weight_trees_open(struct weight_trees *trees, const struct waste *waste);
bool weight_trees_is_argument(const struct weight_trees *trees, uint32_t op);
bool weight_trees_is_weight(const struct weight_trees *trees, uint32_t op); /* an argument */
/* Hands on what arguments are made of, `of` by op, to what is made of them, to the end. `others` is
 * what nothing is known of, as what a round of a loop made before. false: out of memory. */
bool weight_trees_spread(const struct weight_trees *trees, uint8_t *of, uint8_t others);
/* A product of what `of` says to be of weights alone, and of what is of `others`, too. `of`: by op,
 * as the caller knows it. */
bool weight_trees_is_layer(const struct weight_trees *trees, uint32_t op, const uint8_t *of,
                           uint8_t weights, uint8_t others);

#endif
