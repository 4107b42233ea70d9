/*
 * ledger: the looked-at steps as units in order of time, with what of each is not claimed yet, and
 * the cells that claimed the rest. Detectors walk units and claim.
 */
#ifndef TFPROF_ANALYZE_EXCESS_LEDGER_H
#define TFPROF_ANALYZE_EXCESS_LEDGER_H

#include "analyze/excess/compiled.h"
#include "analyze/excess/excess.h"
#include "analyze/study.h"
#include "model/interval.h"
#include "model/op_class.h"

enum unit_kind {
    UNIT_OP,    /* one call of an op; in eager programs the outermost one with all below it */
    UNIT_PAUSE, /* the leading thread outside of ops: Python, dispatch, runtime */
    UNIT_OTHER  /* a wait for input, a collective, compiling, copying, output */
};
enum unit_phase {
    UNIT_FORWARD,
    UNIT_BACKWARD, /* below a node of the backward pass */
    UNIT_UPDATE,   /* below an optimizer's step */
    UNIT_INPUT     /* making or awaiting a batch */
};
/* What one thing did on the path of a step. */
struct work_unit {
    int64_t  start_ns, end_ns;
    double   ns, left_ns; /* on the path; of that, what no cell claimed */
    double   held_ns;     /* of that, what its cell claimed */
    double   typical_ns;  /* what units like it take: other programs hold one up now and then */
    uint32_t step;        /* row of path.step_rows */
    uint32_t frame;       /* row of path.frames: the op, or what was longest open; NO_ID */
    uint32_t node;        /* backward pass: the event of its node, or NO_ID */
    uint32_t type;        /* interned in the profile; 0 without an op */
    uint32_t op;          /* row of profile->ops, or NO_ID */
    uint32_t cell;        /* the one that claimed most of it, else the first; or NO_ID */
    uint8_t  kind, phase, part, op_class;
    bool     is_trained; /* a forward op that a backward node is for */
};
struct detector;
struct cell {
    const struct detector *detector;
    uint32_t               region;  /* interned in facts: where */
    uint32_t               source;  /* row of profile->sources, or NO_ID */
    uint32_t               type;    /* the op that takes most of it, interned in the profile */
    uint32_t               detail;  /* interned in facts: what shows it; 0 none */
    double                 calls;   /* all looked-at steps, like the rest */
    double                 ns;      /* claimed */
    double                 seen_ns; /* left of its units before it claimed */
    double                 lost_ns; /* claimed of units of which another cell claimed most */
    double                 largest_ns;
};
struct way_back { /* from an op of the forward pass to the node that goes back through it */
    int64_t from_ns, to_ns; /* where both start; to_ns INT64_MIN: not recorded */
};
struct ledger {
    struct study      *study;
    const struct path *path;
    struct arena      *scratch;
    VEC(struct work_unit) units; /* by step, then time */
    VEC(struct cell) cells;
    VEC(struct way_back) ways_back; /* by from_ns */
    uint32_t       *unit_of_segment; /* row of units */
    uint32_t       *first_unit;      /* by row of path.step_rows, and one behind the last */
    uint32_t       *op_before, *op_behind; /* by unit: the nearest of an op in its step; NO_ID */
    bool           *is_user;         /* by row of profile->sources */
    uint32_t       *user_line;       /* the same: ledger_source's answer + 1; 0: not asked yet */
    uint8_t        *name_waits;      /* by name of the profile, for frame_waits */
    uint8_t        *type_class;      /* by name of the profile: enum op_class + 1; 0 unknown */
    struct compiled compiled;
    bool           *adds;    /* struct waste's; the first that is opened finds them */
    struct one_hot *one_hot; /* of struct axes, the same */
    struct taken   *part;    /* of struct parts */
    const struct gaps *gaps; /* the same */
    size_t          step_count;
    double          total_ns;
    double          start_ns; /* what starting an op costs */
    bool            is_torch, has_backward;
    bool            is_of_device; /* most of the steps is an accelerator's work */
};

/* One structure that shows waste. */
struct detector {
    const char       *flaw; /* what rules ask for, "unused-gradients" */
    enum excess_cause cause;
    enum excess_grade grade;
    bool (*find)(struct ledger *ledger, const struct detector *self); /* false: out of memory */
};
#define DETECTOR(name) extern const struct detector detector_##name;
#include "analyze/excess/detectors.def"
#undef DETECTOR

/* Fills units from the study's path. false: out of memory. */
bool ledger_open(struct ledger *ledger, struct study *study, struct arena *scratch);
/* A cell for what `self` found at a unit; NO_ID: out of memory. */
uint32_t ledger_cell(struct ledger *ledger, const struct detector *self,
                     const struct work_unit *at);
/* Charges a share of what is left of a unit to a cell. */
void ledger_claim(struct ledger *ledger, uint32_t cell, struct work_unit *unit, double share);
/* What is left of the time of a cell's units without what it claimed. */
double cell_factor(const struct cell *cell);
/* The same of the units that go with ops (unit_goes_with_ops), from row `first` to `last`. */
void ledger_claim_ops(struct ledger *ledger, uint32_t cell, uint32_t first, uint32_t last,
                      double share);
/* The number that autograd gives an op, or a node that goes back through it. false: none. */
bool ledger_sequence(const struct ledger *ledger, uint32_t event, int64_t *number);
/* Says what shows it, in a few words. */
bool ledger_tell(struct ledger *ledger, uint32_t cell, const char *format, ...) CHECK_PRINTF(3, 4);
/* Both, where *cell is NO_ID still. false: out of memory. */
bool ledger_cell_once(struct ledger *ledger, const struct detector *self,
                      const struct work_unit *at, uint32_t *cell, const char *format, ...)
    CHECK_PRINTF(5, 6);

/* The line of the user's program that a unit's op was made by; instructions that have none belong
 * to what makes or takes their results. A row of profile->sources, or NO_ID. */
uint32_t ledger_source(const struct ledger *ledger, const struct work_unit *unit);
/* Where a unit is: the user's line, else the ranges around it, else ops before and after. The
 * source goes to *source. NO_ID: out of memory. */
uint32_t ledger_region(struct ledger *ledger, const struct work_unit *unit, uint32_t *source);

/* Events of the threads of the reference host: begin with a study, then ask until there is none. */
struct host_events {
    const struct study *study;
    size_t              timeline;
    uint32_t            next; /* of the timeline's */
};
bool host_events_next(struct host_events *events, uint32_t *event);
/* Runs of TensorFlow's sessions there, by start; they are not merged. false: out of memory. */
bool host_session_runs(const struct ledger *ledger, struct intervals *runs);

/* The innermost Python around a frame is the program's own, none of a library's. */
bool frame_is_own_python(const struct ledger *ledger, uint32_t frame);
/* A function of JAX in which Python waits for a result, "$array.py:615 _value". */
bool       frame_waits(const struct ledger *ledger, uint32_t name);
bool       ledger_is_jax(const struct ledger *ledger);
struct str unit_type(const struct ledger *ledger, const struct work_unit *unit);
/* The unit's operand, or NULL. */
const struct tensor *unit_input(const struct ledger *ledger, const struct work_unit *unit,
                                uint32_t row);
/* What an op works on and what by: the factors of a product, behind a bias that some take first. */
uint32_t             unit_first_factor(const struct ledger *ledger, const struct work_unit *unit);
const struct tensor *unit_left(const struct ledger *ledger, const struct work_unit *unit);
const struct tensor *unit_right(const struct ledger *ledger, const struct work_unit *unit);
/* A backward pass of PyTorch hands a gradient over to what has it. */
bool                 unit_hands_gradient(const struct ledger *ledger, const struct work_unit *unit);
bool                 unit_is_forward_product(const struct work_unit *unit); /* or a convolution */
/* The frame of the optimizer's step that it is in, an update or of a closure, and its name, which
 * may be NULL. NO_ID: none. */
uint32_t unit_optimizer_step(const struct ledger *ledger, const struct work_unit *unit,
                             struct str *name);
/* A layer over a sequence that is given one place of it, as for each round of a loop that carries
 * its state on. */
bool unit_is_layer_of_one_step(const struct ledger *ledger, const struct work_unit *unit);
bool                 unit_is_forward_pause(const struct work_unit *unit);
/* All that it takes are single numbers, as a counter, or parts of a sum that is one. */
bool unit_is_of_numbers(const struct ledger *ledger, const struct work_unit *unit);
/* Of an op of a program with an accelerator: what the host takes to start it and to come to the
 * next, which it takes for fewer rows, too. 0: without one, where the host does the work itself. */
double unit_start_ns(const struct ledger *ledger, uint32_t unit);
/* An op, or the host's time between ops, whether a step's mark covers it or not: what goes where
 * the ops around it go. */
bool unit_goes_with_ops(const struct work_unit *unit);
/* Marks, by unit, those of the backward pass whose nodes are for an op of units [first, last], as
 * far as the recording tells. false: out of memory. */
bool units_mark_backward(const struct ledger *ledger, uint32_t first, uint32_t last, bool *marks);
/* Charges a share of what is left of those to a cell. */
bool ledger_claim_way_back(struct ledger *ledger, uint32_t cell, uint32_t first, uint32_t last,
                           double share);
int unit_numbers(const struct ledger *ledger, const struct work_unit *unit, size_t place,
                 int64_t *numbers, int most); /* see profile_numbers */
/* What a product of rows with a matrix gives: the left operand with the columns of the right one.
 * false: the recording does not tell. */
bool unit_product_result(const struct ledger *ledger, const struct work_unit *unit,
                         struct tensor *result);
/* One of the next few ops of the forward pass, from unit `first` to `end`, takes an array of this
 * shape. */
bool units_take(const struct ledger *ledger, uint32_t first, uint32_t end,
                const struct tensor *whole);
/* Which part of a product's rows the next op keeps, as it cuts the others off; 1: all of them. */
double unit_kept_rows(const struct ledger *ledger, uint32_t unit);
/* Rows that a lookup in a table of two axes gives: of its ids, or of the first op before unit `end`
 * that takes rows of that length. */
int64_t unit_picked_rows(const struct ledger *ledger, uint32_t at, uint32_t end);

#endif
