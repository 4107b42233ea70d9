/* Arrays of compiled programs that are copies of a few numbers. */
#include "compiled_program.h"

#include <stdio.h>

/* A filter of 64 numbers becomes a matrix of 64 x 64, one diagonal each: gathered by numbers that
 * count, 4 ms, turned, 2 ms, and multiplied, 1 ms. Its gradient, a product of 1 ms, is turned back,
 * 2 ms, and added up, 1 ms. 64 copies of each number where three passes do: 61 of 64 parts of what
 * is no product are too much. Where the numbers are given, or a maximum of the matrix is taken, the
 * matrix is needed; where they are given its gradient is, too. */
TEST(matrices_of_copies)
{
    enum { COUNTED, GIVEN, TAKEN, KINDS };
    static const double claimed_ns[KINDS] = { 9e6 * 61 / 64, 0, 3e6 * 61 / 64 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       filter, given, counted, numbers, gather, turned, product, made, back, sum;

        start(&program);
        filter = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        mark(&program, filter, "entry");
        given = add(&program, "parameter", "-> s32[4096,1]", NULL, NO_ID, NO_ID);
        mark(&program, given, "entry");
        counted = add(&program, "iota", "-> s32[4096,1]", NULL, NO_ID, NO_ID);
        numbers = kind == GIVEN ? given : counted;
        gather = add(&program, "gather", "f32[64] s32[4096,1] -> f32[4096]", "jit(f)/gather", NO_ID,
                     filter);
        link_second(&program, numbers, gather);
        turned = add(&program, "transpose", "f32[4096] -> f32[64,64]", "jit(f)/transpose", NO_ID,
                     gather);
        product =
            add(&program, "dot", "f32[64,64] f32[64,8] -> f32[64,8]", "jit(f)/dot", NO_ID, turned);
        if (kind == TAKEN)
            add(&program, "reduce", "f32[64,64] f32[] -> f32[64]", "jit(f)/reduce_max", NO_ID,
                turned);
        made =
            add(&program, "dot", "f32[64,8] f32[8,64] -> f32[64,64]", "jit(f)/dot", NO_ID, product);
        back =
            add(&program, "transpose", "f32[64,64] -> f32[4096]", "jit(f)/transpose", NO_ID, made);
        sum = add(&program, "scatter", "f32[64] s32[4096,1] f32[4096] -> f32[64]",
                  "jit(f)/scatter-add", NO_ID, filter);
        link_second(&program, numbers, sum);
        link_at(&program, back, sum, 2);
        run_step(&program, (uint32_t[]) { gather, turned, product, made, back, sum },
                 (int64_t[]) { 4000000, 2000000, 1000000, 1000000, 2000000, 1000000 }, 6);
        assert_true(fabs(claimed(&program, "gathered-matrix") - claimed_ns[kind]) < 1);
        release(&program);
    }
}

/* A row of 8 is written to a cache of 2 x 16 x 4 x 8, which is turned, 3 ms, copied, 2 ms, and
 * multiplied, 1 ms: turning and copying are too much. What the program makes itself, as heads of
 * this call's rows, has to be turned by somebody. */
TEST(caches_that_are_turned)
{
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        struct program program;
        uint32_t       before, row, written, turned, copied, product;

        (void)state;
        start(&program);
        before = add(&program, "parameter", "-> f32[2,16,4,8]", NULL, NO_ID, NO_ID);
        mark(&program, before, "entry");
        row = add(&program, "parameter", "-> f32[2,1,4,8]", NULL, NO_ID, NO_ID);
        mark(&program, row, "entry");
        if (!is_kept)
            before = add(&program, "negate", "f32[2,16,4,8] -> f32[2,16,4,8]", "jit(f)/neg", NO_ID,
                         before);
        written =
            add(&program, "dynamic-update-slice", "f32[2,16,4,8] f32[2,1,4,8] -> f32[2,16,4,8]",
                "jit(f)/dynamic_update_slice", NO_ID, before);
        link_second(&program, row, written);
        turned = add(&program, "transpose", "f32[2,16,4,8] -> f32[2,4,8,16]", "jit(f)/transpose",
                     NO_ID, written);
        copied = add(&program, "copy", "f32[2,4,8,16] -> f32[2,4,8,16]", "jit(f)/transpose", NO_ID,
                     turned);
        product = add(&program, "dot", "f32[2,4,8,16] f32[2,4,8] -> f32[2,4,16]", "jit(f)/dot",
                      NO_ID, copied);
        run_step(&program, (uint32_t[]) { written, turned, copied, product },
                 (int64_t[]) { 1000000, 3000000, 2000000, 1000000 }, 4);
        assert_true(fabs(claimed(&program, "turned-cache") - (is_kept ? 5e6 : 0)) < 1);
        release(&program);
    }
}

/* Of a matrix of 16 x 20 so many entries are listed: rows of 8 are looked up, 4 ms, scaled by a
 * number each, 1 ms, and added up, 5 ms. The whole matrix takes 0.04 of that for each entry. Where
 * few are listed, or numbers of their own are in each row's places, it stays as it is. */
TEST(matrices_that_are_listed)
{
    enum { FULL, SPARSE, OF_ROWS, KINDS };
    static const int    listed[KINDS] = { 80, 20, 80 };
    static const double claimed_ns[KINDS] = { 1e7 * (1 - 0.04 * 4), 0, 0 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       table, from, to, number, gather, spread, scaled, zero, sum;
        char           numbers[32], rows[80], more[80], add_up[120];

        (void)state;
        (void)snprintf(numbers, sizeof numbers, "-> s32[%d,1]", listed[kind]);
        (void)snprintf(rows, sizeof rows, "f32[20,8] s32[%d,1] -> f32[%d,8]", listed[kind],
                       listed[kind]);
        (void)snprintf(more, sizeof more, "f32[%d,8] f32[%d,8] -> f32[%d,8]", listed[kind],
                       listed[kind], listed[kind]);
        (void)snprintf(add_up, sizeof add_up, "f32[16,8] s32[%d,1] f32[%d,8] -> f32[16,8]",
                       listed[kind], listed[kind]);
        start(&program);
        table = add(&program, "parameter", "-> f32[20,8]", NULL, NO_ID, NO_ID);
        from = add(&program, "parameter", numbers, NULL, NO_ID, NO_ID);
        to = add(&program, "parameter", numbers, NULL, NO_ID, NO_ID);
        number = add(&program, "parameter", "-> f32[]", NULL, NO_ID, NO_ID);
        gather = add(&program, "gather", rows, "jit(f)/gather", NO_ID, table);
        link_second(&program, from, gather);
        spread = add(&program, kind == OF_ROWS ? "exponential" : "broadcast", strstr(more, "->"),
                     NULL, NO_ID, number);
        scaled = add(&program, "multiply", more, "jit(f)/mul", NO_ID, gather);
        link_second(&program, spread, scaled);
        zero = add(&program, "broadcast", "-> f32[16,8]", NULL, NO_ID, NO_ID);
        sum = add(&program, "scatter", add_up, "jit(f)/scatter-add", NO_ID, zero);
        link_second(&program, to, sum);
        link_at(&program, scaled, sum, 2);
        run_step(&program, (uint32_t[]) { gather, scaled, sum },
                 (int64_t[]) { 4000000, 1000000, 5000000 }, 3);
        assert_true(fabs(claimed(&program, "listed-matrix") - claimed_ns[kind]) < 1);
        release(&program);
    }
}

/* Keys of 8 x 16 x 4 come in and are multiplied, 1 ms. They come back in another order of their 8
 * rows, gathered, 4 ms, and copied, 2 ms: both are too much, unless something was added to them, or
 * nothing reads them but what moves them. Such as come back as they are have to be turned for each
 * product, 3 ms, which is too much, too; what is no result, or what a single result is made of, may
 * be another each time. */
TEST(arrays_that_come_back)
{
    enum { MOVED, CHANGED, UNREAD, TURNED, GIVEN, TAKEN, KINDS };
    static const double moved_ns[KINDS] = { 6e6 }, turned_ns[KINDS] = { [TURNED] = 3e6 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       keys, order, rows, read, moved, copied, root;

        (void)state;
        start(&program);
        keys = add(&program, "parameter", "-> f32[8,16,4]", NULL, NO_ID, NO_ID);
        mark(&program, keys, "entry");
        order = add(&program, "parameter", "-> s32[8,1]", NULL, NO_ID, NO_ID);
        mark(&program, order, "entry");
        read = keys;
        if (kind >= TURNED)
            read = add(&program, "transpose", "f32[8,16,4] -> f32[8,4,16]", NULL, NO_ID, keys);
        rows = read;
        if (kind != UNREAD)
            rows = add(&program, "dot", "f32[8,16,4] f32[8,4] -> f32[8,16]", "jit(f)/dot", NO_ID,
                       read);
        moved = keys;
        if (kind == CHANGED)
            moved = add(&program, "exponential", "f32[8,16,4] -> f32[8,16,4]", NULL, NO_ID, keys);
        moved = add(&program, "gather", "f32[8,16,4] s32[8,1] -> f32[8,16,4]", "jit(f)/gather",
                    NO_ID, moved);
        link_second(&program, order, moved);
        copied = add(&program, "copy", "f32[8,16,4] -> f32[8,16,4]", NULL, NO_ID, moved);
        root = add(&program, kind == TAKEN ? "negate" : "tuple", "-> f32[8,16,4] f32[8,16]", NULL,
                   NO_ID, kind >= TURNED ? (kind == GIVEN ? order : keys) : copied);
        link_second(&program, rows, root);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { kind >= TURNED ? read : moved, rows, moved, copied },
                 (int64_t[]) { kind >= TURNED ? 3000000 : 1000, 1000000, 4000000, 2000000 }, 4);
        assert_true(fabs(claimed(&program, "moved-rows") - moved_ns[kind]) < 2000);
        assert_true(fabs(claimed(&program, "turned-cache") - turned_ns[kind]) < 1);
        release(&program);
    }
}

/* Keys of 8 x 16 x 2 x 4 are turned, 3 ms, and multiplied, 1 ms, by a state of 8 x 4 that is handed
 * on: they could lie so. Where a gradient is taken they may be a batch, and so may they where
 * nothing is handed on. */
TEST(arguments_that_are_turned)
{
    enum { HELD, TRAINED, STATELESS, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       keys, before, turned, scores, after, root;

        (void)state;
        start(&program);
        keys = add(&program, "parameter", "-> f32[8,16,2,4]", NULL, NO_ID, NO_ID);
        mark(&program, keys, "entry");
        before = add(&program, "parameter", kind == STATELESS ? "-> f32[8,5]" : "-> f32[8,4]", NULL,
                     NO_ID, NO_ID);
        mark(&program, before, "entry");
        turned = add(&program, "transpose", "f32[8,16,2,4] -> f32[8,2,16,4]", NULL, NO_ID, keys);
        scores = add(&program, "dot", "f32[8,2,16,4] f32[8,4] -> f32[8,2,16]",
                     kind == TRAINED ? "jit(f)/transpose(jvp())/dot" : "jit(f)/dot", NO_ID, turned);
        link_second(&program, before, scores);
        after = add(&program, "exponential", "f32[8,2,16] -> f32[8,4]", NULL, NO_ID, scores);
        root = add(&program, "tuple", "-> f32[8,4] f32[8,2,16]", NULL, NO_ID, after);
        link_second(&program, scores, root);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { turned, scores, after },
                 (int64_t[]) { 3000000, 1000000, 1000000 }, 3);
        assert_true(fabs(claimed(&program, "turned-cache") - (kind == HELD ? 3e6 : 0)) < 1);
        release(&program);
    }
}
