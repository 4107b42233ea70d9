/* eager_grown.c: see eager_grown.h. */
#include "analyze/eager/eager_grown.h"

enum {
    FEWEST_LINKS = 3, /* two are a result of three parts, as networks put together */
    MOST_CHAINS = 64  /* of a window: others do not count */
};

/* Concatenations along the first axis, that of batches: networks join features along others. */
struct chain {
    const struct tensor *part; /* the first */
    int64_t              rows; /* of what is together so far */
    double               links, ns, last_ns;
    uint32_t             source;
};
struct finder {
    const struct profile     *profile;
    const struct eager_calls *calls;
    struct eager_grown       *grown;
    VEC(struct chain) chains; /* of one window */
};

static bool differ_in_rows(const struct tensor *a, const struct tensor *b)
{
    if (a->rank < 1 || a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int8_t i = 1; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return a->dims[0] > 0 && b->dims[0] > 0;
}

/* The last part may be a smaller one. */
static bool goes_on(const struct chain *chain, const struct tensor *whole,
                    const struct tensor *part)
{
    return chain->rows == whole->dims[0] && differ_in_rows(chain->part, part) &&
           part->dims[0] <= chain->part->dims[0];
}

static bool add(struct finder *finder, struct arena *scratch, const struct eager_call *call)
{
    const struct tensor *whole = profile_op_input(finder->profile, call->op, 0);
    const struct tensor *part = profile_op_input(finder->profile, call->op, 1);
    struct chain        *chain = NULL;

    if (!whole || !part || !differ_in_rows(whole, part))
        return true;
    for (size_t i = 0; i < finder->chains.count && !chain; i++)
        if (goes_on(&finder->chains.items[i], whole, part))
            chain = &finder->chains.items[i];
    if (!chain) {
        if (whole->dims[0] != part->dims[0] || finder->chains.count >= MOST_CHAINS)
            return true;
        if (!vec_push(&finder->chains, scratch,
                      (struct chain) { .part = part, .rows = whole->dims[0] }))
            return false;
        chain = &finder->chains.items[finder->chains.count - 1];
    }
    chain->rows += part->dims[0];
    chain->links++;
    chain->ns += call->work_ns;
    chain->last_ns = call->work_ns;
    chain->source = call->source;
    return true;
}

static void close_window(struct finder *finder)
{
    for (size_t i = 0; i < finder->chains.count; i++) {
        const struct chain *chain = &finder->chains.items[i];

        if (chain->links < FEWEST_LINKS)
            continue;
        finder->grown->count += chain->links;
        finder->grown->ns += chain->ns;
        finder->grown->last_ns += chain->last_ns;
        finder->grown->source = chain->source;
    }
    finder->chains.count = 0;
}

bool eager_grown_find(const struct study *study, const struct eager_calls *calls,
                      struct arena *scratch, struct eager_grown *grown)
{
    struct finder            finder = { .profile = study->profile, .calls = calls, .grown = grown };
    const struct eager_call *before = NULL;

    *grown = (struct eager_grown) { .source = NO_ID };
    for (size_t i = 0; i < calls->list.count; before = &calls->list.items[i++]) {
        const struct eager_call *call = &calls->list.items[i];
        struct str               name = profile_str(study->profile, call->type);

        if (before && (before->window != call->window || before->timeline != call->timeline))
            close_window(&finder);
        if (call->phase == PHASE_FORWARD && call->op != NO_ID &&
            study->profile->ops.items[call->op].input_count == 2 &&
            str_fits(name, "aten::cat|aten::concat") && !add(&finder, scratch, call))
            return false;
    }
    close_window(&finder);
    return true;
}
