/* wire_out: fields of protobuf messages, added to a text. Nested messages are built first. Messages
 * with many kinds of fields are packed by protobuf-c instead. */
#ifndef TFPROF_BASE_WIRE_OUT_H
#define TFPROF_BASE_WIRE_OUT_H

#include "base/text.h"

size_t wire_out_varint_bytes(uint64_t number);
void   wire_out_varint(struct text *message, uint64_t number); /* without a field: packed numbers */
void   wire_out_number(struct text *message, uint32_t field, uint64_t number); /* varint */
void   wire_out_nonzero(struct text *message, uint32_t field, int64_t number); /* 0 is left out */
void   wire_out_bytes(struct text *message, uint32_t field, struct str bytes);
/* What stands before `len` bytes of a field that the caller adds. */
void wire_out_head(struct text *message, uint32_t field, size_t len);
/* An entry of a map from numbers to messages or texts. */
void wire_out_entry(struct text *message, uint32_t field, uint64_t key, struct str value);

#endif
