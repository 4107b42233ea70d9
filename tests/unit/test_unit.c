#include "base/unit.h"
#include "testing.h"

#include <math.h>

TEST(people_read_three_digits)
{
    static const struct {
        double      value;
        enum unit   unit;
        const char *text;
    } rows[] = {
        { 0, UNIT_NS, "0 ms" },
        { 500, UNIT_NS, "500 ns" },
        { 9900, UNIT_NS, "9.90 µs" },
        { 61.2e6, UNIT_NS, "61.2 ms" },
        { 212.4e6, UNIT_NS, "212.4 ms" },
        { 999960, UNIT_NS, "1.00 ms" }, /* not 1000.0 µs */
        { 9.996e6, UNIT_NS, "10.0 ms" },
        { 99.96e6, UNIT_NS, "100.0 ms" },
        { 1.5e9, UNIT_NS, "1.50 s" },
        { -2.5e6, UNIT_NS, "-2.50 ms" },
        { 0.5, UNIT_NS, "0.50 ns" },
        { 0.288, UNIT_SHARE, "28.8 %" },
        { 1, UNIT_SHARE, "100 %" },
        { 0, UNIT_SHARE, "0 %" },
        { 0.00001, UNIT_SHARE, "< 0.01 %" },
        { 1.53e9, UNIT_BYTES, "1.53 GB" },
        { 512, UNIT_BYTES, "512 B" },
        { 2.048e12, UNIT_BYTES, "2.05 TB" },
        { 5e15, UNIT_BYTES, "5000 TB" },
        { 1234, UNIT_COUNT, "1234" },
        { 12.5, UNIT_COUNT, "12.5" },
        { 1.53, UNIT_RATIO, "1.53x" },
        { 19.5e12, UNIT_FLOPS_PER_S, "19.5 TFLOP/s" },
        { 2e9, UNIT_FLOPS, "2.00 GFLOP" },
        { 1.556e12, UNIT_BYTES_PER_S, "1.56 TB/s" },
        { 12.3, UNIT_HZ, "12.3 /s" },
        { 1, UNIT_BOOL, "yes" },
        { 0, UNIT_BOOL, "no" },
        { 3.14159, UNIT_NONE, "3.14" },
        { 1e20, UNIT_COUNT, "1e+20" },
        { 1764000000123456768.0, UNIT_NONE,
          "1764000000123456768" }, /* ns since 1970, as 2^8 allows */
        { 2.501e9, UNIT_WHEN, "2501.000 ms" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  text = { .arena = &arena };

        unit_print(&text, rows[i].value, rows[i].unit);
        assert_string_equal(text.data, rows[i].text);
        arena_free(&arena);
    }
}

TEST(what_people_write_is_read)
{
    static const struct {
        struct str text;
        enum unit  unit;
        bool       ok;
        double     value;
    } rows[] = {
        { STR_INIT("50us"), UNIT_NS, true, 50000 },
        { STR_INIT("1.5 ms"), UNIT_NS, true, 1500000 },
        { STR_INIT("2µs"), UNIT_NS, true, 2000 },
        { STR_INIT("2min"), UNIT_NS, true, 120e9 },
        { STR_INIT("7"), UNIT_NS, true, 7 },
        { STR_INIT("5%"), UNIT_SHARE, true, 0.05 },
        { STR_INIT("0.05"), UNIT_SHARE, true, 0.05 },
        { STR_INIT("64KiB"), UNIT_BYTES, true, 65536 },
        { STR_INIT("2G"), UNIT_BYTES, true, 2147483648.0 },
        { STR_INIT("1.5GB"), UNIT_BYTES, true, 1.5e9 },
        { STR_INIT("2x"), UNIT_RATIO, true, 2 },
        { STR_INIT("1e3"), UNIT_COUNT, true, 1000 },
        { STR_INIT("10k"), UNIT_COUNT, true, 10000 },
        { STR_INIT("900 GB/s"), UNIT_BYTES_PER_S, true, 9e11 },
        { STR_INIT("-1"), UNIT_NONE, true, -1 },
        { STR_INIT(""), UNIT_NS, false, 0 },
        { STR_INIT("ms"), UNIT_NS, false, 0 },
        { STR_INIT("5%"), UNIT_NS, false, 0 },
        { STR_INIT("5 parsecs"), UNIT_NS, false, 0 },
        { STR_INIT("1e999"), UNIT_NS, false, 0 },
        { STR_INIT("nan"), UNIT_SHARE, false, 0 },
        { STR_INIT("1e308 h"), UNIT_NS, false, 0 }, /* overflows when scaled */
        { STR_INIT("1\0ms"), UNIT_NS, false, 0 },
        { STR_INIT("1.2.3"), UNIT_NONE, false, 0 },
        { STR_INIT("1e"), UNIT_NONE, false, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        double value = 0;

        print_message("%s\n", rows[i].text.data);
        assert_int_equal(unit_scan(rows[i].text, rows[i].unit, &value), rows[i].ok);
        assert_true(value == rows[i].value);
    }
}

TEST(names_go_there_and_back)
{
    enum unit unit;

    for (enum unit i = UNIT_NONE; i <= UNIT_BOOL; i++) {
        assert_true(unit_from_name(str_from(unit_name(i)), &unit));
        assert_int_equal(unit, i);
    }
    assert_false(unit_from_name(STR("furlong"), &unit));
    assert_string_equal(unit_json_name(UNIT_NS), "ms");
    assert_true(fabs(unit_to_json(212.4e6, UNIT_NS) - 212.4) < 1e-9);
    assert_true(unit_to_json(7, UNIT_BYTES) == 7);
}
