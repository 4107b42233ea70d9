/* grammar: what each word of a sketch takes, as bits that the parser goes by. */
#ifndef TFPROF_SYNTH_GRAMMAR_H
#define TFPROF_SYNTH_GRAMMAR_H

#include "synth/sketch.h"
#include "synth/token.h"

enum { /* where a line may stand */
    IN_TOP = 1,
    IN_STEP = 2,   /* in a step, where words of IN_HOST run on the thread "main" */
    IN_HOST = 4,   /* on a host thread */
    IN_STREAM = 8, /* on a stream of a device */
    IN_ANY = 15,
};

enum { /* what stands behind its word */
    TAKES_NAME = 1 << 0,
    MAY_TAKE_NAME = 1 << 1,
    MAY_TAKE_TITLE = 1 << 2, /* a second name */
    TAKES_TIME = 1 << 3,
    MAY_TAKE_TIME = 1 << 4,
    TAKES_SIZE = 1 << 5,
    MAY_TAKE_SIZE = 1 << 6,
    TAKES_COUNT = 1 << 7,
    TAKES_SHARE = 1 << 8,
    TAKES_SHAPES = 1 << 9,
    MAY_REPEAT = 1 << 10, /* "x8" */
    HOLDS_STEP = 1 << 11, /* lines below it stand there */
    HOLDS_HOST = 1 << 12,
    HOLDS_STREAM = 1 << 13,
    HOLDS_SAME = 1 << 14, /* where it stands itself */
};

enum { /* named values */
    HAS_AT = 1 << 0,
    HAS_NOISE = 1 << 1,
    HAS_UNMARKED = 1 << 2,
    HAS_GPU = 1 << 3,
    HAS_STREAM = 1 << 4,
    HAS_LATE = 1 << 5,
    HAS_LAUNCH = 1 << 6,
    HAS_FLOPS = 1 << 7,
    HAS_PARENT = 1 << 8,
    HAS_AS = 1 << 9,
    HAS_PARALLEL = 1 << 10,
    HAS_GRID = 1 << 11,
    HAS_COPY = 1 << 12,
    HAS_COLLECTIVE = 1 << 13,
    HAS_ON_HOST = 1 << 14,
    HAS_MEMORY = 1 << 15,
    HAS_USED = 1 << 16,
    HAS_SMS = 1 << 17,
    HAS_COMPUTE = 1 << 18,
    HAS_TO = 1 << 19,
    HAS_WORK = HAS_AT | HAS_NOISE | HAS_GPU | HAS_STREAM | HAS_LATE | HAS_LAUNCH,
};

struct word_row {
    const char *text;
    uint32_t    where, takes, clauses;
    const char *example;
};
const struct word_row *grammar_word(enum sketch_word word);
bool                   grammar_find(struct str text, enum sketch_word *word);
/* The nearest word that may stand there, or NULL. */
const char *grammar_nearest(struct str text, uint32_t where);

/* Fills the line with what stands behind its word. */
bool grammar_read(struct sketch *sketch, struct tokens *tokens, struct sketch_line *line,
                  struct arena *arena, struct err *err);
/* "expect …" */
bool grammar_read_expect(struct tokens *tokens, struct sketch_expect *expect, struct err *err);

/* sketch_settings.c: takes a setting over; whether a copy's direction is one. */
bool sketch_set(struct sketch *sketch, uint32_t row, struct err *err);
bool sketch_check_copy(const struct sketch_line *line, struct err *err);
static inline bool sketch_is_setting(enum sketch_word word)
{
    return word <= WORD_PROFILE; /* they stand first in sketch_words.def */
}

/* sketch_settle.c: after the last line. */
bool sketch_settle(struct sketch *sketch, struct arena *arena, struct err *err);

/* The next one; the last one, TOKEN_END, stays. */
const struct token *token_take(struct tokens *tokens);
/* false, with the column of the token. */
bool token_fail(struct err *err, const struct token *token, const char *format, ...)
    CHECK_PRINTF(3, 4);

#endif
