#include "read/xspace/xspace_align.h"

#include "base/macros.h"

#include <string.h>

/* Points of a pairing; what is most in sum is taken. */
enum {
    SAME = 8,   /* the kernel is called after this very instruction */
    ALIKE = 6,  /* after one that does the same with the same shapes */
    COPIES = 6, /* a copy for a copy */
    CALLS = 4,  /* a library's kernel for a call of a library … */
    FITS = 3,   /* … that does what its name says */
    MISFITS = -1,
    INSIDE = 1, /* a library's kernel or a copy for something that has no kernel of its own */
    NEVER = -1000,
    PASSED_STEP = -3, /* it should have run */
    PASSED_KERNEL = -4,
    ONE_MORE = 0,       /* another kernel of the call before … */
    ONE_MORE_WHOLE = -3 /* … though it could be a call of its own */
};
enum { MOST_CELLS = 1 << 26 };
enum came_by { BY_NOTHING, BY_PAIR, BY_PASSED_STEP, BY_PASSED_KERNEL, BY_ONE_MORE };

/* What calls of libraries say they call, and what the kernels that do it are named. */
static const struct {
    const char *target, *kernel;
} kinds[] = {
    { "*fmha*|*attention*|*sdpa*", "*sdpa*|*fmha*|*flash*|*attention*" },
    { "*conv*", "*conv*|*fprop*|*dgrad*|*wgrad*|*implicit*|*winograd*|*cudnn*" },
    { "*cublas*|*gemm*|*matmul*|*triton_dot*",
      "*nvjet*|*gemm*|*gemv*|*cutlass*|*xmma*|*matmul*|Cijk_*|*dot_kernel*" },
    { "*Norm*|*norm*", "*norm*|*cudnn*" },
    { "*ort*|*cub*|*opK*|*op_k*", "*ort*|*cub*|*topk*|*TopK*|*select*" },
    { "*fft*", "*fft*|*radix*" },
};
/* Of several kernels of one call, those that are not its first. */
static const char rests[] =
    "*splitK*|*splitk*|*reduce_kernel*|*finalize*|*Reduce*|*convert*|*dot_do_o*|*scale*";

static uint64_t print_of(const struct profile *profile, uint32_t row)
{
    const struct op *op = &profile->ops.items[row];
    uint64_t         print = hash_mix(op->type, op->input_count);

    for (uint32_t i = 0; i < op->input_count + op->output_count; i++) {
        const struct tensor *tensor = &profile->tensors.items[op->first_input + i];

        print = hash_mix(print, (uint64_t)tensor->dtype << 8 | (uint8_t)tensor->rank);
        for (int8_t d = 0; d < tensor->rank; d++)
            print = hash_mix(print, (uint64_t)tensor->dims[d]);
    }
    return print;
}

static enum align_use use_of(struct str type)
{
    static const struct {
        const char    *types;
        enum align_use use;
    } uses[] = {
        { "copy|copy-start", ALIGN_COPIES },
        { "custom-call", ALIGN_CALLS },
        { "fusion", ALIGN_HOLDS },
        { "convolution|dot|fft|sort|cholesky|triangular-solve|rng*|all-*|reduce-scatter*|"
          "collective-*",
          ALIGN_HOLDS },
        { "dynamic-*|broadcast|concatenate|slice", ALIGN_HOLDS_COPY },
    };

    for (size_t i = 0; i < ARRAY_COUNT(uses); i++)
        if (str_fits(type, uses[i].types))
            return uses[i].use;
    return ALIGN_NO_KERNEL;
}

struct align_step align_step_of(const struct profile *profile, const struct hlo_step *step)
{
    struct align_step result = { .op = step->op,
                                 .print = print_of(profile, step->op),
                                 .use = use_of(
                                     profile_str(profile, profile->ops.items[step->op].type)) };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (str_fits(step->target, kinds[i].target))
            result.kinds |= 1U << i;
    return result;
}

struct align_kernel align_kernel_of(const struct profile *profile, const struct activity *activity,
                                    uint32_t op)
{
    struct str          name = profile_str(profile, activity->name);
    struct align_kernel result = { .sort = ALIGN_LIBRARY, .op = op };

    if (op != NO_ID) {
        result.sort = ALIGN_OWN;
        result.print = print_of(profile, op);
        return result;
    }
    if (activity->kind == ACTIVITY_MEMCPY || str_fits(name, "memcpy*|Memcpy*"))
        result.sort = ALIGN_COPY;
    result.is_rest = str_fits(name, rests);
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (str_fits(name, kinds[i].kernel))
            result.kinds |= 1U << i;
    return result;
}

static int points(const struct align_step *step, const struct align_kernel *kernel)
{
    if (kernel->sort == ALIGN_OWN)
        return kernel->op == step->op ? SAME : kernel->print == step->print ? ALIKE : NEVER;
    if (step->is_named || step->use == ALIGN_NO_KERNEL)
        return NEVER;
    if (kernel->sort == ALIGN_COPY)
        return step->use == ALIGN_COPIES ? COPIES : INSIDE;
    if (step->use == ALIGN_CALLS)
        return CALLS + (!step->kinds ? 0 : step->kinds & kernel->kinds ? FITS : MISFITS);
    return step->use == ALIGN_HOLDS ? INSIDE : NEVER;
}

struct grid {
    const struct align_step   *steps;
    const struct align_kernel *kernels;
    size_t                     width; /* steps + 1 */
    int32_t                   *row;   /* points by steps that are passed, of the kernels so far */
    uint8_t                   *by;    /* enum came_by, a row a kernel */
};

/* A kernel more for the last step that was taken. */
static int points_of_more(const struct align_step *step, const struct align_kernel *kernel)
{
    if (kernel->sort != ALIGN_LIBRARY || step->is_named ||
        (step->use != ALIGN_CALLS && step->use != ALIGN_HOLDS))
        return NEVER;
    return kernel->is_rest ? ONE_MORE : ONE_MORE_WHOLE;
}

static void take(int32_t value, enum came_by by, int32_t *best, uint8_t *came)
{
    if (value <= *best)
        return;
    *best = value;
    *came = (uint8_t)by;
}

/* Steps before the first kernel and behind the last one belong to other launches: they cost
 * nothing. */
static void fill_row(struct grid *grid, size_t kernel, bool is_last)
{
    uint8_t *by = grid->by + (kernel + 1) * grid->width;
    int32_t  diagonal = grid->row[0];

    grid->row[0] += PASSED_KERNEL;
    by[0] = BY_PASSED_KERNEL;
    for (size_t i = 1; i < grid->width; i++) {
        int32_t                  above = grid->row[i], best = INT32_MIN / 2;
        const struct align_step *step = &grid->steps[i - 1];

        take(diagonal + points(step, &grid->kernels[kernel]), BY_PAIR, &best, &by[i]);
        take(above + PASSED_KERNEL, BY_PASSED_KERNEL, &best, &by[i]);
        if (kernel)
            take(above + points_of_more(step, &grid->kernels[kernel]), BY_ONE_MORE, &best, &by[i]);
        take(grid->row[i - 1] + (is_last ? 0 : PASSED_STEP), BY_PASSED_STEP, &best, &by[i]);
        diagonal = above;
        grid->row[i] = best;
    }
}

/* From the end back. A kernel more is for the step that was paired last before it, which is the one
 * at its place only if that was paired. */
static void walk_back(const struct grid *grid, size_t count, uint32_t *ops)
{
    size_t step = grid->width - 1, kernel = count;

    while (kernel) {
        switch ((enum came_by)grid->by[kernel * grid->width + step]) {
        case BY_PAIR:
            ops[--kernel] = grid->steps[--step].op;
            break;
        case BY_ONE_MORE:
            ops[--kernel] = grid->steps[step - 1].op;
            break;
        case BY_PASSED_STEP:
            step--;
            break;
        case BY_PASSED_KERNEL:
        case BY_NOTHING:
            kernel--;
            break;
        }
    }
}

bool align_kernels(const struct align_step *steps, size_t step_count,
                   const struct align_kernel *kernels, size_t count, uint32_t *ops,
                   struct arena *scratch)
{
    struct grid grid = { .steps = steps, .kernels = kernels, .width = step_count + 1 };

    for (size_t i = 0; i < count; i++)
        ops[i] = NO_ID;
    if (step_count == 0 || (count + 1) > MOST_CELLS / grid.width)
        return true;
    grid.row = arena_new_array(scratch, int32_t, grid.width);
    grid.by = arena_new_array(scratch, uint8_t, grid.width * (count + 1));
    if (!grid.row || !grid.by)
        return false;
    memset(grid.row, 0, grid.width * sizeof *grid.row);
    for (size_t i = 0; i < count; i++)
        fill_row(&grid, i, i + 1 == count);
    walk_back(&grid, count, ops);
    return true;
}
