#include "analyze/eager/eager_repeats.h"

static uint32_t type_at(const struct eager_calls *calls, uint32_t call)
{
    return call < calls->list.count ? calls->list.items[call].type : NO_ID;
}

/* The same op on the same shapes; without shapes, the same op between the same two, within a run.
 */
static bool is_same(const struct eager_calls *calls, const struct eager_product *a,
                    const struct eager_product *b, bool is_first, bool is_last)
{
    if (a->op != NO_ID || b->op != NO_ID)
        return a->op == b->op;
    return type_at(calls, a->call) == type_at(calls, b->call) &&
           (is_first || type_at(calls, a->call - 1) == type_at(calls, b->call - 1)) &&
           (is_last || type_at(calls, a->call + 1) == type_at(calls, b->call + 1));
}

/* The used product with which a run begins that the unused run [first, end) repeats; SIZE_MAX:
 * none. Runs of one product and less than half of the used ones prove nothing. */
static size_t repeated_by(const struct eager_calls *calls, const struct eager_product *products,
                          size_t begin, size_t stop, size_t first, size_t end)
{
    enum { FEW = 10 };
    size_t length = end - first, used = 0;
    bool   by_shape = products[first].op != NO_ID;

    for (size_t i = begin; i < stop; i++)
        used += products[i].is_used;
    if (length < 2 || length * 2 < used)
        return SIZE_MAX;
    for (size_t i = begin; i + length <= stop; i++) {
        size_t others = 0, seen = 0;

        /* Between the passes of several batches one trains, the other does not. */
        for (; seen < length && products[i + seen].is_used && others * FEW <= length; seen++)
            others += !is_same(calls, &products[i + seen], &products[first + seen], seen == 0,
                               seen + 1 == length);
        if (seen == length && (by_shape ? others == 0 : others * FEW <= length))
            return i;
    }
    return SIZE_MAX;
}

/* Behind the update, and nothing is trained behind it: no teacher and no target network, whose
 * results a loss would take. */
static bool is_behind_update(const struct eager_call *calls, const struct eager_product *products,
                             size_t first, size_t stop)
{
    uint32_t call = products[first].call;

    for (size_t i = first; i < stop; i++)
        if (products[i].is_used)
            return false;
    while (call > 0 && calls[call - 1].window == calls[call].window &&
           calls[call].phase != PHASE_UPDATE && calls[call].phase != PHASE_BACKWARD)
        call--;
    return calls[call].phase == PHASE_UPDATE;
}

/* Products [begin, stop) of one step. */
static void count_repeated(const struct eager_calls *of, const struct eager_product *products,
                           size_t begin, size_t stop, struct eager_repeats *found)
{
    const struct eager_call *calls = of->list.items;

    for (size_t first = begin, end; first < stop; first = end) {
        struct eager_pair pair = { products[first].call, 0, 0 }, *longest;
        size_t            used;
        bool              is_again;

        end = first + 1;
        if (products[first].is_used)
            continue;
        while (end < stop && !products[end].is_used &&
               products[end].is_recorded == products[first].is_recorded)
            end++;
        used = repeated_by(of, products, begin, stop, first, end);
        if (used == SIZE_MAX)
            continue;
        is_again = products[first].is_recorded || is_behind_update(calls, products, first, stop);
        *(is_again ? &found->products : &found->untrained_products) += (double)(end - first);
        for (uint32_t i = products[first].call; i <= products[end - 1].call; i++)
            if (calls[i].phase == PHASE_FORWARD)
                pair.ns += calls[i].work_ns;
        pair.of = products[used].call;
        *(is_again ? &found->ns : &found->untrained_ns) += pair.ns;
        longest = is_again ? &found->longest : &found->longest_untrained;
        if (pair.ns > longest->ns)
            *longest = pair;
    }
}

struct eager_repeats eager_repeats_count(const struct eager_calls    *calls,
                                         const struct eager_products *products)
{
    const struct eager_call    *call = calls->list.items;
    const struct eager_product *product = products->list.items;
    struct eager_repeats        found = { 0 };
    size_t                      begin = 0;

    for (size_t i = 1; i <= products->list.count; i++) {
        if (i < products->list.count &&
            call[product[i].call].window == call[product[begin].call].window)
            continue;
        count_repeated(calls, product, begin, i, &found);
        begin = i;
    }
    return found;
}
