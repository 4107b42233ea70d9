/*
 * checkpoint in parts: bundles of version 2 made by hand, with several data files and a variable
 * cut in four boxes, then the same with a part missing, outside, twice, damaged or of another type.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/crc32c.h"
#include "base/file.h"
#include "base/macros.h"
#include "read/checkpoint/checkpoint.h"
#include "tf_sample.h"
#include "wire_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TYPE_DOUBLE = 2, TYPE_INT32 = 3, TYPE_INT64 = 9, SHARDS = 2, ROWS = 4, COLUMNS = 6 };

struct bundle { /* being made */
    struct arena arena;
    struct text  entries;        /* of the index's only block of data */
    struct text  shards[SHARDS]; /* bytes of the data files */
    struct text  last_key;
    char         folder[64], prefix[128];
};

static void put_fixed32(struct text *text, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        text_add_byte(text, (char)(value >> 8 * i));
}

static uint32_t masked(uint32_t crc)
{
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

/* Keys ascend. Entries share nothing with those before them. */
static void put_entry(struct bundle *bundle, struct str key, struct str value)
{
    put_varint(&bundle->entries, 0);
    put_varint(&bundle->entries, key.len);
    put_varint(&bundle->entries, value.len);
    text_add(&bundle->entries, key);
    text_add(&bundle->entries, value);
    bundle->last_key.len = 0;
    text_add(&bundle->last_key, key);
}

static void put_block(struct text *table, struct str entries, struct text *handle)
{
    size_t      from = table->len;
    struct text bytes = { .arena = table->arena };

    text_add(&bytes, entries);
    put_fixed32(&bytes, 0); /* one restart, at the first entry */
    put_fixed32(&bytes, 1);
    text_add_byte(&bytes, 0); /* not compressed */
    text_add(table, text_str(&bytes));
    put_fixed32(table, masked(crc32c(0, text_str(&bytes))));
    put_varint(handle, from);
    put_varint(handle, bytes.len - 1);
}

static void write_bundle(struct bundle *bundle)
{
    struct text table = { .arena = &bundle->arena }, handle = table, index = table;
    struct text footer = table;
    struct err  err = { 0 };

    put_block(&table, text_str(&bundle->entries), &handle);
    put_varint(&index, 0);
    put_varint(&index, bundle->last_key.len);
    put_varint(&index, handle.len);
    text_add(&index, text_str(&bundle->last_key));
    text_add(&index, text_str(&handle));
    put_block(&table, STR(""), &footer);
    put_block(&table, text_str(&index), &footer);
    text_fill(&footer, 0, 40 - footer.len);
    put_fixed32(&footer, 0x8b80fb57);
    put_fixed32(&footer, 0xdb477524);
    text_add(&table, text_str(&footer));
    assert_true(
        file_write(arena_text(&bundle->arena, "%s.index", bundle->prefix), text_str(&table), &err));
    for (int i = 0; i < SHARDS; i++)
        assert_true(file_write(
            arena_text(&bundle->arena, "%s.data-%05d-of-%05d", bundle->prefix, i, SHARDS),
            text_str(&bundle->shards[i]), &err));
}

static void put_shape(struct text *entry, const int64_t *dims, int rank)
{
    struct text shape = { .arena = entry->arena };

    for (int i = 0; i < rank; i++) {
        struct text dim = { .arena = entry->arena };

        put_number(&dim, 1, (uint64_t)dims[i]);
        put_bytes(&shape, 2, text_str(&dim));
    }
    put_bytes(entry, 2, text_str(&shape));
}

/* BundleEntryProto of values that go behind what a shard holds. */
static struct str stored(struct bundle *bundle, int shard, int type, const int64_t *dims, int rank,
                         struct str values)
{
    struct text entry = { .arena = &bundle->arena };

    put_number(&entry, 1, (uint64_t)type);
    put_shape(&entry, dims, rank);
    put_number(&entry, 3, (uint64_t)shard);
    put_number(&entry, 4, bundle->shards[shard].len);
    put_number(&entry, 5, values.len);
    put_varint(&entry, 6 << 3 | 5);
    put_fixed32(&entry, masked(crc32c(0, values)));
    text_add(&bundle->shards[shard], values);
    return text_str(&entry);
}

struct box {
    int64_t row, column, rows, columns; /* columns -1: all of them */
};

static struct str slice_proto(struct bundle *bundle, const struct box *box)
{
    struct text slice = { .arena = &bundle->arena };

    for (int dim = 0; dim < 2; dim++) {
        struct text extent = { .arena = &bundle->arena };
        int64_t     length = dim ? box->columns : box->rows;

        if (length >= 0) { /* the whole dimension is an empty extent */
            put_number(&extent, 1, (uint64_t)(dim ? box->column : box->row));
            put_number(&extent, 2, (uint64_t)length);
        }
        put_bytes(&slice, 1, text_str(&extent));
    }
    return text_str(&slice);
}

/* Row 1, column 2 has the value 12. */
static struct str box_values(struct bundle *bundle, const struct box *box)
{
    struct text values = { .arena = &bundle->arena };
    int64_t     columns = box->columns < 0 ? COLUMNS : box->columns;

    for (int64_t row = 0; row < box->rows; row++)
        for (int64_t column = 0; column < columns; column++)
            put_fixed32(&values, (uint32_t)((box->row + row) * 10 + box->column + column));
    return text_str(&values);
}

struct layout { /* of the variable "grid" */
    const char *what;
    struct box  boxes[4];
    size_t      box_count;
    size_t      missing;     /* 1 + the box without an entry; 0 none */
    int         type;        /* of the parts; 0 as the whole */
    size_t      flipped;     /* 1 + a byte of the first shard that is not what it was */
    bool        lacks_shard; /* the last data file is not there */
    const char *complaint;   /* NULL: it can be read */
};

static void start(struct bundle *bundle)
{
    struct text header = { .arena = &bundle->arena };

    *bundle = (struct bundle) { 0 };
    bundle->entries.arena = bundle->last_key.arena = header.arena = &bundle->arena;
    for (int i = 0; i < SHARDS; i++)
        bundle->shards[i].arena = &bundle->arena;
    snprintf(bundle->folder, sizeof bundle->folder, "/tmp/tfprof-parts-XXXXXX");
    assert_non_null(mkdtemp(bundle->folder));
    snprintf(bundle->prefix, sizeof bundle->prefix, "%s/model", bundle->folder);
    put_number(&header, 1, SHARDS);
    put_entry(bundle, STR(""), text_str(&header));
}

static void make(struct bundle *bundle, const struct layout *layout)
{
    static const int64_t whole[] = { ROWS, COLUMNS };
    static const char    scale[8] = { 0, 0, 0, 0, 0, 0, 4, 64 }; /* 2.5 */
    struct text          entry = { .arena = &bundle->arena };

    start(bundle);
    entry.arena = &bundle->arena;
    put_number(&entry, 1, TYPE_INT32);
    put_shape(&entry, whole, 2);
    for (size_t i = 0; i < layout->box_count; i++) {
        const struct box       *box = &layout->boxes[i];
        int64_t                 dims[] = { box->rows, box->columns < 0 ? COLUMNS : box->columns };
        struct checkpoint_slice slice = { .rank = 2,
                                          .start = { box->row, box->columns < 0 ? 0 : box->column },
                                          .length = { box->rows, box->columns } };
        struct text             key = { .arena = &bundle->arena };

        put_bytes(&entry, 7, slice_proto(bundle, box));
        checkpoint_slice_key(STR("grid"), &slice, &key);
        if (layout->missing != i + 1)
            put_entry(bundle, text_str(&key),
                      stored(bundle, (int)(i % SHARDS), layout->type ? layout->type : TYPE_INT32,
                             dims, 2, box_values(bundle, box)));
    }
    put_entry(bundle, STR("grid"), text_str(&entry));
    put_entry(bundle, STR("scale"),
              stored(bundle, SHARDS - 1, TYPE_DOUBLE, NULL, 0, (struct str) { scale, 8 }));
    if (layout->flipped)
        bundle->shards[0].data[layout->flipped - 1] ^= 1;
    write_bundle(bundle);
    if (layout->lacks_shard)
        unlink(
            arena_text(&bundle->arena, "%s.data-%05d-of-%05d", bundle->prefix, SHARDS - 1, SHARDS));
}

static void finish(struct bundle *bundle)
{
    unlink(arena_text(&bundle->arena, "%s.index", bundle->prefix));
    for (int i = 0; i < SHARDS; i++)
        unlink(arena_text(&bundle->arena, "%s.data-%05d-of-%05d", bundle->prefix, i, SHARDS));
    assert_int_equal(rmdir(bundle->folder), 0);
    arena_free(&bundle->arena);
}

static const struct layout layouts[] = {
    { .what = "one part", .boxes = { { 0, 0, 4, 6 } }, .box_count = 1 },
    { .what = "rows, the columns whole",
      .boxes = { { 0, 0, 1, -1 }, { 1, 0, 3, -1 } },
      .box_count = 2 },
    { .what = "boxes",
      .boxes = { { 0, 0, 2, 4 }, { 0, 4, 2, 2 }, { 2, 0, 2, 4 }, { 2, 4, 2, 2 } },
      .box_count = 4 },
    { .what = "a part without an entry",
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 2, 6 } },
      .box_count = 2,
      .missing = 2,
      .complaint = "a part is missing" },
    { .what = "a row that no part has",
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 1, 6 } },
      .box_count = 2,
      .complaint = "its parts are not the whole tensor" },
    { .what = "a part past the end",
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 3, 6 } },
      .box_count = 2,
      .complaint = "a part is outside of the tensor" },
    { .what = "parts of another type", /* 12 values of 4 bytes are none of 8 */
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 2, 6 } },
      .box_count = 2,
      .type = TYPE_INT64,
      .complaint = "" },
    { .what = "a byte that is not what it was",
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 2, 6 } },
      .box_count = 2,
      .flipped = 6,
      .complaint = "the checksum of its values is wrong" },
    { .what = "a data file that is not there",
      .boxes = { { 0, 0, 2, 6 }, { 2, 0, 2, 6 } },
      .box_count = 2,
      .lacks_shard = true,
      .complaint = "" },
};

static void check_grid(const struct classic_tensor *tensor)
{
    assert_int_equal(tensor->kind, TENSOR_INTEGERS);
    assert_int_equal(tensor->count, ROWS * COLUMNS);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        assert_int_equal(tensor->integers[i], i / COLUMNS * 10 + i % COLUMNS);
}

TEST(parts_make_the_whole)
{
    for (size_t i = 0; i < ARRAY_COUNT(layouts); i++) {
        struct arena              arena = { 0 };
        struct classic_checkpoint checkpoint = { 0 };
        struct classic_tensor     grid = { 0 }, scale = { 0 };
        struct bundle             bundle = { 0 };
        struct err                err = { 0 };

        print_message("%s\n", layouts[i].what);
        make(&bundle, &layouts[i]);
        assert_true(checkpoint_open_v2(&checkpoint, bundle.prefix, &arena, &err));
        assert_int_equal(checkpoint.variables.count, 2); /* parts are no variables */
        assert_true(str_equal(checkpoint.variables.items[0].name, STR("grid")));
        assert_int_equal(checkpoint.variables.items[0].shape.dims[1], COLUMNS);
        if (!layouts[i].complaint) {
            assert_true(
                checkpoint.read(&checkpoint, &checkpoint.variables.items[0], &arena, &grid, &err));
            check_grid(&grid);
            assert_true(
                checkpoint.read(&checkpoint, &checkpoint.variables.items[1], &arena, &scale, &err));
            assert_true(scale.count == 1 && scale.numbers[0] == 2.5);
        } else {
            assert_false(
                checkpoint.read(&checkpoint, &checkpoint.variables.items[0], &arena, &grid, &err));
            assert_non_null(strstr(err.text, layouts[i].complaint));
        }
        finish(&bundle);
        arena_free(&arena);
    }
}
