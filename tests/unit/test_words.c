/* words: what str_fits says of each list, said of many lists at once. */
#include "base/words.h"

#include "base/macros.h"
#include "testing.h"

#include <stdio.h>

static const char *const lists[] = {
    "t|to|*::to|cast*", "*conv*|conv2d", "*_grad|*_gradients", "*matmul*|mm|addmm", "*mat*",
};

static uint16_t first_by_one(struct str text)
{
    uint16_t row = 0;

    while (row < ARRAY_COUNT(lists) && !str_fits(text, lists[row]))
        row++;
    return row;
}

static void make(struct words *words)
{
    static struct word items[64];

    *words = (struct words) { .items = items, .room = ARRAY_COUNT(items) };
    for (uint16_t i = 0; i < ARRAY_COUNT(lists); i++)
        words_add(words, lists[i], i);
}

TEST(words_stand_where_stars_allow)
{
    static const struct {
        const char *text;
        uint16_t    row;
    } cases[] = {
        { "t", 0 },           { "to", 0 },
        { "top", 5 },         { "aten::to", 0 },
        { "casting", 0 },     { "recast", 5 },
        { "2dconv_grad", 1 }, { "x_grad", 2 },
        { "x_grads", 5 },     { "batch_matmul", 3 },
        { "format", 4 },      { "mm", 3 },
        { "mmm", 5 },         { "", 5 },
        { "m", 5 },
    };
    static struct words words;

    make(&words);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(words_first_row(&words, str_from(cases[i].text), ARRAY_COUNT(lists)),
                         cases[i].row);
}

/* Texts of all lengths over letters that the words are made of. */
TEST(many_texts_fit_as_one_by_one)
{
    static const char   letters[] = "tocasvmdg_rl:2n";
    static struct words words;
    uint32_t            random = 1;

    make(&words);
    for (int round = 0; round < 200000; round++) {
        char   text[16];
        size_t len = (size_t)round % sizeof text;

        for (size_t i = 0; i < len; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = letters[(random >> 16) % (sizeof letters - 1)];
        }
        assert_int_equal(words_first_row(&words, (struct str) { text, len }, ARRAY_COUNT(lists)),
                         first_by_one((struct str) { text, len }));
        for (uint16_t row = 0; row < ARRAY_COUNT(lists); row++)
            assert_int_equal(words_fit(&words, (struct str) { text, len }, row, false),
                             str_fits((struct str) { text, len }, lists[row]));
    }
}

TEST(every_place_is_told)
{
    struct word       items[2];
    struct words_walk walk = { .text = STR("sgemm_sgemm") };
    struct words      words = { .items = items, .room = 2 };
    const size_t      places[] = { 0, 1, 6, 7 };

    words_add_part(&words, STR("sgemm"), 0);
    words_add_part(&words, STR("gemm"), 1);
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        const struct word *word = words_next(&words, &walk);

        assert_non_null(word);
        assert_int_equal(walk.at, places[i]);
        assert_int_equal(word->row, i % 2);
    }
    assert_null(words_next(&words, &walk));
}
