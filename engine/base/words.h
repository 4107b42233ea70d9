/*
 * words: many words looked for in a text at once. One walk through the text finds each place where one of them stands, in
 * time that hardly depends on how many they are. Made once, read by all threads.
 */
#ifndef TFPROF_BASE_WORDS_H
#define TFPROF_BASE_WORDS_H

#include "base/str.h"

enum { WORDS_BUCKET_BITS = 13, WORDS_BUCKETS = 1 << WORDS_BUCKET_BITS }; /* most are empty */

struct word {
    struct str text;
    uint64_t   head, mask; /* its first eight bytes, and which of them it has */
    uint16_t   row;
    uint16_t   next; /* of its bucket, + 1; 0: none */
    bool       is_start, is_end; /* stands at the text's start, at its end */
};
struct words { /* zeros but for items and their room */
    struct word *items;
    uint16_t     room, count;
    bool         is_by_row; /* made for words_fit alone: words of other rows are not met on the way */
    uint16_t     first[WORDS_BUCKETS]; /* by key, and row: a word's place in items + 1 */
};
struct words_walk {
    struct str text;
    size_t     at;   /* where the word found last begins */
    uint32_t   key;
    uint16_t   next; /* to be tried there, + 1 */
    bool       is_begun;
};

/* Words as of str_fits, all of a row. Those of one and two letters stand at a text's end. Lists are the program's own:
 * what has no room ends it. */
void words_add(struct words *words, const char *list, uint16_t row);
/* A text that may hold stars and bars, wherever it stands; three bytes at least. */
void words_add_part(struct words *words, struct str part, uint16_t row);
/* The next word in walk->text, from a walk that has the text alone; NULL behind the last. */
const struct word *words_next(const struct words *words, struct words_walk *walk);
/* The first row that fits the text, as str_fits has it of each; `none` where none does. */
uint16_t words_first_row(const struct words *words, struct str text, uint16_t none);
/* Whether the text fits one of a row's words; `at_start`: only of those that stand there. */
bool words_fit(const struct words *words, struct str text, uint16_t row, bool at_start);

#endif
