/* makers.c: see makers.h. */
#include "analyze/excess/makers.h"

/* Elements of what both make together, where one is spread out over the other; -1: not known. */
static int64_t spread_count(const struct tensor *a, const struct tensor *b)
{
    int64_t count = 1;

    for (int8_t i = 1; i <= a->rank || i <= b->rank; i++) {
        int64_t left = i <= a->rank ? a->dims[a->rank - i] : 1;
        int64_t right = i <= b->rank ? b->dims[b->rank - i] : 1;

        count *= left > right ? left : right;
        if (left < 0 || right < 0 || count > INT32_MAX)
            return -1;
    }
    return count;
}

static bool is_linear(const struct ledger *ledger, const struct work_unit *unit)
{
    return str_ends(unit_type(ledger, unit), STR("linear"));
}

/* Channels, or columns, of what a product or a convolution makes; 0: not known. */
int64_t unit_width(const struct ledger *ledger, const struct work_unit *unit)
{
    uint32_t             left = unit_first_factor(ledger, unit);
    const struct tensor *weight = unit_input(ledger, unit, left + 1);

    if (!weight || weight->rank < 2)
        return 0;
    if (str_contains(unit_type(ledger, unit), STR("transpose")))
        return weight->dims[1];
    return unit->op_class == OP_CONVOLUTION || is_linear(ledger, unit)
               ? weight->dims[0]
               : weight->dims[weight->rank - 1];
}

/* Of all its operands, which lists have too: the elements, and of the largest. */
int64_t unit_operands(const struct ledger *ledger, const struct work_unit *unit, int64_t *largest)
{
    const struct tensor *tensor;
    int64_t              sum = 0;

    *largest = 0;
    for (uint32_t i = 0; (tensor = unit_input(ledger, unit, i)); i++) {
        int64_t count = tensor_count(tensor);

        sum += count > 0 ? count : 0;
        *largest = count > *largest ? count : *largest;
    }
    return sum;
}

/* Can the op have made a tensor like `made`? Where its operands do not tell, it can. */
bool unit_can_make(const struct ledger *ledger, const struct work_unit *unit,
                   const struct tensor *made)
{
    const struct tensor *first = unit_input(ledger, unit, 0), *second = unit_input(ledger, unit, 1);
    const struct tensor *left = unit_left(ledger, unit);
    int64_t    count = tensor_count(made), largest, sum = unit_operands(ledger, unit, &largest);
    struct str type = unit_type(ledger, unit);

    switch (unit->op_class) {
    case OP_CONVOLUTION:
    case OP_POOL:
        /* A batch of pictures has its channels behind the samples; pools keep them. */
        return !left ||
               (left->rank == made->rank && left->dims[0] == made->dims[0] &&
                (unit->op_class == OP_POOL ? left->rank != 4 || left->dims[1] == made->dims[1]
                                           : unit_width(ledger, unit) == made->dims[1]));
    case OP_PRODUCT:
        return !left || left->rank < 1 || unit_width(ledger, unit) <= 0 ||
               tensor_count(left) / left->dims[left->rank - 1] * unit_width(ledger, unit) == count;
    case OP_EMBEDDING:
        return !first || !second || first->rank != 2 ||
               tensor_count(second) * first->dims[1] == count;
    case OP_CONCAT:
        return str_fits(type, "*::cat|*::stack|*::concat") ? sum == count : largest <= count;
    case OP_SLICE:
    case OP_REDUCE:
        return largest >= count;
    case OP_GATHER:
        return !first || first->rank < 1 ||
               first->dims[first->rank - 1] == made->dims[made->rank - 1];
    case OP_RANDOM:
        return sum == 0 || largest == count;
    case OP_ELEMENTWISE:
        return largest == count || (first && second && spread_count(first, second) == count);
    default:
        if (str_contains(type, STR("expand")) || str_contains(type, STR("upsample")) ||
            str_contains(type, STR("interpolate")))
            return largest > 0 && largest <= count && count % largest == 0;
        return largest == count;
    }
}
