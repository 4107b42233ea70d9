/*
 * str: a borrowed run of bytes. Never owns, never needs a terminator, may hold NULs.
 * The bytes live as long as whoever lent them says; what must live longer is interned or copied.
 */
#ifndef TFPROF_BASE_STR_H
#define TFPROF_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *data;
    size_t      len;
};

#define STR_INIT(literal) { (literal), sizeof(literal) - 1 }
#define STR(literal) ((struct str)STR_INIT(literal))
/* For printf's "%.*s". */
#define STR_ARG(s) (int)((s).len > 65536 ? 65536 : (s).len), ((s).data ? (s).data : "")

struct str str_from(const char *text); /* NULL gives the empty string */
bool       str_equal(struct str a, struct str b);
int        str_compare(struct str a, struct str b); /* bytewise, shorter first; as strcmp */
bool       str_starts(struct str s, struct str prefix);
bool       str_ends(struct str s, struct str suffix);
bool       str_contains(struct str s, struct str part);
/* Whether one of the words is `s`: "add|sub*|*_grad|*conv*", where a star at a word's end is for what begins with
 * it, at its front for what ends in it, and at both for what it stands anywhere in. O(bytes of the words). */
bool       str_fits(struct str s, const char *words);
/* Without "_12" at its end, as names of graph functions have it to tell their graphs apart. */
struct str str_without_number(struct str s);
/* Index of the first (last) `byte`, or s.len when there is none. */
size_t     str_find(struct str s, char byte);
size_t     str_find_last(struct str s, char byte);
/* Index of the first `part`, or s.len when there is none. */
size_t     str_search(struct str s, struct str part);
/* Bytes [from, to) of s, both clipped to its length. */
struct str str_slice(struct str s, size_t from, size_t to);
struct str str_trim(struct str s); /* without ASCII blanks at both ends */
/* Cuts the part before `byte` off *rest and returns it; all of *rest when there is none.
 * Loop: while (rest.len || first) ... */
struct str str_cut(struct str *rest, char byte);
/* Whole-string numbers; false when s is not one or does not fit. No locale, no blanks. */
bool       str_to_int64(struct str s, int64_t *number);
bool       str_to_uint64(struct str s, uint64_t *number);
bool       str_to_double(struct str s, double *number);
/* Bytes of the well-formed UTF-8 letter that s starts with; 0: of none, or s is empty. */
size_t     str_letter_bytes(struct str s);
uint64_t   str_hash(struct str s); /* the same on every machine and run */
uint64_t   hash_mix(uint64_t hash, uint64_t more); /* of several numbers, one after the other */

#endif
