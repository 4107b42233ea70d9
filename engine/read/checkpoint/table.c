#include "read/checkpoint/table.h"

#ifdef TFPROF_BUNDLED
#define LIBRARY_IS_LINKED
#endif
#include "base/library.h"

#include "base/crc32c.h"
#include "base/macros.h"
#include "base/vec.h"
#include "read/proto/wire.h"

#include <snappy-c.h>
#include <string.h>

enum {
    FOOTER_BYTES = 48,
    TRAILER_BYTES = 5,       /* type and checksum behind a block */
    UNPACKED_PER_BYTE = 64,  /* three bytes of snappy give at most 64 */
    KEY_BYTES_PER_BYTE = 64, /* of keys that share their starts */
    KEY_BYTES_FREE = 1 << 20,
};
static const uint8_t magic[] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };

/* snappy brings the C++ library along: most recordings have no compressed block. */
#define SNAPPY(FUNCTION, table)                                                                    \
    FUNCTION(snappy_uncompressed_length, table)                                                    \
    FUNCTION(snappy_uncompress, table)
LIBRARY(snappy, TFPROF_SNAPPY, "to unpack the blocks of this checkpoint", SNAPPY);

struct handle { /* of a block */
    uint64_t offset, size;
};

static bool take_handle(struct str *rest, struct handle *handle)
{
    return wire_take(rest, &handle->offset) && wire_take(rest, &handle->size);
}

static uint32_t number_at(const char *at)
{
    uint32_t number;

    memcpy(&number, at, sizeof number); /* little-endian machines only: amd64, arm64 */
    return number;
}

static bool unpack(const struct table *table, struct str packed, uint64_t offset,
                   struct str *content, struct err *err)
{
    size_t len = 0;
    char  *room;

    if (!library_need(&snappy_library, err))
        return false;
    if (snappy.snappy_uncompressed_length(packed.data, packed.len, &len) != SNAPPY_OK ||
        len / UNPACKED_PER_BYTE > packed.len)
        return err_set_at(err, ERR_FORMAT, offset, "a block is no snappy data");
    room = arena_alloc(table->arena, len);
    if (!room)
        return err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    if (snappy.snappy_uncompress(packed.data, packed.len, room, &len) != SNAPPY_OK)
        return err_set_at(err, ERR_FORMAT, offset, "a block is no snappy data");
    *content = (struct str) { room, len };
    return true;
}

/* Content of a block without its list of restarts, which only a search in it would need. */
static bool read_block(const struct table *table, struct handle handle, struct str *content,
                       struct err *err)
{
    struct str whole = table->bytes, block;
    uint8_t    type;
    uint32_t   restarts;

    if (handle.offset > whole.len || handle.size > whole.len - handle.offset ||
        TRAILER_BYTES > whole.len - handle.offset - handle.size)
        return err_set_at(err, ERR_FORMAT, handle.offset, "a block reaches past the end");
    block = str_slice(whole, handle.offset, handle.offset + handle.size);
    type = (uint8_t)block.data[block.len];
    if (!table->is_unchecked && crc32c(0, (struct str) { block.data, block.len + 1 }) !=
                                    crc32c_unmask(number_at(block.data + block.len + 1)))
        return err_set_at(err, ERR_FORMAT, handle.offset, "the checksum of a block is wrong");
    if (type > 1)
        return err_set_at(err, ERR_FORMAT, handle.offset, "a block has the unknown packing %u",
                          type);
    if (type == 1 && !unpack(table, block, handle.offset, &block, err))
        return false;
    restarts = block.len < 4 ? UINT32_MAX : number_at(block.data + block.len - 4);
    if (block.len < 4 || restarts > (block.len - 4) / 4)
        return err_set_at(err, ERR_FORMAT, handle.offset, "a block ends without its restarts");
    *content = str_slice(block, 0, block.len - 4 - (size_t)restarts * 4);
    return true;
}

struct cursor { /* entries of a block one after the other */
    struct str rest, value;
    VEC(char) key;
    uint64_t key_bytes, key_bytes_max; /* taken so far, of all keys */
};

/* False at the end too: then rest is empty and err is not filled. */
static bool next_entry(struct cursor *cursor, struct arena *arena, struct err *err)
{
    uint64_t shared, fresh, value;

    if (!cursor->rest.len)
        return false;
    if (!wire_take(&cursor->rest, &shared) || !wire_take(&cursor->rest, &fresh) ||
        !wire_take(&cursor->rest, &value) || shared > cursor->key.count ||
        fresh > cursor->rest.len || value > cursor->rest.len - fresh)
        return err_set(err, ERR_FORMAT, "an entry reaches past the end of its block");
    cursor->key_bytes += shared;
    if (cursor->key_bytes > cursor->key_bytes_max)
        return err_set(err, ERR_FORMAT, "the keys are far longer than the file");
    cursor->key.count = shared;
    if (!vec_reserve(&cursor->key, arena, fresh))
        return err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    if (fresh)
        memcpy(cursor->key.items + shared, cursor->rest.data, fresh);
    cursor->key.count += fresh;
    cursor->value = str_slice(cursor->rest, fresh, fresh + value);
    cursor->rest = str_slice(cursor->rest, fresh + value, cursor->rest.len);
    return true;
}

static struct cursor cursor_of(const struct table *table, struct str block)
{
    return (struct cursor) { .rest = block,
                             .key_bytes_max =
                                 (uint64_t)table->bytes.len * KEY_BYTES_PER_BYTE + KEY_BYTES_FREE };
}

static struct str key_of(const struct cursor *cursor)
{
    return (struct str) { cursor->key.items ? cursor->key.items : "", cursor->key.count };
}

bool table_open(struct table *table, struct str bytes, struct arena *arena, struct err *err)
{
    struct str    footer, rest;
    struct handle meta, index;

    table->bytes = bytes;
    table->arena = arena;
    if (bytes.len < FOOTER_BYTES ||
        memcmp(bytes.data + bytes.len - sizeof magic, magic, sizeof magic) != 0)
        return err_set(err, ERR_FORMAT, "not an sstable (bad magic number)");
    footer = str_slice(bytes, bytes.len - FOOTER_BYTES, bytes.len);
    rest = str_slice(footer, 0, FOOTER_BYTES - sizeof magic);
    if (!take_handle(&rest, &meta) || !take_handle(&rest, &index))
        return err_set_at(err, ERR_FORMAT, bytes.len - FOOTER_BYTES, "the footer is damaged");
    return read_block(table, index, &table->index, err);
}

/* Blocks follow each other: one that comes again would be unpacked again. */
static bool take_block(const struct table *table, struct str value, uint64_t *end,
                       struct str *content, struct err *err)
{
    struct handle handle;

    if (!take_handle(&value, &handle) || handle.offset < *end)
        return err_set(err, ERR_FORMAT, "the index of blocks is damaged");
    if (!read_block(table, handle, content, err))
        return false;
    *end = handle.offset + handle.size;
    return true;
}

bool table_each(const struct table *table, table_take *take, void *context, struct err *err)
{
    struct cursor index = cursor_of(table, table->index);
    struct cursor block = cursor_of(table, (struct str) { 0 });
    uint64_t      end = 0;
    bool          stop = false;

    while (next_entry(&index, table->arena, err)) {
        block.key.count = 0;
        if (!take_block(table, index.value, &end, &block.rest, err))
            return false;
        while (next_entry(&block, table->arena, err)) {
            if (!take(context, key_of(&block), block.value, &stop, err))
                return false;
            if (stop)
                return true;
        }
        if (err->code != ERR_NONE)
            return false;
    }
    return err->code == ERR_NONE;
}

bool table_find(const struct table *table, struct str key, struct str *value, struct err *err)
{
    struct cursor index = cursor_of(table, table->index);
    struct cursor block = cursor_of(table, (struct str) { 0 });
    uint64_t      end = 0;

    *value = (struct str) { 0 };
    /* A block's key in the index is not below any of its own. */
    while (next_entry(&index, table->arena, err) && str_compare(key_of(&index), key) < 0)
        continue;
    if (err->code != ERR_NONE)
        return false;
    if (str_compare(key_of(&index), key) < 0 || !index.value.data)
        return true;
    if (!take_block(table, index.value, &end, &block.rest, err))
        return false;
    while (next_entry(&block, table->arena, err))
        if (str_equal(key_of(&block), key)) {
            *value = block.value.data ? block.value : (struct str) { "", 0 };
            return true;
        }
    return err->code == ERR_NONE;
}
