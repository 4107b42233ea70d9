/* recognise: says what a file that no reader takes is, and what to do about it. */
#ifndef TFPROF_READ_RECOGNISE_H
#define TFPROF_READ_RECOGNISE_H

#include "base/err.h"
#include "base/str.h"

bool recognise(struct str bytes, struct err *err); /* always false: ERR_FORMAT */
bool recognise_is_known(struct str bytes);          /* it says more than that no reader takes it */
/* Empty, or something else than the file that was meant: a web page, a pointer, a mangled copy. */
bool recognise_is_spoilt(struct str bytes);

#endif
