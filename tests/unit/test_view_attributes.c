/* Numbers and columns of classic reports; values from the original's published formats. */

#include "testing.h"

#include "base/macros.h"
#include "view/attributes.h"

#include <stdio.h>

TEST(test_numbers)
{
    /* Thousands with two decimals, rounded as printf does; below, and negative, as they are. */
    static const struct {
        int64_t     number;
        const char *plain, *micros, *bytes;
    } rows[] = {
        { 0, "0", "0us", "0B" },
        { 999, "999", "999us", "999B" },
        { 1000, "1.00k", "1.00ms", "1.00KB" },
        { 3200, "3.20k", "3.20ms", "3.20KB" },
        { 999999, "1000.00k", "1000.00ms", "1000.00KB" },
        { 1000000, "1.00m", "1.00sec", "1.00MB" },
        { 1370000, "1.37m", "1.37sec", "1.37MB" },
        { 120356380000, "120.36b", "120356.38sec", "120356.38MB" },
        { -5000, "-5000", "-5000us", "-5000B" },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct text plain = { .arena = &arena }, micros = plain, bytes = plain;

        print_number(&plain, rows[i].number);
        print_micros(&micros, rows[i].number);
        print_column_number(&bytes, COLUMN_MEMORY, rows[i].number);
        assert_string_equal(plain.data, rows[i].plain);
        assert_string_equal(micros.data, rows[i].micros);
        assert_string_equal(bytes.data, rows[i].bytes);
    }
    arena_free(&arena);
}

TEST(test_columns)
{
    /* The order is fixed; time brings its two parts, once. */
    static const struct {
        unsigned              selected;
        enum attribute_layout layout;
        const char           *titles;
    } rows[] = {
        { 1u << ATTRIBUTE_MICROS | 1u << ATTRIBUTE_PARAMS | 1u << ATTRIBUTE_BYTES, LAYOUT_NODES,
          "# parameters|requested bytes|total execution time|accelerator execution time|"
          "cpu execution time|" },
        { 1u << ATTRIBUTE_MICROS | 1u << ATTRIBUTE_PARAMS | 1u << ATTRIBUTE_CPU_MICROS,
          LAYOUT_GROUPS,
          "total execution time|accelerator execution time|cpu execution time|# parameters|" },
        { 1u << ATTRIBUTE_OCCURRENCE | 1u << ATTRIBUTE_INPUT_SHAPES, LAYOUT_GROUPS,
          "op occurrence (run|defined)|input shapes|" },
        { 1u << ATTRIBUTE_OCCURRENCE | 1u << ATTRIBUTE_DEVICE, LAYOUT_NODES,
          "assigned devices|op count (run|defined)|" },
        { 1u << ATTRIBUTE_TENSOR_VALUE, LAYOUT_NODES, NULL },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct columns columns = columns_of(rows[i].selected, rows[i].layout);
        struct text    text = { .arena = &arena };

        for (size_t n = 0; n < columns.count; n++)
            text_print(&text, "%s|", columns.items[n].title);
        if (rows[i].titles)
            assert_string_equal(text.data, rows[i].titles);
        else
            assert_null(text.data);
    }
    arena_free(&arena);
}

TEST(test_explanations)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    attributes_explain(1u << ATTRIBUTE_PARAMS | 1u << ATTRIBUTE_DEVICE, false, &text);
    assert_string_equal(text.data, "device: which device is placed on.\n"
                                   "param: Number of parameters (in the Variable).");
    arena_free(&arena);
}

/* Every last digit before a limit, and what printf makes of numbers all over the range. */
TEST(decimals_are_those_of_printf)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };
    uint64_t     random = 1;

    for (int i = 0; i < 200000; i++) {
        char    expected[64];
        int64_t number;

        random = random * 6364136223846793005u + 1442695040888963407u;
        number = (int64_t)(random >> (1 + i % 63));
        if (i < 20000)
            number = 1000 + i * 5; /* every other one is halfway between two hundredths */
        if (i % 7 == 0)
            number = number / 5000 * 5000;
        if (number < 1000)
            snprintf(expected, sizeof expected, "%lldus", (long long)number);
        else if (number < 1000000)
            snprintf(expected, sizeof expected, "%.2fms", (double)number / 1e3);
        else
            snprintf(expected, sizeof expected, "%.2fsec", (double)number / 1e6);
        text.len = 0;
        print_micros(&text, number);
        assert_string_equal(text.data, expected);
    }
    print_number(&text, INT64_MAX);
    arena_free(&arena);
}
