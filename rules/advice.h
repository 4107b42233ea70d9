/*
 * advice: the outcome of all rules over one profile, as plain data for renderers. Everything in it
 * lives in the arena it was made in. Field by field what docs/advice.schema.json says.
 */
#ifndef TFPROF_RULES_ADVICE_H
#define TFPROF_RULES_ADVICE_H

#include "base/unit.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_ERROR, SEVERITY_VETO };
enum method {
    METHOD_NONE,
    METHOD_SHARE,
    METHOD_AMDAHL,
    METHOD_ROOFLINE,
    METHOD_EXPOSED,
    METHOD_REPLAY
};
enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *severity_name(enum severity severity);
const char *method_name(enum method method);
const char *confidence_name(enum confidence confidence);

struct evidence {
    const char *what; /* "input wait a step" */
    double      value;
    enum unit   unit;
    const char *text;  /* instead of a number: a name; NULL otherwise */
    double      share; /* of the step, NaN: not given */
};
struct location {
    const char *file, *function; /* function may be NULL */
    uint32_t    line;
};
struct subject { /* all may be NULL (or -1) */
    const char *op, *kernel, *device, *host, *scope;
    int64_t     rank, step;
};
struct impact {
    bool   has_saving; /* else method NONE and no numbers */
    double low_ns, mid_ns, high_ns, share;
    double model_ns;  /* what the method gives by itself, before calibration */
    double most_ns;   /* of a bound: the time it is about, which what is expected never exceeds */
    double within_ns; /* with accelerators: what the step takes of what it is about, which no saving
                         exceeds */
    enum method     method;
    enum confidence confidence;
    const char     *resource; /* "memory", "start-up"; NULL: step time */
};
struct finding {
    uint32_t       rank;
    const char    *rule;  /* id; "pack/id" for packs other than ours */
    const char    *title; /* one sentence with the size of the problem, no full stop */
    enum severity  severity;
    const char    *category; /* "input" "host" "idle" "precision" "kernels" "memory" … */
    struct subject subject;
    VEC(struct location) locations;
    struct impact impact;
    VEC(const char *)
    edits; /* what the model replayed, as whatif --edit takes it; none: no replay */
    VEC(struct evidence) evidence;                        /* at least one */
    const char *condition;                                /* what fired, with numbers */
    const char *remedy_text, *remedy_code, *remedy_flags; /* code and flags may be NULL */
    VEC(const char *) children;                           /* rules demoted below this one */
    const char *hidden_by; /* rule that claims the same time, or NULL */
    char        fingerprint[17];
};
struct skipped_rule {
    const char *rule, *reason, *capture; /* capture may be NULL */
    bool        is_other_format;         /* has nothing to say about this format at all */
};
struct failed_rule {
    const char *rule, *message;
    const char *place; /* of rules that do not load: file, line, a mark under it; or NULL */
};
struct suppressed_rule {
    const char *rule, *reason;
    uint32_t    count;
};
struct together { /* fixing the first `count` priced findings */
    uint32_t    count;
    double      step_ns, speedup;
    const char *then_class; /* verdict class after it */
};
struct verdict {
    const char *class_name; /* "input-bound" … */
    double      share;
    const char *text; /* one sentence */
    VEC(struct evidence) evidence;
};
struct pack {
    const char *name, *version;
    uint32_t    rule_count;
};
struct advice {
    struct verdict verdict;
    VEC(struct finding) findings; /* ranked: vetoes, priced ones, facts */
    VEC(struct together) together;
    VEC(struct skipped_rule) skipped;
    VEC(struct failed_rule) failed;
    VEC(struct suppressed_rule) suppressed;
    VEC(struct pack) packs;
    uint32_t rule_count, looked_count, found_count, quiet_count;
    uint32_t other_format_count;  /* of `skipped`: rules for profiles of other formats */
    bool has_guests, is_filtered; /* rules of others ran, and their system calls were filtered */
    const char *capture_hint;     /* one capture option that would unlock most, or NULL */
    uint32_t    capture_hint_rules;
};

#endif
