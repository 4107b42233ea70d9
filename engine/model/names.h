/*
 * names: lists of names that tell what something is, each with its source (names.def). A word of a
 * list is a whole name; with a star at its end what begins with it, at its front what ends in it, at
 * both what it stands anywhere in. Bars separate words.
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

/* O(bytes of the list). */
bool name_is(struct str name, enum name_list list);

#endif
