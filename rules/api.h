/*
 * api: every name that rules may use, with what it takes and gives, in one table: docs/rule-api.md,
 * the annotations for editors and completion in the repl are made from it, and a test compares it
 * with what a rule's state really holds.
 */
#ifndef TFPROF_RULES_API_H
#define TFPROF_RULES_API_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>

/* What a name belongs to. */
enum api_class {
    API_GLOBAL,
    API_PROFILE, /* p, the first argument of check */
    API_QUERY,   /* what p:table gives */
    API_IMPACT,
    API_FMT,
    API_STRING,
    API_TABLE,
    API_MATH,
    API_RULE,    /* fields of tables that rules write */
    API_PARAM,
    API_FINDING,
    API_SUBJECT,
    API_LOCATION,
    API_EVIDENCE,
    API_REMEDY,
    API_PRICE,
    API_SELECT,
    API_EDIT,
    API_SKIP,
    API_EXAMPLE,
    API_GROUP, /* fields of what query:group gives */
    API_CLASS_COUNT,
};
struct api_class_info {
    const char *name;  /* "query"; in annotations "tfprof.query" */
    const char *title; /* of its section */
    const char *help;  /* a sentence or two; may be NULL */
    bool        is_fields; /* fields of a table, not functions */
};
extern const struct api_class_info api_classes[API_CLASS_COUNT];

/* A line of `takes` is "name type what it is", one of `gives` "type what it is". A name of
 * `takes` and the type of a field that ends in "?" may be left out. Types are those of the
 * annotations; units stand in words: "ns a step". */
struct api_name {
    enum api_class class;
    const char *name;
    const char *type;  /* of a field or constant; NULL: a function */
    const char *takes; /* "": nothing */
    const char *gives;
    const char *help;  /* a sentence without its full stop */
};
extern const struct api_name api_names[];
extern const size_t          api_name_count;


#endif
