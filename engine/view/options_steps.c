#include "view/options_steps.h"

#include <inttypes.h>

/* Both ends included; one number is its own end. */
struct range {
    int64_t first, last;
};

static bool scan_range(struct str word, bool is_compat, struct range *range)
{
    size_t     colon = str_find(word, ':');
    struct str first = str_slice(word, 0, colon), last = str_slice(word, colon + 1, word.len);

    if (colon == word.len || is_compat) {
        range->last = 0;
        return str_to_int64(word, &range->first) && ((range->last = range->first), true);
    }
    *range = (struct range) { 0, INT64_MAX };
    return (first.len || last.len) && (!first.len || str_to_int64(first, &range->first)) &&
           (!last.len || str_to_int64(last, &range->last));
}

/* "there are steps 0 to 11". */
static bool view_steps_advise(const struct classic *classic, struct err *err)
{
    size_t count = classic->steps.count;

    if (count == 0)
        return err_advise(err, "this recording has none");
    if (classic->steps.items[count - 1] - classic->steps.items[0] == (int64_t)count - 1)
        return err_advise(err, "there are steps %" PRId64 " to %" PRId64, classic->steps.items[0],
                          classic->steps.items[count - 1]);
    return err_advise(err, "there are %zu steps from %" PRId64 " to %" PRId64, count,
                      classic->steps.items[0], classic->steps.items[count - 1]);
}

static bool add(struct view_options *options, int64_t step, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < options->steps.count; i++)
        if (options->steps.items[i] == step)
            return true;
    return vec_push(&options->steps, arena, step) ||
           err_set(err, ERR_LIMIT, "the options do not fit the memory limit");
}

/* What was recorded of a range. */
static bool add_range(const struct classic *classic, const struct range *range, const char *word,
                      struct arena *arena, struct view_options *options, struct err *err)
{
    bool has_any = false;

    for (size_t i = 0; i < classic->steps.count; i++) {
        int64_t step = classic->steps.items[i];

        if (step < range->first || step > range->last)
            continue;
        has_any = true;
        if (!add(options, step, arena, err))
            return false;
    }
    if (has_any)
        return true;
    err_set(err, ERR_USAGE, "-step %s: no such step was recorded", word);
    return view_steps_advise(classic, err);
}

static bool is_any(const struct range *range)
{
    return range->first < 0 && range->last == range->first;
}

bool view_options_steps(const struct view_values *values, const struct classic *classic,
                        struct arena *arena, struct view_options *options, struct err *err)
{
    for (size_t i = 0; i < values->steps.values.count; i++) {
        const char  *word = values->steps.values.items[i];
        struct range range;

        if (!scan_range(str_from(word), values->is_compat, &range)) {
            err_set(err, ERR_USAGE, "-step takes numbers of steps, not '%s'", word);
            return err_advise(err, "one as 3, several as 3,7 or 3:9, the mean of all as -1");
        }
        options->step = range.first < 0 ? -1 : range.first;
        if (!classic || values->is_compat || is_any(&range)) {
            if (!add(options, range.first, arena, err))
                return false;
        } else if (!add_range(classic, &range, word, arena, options, err)) {
            return false;
        }
    }
    if (options->steps.count == 1) {
        options->step = options->steps.items[0];
        options->steps.count = 0;
    } else if (options->steps.count) {
        options->step = -1;
    }
    return true;
}
