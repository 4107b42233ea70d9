/* howto: the recipes of docs/recording.md, by name. */
#ifndef TFPROF_CLI_HOWTO_H
#define TFPROF_CLI_HOWTO_H

#include "base/str.h"

struct str howto_name(size_t index); /* empty behind the last */

#endif
