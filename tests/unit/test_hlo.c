/* What compiled programs say of shapes, operations, bytes and edges, worked out beside each. */
#include "hlo_program.h"

/* f32[4,5,8] . f32[5,8,6] over both shared dimensions gives f32[4,6]: 2 * 24 * 40 = 1920
 * operations; (160 + 240 + 24) * 4 = 1696 bytes. */
TEST(counts_dots)
{
    struct out     left = shape(F32, (int[]) { 4, 5, 8 }, 3);
    struct out     right = shape(F32, (int[]) { 5, 8, 6 }, 3);
    struct out     result = shape(F32, (int[]) { 4, 6 }, 2), dims = { .len = 0 };
    struct out     list[3];
    struct fixture fixture;
    struct op     *dot;

    list[0] = instruction("x", "parameter", &left, 1, "");
    list[1] = instruction("y", "parameter", &right, 2, "");
    list[2] = instruction("dot.3", "dot", &result, 3, "\x01\x02");
    put_bytes(&dims, 1, "\x01\x02", 2); /* lhs_contracting_dimensions */
    put_message(&list[2], 30, &dims);
    read_program(&fixture, list, 3);
    dot = &fixture.profile.ops.items[2];
    assert_int_equal(dot->flops, 1920);
    assert_int_equal(dot->bytes, 1696);
    assert_int_equal(dot->input_count, 2);
    assert_int_equal(dot->output_count, 1);
    assert_int_equal(fixture.edges.list.count, 2);
    assert_string_equal(profile_str(&fixture.profile, dot->module).data, "jit_f");
    release(&fixture);
}

/* f32[2,8,8,3] with a kernel f32[3,3,3,16] (height, width, in, out) gives f32[2,8,8,16]:
 * 2 * 2048 * 27 = 110592. */
TEST(counts_convolutions)
{
    struct out     image = shape(F32, (int[]) { 2, 8, 8, 3 }, 4);
    struct out     kernel = shape(F32, (int[]) { 3, 3, 3, 16 }, 4);
    struct out     result = shape(F32, (int[]) { 2, 8, 8, 16 }, 4), dims = { .len = 0 };
    struct out     list[3];
    struct fixture fixture;

    list[0] = instruction("x", "parameter", &image, 1, "");
    list[1] = instruction("k", "parameter", &kernel, 2, "");
    list[2] = instruction("convolution.3", "convolution", &result, 3, "\x01\x02");
    put_varint(&dims, 3, 2); /* kernel_input_feature_dimension */
    put_varint(&dims, 4, 3); /* kernel_output_feature_dimension */
    put_message(&list[2], 16, &dims);
    read_program(&fixture, list, 3);
    assert_int_equal(fixture.profile.ops.items[2].flops, 110592);
    release(&fixture);
}

/* f32[4] with a kernel of 3, padded by one on each side: 3 * 4 - 2 pairs meet an element, so that
 * 2 * 10 operations are left of 24. */
TEST(padding_costs_nothing)
{
    struct out     row = shape(F32, (int[]) { 1, 1, 4 }, 3);
    struct out     kernel = shape(F32, (int[]) { 1, 1, 3 }, 3);
    struct out     dims = { .len = 0 }, window = { .len = 0 }, list[3];
    struct fixture fixture;

    list[0] = instruction("x", "parameter", &row, 1, "");
    list[1] = instruction("k", "parameter", &kernel, 2, "");
    list[2] = instruction("convolution.3", "convolution", &row, 3, "\x01\x02");
    put_varint(&dims, 3, 1); /* kernel_input_feature_dimension; output: 0 */
    put_bytes(&dims, 6, "\x02", 1);
    put_bytes(&dims, 11, "\x02", 1);
    put_bytes(&dims, 12, "\x02", 1);
    put_bytes(&window, 1, "\x08\x03\x10\x01\x18\x01\x20\x01\x28\x01\x30\x01", 12);
    put_message(&list[2], 15, &window);
    put_message(&list[2], 16, &dims);
    read_program(&fixture, list, 3);
    assert_int_equal(fixture.profile.ops.items[2].flops, 20);
    release(&fixture);
}

/* What a call of a library with these operands and first result counts; a second result is its own.
 */
static int64_t call_flops(const struct out *first, const struct out *second,
                          const struct out *result, const char *target, const char *config)
{
    struct out     scratch = shape(F32, (int[]) { 999 }, 1), both = shape(TUPLE, NULL, 0);
    struct out     dims = { .len = 0 }, list[3];
    struct fixture fixture;
    int64_t        flops;

    put_message(&both, 4, result);
    put_message(&both, 4, &scratch);
    list[0] = instruction("x", "parameter", first, 1, "");
    list[1] = instruction("y", "parameter", second, 2, "");
    list[2] = instruction("call.3", "custom-call", &both, 3, "\x01\x02");
    put_varint(&dims, 3, 2); /* kernel_input_feature_dimension */
    put_varint(&dims, 4, 3); /* kernel_output_feature_dimension */
    put_message(&list[2], 16, &dims);
    put_bytes(&list[2], 28, target, strlen(target));
    put_bytes(&list[2], 43, config, strlen(config));
    read_program(&fixture, list, 3);
    flops = fixture.profile.ops.items[2].flops;
    release(&fixture);
    return flops;
}

/* The convolution above and its gradients are as many operations each. f32[2,4,8] . f32[2,8,6] by
 * batch gives f32[2,4,6]: 2 * 48 * 8 = 768. */
TEST(counts_calls_of_libraries)
{
    struct out image = shape(F32, (int[]) { 2, 8, 8, 3 }, 4);
    struct out kernel = shape(F32, (int[]) { 3, 3, 3, 16 }, 4);
    struct out result = shape(F32, (int[]) { 2, 8, 8, 16 }, 4);
    struct out left = shape(F32, (int[]) { 2, 4, 8 }, 3),
               right = shape(F32, (int[]) { 2, 8, 6 }, 3);
    struct out product = shape(F32, (int[]) { 2, 4, 6 }, 3);

    assert_int_equal(call_flops(&image, &kernel, &result, "__cudnn$convForward", ""), 110592);
    assert_int_equal(call_flops(&result, &kernel, &image, "__cudnn$convBackwardInput", ""), 110592);
    assert_int_equal(call_flops(&image, &result, &kernel, "__cudnn$convBackwardFilter", ""),
                     110592);
    assert_int_equal(call_flops(&left, &right, &product, "__cublas$gemm",
                                "{\"gemm_backend_config\":{\"dot_dimension_numbers\":"
                                "{\"lhs_contracting_dimensions\":[\"2\"],"
                                "\"rhs_contracting_dimensions\":[\"1\"]}}}"),
                     768);
    assert_int_equal(call_flops(&left, &right, &product, "__cublas$lt$matmul", "{}"), -1);
    assert_int_equal(call_flops(&left, &right, &product, "Sharding", ""), -1);
}

/* (f32[10], (f32[2,3])) of an f32[]: 40 + 24 + 4 = 68 bytes, two results. */
TEST(takes_tuples_apart)
{
    struct out     ten = shape(F32, (int[]) { 10 }, 1), six = shape(F32, (int[]) { 2, 3 }, 2);
    struct out     scalar = shape(F32, NULL, 0), inner = shape(TUPLE, NULL, 0);
    struct out     outer = shape(TUPLE, NULL, 0), list[2];
    struct fixture fixture;
    struct op     *op;

    put_message(&inner, 4, &six);
    put_message(&outer, 4, &ten);
    put_message(&outer, 4, &inner);
    list[0] = instruction("x", "parameter", &scalar, 1, "");
    list[1] = instruction("fusion.2", "fusion", &outer, 2, "\x01");
    read_program(&fixture, list, 2);
    op = &fixture.profile.ops.items[1];
    assert_int_equal(op->bytes, 68);
    assert_int_equal(op->output_count, 2);
    assert_int_equal(fixture.profile.tensors.items[op->first_output + 1].dims[1], 3);
    release(&fixture);
}

/* y = fusion(x) with p -> exp inside: x goes to p, exp comes out as y, and x to y as ever. */
TEST(leads_into_fusions)
{
    static const struct op_edge wanted[] = {
        { 3, 0, false, 0 }, { 0, 1, false, 0 }, { 1, 2, false, 0 }, { 3, 2, false, 0 }
    };
    struct out     four = shape(F32, (int[]) { 4 }, 1), inner = { .len = 0 }, outer = { .len = 0 };
    struct out     module = { .len = 0 }, program = { .len = 0 }, item;
    struct fixture fixture = { .rows.arena = &fixture.scratch };
    size_t         found = 0;

    item = instruction("p", "parameter", &four, 1, "");
    put_varint(&inner, 5, 7); /* id 7, root 2 */
    put_varint(&inner, 6, 2);
    put_message(&inner, 2, &item);
    item = instruction("exp", "exponential", &four, 2, "\x01");
    put_message(&inner, 2, &item);
    item = instruction("y", "fusion", &four, 3, "\x04");
    put_varint(&item, 38, 7);
    put_message(&outer, 2, &item);
    item = instruction("x", "parameter", &four, 4, "");
    put_message(&outer, 2, &item);
    put_varint(&outer, 5, 8);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &inner);
    put_message(&module, 3, &outer);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(fixture.profile.ops.items[0].caller, 2 + 1);
    assert_int_equal(fixture.profile.ops.items[3].caller, 0);
    assert_true(fixture.profile.ops.items[1].is_fused);
    assert_int_equal(fixture.edges.list.count, ARRAY_COUNT(wanted));
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        for (size_t e = 0; e < fixture.edges.list.count; e++)
            found += fixture.edges.list.items[e].from == wanted[i].from &&
                     fixture.edges.list.items[e].to == wanted[i].to;
    assert_int_equal(found, ARRAY_COUNT(wanted));
    release(&fixture);
}

static int64_t bytes_of(const struct fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->profile.ops.count; i++)
        if (str_equal(profile_str(&fixture->profile, fixture->profile.ops.items[i].name),
                      str_from(name)))
            return fixture->profile.ops.items[i].bytes;
    return -2;
}

/* What is called does not hold its caller, whatever a damaged program says: computation 7 calls 8
 * and itself, and 8 calls 7. */
TEST(a_computation_that_calls_itself)
{
    struct out     row = shape(F32, (int[]) { 8 }, 1);
    struct out     items[2], inner[2], module = { .len = 0 }, program = { .len = 0 };
    struct fixture fixture = { .rows.arena = &fixture.scratch };

    inner[0] = instruction("p.10", "parameter", &row, 10, "");
    inner[1] = instruction("call.11", "call", &row, 11, "\x0a");
    put_bytes(&inner[1], 38, "\x07", 1); /* called_computation_ids */
    items[0] = instruction("x", "parameter", &row, 1, "");
    items[1] = instruction("call.2", "call", &row, 2, "\x01");
    put_bytes(&items[1], 38, "\x08", 1);
    put_bytes(&items[1], 38, "\x07", 1);
    put_bytes(&module, 1, "jit_f", 5);
    put_rooted(&module, 7, items, 2, 2);
    put_rooted(&module, 8, inner, 2, 11);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(fixture.profile.ops.count, 4);
    assert_int_equal(fixture.profile.ops.items[0].caller, 0); /* x */
    assert_int_equal(fixture.profile.ops.items[1].caller, 0); /* call.2 */
    assert_int_equal(fixture.profile.ops.items[2].caller, 2); /* p.10: call.2, a row and one */
    assert_int_equal(fixture.profile.ops.items[3].caller, 2);
    release(&fixture);
}

/* Of f32[64,8], 2048 bytes, a fusion reads one row of 32 and gives it: 64 bytes. Another fusion
 * writes such a row into it in place: it reads the row, 32 bytes, and writes it; the array goes in
 * and comes out by name. A product of 32 and 32 bytes into 32 has a workspace of 4096: 96 bytes. */
TEST(counts_what_is_touched)
{
    struct out     big = shape(F32, (int[]) { 64, 8 }, 2), row = shape(F32, (int[]) { 1, 8 }, 2);
    struct out     space = shape(S8, (int[]) { 4096 }, 1), both = { .len = 0 };
    struct out     items[5], inner[2], writer[3], module = { .len = 0 }, program = { .len = 0 };
    struct fixture fixture = { .rows.arena = &fixture.scratch };

    put_varint(&both, 2, TUPLE);
    put_message(&both, 4, &row);
    put_message(&both, 4, &space);
    inner[0] = instruction("p.10", "parameter", &big, 10, "");
    inner[1] = instruction("slice.11", "slice", &row, 11, "\x0a");
    writer[0] = instruction("p.20", "parameter", &big, 20, "");
    writer[1] = instruction("p.21", "parameter", &row, 21, "");
    put_varint(&writer[1], 9, 1); /* parameter_number */
    writer[2] = instruction("update.22", "dynamic-update-slice", &big, 22, "\x14\x15");
    items[0] = instruction("x", "parameter", &big, 1, "");
    items[1] = instruction("fusion.2", "fusion", &row, 2, "\x01");
    put_bytes(&items[1], 38, "\x08", 1); /* called_computation_ids */
    items[2] = instruction("fusion.3", "fusion", &big, 3, "\x01\x02");
    put_bytes(&items[2], 38, "\x09", 1);
    items[3] = instruction("call.4", "custom-call", &both, 4, "\x02\x02");
    put_bytes(&items[3], 28, "__cublas$gemm", 13); /* custom_call_target */
    items[4] = instruction("slice.5", "slice", &row, 5, "\x01");
    put_bytes(&module, 1, "jit_f", 5);
    put_rooted(&module, 8, inner, 2, 11);
    put_rooted(&module, 9, writer, 3, 22);
    put_rooted(&module, 7, items, 5, 5);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(bytes_of(&fixture, "fusion.2"), 64);
    assert_int_equal(bytes_of(&fixture, "fusion.3"), 64);
    assert_int_equal(bytes_of(&fixture, "call.4"), 96);
    assert_int_equal(bytes_of(&fixture, "slice.5"), 64);
    release(&fixture);
}
