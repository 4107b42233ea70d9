/* suppress: findings that a project decided to live with, with a reason and until when. */
#ifndef TFPROF_RULES_SUPPRESS_H
#define TFPROF_RULES_SUPPRESS_H

#include "base/err.h"
#include "base/vec.h"
#include "rules/advice.h"

struct suppression {
    const char *rule;    /* id; NULL: any */
    const char *fingerprint; /* of one finding; NULL: all */
    const char *subject; /* pattern found in op, kernel, device, host, scope or file; NULL: any */
    const char *reason;
    const char *until;   /* "2026-12-31", the last day; NULL: for good */
    uint32_t    line;    /* of the configuration */
    bool        is_expired;
    uint32_t    used_count; /* findings that it took away */
    bool        is_known;   /* there is such a rule */
    bool        has_looked; /* it ran and could look */
    const char *nearest;    /* of one that is not known: the rule with the nearest name, or NULL */
};
struct suppressions {
    VEC(struct suppression) list;
};

/* Fills is_known and nearest; `ids` are those of all rules there are. */
void suppress_know(struct suppressions *suppressions, const char *const *ids, size_t count);
/* The rule looked at a profile. */
void suppress_looked(struct suppressions *suppressions, const char *rule);

/* The suppression that is about the finding, or NULL. A bad pattern: *is_bad and err. */
struct suppression *suppress_find(struct suppressions *suppressions, const struct finding *finding,
                                  bool *is_bad, struct err *err);

#endif
