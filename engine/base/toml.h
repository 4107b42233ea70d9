/*
 * toml: configuration files in TOML, flattened: one entry a value, in the order of the file. Read
 * are tables, arrays of tables, dotted and quoted keys, inline tables, strings of one line,
 * numbers, booleans, local dates, and arrays of strings or numbers; anything else of TOML is an
 * error with its line and column, never ignored.
 */
#ifndef TFPROF_BASE_TOML_H
#define TFPROF_BASE_TOML_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum toml_kind { TOML_TEXT, TOML_NUMBER, TOML_BOOL, TOML_DATE, TOML_ARRAY };
struct toml_entry {
    const char    *table; /* parts joined with dots; "" before the first header */
    uint32_t       index; /* of an array of tables: which one, from 0 */
    const char    *key;
    enum toml_kind kind;
    const char    *text;  /* TEXT, DATE ("2026-12-31"), NUMBER (as written) */
    double         number; /* NUMBER; BOOL: 0 or 1 */
    VEC(const char *) items; /* ARRAY: strings, or numbers as written */
    uint32_t       line, column;
};
struct toml {
    VEC(struct toml_entry) entries;
};

bool toml_parse(struct str bytes, struct arena *arena, struct toml *toml, struct err *err);

/* Puts the place of the entry into the error; false. */
bool toml_fault(const struct toml_entry *entry, struct err *err);

#endif
