/*
 * guest_batch: items that are worked through in order in a process of their own (child.h), a message
 * each. One that ends its process fails alone; those behind it get a new one.
 */
#ifndef TFPROF_RULES_GUEST_BATCH_H
#define TFPROF_RULES_GUEST_BATCH_H

#include "rules/coder.h"
#include "rules/rule.h"

struct guest_batch {
    size_t                    count;
    const struct rule_limits *limits;
    struct arena             *arena; /* of what is taken */
    void                     *context;
    /* In the child: codes the answer, in the coder's arena, which goes afterwards. */
    void (*work)(const struct guest_batch *batch, size_t item, struct coder *coder);
    /* In the parent; false: the answer makes no sense. */
    bool (*take)(const struct guest_batch *batch, size_t item, struct coder *coder);
    void (*fail)(const struct guest_batch *batch, size_t item, const char *message);
    /* Where the item's rule stands: the rules of a folder share their time. */
    const char *(*file)(const struct guest_batch *batch, size_t item);
    int64_t item_ns, together_ns; /* that one item and a folder of them may take; 0: as rules that run */
    bool    is_filtered;          /* system calls, in all processes there were */
    size_t  from;                 /* how far it is */
    const char *timed_file; /* the first of the folder whose time runs */
    int64_t     deadline_ns;
};
void guest_batch_run(struct guest_batch *batch);

#endif
