/* agent_page: docs/agent.md, as the build put it in. */
#ifndef TFPROF_CLI_AGENT_PAGE_H
#define TFPROF_CLI_AGENT_PAGE_H

#include "base/str.h"

extern const struct str agent_page;

#endif
