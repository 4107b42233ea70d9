/*
 * token: one line of a sketch, cut into words, quoted texts, and numbers with their unit. Blanks
 * separate; "#" at the start of a token begins a comment; a quoted text knows \" and \\.
 */
#ifndef TFPROF_SYNTH_TOKEN_H
#define TFPROF_SYNTH_TOKEN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_QUOTED,
    TOKEN_TIME,   /* "4ms": value in ns */
    TOKEN_SIZE,   /* "4MB": value in bytes */
    TOKEN_SHARE,  /* "2%": value 0.02 */
    TOKEN_NUMBER, /* "8", "1e9", "2G" */
};

struct token {
    enum token_kind kind;
    struct str      text;  /* as written; of a quoted text what it stands for */
    double          value; /* of numbers */
    uint32_t        column; /* 1-based */
};

enum { TOKEN_MAX_COUNT = 64 }; /* in a line, the end included */
struct tokens {
    struct token list[TOKEN_MAX_COUNT]; /* up to and with a TOKEN_END behind the last column */
    size_t       count, at;             /* at: the next one to be taken */
};

/* Texts point into the line, or into the arena where quotes had to be resolved. false: *err has
 * text and column, the line is the caller's to add. */
bool tokens_scan(struct str line, struct arena *arena, struct tokens *tokens, struct err *err);

#endif
