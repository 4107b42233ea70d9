/* sha256: the hash that a page's policy names its script by (FIPS 180-4). */
#ifndef TFPROF_BASE_SHA256_H
#define TFPROF_BASE_SHA256_H

#include "base/str.h"

enum { SHA256_BYTES = 32 };

void sha256(struct str bytes, unsigned char digest[SHA256_BYTES]);

#endif
