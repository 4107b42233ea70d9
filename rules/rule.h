/*
 * rule: a loaded checker and what one run of it gave. A rule from a file owns a Lua state of its own
 * from rule_load to rule_free; the built-in ones share one, into which a rule comes when it first runs.
 * Everything else lives in an arena.
 */
#ifndef TFPROF_RULES_RULE_H
#define TFPROF_RULES_RULE_H

#include "analyze/facts.h"
#include "analyze/replay/graph_replay.h"
#include "analyze/replay/replay.h"
#include "rules/catalogue.h"
#include "rules/pack.h"

enum { RULE_API = 1 }; /* what rules and packs may ask for */

struct sandbox; /* sandbox.h */
struct builtin_rule; /* builtin.h */
struct profile;

/* graph_replay_run. */
typedef bool graph_replay_function(void *context, const struct edit *edits, size_t count,
                                   struct graph_replay_result *result);
/* replay_run, or what stands in for it while examples run. */
typedef bool replay_function(void *context, const struct edit *edits, size_t count,
                             struct replay_result *result, struct err *err);
/* Adds the lines of the user's program at which most of the time lies that edits select. */
typedef bool place_function(void *context, const struct edit *edits, size_t count,
                            struct arena *arena, struct finding *finding, struct err *err);

/* What a rule sees of a profile. */
struct rule_view {
    const struct facts *facts;
    const char         *format, *framework; /* "xspace"; "jax" or "" */
    replay_function    *replay;
    graph_replay_function *replay_graph; /* of the accelerator's work; NULL: none */
    place_function     *place;           /* NULL: none */
    void               *replay_context;  /* of all three */
};
struct rule_limits {
    size_t  memory_bytes;
    int64_t instructions;
    int64_t cpu_ns; /* of work, so that a busy machine does not decide what a rule finds */
};
extern const struct rule_limits rule_default_limits;

struct rule {
    struct rule_info info;
    struct sandbox  *sandbox;
    const struct builtin_rule *builtin; /* NULL: from a file. Its sandbox is not its to free. */
    int              table;    /* what the file returned: a reference in the sandbox's registry */
    const char      *error; /* why it did not load, or NULL */
    bool             has_severity; /* the project chose info.severity: findings have no say */
    bool             is_off;       /* the preset does not have it */
    bool             is_apart;     /* runs in another process (guest.h): has a script, no sandbox */
    struct str       script;
};

/* A finding before it is priced: the rule's words and what it wants to be priced by. */
struct edit_list {
    VEC(struct edit) edits;
};
struct price_request {
    enum method method;
    double      ns, low_ns, high_ns; /* NaN: not given */
    double      floor_ns, speedup;
};
struct draft {
    struct finding       finding; /* without rank, impact, children, hidden_by, fingerprint */
    const struct rule   *rule;
    struct price_request price, fallback; /* fallback: when the profile is too poor for replay */
    enum confidence      confidence;
    const char          *resource;
    struct edit_list     edits;  /* of a price by replay */
    struct edit_list     claims; /* the time it is about; as edits of scale 0 */
    bool                 keeps_severity; /* the project or its preset chose it */
    bool                 is_of_verdict;  /* it is about the limit that the verdict names */
};
struct rule_run {
    enum rule_outcome outcome;
    const char       *reason, *capture; /* skipped: why; failed: the message */
    bool              is_other_format;  /* skipped: it is about profiles of other formats */
    VEC(struct draft) drafts;
};

/* Loads one rule from its script. Faults of the script are in rule->error; false: ERR_LIMIT. */
bool rule_load(struct rule *rule, const char *file, struct str script,
               const struct rule_limits *limits, struct arena *arena, struct err *err);
/* To run in a sandbox that outlives the rule. False: ERR_LIMIT. */
bool rule_take_builtin(struct rule *rule, const struct builtin_rule *builtin,
                       struct sandbox *sandbox, struct arena *arena, struct err *err);
/* Runs a loaded rule. Faults of the script are outcomes; false: ERR_LIMIT. */
bool rule_run(const struct rule *rule, const struct rule_view *view, struct arena *arena,
              struct rule_run *run, struct err *err);
/* Whether the rule is for the format and what it needs is there; if not, run says why. False:
 * ERR_LIMIT. */
bool rule_can_look(const struct rule *rule, const struct rule_view *view, struct arena *arena,
                   struct rule_run *run, bool *can_look, struct err *err);
/* "acme/x" lives in x.lua; what is typed lives in no file. */
bool rule_id_fits(const char *rule_id, const char *file);
/* A script's message, with the file before it where Lua did not say a line. */
const char *rule_message(const struct rule *rule, const char *message, struct arena *arena);
void rule_free(struct rule *rule); /* accepts one that did not load */

/* All built-in rules and those of directories, by id; those that fail have `error`. */
struct rule_set {
    VEC(struct rule) rules;
    VEC(struct pack) packs;
    VEC(struct pack_manifest) manifests; /* of packs that have one */
    struct sandbox *shared; /* of the built-in rules */
    bool is_unfiltered; /* rules were loaded without a filter of their system calls */
};
bool rule_set_load(struct rule_set *set, const struct option_list *directories,
                   const struct rule_limits *limits, struct arena *arena, struct err *err);
void rule_set_free(struct rule_set *set);
/* The rules of directories alone. They are loaded in another process, to run there (guest.h). */
bool rule_set_add_directories(struct rule_set *set, const struct option_list *directories,
                              const struct rule_limits *limits, struct arena *arena,
                              struct err *err);
/* Every .lua file of one directory; `pack`: its name where it has no manifest. */
bool rule_set_add_directory(struct rule_set *set, const char *directory, const char *pack,
                            const struct rule_limits *limits, struct arena *arena, struct err *err);

#endif
