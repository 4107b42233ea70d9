/*
 * names: lists of names that tell what something is, each with its source (names.def), in words as
 * of str_fits.
 */
#ifndef TFPROF_MODEL_NAMES_H
#define TFPROF_MODEL_NAMES_H

#include "base/str.h"

#include <stdbool.h>

enum name_list {
#define NAMES(id, words) NAMES_##id,
#include "model/names.def"
#undef NAMES
    NAME_LIST_COUNT
};

/* O(bytes of the name). */
bool name_is(struct str name, enum name_list list);
const char *name_list_words(enum name_list list);
/* By its id in small letters, as rules write it: "tf_file_reader". NAME_LIST_COUNT: there is none. */
enum name_list name_list_find(struct str id);
/* Writes the pattern (PCRE2) that fits the names of a list and no others, as far as there is room; the bytes of
 * all of it without the end. */
size_t name_list_pattern(enum name_list list, char *pattern, size_t room);

#endif
