/* copies_beside: whether a host's copies to its devices go side by side or one device after the
 * other. */
#ifndef TFPROF_ANALYZE_COPIES_BESIDE_H
#define TFPROF_ANALYZE_COPIES_BESIDE_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct copy_end { /* a copy to a device begins or ends */
    int64_t  time_ns;
    uint32_t device;
    int8_t   change; /* 1, -1 */
};
struct copies_beside {
    VEC(struct copy_end) ends;
    uint32_t device_count; /* that get copies */
    int64_t  any_ns;       /* with a copy to a device under way */
    int64_t  several_ns;   /* of that, with copies to two devices or more */
};

/* Both false: no memory. */
bool copies_beside_add(struct copies_beside *beside, uint32_t device, int64_t start_ns,
                       int64_t end_ns, struct arena *arena);
/* Fills the numbers. devices: above each that was added. O(copies log copies). */
bool copies_beside_sum(struct copies_beside *beside, size_t devices, struct arena *arena);

#endif
