/* fuzz: the one function that a fuzz target has; it returns 0 and aborts on a broken promise. */
#ifndef TFPROF_TESTS_FUZZ_H
#define TFPROF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
