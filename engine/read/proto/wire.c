#include "read/proto/wire.h"

enum { MAX_DEPTH = 100, MAX_PREFIX_BYTES = 5 };

static bool is_packed_type(ProtobufCType type)
{
    return type != PROTOBUF_C_TYPE_STRING && type != PROTOBUF_C_TYPE_BYTES &&
           type != PROTOBUF_C_TYPE_MESSAGE;
}

static enum wire_type wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_32;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return WIRE_VARINT;
    }
    return WIRE_BYTES;
}

/* Are these packed elements whole? */
static bool packed_fits(struct str bytes, enum wire_type type)
{
    const uint8_t *at = (const uint8_t *)bytes.data, *end = at ? at + bytes.len : at;
    uint64_t       value;

    if (type != WIRE_VARINT)
        return bytes.len % (type == WIRE_32 ? 4 : 8) == 0;
    while (at && at < end)
        at = wire_varint(at, end, &value);
    return at != NULL;
}

static bool check_message(const ProtobufCMessageDescriptor *type, struct str whole,
                          struct str bytes, unsigned depth, struct err *err);

static bool check_field(const ProtobufCFieldDescriptor *known, const struct wire *field,
                        struct str whole, unsigned depth, struct err *err)
{
    enum wire_type expected = wire_type_of(known->type);
    uint64_t       offset = wire_offset(field, whole);

    if (field->type == WIRE_BYTES && expected != WIRE_BYTES &&
        known->label == PROTOBUF_C_LABEL_REPEATED && is_packed_type(known->type)) {
        if (!packed_fits(field->bytes, expected))
            return err_set_at(err, ERR_FORMAT, offset, "a packed list ends inside an element") ||
                   err_in(err, "%s", known->name);
        return true;
    }
    if (field->type != expected)
        return err_set_at(err, ERR_FORMAT, offset, "has wire type %d instead of %d",
                          (int)field->type, (int)expected) ||
               err_in(err, "%s", known->name);
    if (known->type == PROTOBUF_C_TYPE_MESSAGE &&
        !check_message((const ProtobufCMessageDescriptor *)known->descriptor, whole, field->bytes,
                       depth + 1, err))
        return err_in(err, "%s", known->name);
    return true;
}

/* The library takes keys and lengths of at most five bytes, and no length past INT32_MAX. */
static bool library_takes(const struct wire *field, const uint8_t *start)
{
    const uint8_t *at = start;

    while (*at++ >= 0x80)
        ;
    if (at - start > MAX_PREFIX_BYTES)
        return false;
    return field->type != WIRE_BYTES ||
           ((const uint8_t *)field->bytes.data - at <= MAX_PREFIX_BYTES &&
            field->bytes.len <= INT32_MAX);
}

/* Recursion ends at MAX_DEPTH levels. */
static bool check_message(const ProtobufCMessageDescriptor *type, struct str whole,
                          struct str bytes, unsigned depth, struct err *err)
{
    struct wire    field = wire_start(bytes);
    const uint8_t *start = field.at;

    if (depth > MAX_DEPTH)
        return err_set_at(err, ERR_FORMAT, wire_offset(&field, whole),
                          "messages are nested deeper than %d levels", MAX_DEPTH);
    while (wire_next(&field)) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(type, field.number);

        if (!library_takes(&field, start))
            return err_set_at(err, ERR_FORMAT, wire_offset(&field, whole),
                              "a key or length is longer than a message may have");
        if (known && !check_field(known, &field, whole, depth, err))
            return false;
        start = field.at;
    }
    if (field.is_broken)
        return err_set_at(err, ERR_FORMAT, wire_offset(&field, whole),
                          "a field ends early or is none");
    return true;
}

static void *allocate(void *arena, size_t bytes)
{
    return arena_alloc(arena, bytes);
}

static void release(void *arena, void *memory)
{
    (void)arena; /* the arena is freed as one */
    (void)memory;
}

ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *type, struct str bytes,
                              struct arena *arena, struct err *err)
{
    ProtobufCAllocator allocator = { .alloc = allocate, .free = release, .allocator_data = arena };
    size_t             used = arena->used_bytes;
    ProtobufCMessage  *message;

    if (!check_message(type, bytes, bytes, 0, err))
        return NULL;
    message = protobuf_c_message_unpack(type, &allocator, bytes.len, (const uint8_t *)bytes.data);
    if (!message) {
        bool is_full = arena->budget_bytes && arena->used_bytes > used &&
                       arena->budget_bytes - arena->used_bytes < bytes.len;

        err_set(err, is_full ? ERR_LIMIT : ERR_FORMAT,
                is_full ? "does not fit into the memory budget" : "is no valid %s", type->name);
    }
    return message;
}
