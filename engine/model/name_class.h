/*
 * name_class: what a name of the profile tells, found out once a name. Events have few names, and
 * each comes again by the thousand.
 */
#ifndef TFPROF_MODEL_NAME_CLASS_H
#define TFPROF_MODEL_NAME_CLASS_H

#include "model/profile.h"

struct name_classes {
    const struct profile *profile;
    uint8_t (*tell)(struct str name); /* the name's class, below 255 */
    uint8_t *of;                      /* by name: 1 + its class; 0: not asked yet */
};

/* `arena` holds a byte a name. false: it is exhausted. */
static inline bool name_classes_open(struct name_classes *classes, const struct profile *profile,
                                     uint8_t (*tell)(struct str), struct arena          *arena)
{
    *classes =
        (struct name_classes) { profile, tell,
                                arena_new_array(arena, uint8_t, (size_t)profile->names.count + 1) };
    return classes->of != NULL;
}

static inline uint8_t name_class(const struct name_classes *classes, uint32_t name)
{
    if (!classes->of[name])
        classes->of[name] = (uint8_t)(1 + classes->tell(profile_str(classes->profile, name)));
    return (uint8_t)(classes->of[name] - 1);
}

static inline uint8_t event_name_class(const struct name_classes *classes, uint32_t event)
{
    return name_class(classes, event_activity(classes->profile, event)->name);
}

#endif
