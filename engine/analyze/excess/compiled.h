/*
 * compiled: instructions of compiled programs by what they hold and by what they are made from.
 * A fusion does what most of its instructions do; a result comes from parameters that the program
 * gives back (its state), from others (inputs), or from the round before of a loop.
 */
#ifndef TFPROF_ANALYZE_COMPILED_H
#define TFPROF_ANALYZE_COMPILED_H

#include "model/op_class.h"
#include "model/profile.h"

enum { FROM_STATE = 1, FROM_INPUT = 2, FROM_LOOP = 4 };

struct type_fits {     /* which types of ops fit a list, as far as it was asked */
    const char *types; /* NULL: the place is free */
    uint8_t    *of;    /* by row of the type: 0 not asked, 1 no, 2 yes */
};

struct op_rows { /* from first up to before end */
    uint32_t first, end;
};

struct compiled {
    const struct profile *profile;
    struct arena         *scratch;
    uint8_t              *op_class; /* by row of profile->ops: enum op_class; OP_OTHER unknown */
    uint8_t              *from;     /* by row: FROM_… */
    uint32_t             *source; /* by row: of profile->sources, of neighbours where it has none */
    double               *weight; /* by row: what one execution takes, contents and all, as elements
                                     that are passed over */
    struct op_rows *inside; /* by row: those of what it holds lie between these */
    uint32_t *timed;    /* by row: compiled_timed's answer */
    uint32_t *root;     /* by row: of what it holds, the instruction that gives its result; NO_ID */
    uint32_t *type_row; /* by row: 1 + that of its type in type_fits */
    uint32_t  type_count;
    struct type_fits *fits;       /* by list of types, where its address puts it */
    uint8_t *of_type, *of_origin; /* by name of the profile: enum op_class + 1; 0 unknown */
};

/* false: out of memory. */
bool compiled_open(struct compiled *compiled, const struct profile *profile, struct arena *scratch);
/* `types`: a literal, as of str_fits. */
bool compiled_is_type(const struct compiled *compiled, uint32_t op, const char *types);
bool compiled_is_complex(const struct compiled *compiled, uint32_t op); /* its first result */
/* Hands its operands to the parameters of its contents. */
bool compiled_holds(const struct compiled *compiled, uint32_t op);
/* Has the elements of its operand, in whatever order or type. */
bool compiled_hands_on(const struct compiled *compiled, uint32_t op);
/* The instruction that makes a result which others only hand on: through fusions and what is passed
 * into them, through copies and other layouts. */
uint32_t compiled_maker(const struct compiled *compiled, uint32_t op);
/* Gives the results of its program. */
bool compiled_is_root(const struct compiled *compiled, uint32_t op);
bool compiled_same_shape(const struct tensor *a, const struct tensor *b); /* and type */
/* Its result; NULL: it has none, or several. */
const struct tensor *compiled_result(const struct compiled *compiled, uint32_t op);
/* Elements of its first result and of one operand; 0 unknown. */
double compiled_elements(const struct compiled *compiled, uint32_t op);
double compiled_operand(const struct compiled *compiled, uint32_t op, uint32_t row);
/* The instruction whose time holds this one's: the outermost fusion or call that it is in. */
uint32_t compiled_timed(const struct compiled *compiled, uint32_t op);
/* Does more than name, hand on or spread what is there. */
bool compiled_works(const struct compiled *compiled, uint32_t op);

#endif
