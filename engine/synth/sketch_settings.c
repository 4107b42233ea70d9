/* What lines at the top say of the whole profile, and the words that some lines choose from. */
#include "base/macros.h"
#include "synth/grammar.h"

#include <stdio.h>

enum { MAX_RANKS = 64 };

struct choice {
    const char *text;
    int         value;
};

static bool choose(const struct sketch_line *line, const struct choice *choices, size_t count,
                   int *value, struct err *err)
{
    struct token token = { .column = line->value_column };
    char         list[128] = "";
    size_t       len = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_equal(line->name, str_from(choices[i].text))) {
            *value = choices[i].value;
            return true;
        }
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                i == 0           ? ""
                                : i + 1 == count ? " and "
                                                 : ", ",
                                choices[i].text);
    }
    token_fail(err, &token, "there is no %s '%.*s'", sketch_word_text(line->word),
               (int)(line->name.len > 60 ? 60 : line->name.len), line->name.data);
    return err_advise(err, "there are %s", list);
}

static const struct choice formats[] = {
    { "xspace", SKETCH_XSPACE },
    { "kineto", SKETCH_KINETO },
    { "profile", SKETCH_PROFILE },
};
static const struct choice frameworks[] = {
    { "tensorflow", FRAMEWORK_TENSORFLOW },
    { "jax", FRAMEWORK_JAX },
    { "pytorch", FRAMEWORK_PYTORCH },
};

/* The texts are those that write_names.c knows. */
static const struct choice directions[] = {
    { "h2d", 0 },
    { "d2h", 1 },
    { "d2d", 2 },
    { "p2p", 3 },
};

static bool set_ranks(struct sketch *sketch, const struct sketch_line *line, struct err *err)
{
    struct token token = { .column = line->value_column };

    if (line->count < 1 || line->count > MAX_RANKS)
        return token_fail(err, &token, "1 to %d ranks are possible", MAX_RANKS);
    sketch->rank_count = (uint32_t)line->count;
    sketch->has_ranks = true;
    return true;
}

bool sketch_set(struct sketch *sketch, uint32_t row, struct err *err)
{
    const struct sketch_line *line = &sketch->lines.items[row];
    int                       value = 0;

    switch (line->word) {
    case WORD_FORMAT:
        if (!choose(line, formats, ARRAY_COUNT(formats), &value, err))
            return false;
        sketch->format = (enum sketch_format)value;
        return true;
    case WORD_FRAMEWORK:
        if (!choose(line, frameworks, ARRAY_COUNT(frameworks), &value, err))
            return false;
        sketch->framework = (enum sketch_framework)value;
        return true;
    case WORD_SEED:
        sketch->seed = (uint64_t)line->count;
        return true;
    case WORD_NOISE:
        sketch->noise_share = line->share;
        return true;
    case WORD_PACE:
        sketch->pace_share = line->share;
        return true;
    case WORD_RANKS:
    case WORD_HOSTS:
        return set_ranks(sketch, line, err);
    case WORD_CORES:
        sketch->core_count = (uint32_t)(line->count > 1 << 16 ? 1 << 16 : line->count);
        return true;
    case WORD_LAUNCH:
        sketch->launch_ns = line->duration_ns;
        return true;
    case WORD_GPU:
        sketch->gpu = row;
        return true;
    case WORD_PROFILE:
        sketch->profile = line->name;
        return true;
    default:
        return true;
    }
}

bool sketch_check_copy(const struct sketch_line *line, struct err *err)
{
    int ignored;

    return choose(line, directions, ARRAY_COUNT(directions), &ignored, err);
}
