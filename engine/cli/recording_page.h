/* recording_page: docs/recording.md, as the build put it in. */
#ifndef TFPROF_CLI_RECORDING_PAGE_H
#define TFPROF_CLI_RECORDING_PAGE_H

#include "base/str.h"

extern const struct str recording_page;

#endif
