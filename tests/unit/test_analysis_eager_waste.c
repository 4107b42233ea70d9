
#include "testing.h"

#include "analyze/analysis.h"
#include "eager_program.h"

static uint32_t kind(struct program *program, const char *name, const char *tensors)
{
    uint32_t op = tensors ? builder_op(&program->b, name, name, tensors) : NO_ID;

    return builder_activity(&program->b, name, ACTIVITY_OP, op);
}

/* A call of `ns`, 100 ns behind the one before; its tag. */
static uint32_t call_of(struct program *program, uint32_t what, int64_t ns)
{
    uint32_t tag = builder_event(&program->b, program->thread, what, program->now, ns);

    program->now += ns + 100;
    return tag;
}

/* A backward node of `ns` for the forward call `tag`, which gets the number. */
static void node_of(struct program *program, uint32_t tag, int64_t number, int64_t ns)
{
    uint32_t back =
        builder_slice(&program->b, program->thread, "autograd::engine::evaluate_function: X",
                      ACTIVITY_EXECUTOR, program->now, ns);

    builder_stat(&program->b, tag, STAT_SEQUENCE, number);
    builder_stat(&program->b, back, STAT_SEQUENCE, number);
    program->now += ns;
}

static void finish(struct program *program)
{
    struct err err = { 0 };

    builder_finish(&program->b);
    assert_true(analysis_eager_waste.run(&program->b.study, &err));
}

static double fact(const struct program *program, const char *name)
{
    return builder_fact(&program->b, name);
}

/* The mean of 64 values is read: 3 + 0.1 + 1 us; abs, max and their read: 2 + 2 + 1 + 0.2 us; the
 * value at a rank: 6 + 0.1 + 1 us. The loss has one value, and nothing is taken of it, and the
 * place of the largest is an answer of the program. */
TEST(statistics_are_read)
{
    struct program program;

    start(&program);
    call_of(&program, kind(&program, "aten::linear", "f32[8,64] f32[64,64]"), 9000);
    call_of(&program, kind(&program, "aten::mean", "f32[64]"), 3000);
    call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    call_of(&program, kind(&program, "aten::abs", "f32[64]"), 2000);
    call_of(&program, kind(&program, "aten::max", "f32[64]"), 2000);
    call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    call_of(&program, kind(&program, "aten::kthvalue", "f32[64]"), 6000);
    call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    call_of(&program, kind(&program, "aten::linear", "f32[8,64] f32[64,64]"), 9000);
    call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    call_of(&program, kind(&program, "aten::argmax", "f32[64]"), 3000);
    call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    finish(&program);
    assert_true(fact(&program, "torch.statistics_reads") == 3);
    assert_true(fact(&program, "torch.statistics_ns") == 4100 + 5200 + 7100);
    builder_free(&program.b);
}

/* Three times arange, a difference and a mask of it: 1 + 2 + 3 + 0.2 us each, of which two are
 * again. Noise of the same size is drawn, so it is no constant, nor is room that rows are written
 * into. */
TEST(constants_are_built_again)
{
    struct program program;

    start(&program);
    uint32_t arange = kind(&program, "aten::arange", NULL);
    uint32_t sub = kind(&program, "aten::sub", "f32[9,1] f32[1,9]");
    uint32_t mask = kind(&program, "aten::masked_fill", "f32[9,9] i8[9,9]");
    uint32_t work = kind(&program, "aten::add", "f32[2,9,7] f32[2,9,7]");
    for (int i = 0; i < 3; i++) {
        call_of(&program, arange, 1000);
        call_of(&program, sub, 2000);
        call_of(&program, mask, 3000);
        call_of(&program, work, 5000);
    }
    uint32_t zeros = kind(&program, "aten::zeros", NULL);
    uint32_t noise = kind(&program, "aten::normal_", "f32[9,9]");
    for (int i = 0; i < 3; i++) {
        call_of(&program, zeros, 1000);
        call_of(&program, noise, 2000);
        call_of(&program, mask, 3000);
    }
    uint32_t at = kind(&program, "aten::add", "f32[4]");
    uint32_t rows = kind(&program, "aten::index_copy_", "f32[64,8] i64[4] f32[4,8]");
    for (int i = 0; i < 3; i++) {
        call_of(&program, zeros, 9000);
        call_of(&program, zeros, 9000);
        call_of(&program, arange, 1000);
        call_of(&program, at, 1000);
        call_of(&program, rows, 1000);
    }
    finish(&program);
    assert_true(fact(&program, "torch.constants_again") == 2);
    assert_true(fact(&program, "torch.constants_again_ns") == 2 * 6200);
    builder_free(&program.b);
}

/* Five rounds take a slice, norm the weight (3 us, backward 4 us) and multiply by it: four of them
 * are again, each 3 + 4 us. */
TEST(weights_are_derived_again)
{
    struct program program;
    uint32_t       norms[5];

    start(&program);
    uint32_t select = kind(&program, "aten::select", "f32[16,5,64]");
    uint32_t norm = kind(&program, "aten::_weight_norm", "f32[64,64] f32[64,1]");
    uint32_t linear = kind(&program, "aten::linear", "f32[16,64] f32[64,64]");
    for (int i = 0; i < 5; i++) {
        call_of(&program, select, 1000);
        norms[i] = call_of(&program, norm, 3000);
        call_of(&program, linear, 8000);
    }
    for (int i = 0; i < 5; i++)
        node_of(&program, norms[i], i, 4000);
    finish(&program);
    assert_true(fact(&program, "torch.weights_again") == 4);
    assert_true(fact(&program, "torch.weights_again_ns") == 4 * 7000);
    builder_free(&program.b);
}

/* Five rounds solve for a matrix, beside which an identity is made (1 us, no tensor), and multiply
 * two of its sizes (2 us) for the weight of the next product: 6 + 1 + 2 us and two pauses of 0.1
 * us, four times again. Data of the same sizes would tell nothing: with 64 rows there is no weight.
 * Nor does a matrix that changes behind its use, as a filter's covariance. */
TEST(matrices_are_derived_again)
{
    enum { WEIGHT, DATA, STATE };

    for (int way = WEIGHT; way <= STATE; way++) {
        struct program program;
        bool           is_weight = way == WEIGHT;

        start(&program);
        uint32_t select = kind(&program, "aten::select", "f32[16,5,64]");
        uint32_t solve = kind(&program, "aten::linalg_solve", "f32[64,64] f32[64,64]");
        uint32_t eye = kind(&program, "aten::eye", NULL);
        uint32_t matmul = kind(&program, "aten::matmul", "f32[64,64] f32[64,64]");
        uint32_t linear = kind(&program, "aten::linear",
                               way == DATA ? "f32[64,64] f32[64,64]" : "f32[16,64] f32[64,64]");
        uint32_t sub = kind(&program, "aten::sub", "f32[64,64] f32[64,64]");
        for (int i = 0; i < 5; i++) {
            call_of(&program, select, 1000);
            call_of(&program, solve, 6000);
            call_of(&program, eye, 1000);
            call_of(&program, matmul, 2000);
            call_of(&program, linear, 8000);
            if (way == STATE)
                call_of(&program, sub, 1000);
        }
        finish(&program);
        assert_true(fact(&program, "torch.weights_again") == (is_weight ? 4 : 0));
        assert_true(fact(&program, "torch.weights_again_ns") == (is_weight ? 4 * 9200 : 0));
        builder_free(&program.b);
    }
}

/* Passes go over one call eight times in a step, 3 us each, and over the product that each of them
 * makes on the way, 2 us: six of eight are too much. Five times may be derivatives of a formula. */
TEST(rows_of_a_jacobian)
{
    for (int rows = 5; rows <= 8; rows += 3) {
        struct program program;
        uint32_t       linear;

        start(&program);
        linear = call_of(&program, kind(&program, "aten::linear", "f32[8,16] f32[4,16]"), 1000);
        for (int i = 0; i < rows; i++) {
            uint32_t made = builder_slice(&program.b, program.thread, "aten::mm", ACTIVITY_OP,
                                          program.now + 10, 1000);

            builder_stat(&program.b, made, STAT_SEQUENCE, 20 + i);
            node_of(&program, linear, 7, 3000);
        }
        for (int i = 0; i < rows; i++)
            node(&program, 20 + i, 2000);
        finish(&program);
        assert_true(fact(&program, "torch.walks") == (rows == 8 ? 8 : 0));
        assert_true(fact(&program, "torch.walked_ns") == (rows == 8 ? 6 * (3000 + 2000) : 0));
        builder_free(&program.b);
    }
}

/* Behind the optimizer's step the product of the trained weight runs twice on other rows: from the
 * first of them to the end 5 + 0.1 + 5 + 0.1 + 2 us. With a draw it makes new experience. */
TEST(validation_behind_the_update)
{
    for (int draws = 0; draws < 2; draws++) {
        struct program program;

        start(&program);
        uint32_t trained =
            call_of(&program, kind(&program, "aten::linear", "f32[8,64] f32[32,64]"), 9000);
        uint32_t other = kind(&program, "aten::linear", "f32[99,64] f32[32,64]");
        node_of(&program, trained, 3, 9000);
        builder_slice(&program.b, program.thread, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION,
                      program.now, 1000);
        program.now += 1000;
        call_of(&program, other, 5000);
        call_of(&program, other, 5000);
        call_of(&program,
                kind(&program, draws ? "aten::multinomial" : "aten::argmax", "f32[99,32]"), 2000);
        finish(&program);
        assert_true(fact(&program, "torch.validation_products") == (draws ? 0 : 2));
        assert_true(fact(&program, "torch.validation_ns") == (draws ? 0 : 12200));
        builder_free(&program.b);
    }
}

/* A tensor becomes text: isfinite, masked_select, ceil, then eight times a slice and its value. Of
 * 1 us each with 0.1 us between them that is 19 x 1.1 - 0.1 us. */
TEST(a_tensor_is_printed)
{
    static const char *const first[] = { "aten::isfinite", "aten::masked_select", "aten::ceil" };
    struct program           program;

    start(&program);
    call_of(&program, kind(&program, "aten::linear", "f32[8,64] f32[64,64]"), 9000);
    for (size_t i = 0; i < 3; i++)
        call_of(&program, kind(&program, first[i], "f32[8]"), 1000);
    for (int i = 0; i < 8; i++) {
        call_of(&program, kind(&program, "aten::select", "f32[8]"), 1000);
        call_of(&program, kind(&program, "aten::item", "f32[]"), 1000);
    }
    finish(&program);
    assert_true(fact(&program, "torch.formatted_ns") == 20800);
    builder_free(&program.b);
}
