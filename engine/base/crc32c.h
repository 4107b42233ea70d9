/*
 * crc32c: the Castagnoli checksum of LevelDB's tables and TensorFlow's checkpoints. They store it
 * masked, since a checksum of bytes that hold checksums is weak.
 */
#ifndef TFPROF_BASE_CRC32C_H
#define TFPROF_BASE_CRC32C_H

#include "base/str.h"

uint32_t crc32c(uint32_t crc, struct str bytes); /* goes on from crc; 0 to begin */
uint32_t crc32c_unmask(uint32_t masked);

#endif
