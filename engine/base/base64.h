/* base64: bytes as letters (RFC 4648, with padding). */
#ifndef TFPROF_BASE_BASE64_H
#define TFPROF_BASE_BASE64_H

#include "base/text.h"

void base64_add(struct text *text, struct str bytes);

#endif
