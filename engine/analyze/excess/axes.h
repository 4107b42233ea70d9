/*
 * axes: which axis of an operand becomes which axis of the result of an instruction of a compiled
 * program, which of them are summed over, and where arrays hold one number that is not zero along
 * an axis.
 */
#ifndef TFPROF_ANALYZE_EXCESS_AXES_H
#define TFPROF_ANALYZE_EXCESS_AXES_H

#include "analyze/excess/linear.h"

enum { AXIS_NONE = -1 };
struct axis_list { /* numbers of axes; count -1: the recording does not tell */
    int8_t ids[TENSOR_MAX_RANK];
    int    count;
};
struct axis_map { /* by axis of an operand: bit by axis of the result that it becomes, or a part of
                   */
    uint8_t to[TENSOR_MAX_RANK];
};
struct one_hot {     /* array that holds one number at most that is not zero along an axis */
    int8_t   axis;   /* AXIS_NONE: it is none; where axes were put together, the one it is in now */
    int64_t  length; /* of the axis itself */
    uint8_t  by;     /* bit by axis: that axis, and those by whose numbers it is known which one */
    uint32_t key;    /* equal where the same numbers tell which one */
};
struct axes {
    const struct waste *waste;
    uint32_t            axes, left_batch, left_inner, right_batch, right_inner, made_batch, element,
        compares, places;    /* names */
    struct one_hot *one_hot; /* by op */
};

/* `waste`: with a graph. false: out of memory. */
bool axes_open(struct axes *axes, const struct waste *waste);
/* The result's shape; NULL: it has none, or several. */
const struct tensor *axes_shape(const struct axes *axes, uint32_t op);
/* An attribute of the op, "axes": which it sums over, or of its result by axis of its operand. */
struct axis_list axes_list(const struct axes *axes, uint32_t op, uint32_t name);
/* An attribute of the op that is a number; 0, which is not written, where it has none. */
uint32_t axes_number(const struct axes *axes, uint32_t op, uint32_t name);
/* Which element of a tuple a get-tuple-element takes. */
uint32_t axes_element(const struct axes *axes, uint32_t op);
/* At which places of the large array the small one of a slice or a padding lies: equal where they
 * are the same. */
uint32_t axes_places(const struct axes *axes, uint32_t op);
/* Where the axes of operand `place` go. No bits: it is not known, or not by axes. */
struct axis_map axes_into(const struct axes *axes, uint32_t op, uint32_t place);
/* The axes of operand `place` of a dot that it sums over. */
struct axis_list axes_summed(const struct axes *axes, uint32_t op, uint32_t place);

#endif
