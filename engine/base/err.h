/*
 * err: what went wrong, where, in one sentence. The innermost function knows what and where; each
 * caller on the way out may prepend its step with err_in; the command line prints it once.
 * A function that can fail takes `struct err *err` last and returns false or NULL when it filled it.
 */
#ifndef TFPROF_BASE_ERR_H
#define TFPROF_BASE_ERR_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum err_code {
    ERR_NONE,
    ERR_USAGE,        /* options, configuration, patterns */
    ERR_INPUT,        /* missing or unreadable file */
    ERR_FORMAT,       /* bytes that break their format's rules */
    ERR_LIMIT,        /* a budget is exhausted */
    ERR_OUTPUT,       /* result could not be written */
    ERR_SCRIPT,       /* a rule failed */
    ERR_INCONCLUSIVE, /* not enough to judge */
};

enum { ERR_TEXT_BYTES = 512, ERR_PATH_BYTES = 256, ERR_SOURCE_BYTES = 512 };

struct err {
    enum err_code code;
    bool          has_offset;
    uint64_t      offset;       /* byte in the (unpacked) input */
    uint32_t      line, column; /* 1-based, 0: not text */
    char          source[ERR_SOURCE_BYTES]; /* file as the user named it */
    char          path[ERR_PATH_BYTES];     /* planes[2].lines[0] */
    char          text[ERR_TEXT_BYTES];
    char          advice[ERR_TEXT_BYTES];   /* what to do about it; may be empty */
};

/* All return false, so that failing and saying why fit one line. */
bool err_set(struct err *err, enum err_code code, const char *format, ...) CHECK_PRINTF(3, 4);
/* ERR_LIMIT: "no memory left for the sketch". */
bool err_memory(struct err *err, const char *what);
bool err_set_at(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
    CHECK_PRINTF(4, 5);
/* Prepends a step to the path: "lines[0]" before "events[3]" gives "lines[0].events[3]". */
bool err_in(struct err *err, const char *format, ...) CHECK_PRINTF(2, 3);
bool err_source(struct err *err, const char *source); /* keeps an inner source */
bool err_advise(struct err *err, const char *format, ...) CHECK_PRINTF(2, 3);
/* Exit status for a code, as docs/advise.md and the man page list them: 0, 2, 3, 4, 5. */
int  err_exit_code(enum err_code code);
/* "source: byte 12: path: text; advice" or with line:column for text. Control characters are
 * printed escaped. Writes at most `bytes`, terminated; returns the text. */
const char *err_format(const struct err *err, char *text, size_t bytes);

#endif
