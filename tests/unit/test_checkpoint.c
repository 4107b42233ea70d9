/*
 * checkpoint: keys as published, recorded checkpoints of both versions, then every kind of damage:
 * cut tables, wrong checksums, shapes and offsets beyond the files.
 */
#include "base/crc32c.h"
#include "base/macros.h"
#include "read/checkpoint/checkpoint.h"
#include "tf_sample.h"

#define SOFTMAX CASES_DIR "/recordings/tf1-mnist-softmax/extra/"

TEST(crc32c_of_known_bytes)
{
    /* RFC 3720, B.4: 32 bytes of zeros, of ones, counting up; "123456789" gives the check value of
     * the polynomial. */
    char bytes[32];

    memset(bytes, 0, sizeof bytes);
    assert_int_equal(crc32c(0, (struct str) { bytes, 32 }), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof bytes);
    assert_int_equal(crc32c(0, (struct str) { bytes, 32 }), 0x62A8AB43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (char)i;
    assert_int_equal(crc32c(0, (struct str) { bytes, 32 }), 0x46DD794E);
    assert_int_equal(crc32c(0, STR("123456789")), 0xE3069283);
    assert_int_equal(crc32c(crc32c(0, STR("1234")), STR("56789")), 0xE3069283);
}

TEST(keys_of_slices)
{
    /* 00, the name with its end 00 01, the rank as count and byte, then start 0 (80) and the
     * length: -1 is 7F, 63 is BF, 64 takes two bytes: C0 40, -65 is 3F BF. */
    static const struct {
        struct str              name;
        struct checkpoint_slice slice;
        struct str              key;
    } rows[] = {
        { STR_INIT("w"), { .rank = 0 }, STR_INIT("\0w\0\1\0") },
        { STR_INIT("w"), { .rank = 1, .length = { -1 } }, STR_INIT("\0w\0\1\1\1\x80\x7F") },
        { STR_INIT("a\xFF"),
          { .rank = 2, .start = { 63, -65 }, .length = { 64, -1 } },
          STR_INIT("\0a\xFF\0\0\1\1\2\xBF\xC0\x40\x3F\xBF\x7F") },
        { STR_INIT("w"),
          { .rank = 1, .start = { INT64_MIN }, .length = { INT64_MAX } },
          STR_INIT(
              "\0w\0\1\1\1\x00\x3F\x80\0\0\0\0\0\0\0\xFF\xC0\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF") },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  key = { .arena = &arena };

        checkpoint_slice_key(rows[i].name, &rows[i].slice, &key);
        assert_int_equal(key.len, rows[i].key.len);
        assert_memory_equal(key.data, rows[i].key.data, key.len);
        arena_free(&arena);
    }
}

TEST(recorded_checkpoints)
{
    static const char *const paths[] = { SOFTMAX "ckpt-v1", SOFTMAX "ckpt-v2" };

    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        struct arena              arena = { 0 };
        struct err                err = { 0 };
        struct classic_checkpoint checkpoint = { 0 };
        struct classic_tensor     tensor = { 0 };

        assert_true(
            (i ? checkpoint_open_v2 : checkpoint_open_v1)(&checkpoint, paths[i], &arena, &err));
        assert_int_equal(checkpoint.variables.count, 2);
        assert_true(str_equal(checkpoint.variables.items[0].name, STR("Variable")));
        assert_int_equal(checkpoint.variables.items[0].shape.rank, 2);
        assert_int_equal(checkpoint.variables.items[0].shape.dims[0], 784);
        assert_true(str_equal(checkpoint.variables.items[1].name, STR("Variable_1")));
        assert_true(
            checkpoint.read(&checkpoint, &checkpoint.variables.items[1], &arena, &tensor, &err));
        assert_int_equal(tensor.kind, TENSOR_NUMBERS);
        assert_int_equal(tensor.count, 10);
        arena_free(&arena);
    }
}

TEST(values_of_types)
{
    static const struct {
        int         type;
        struct str  bytes;
        bool        is_big_endian;
        double      number;
        int64_t     integer;
        const char *text;
    } rows[] = {
        { 1, STR_INIT("\0\0\xC0\x3F"), false, 1.5, 0, NULL },
        { 1, STR_INIT("\x3F\xC0\0\0"), true, 1.5, 0, NULL },
        { 2, STR_INIT("\0\0\0\0\0\0\x04\xC0"), false, -2.5, 0, NULL },
        { 19, STR_INIT("\0\x3E"), false, 1.5, 0, NULL },             /* sign 0, exponent 15, 0.5 */
        { 19, STR_INIT("\x01\0"), false, 1.0 / (1 << 24), 0, NULL }, /* least subnormal */
        { 14, STR_INIT("\xC0\x3F"), false, 1.5, 0, NULL },
        { 3, STR_INIT("\xFE\xFF\xFF\xFF"), false, 0, -2, NULL },
        { 4, STR_INIT("\xFE"), false, 0, 254, NULL },
        { 6, STR_INIT("\xFE"), false, 0, -2, NULL },
        { 9, STR_INIT("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), false, 0, -2, NULL },
        { 7, STR_INIT("\x03....abc"), false, 0, 0, "abc" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena          arena = { 0 };
        struct err            err = { 0 };
        struct classic_tensor tensor = { .type = rows[i].type };

        assert_true(checkpoint_decode(rows[i].bytes, rows[i].is_big_endian, &arena, &tensor, &err));
        assert_int_equal(tensor.count, 1);
        if (tensor.kind == TENSOR_NUMBERS)
            assert_true(tensor.numbers[0] == rows[i].number);
        else if (tensor.kind == TENSOR_INTEGERS)
            assert_int_equal(tensor.integers[0], rows[i].integer);
        else
            assert_true(str_equal(tensor.strings[0], str_from(rows[i].text)));
        /* A byte more, one less, a shape that claims too much. */
        tensor.shape = (struct tensor) { .rank = 2, .dims = { INT64_MAX, INT64_MAX } };
        assert_false(
            checkpoint_decode(rows[i].bytes, rows[i].is_big_endian, &arena, &tensor, &err));
        tensor.shape = (struct tensor) { 0 };
        assert_false(checkpoint_decode(str_slice(rows[i].bytes, 0, rows[i].bytes.len - 1),
                                       rows[i].is_big_endian, &arena, &tensor, &err));
        arena_free(&arena);
    }
}

static bool count_entry(void *context, struct str key, struct str value, bool *stop,
                        struct err *err)
{
    (void)key;
    (void)value;
    (void)stop;
    (void)err;
    ++*(int *)context;
    return true;
}

TEST(damaged_tables)
{
    struct file  file = { 0 };
    struct err   err = { 0 };
    struct arena arena = { 0 };
    char         bytes[256];
    int          entries = 0;

    assert_true(file_open(&file, SOFTMAX "ckpt-v2.index", 0, &err));
    assert_true(file.bytes.len < sizeof bytes);
    for (size_t at = 0; at < file.bytes.len; at++) {
        struct table table = { 0 };

        err = (struct err) { 0 };
        memcpy(bytes, file.bytes.data, file.bytes.len);
        bytes[at] ^= 0x55;
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            struct str whole = { bytes, is_cut ? at : file.bytes.len };

            if (!table_open(&table, whole, &arena, &err) ||
                !table_each(&table, count_entry, &entries, &err))
                assert_true(err.code == ERR_FORMAT);
        }
    }
    file_close(&file);
    arena_free(&arena);
}
