/*
 * Kernel names against tests/kernel_names.tsv: names of public recordings whose type, element type
 * and use of tensor cores were settled by reading them. Run by hand it prints the table of
 * docs/measuring.md and each name that differs.
 */
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "analyze/kernel/kernel_names.h"
#include "base/macros.h"

enum { LINE_BYTES = 2048 };

struct tally {
    unsigned right, unknown, wrong;
};

/* What the file calls a type, and what tfprof calls it. */
static const struct {
    const char *label, *category;
} types[] = {
    { "attention_fwd", "attention" },
    { "attention_bwd", "attention" },
    { "rng", "random" },
    { "memset", "fill" },
    { "moe_routing", "routing" },
};
static const struct {
    const char *label;
    enum dtype  dtype;
} dtypes[] = {
    { "f64", DTYPE_F64 }, { "f32", DTYPE_F32 },   { "tf32", DTYPE_TF32 },
    { "f16", DTYPE_F16 }, { "bf16", DTYPE_BF16 }, { "f8", DTYPE_F8 },
    { "i64", DTYPE_I64 }, { "i32", DTYPE_I32 },   { "c64", DTYPE_C64 },
};

static void count(struct tally *tally, bool is_right, bool is_unknown)
{
    if (is_right)
        tally->right++;
    else if (is_unknown)
        tally->unknown++;
    else
        tally->wrong++;
}

static bool is_type(const char *label, enum kernel_category category)
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (!strcmp(types[i].label, label))
            label = types[i].category;
    return !strcmp(label, kernel_category_name(category));
}

static enum dtype dtype_of(const char *label)
{
    for (size_t i = 0; i < ARRAY_COUNT(dtypes); i++)
        if (!strcmp(dtypes[i].label, label))
            return dtypes[i].dtype;
    return DTYPE_UNKNOWN;
}

static bool is_product(enum kernel_category category)
{
    return category == KERNEL_GEMM || category == KERNEL_CONV || category == KERNEL_ATTENTION;
}

/* One line: type, element type ("-": none), tensor cores, name; parted by tabs. */
static void compare(char *line, struct tally tallies[3])
{
    const char        *type = strtok(line, "\t"), *dtype = strtok(NULL, "\t");
    const char        *cores = strtok(NULL, "\t"), *text = strtok(NULL, "\n");
    struct kernel_name name = kernel_name_parse(str_from(text));
    bool               is_on_cores = name.tensor_core == TENSOR_CORE_YES;
    struct tally       before[3];

    memcpy(before, tallies, sizeof before);
    count(&tallies[0], is_type(type, name.category), false);
    if (strcmp(dtype, "-") != 0)
        count(&tallies[1], name.dtype == dtype_of(dtype), name.dtype == DTYPE_UNKNOWN);
    count(&tallies[2], is_on_cores == !strcmp(cores, "yes"),
          name.tensor_core == TENSOR_CORE_UNKNOWN && is_product(name.category));
    for (int i = 0; i < 3; i++)
        if (tallies[i].right == before[i].right &&
            memcmp(&tallies[i], &before[i], sizeof before[i]) != 0)
            printf("%s: %s %s %s, tfprof %s %s %s: %s\n",
                   i == 0   ? "type"
                   : i == 1 ? "dtype"
                            : "cores",
                   type, dtype, cores, kernel_category_name(name.category), dtype_name(name.dtype),
                   tensor_core_name(name.tensor_core), text);
}

static double share(unsigned part, const struct tally *tally)
{
    return (double)part / (double)(tally->right + tally->unknown + tally->wrong);
}

TEST(names_tell_what_readers_saw)
{
    static const char *const titles[3] = { "type", "element type", "tensor cores" };
    struct tally             tallies[3] = { 0 };
    char                     line[LINE_BYTES];
    FILE                    *file = fopen(TESTS_DIR "/kernel_names.tsv", "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* titles of columns */
    while (fgets(line, sizeof line, file))
        compare(line, tallies);
    fclose(file);
    printf("| | names | right | unknown | wrong |\n|---|---|---|---|---|\n");
    for (int i = 0; i < 3; i++)
        printf("| %s | %u | %.1f %% | %.1f %% | %.1f %% |\n", titles[i],
               tallies[i].right + tallies[i].unknown + tallies[i].wrong,
               100 * share(tallies[i].right, &tallies[i]),
               100 * share(tallies[i].unknown, &tallies[i]),
               100 * share(tallies[i].wrong, &tallies[i]));
    assert_true(share(tallies[0].right, &tallies[0]) >= 0.97);
    assert_true(share(tallies[1].right, &tallies[1]) >= 0.95);
    assert_true(share(tallies[1].wrong, &tallies[1]) <= 0.02);
    assert_true(share(tallies[2].right, &tallies[2]) >= 0.95);
    assert_true(share(tallies[2].wrong, &tallies[2]) <= 0.01);
}
