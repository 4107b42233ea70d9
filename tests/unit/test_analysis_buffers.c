/* buffers: memory of a compiled program, by hand. */
#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

enum { A, B, C, GIVEN };

static uint32_t add_op(struct profile_builder *b, const char *name)
{
    struct op op = { .name = builder_name(b, name), .device = NO_ID, .source = NO_ID };

    assert_true(vec_push(&b->profile.ops, &b->arena, op));
    return (uint32_t)b->profile.ops.count - 1;
}

static void add_buffer(struct profile_builder *b, const char *op, uint32_t allocation,
                       int64_t bytes)
{
    struct program_buffer buffer = {
        .op = add_op(b, op), .allocation = allocation, .bytes = bytes, .value_bytes = bytes - 8
    };

    assert_true(vec_push(&b->profile.program_buffers, &b->arena, buffer));
}

static void add_event(struct profile_builder *b, enum program_event_kind kind, uint32_t buffer)
{
    struct program_event event = { .buffer = buffer,
                                   .shares_with = kind == PROGRAM_SHARE ? A : NO_ID,
                                   .kind = (uint8_t)kind };

    assert_true(vec_push(&b->profile.program_events, &b->arena, event));
}

/*
 * 128 bytes for temporaries: `a` takes 40 and `b` 60, which makes 100 at most; 28 are nobody's
 * then. `c` lies where `a` does, so that those 40 go when both have given them back: 40, 100, 40,
 * 0. The program is given 200 bytes, in which `given` takes 160. It takes 328 in all, and so do the
 * rows: 40 + 60 + 28 + 200.
 */
TEST(what_shares_memory_counts_once)
{
    struct program_allocation allocations[] = {
        { .number = 3, .kind = PROGRAM_TEMPORARY, .bytes = 128 },
        { .number = 4, .kind = PROGRAM_PARAMETER, .bytes = 200 },
    };
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_XSPACE);
    for (size_t i = 0; i < 2; i++) {
        allocations[i].module = builder_name(&b, "jit_f");
        assert_true(vec_push(&b.profile.program_allocations, &b.arena, allocations[i]));
    }
    add_buffer(&b, "a", 0, 40);
    add_buffer(&b, "b", 0, 60);
    add_buffer(&b, "c", 0, 40);
    add_buffer(&b, "given", 1, 160);
    add_event(&b, PROGRAM_TAKE, A);
    add_event(&b, PROGRAM_TAKE, GIVEN); /* no temporary */
    add_event(&b, PROGRAM_TAKE, B);
    add_event(&b, PROGRAM_GIVE_BACK, B);
    add_event(&b, PROGRAM_SHARE, C);
    add_event(&b, PROGRAM_GIVE_BACK, A);
    add_event(&b, PROGRAM_GIVE_BACK, C);
    add_event(&b, PROGRAM_GIVE_BACK, C); /* of a damaged recording */
    builder_finish(&b);
    assert_true(analysis_buffers.run(&b.study, &err));
    assert_true(builder_cell(&b, "program_memory", "module", "jit_f", "total_bytes") == 328);
    assert_true(builder_cell(&b, "program_memory", "module", "jit_f", "parameter_bytes") == 200);
    assert_true(builder_cell(&b, "program_memory", "module", "jit_f", "heap_peak_bytes") == 100);
    assert_true(builder_cell(&b, "program_memory", "module", "jit_f", "unused_bytes") == 28);
    assert_true(builder_cell(&b, "program_memory", "peak_op", "b", "peak_position") == 1);
    assert_true(builder_cell(&b, "program_memory", "module", "jit_f", "events") == 4);
    assert_true(builder_cell(&b, "buffers", "op", "a", "bytes") == 40);
    assert_true(builder_cell(&b, "buffers", "op", "b", "value_bytes") == 52);
    assert_true(isnan(builder_cell(&b, "buffers", "op", "c", "bytes")));
    assert_true(builder_cell(&b, "buffers", "kind", "unused", "bytes") == 28);
    assert_true(builder_cell(&b, "buffers", "op", "given", "bytes") == 200);
    assert_true(builder_cell(&b, "buffers", "op", "given", "allocation") == 4);
    assert_true(builder_cell(&b, "program_heap", "op", "b", "in_use_bytes") == 100);
    assert_true(isnan(builder_cell(&b, "program_heap", "op", "c", "in_use_bytes")));
    builder_free(&b);
}
