/*
 * sketch: a profile described in a few lines of text, taken apart but not yet placed in time.
 * docs/synth.md is the reference of the language; sketch_words.def lists its words. Lines that are
 * indented deeper belong to the line above them.
 *
 * Texts point into the sketch's bytes or its arena; both must outlive it.
 */
#ifndef TFPROF_SYNTH_SKETCH_H
#define TFPROF_SYNTH_SKETCH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_LINE UINT32_MAX

enum sketch_word {
#define WORD(id, text, where, takes, clauses, example) WORD_##id,
#include "synth/sketch_words.def"
#undef WORD
    WORD_COUNT
};
const char *sketch_word_text(enum sketch_word word);

enum sketch_flag {
    FLAG_PAGEABLE = 1,
    FLAG_PINNED = 2,
    FLAG_BLOCKING = 4, /* the host call lasts as long as the work */
    FLAG_ON_HOST = 8,
    FLAG_UNMARKED = 16,
};

enum { SKETCH_MAX_RANK = 8, SKETCH_MAX_SHAPES = 8 };
struct sketch_shape { /* f32[128,256] */
    struct str type;
    int64_t    dims[SKETCH_MAX_RANK];
    uint8_t    rank;
};

/* One line. Numbers that were not written are -1. */
struct sketch_line {
    enum sketch_word word;
    uint32_t   number, column;      /* where it stands, 1-based */
    uint32_t   value_column;         /* of a required name or number */
    uint32_t   first_child, next;   /* rows of sketch->lines, or NO_LINE */
    uint32_t   parent;
    uint32_t   repeat;              /* 1 or what "x8" says */
    uint32_t   flags;
    uint32_t   shape_count, first_shape; /* rows of sketch->shapes */
    struct str name, title;         /* empty: not written */
    struct str parent_name, label;  /* "parent NAME", "as NAME" */
    struct str grid, block;         /* "64,1,1" */
    struct str path;                /* iterators: "Root::Prefetch::Map" */
    uint32_t   iterator;            /* that an iterator's elements go to, or NO_LINE */
    int64_t    duration_ns, at_ns, late_ns, launch_ns;
    int64_t    bytes, used_bytes;
    int64_t    count, to, stream, gpu, parallel, group, sms;
    double     share, noise_share, compute, flops;
};

enum expect_outcome { EXPECT_FINDING, EXPECT_SILENT, EXPECT_SKIPPED, EXPECT_NONE };
struct sketch_expect {
    enum expect_outcome outcome;
    uint32_t            number, column;
    struct str          rule;    /* empty for EXPECT_NONE */
    struct str          because; /* part of the reason of a skipped rule; empty: any */
    bool                has_impact, is_share; /* of the step, else ns */
    double              impact, tolerance;
};

enum sketch_format { SKETCH_ANY, SKETCH_XSPACE, SKETCH_KINETO, SKETCH_PROFILE };
enum sketch_framework { FRAMEWORK_UNKNOWN, FRAMEWORK_TENSORFLOW, FRAMEWORK_JAX, FRAMEWORK_PYTORCH };

struct sketch {
    struct str            bytes;
    enum sketch_format    format;
    enum sketch_framework framework;
    uint64_t              seed;
    double                noise_share; /* of every duration; 0: none */
    double                pace_share;  /* noise of the recording as a whole */
    uint32_t              rank_count;  /* at least 1 */
    bool                  has_ranks;
    uint32_t              core_count;  /* 0: not said */
    int64_t               launch_ns;   /* what a launch costs the host */
    struct str            profile;     /* a recorded profile instead; empty: described here */
    uint32_t              gpu;         /* row of the line that describes devices, or NO_LINE */
    uint32_t              first;       /* the first line at the top */
    VEC(struct sketch_line)   lines;
    VEC(struct sketch_shape)  shapes;
    VEC(struct sketch_expect) expects;
};

/* false, with the place of the line. */
bool sketch_fail(struct err *err, const struct sketch_line *line, const char *text);
/* ERR_USAGE with line and column. */
enum { SKETCH_MOST_BYTES = 64 << 20 }; /* of a file, unpacked */
bool sketch_parse(struct str bytes, struct arena *arena, struct sketch *sketch, struct err *err);

#endif
