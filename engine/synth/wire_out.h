/* wire_out: fields of protobuf messages, added to a text. Nested messages are built first. */
#ifndef TFPROF_SYNTH_WIRE_OUT_H
#define TFPROF_SYNTH_WIRE_OUT_H

#include "base/text.h"

void wire_out_number(struct text *message, uint32_t field, uint64_t number); /* varint */
void wire_out_bytes(struct text *message, uint32_t field, struct str bytes);
/* An entry of a map from numbers to messages or texts. */
void wire_out_entry(struct text *message, uint32_t field, uint64_t key, struct str value);

#endif
