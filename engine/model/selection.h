/*
 * selection: a profile cut down to the hosts or devices that the user names, as if the others had
 * not been recorded. A selection that names none is an error that lists what there is.
 */
#ifndef TFPROF_MODEL_SELECTION_H
#define TFPROF_MODEL_SELECTION_H

#include "base/err.h"
#include "model/profile.h"

/* By the host's name, or the number of its rank. false: ERR_INPUT, or ERR_LIMIT. */
bool selection_host(struct profile *profile, const char *name, struct err *err);
/* By the device's name, or its end behind '/', ':' or a blank: "GPU:1" for "/device:GPU:1"; a
 * number alone means accelerators. Threads of hosts stay. profile->classic follows. Errors as
 * above. */
bool selection_device(struct profile *profile, const char *name, struct err *err);
/* Steps of profile->classic by number, both ends included. false: none is left, err is not set. */
bool selection_classic_steps(struct classic *classic, int64_t first, int64_t last);

#endif
