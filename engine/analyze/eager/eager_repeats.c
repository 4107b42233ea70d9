#include "analyze/eager/eager_repeats.h"

/* Does the unused run [first, end) of products repeat a run of used ones? Runs of one product and
 * less than half of the used ones prove nothing. */
static bool repeats_used(const struct eager_product *products, size_t begin, size_t stop,
                         size_t first, size_t end)
{
    size_t length = end - first, used = 0;

    for (size_t i = begin; i < stop; i++)
        used += products[i].is_used;
    if (length < 2 || length * 2 < used)
        return false;
    for (size_t i = begin; i + length <= stop; i++) {
        size_t same = 0;

        while (same < length && products[i + same].is_used &&
               products[i + same].op == products[first + same].op)
            same++;
        if (same == length)
            return true;
    }
    return false;
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
static void count_repeated(const struct eager_call *calls, const struct eager_product *products,
                           size_t begin, size_t stop, struct eager_repeats *found)
{
    for (size_t first = begin, end; first < stop; first = end) {
        bool is_again;

        end = first + 1;
        if (products[first].is_used)
            continue;
        while (end < stop && !products[end].is_used &&
               products[end].is_recorded == products[first].is_recorded)
            end++;
        if (!repeats_used(products, begin, stop, first, end))
            continue;
        is_again = products[first].is_recorded || is_behind_update(calls, products, first, stop);
        *(is_again ? &found->products : &found->untrained_products) += (double)(end - first);
        for (uint32_t i = products[first].call; i <= products[end - 1].call; i++)
            if (calls[i].phase == PHASE_FORWARD)
                *(is_again ? &found->ns : &found->untrained_ns) += calls[i].work_ns;
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
        count_repeated(call, product, begin, i, &found);
        begin = i;
    }
    return found;
}
