/*
 * eager waste: work of an eager program that repeats what was known. Statistics of tensors whose
 * values Python reads, constants that are built again within a step, weights that are derived from
 * the same parameters for every use, a pass without gradients behind the optimizer's update, and
 * backward passes that go over the same calls many times.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/eager/eager_kinds.h"
#include "analyze/eager/eager_lines.h"
#include "analyze/eager/eager_validation.h"
#include "analyze/eager/eager_walks.h"
#include "analyze/emit.h"
#include "analyze/step/own_lines.h"

enum waste_fact {
    STATISTICS_NS,
    STATISTICS_READS,
    CONSTANTS_NS,
    CONSTANTS,
    WEIGHTS_NS,
    WEIGHTS,
    VALIDATION_NS,
    VALIDATION_PRODUCTS,
    FORMATTED_NS,
    WALKED_NS,
    WALKS,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [STATISTICS_NS] = { "torch.statistics_ns", UNIT_NS,
                        "reductions of tensors and what leads to them, whose values Python reads "
                        "outside the optimizer, a step" },
    [STATISTICS_READS] = { "torch.statistics_reads", UNIT_COUNT, "values read so a step" },
    [CONSTANTS_NS] = { "torch.constants_again_ns", UNIT_NS,
                       "building constants that the same step has built before, a step" },
    [CONSTANTS] = { "torch.constants_again", UNIT_COUNT, "how many a step" },
    [WEIGHTS_NS] = { "torch.weights_again_ns", UNIT_NS,
                     "deriving the weight of a product from parameters again for another use, a "
                     "step, both ways" },
    [WEIGHTS] = { "torch.weights_again", UNIT_COUNT, "how many times a step" },
    [VALIDATION_NS] = { "torch.validation_ns", UNIT_NS,
                        "calls behind the update that run the trained products without gradients, "
                        "a step" },
    [VALIDATION_PRODUCTS] = { "torch.validation_products", UNIT_COUNT, "products in it a step" },
    [FORMATTED_NS] = { "torch.formatted_ns", UNIT_NS,
                       "tensors turned into text value by value, pauses included, a step" },
    [WALKED_NS] = { "torch.walked_ns", UNIT_NS,
                    "backward nodes beyond two for a call that a step's passes go over six times "
                    "and more, and nodes for what those made" },
    [WALKS] = { "torch.walks", UNIT_COUNT,
                "most times that a step's backward passes go over one such call" },
};

enum { /* what a call may be part of */
       OF_STATISTIC = 1,
       REDUCES = 2, /* to few values */
       MAKES = 4,   /* a tensor from numbers */
       OF_CONSTANT = 8,
       IS_CAST = 16,
       FORMATS = 32, /* as turning a tensor into text does, and little else */
       IS_NAMED = 64
};
static const struct {
    const char *names; /* each between spaces */
    uint8_t     is;
} words[] = {
    { " mean std var var_mean sum norm linalg_vector_norm linalg_norm frobenius_norm amax amin any "
      "all histc histogram quantile nanquantile kthvalue median nanmedian mode nanmean nansum "
      "aminmax std_mean count_nonzero ",
      OF_STATISTIC | REDUCES },
    { " max min ", OF_STATISTIC | REDUCES },
    /* A place is what a program decides by, not what it logs, unless it is counted. */
    { " argmax argmin ", OF_STATISTIC },
    { " masked_select ceil isfinite ", FORMATS },
    { " isnan isinf isfinite square detach cpu flatten resolve_conj resolve_neg lift_fresh ",
      OF_STATISTIC },
    { " abs eq ne lt le gt ge pow sqrt sub div mul select view reshape to float logical_and "
      "logical_not ",
      OF_STATISTIC | OF_CONSTANT },
    { " arange ones full eye linspace tril_indices triu_indices zeros ", MAKES | OF_CONSTANT },
    { " add rsub neg clamp clamp_min clamp_max exp log log2 rsqrt reciprocal cos sin where "
      "masked_fill tril triu logical_or bitwise_and bitwise_or bitwise_not and or outer ger cat "
      "stack repeat repeat_interleave expand expand_as unsqueeze squeeze slice t transpose permute "
      "contiguous clone minimum maximum floor_divide remainder floor sign fill zero flip roll "
      "cumsum ones_like zeros_like full_like ",
      OF_CONSTANT },
};

static const struct table_spec tables[] = {
    { "eager_waste_lines", "lines of the program at which work lies that repeats what was known",
      eager_line_columns, EAGER_LINE_COLUMNS },
};

struct recurrence { /* the same work of one step */
    double   count, ns;
    uint32_t source; /* of the last one */
};
struct finder {
    struct study             *study;
    const struct profile     *profile;
    const struct eager_calls *calls;
    struct arena             *scratch;
    uint8_t                  *is;    /* by name */
    struct eager_kind        *kinds; /* by name */
    struct eager_lines        lines;
    double                    sums[FACT_COUNT];
};

/* Time that a fact counts, of calls that begin with one. */
static void spend(struct finder *finder, enum waste_fact fact, const struct eager_call *call,
                  double ns)
{
    finder->sums[fact] += ns;
    eager_lines_add(&finder->lines, fact, call->source, ns);
}

static uint8_t part_of(struct finder *finder, uint32_t type)
{
    struct arena scratch = { 0 };
    struct text  word = { .arena = &scratch };
    struct str   name = eager_base_name(profile_str(finder->profile, type));

    if (finder->is[type])
        return finder->is[type];
    finder->is[type] = IS_NAMED;
    while (str_ends(name, STR("_")))
        name = str_slice(name, 0, name.len - 1);
    text_print(&word, " %.*s ", STR_ARG(name));
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (str_contains(str_from(words[i].names), text_str(&word)))
            finder->is[type] |= words[i].is;
    if (str_fits(name, "to|type_as"))
        finder->is[type] |= IS_CAST;
    arena_free(&scratch);
    return finder->is[type];
}

static uint16_t traits_of(struct finder *finder, uint32_t type)
{
    struct eager_kind *kind = &finder->kinds[type];

    if (!kind->is_known)
        *kind = eager_kind_of(eager_base_name(profile_str(finder->profile, type)));
    return kind->traits;
}

/* A statistic begins at the first call that leads to a value which Python reads, and ends at the
 * reading. What reduces fewer than FEWEST_ELEMENTS is none. */
static void count_statistics(struct finder *finder)
{
    enum { FEWEST_ELEMENTS = 32 };
    const struct eager_call *calls = finder->calls->list.items;
    size_t                   first = 0;
    bool                     has_reduced = false;

    for (size_t i = 0; i < finder->calls->list.count; i++) {
        uint8_t is = part_of(finder, calls[i].type);

        if (i > first && !eager_is_together(&calls[i], &calls[i - 1])) {
            first = i;
            has_reduced = false;
        }
        if (eager_is_unrecorded(&calls[i]) && is & OF_STATISTIC) {
            has_reduced =
                has_reduced ||
                (is & REDUCES && eager_elements(finder->profile, calls[i].op) >= FEWEST_ELEMENTS);
            continue;
        }
        if (has_reduced && eager_is_unrecorded(&calls[i]) &&
            traits_of(finder, calls[i].type) & IS_READBACK) {
            finder->sums[STATISTICS_READS]++;
            spend(finder, STATISTICS_NS, &calls[i], eager_span(finder->calls, first, i + 1));
        }
        first = i + 1;
        has_reduced = false;
    }
}

/* A tensor becomes text by asking for finite values, how many digits they need, and each of them:
 * long runs of small calls that no others are between. */
static void count_formatted(struct finder *finder)
{
    enum { FEWEST_MARKS = 3, FEWEST_READS = 8 };
    const struct eager_call *calls = finder->calls->list.items;
    size_t                   count = finder->calls->list.count;

    for (size_t first = 0, end; first < count; first = end) {
        uint32_t marks = 0, reads = 0;

        for (end = first; end < count && eager_is_together(&calls[first], &calls[end]) &&
                          eager_is_unrecorded(&calls[end]);
             end++) {
            uint8_t  is = part_of(finder, calls[end].type);
            uint16_t traits = traits_of(finder, calls[end].type);

            if (!(is & (OF_STATISTIC | OF_CONSTANT | FORMATS)) &&
                !(traits & (IS_READBACK | IS_LOOK)) &&
                !str_equal(profile_str(finder->profile, calls[end].type), STR("aten::unbind")))
                break;
            marks += (is & FORMATS) != 0;
            reads += (traits & IS_READBACK) != 0;
        }
        if (marks >= FEWEST_MARKS && reads >= FEWEST_READS)
            spend(finder, FORMATTED_NS, &calls[first], eager_span(finder->calls, first, end));
        end = end > first ? end : first + 1;
    }
}

struct dims { /* sizes that the tensors of a piece of work may have, besides 1 */
    int64_t  of[2];
    uint32_t count;
};

static bool has_dim(const struct dims *dims, int64_t dim)
{
    return dim == 1 || (dims->count > 0 && dim == dims->of[0]) ||
           (dims->count > 1 && dim == dims->of[1]);
}

/* All tensors of the call have only such sizes; the first call with tensors decides them where
 * `may_add`. A call without known shapes fits if it makes a tensor. */
static bool fits(struct finder *finder, const struct eager_call *call, struct dims *dims,
                 bool may_add)
{
    const struct op *op = call->op != NO_ID ? &finder->profile->ops.items[call->op] : NULL;

    for (uint32_t i = 0; op && i < op->input_count; i++) {
        const struct tensor *tensor = &finder->profile->tensors.items[op->first_input + i];

        for (int8_t j = 0; j < tensor->rank; j++) {
            if (has_dim(dims, tensor->dims[j]) || tensor->dims[j] == 0)
                continue;
            if (!may_add || dims->count == ARRAY_COUNT(dims->of))
                return false;
            dims->of[dims->count++] = tensor->dims[j];
        }
    }
    return true;
}

static uint64_t mix(uint64_t hash, const struct eager_call *call)
{
    hash = (hash ^ call->type) * 0x100000001b3u ^ (hash >> 29);
    return (hash ^ call->op) * 0x100000001b3u ^ (hash >> 31);
}

/* Past the end of the constant that begins at `first`: calls without gradients on tensors of the
 * sizes that were asked for. */
static size_t constant_end(struct finder *finder, size_t first, uint64_t *hash)
{
    const struct eager_call *calls = finder->calls->list.items;
    struct dims              dims = { 0 };
    size_t                   end = first;

    while (end < finder->calls->list.count && eager_is_together(&calls[first], &calls[end]) &&
           eager_is_unrecorded(&calls[end]) && part_of(finder, calls[end].type) & OF_CONSTANT &&
           fits(finder, &calls[end], &dims, end <= first + 2)) {
        *hash = mix(*hash, &calls[end]);
        end++;
    }
    return end;
}

/* What rows are written into is no constant but room for them, as that of a cache. Their places may
 * be counted in between. */
static bool gets_rows(struct finder *finder, size_t first, size_t end)
{
    enum { FARTHEST = 4 };
    const struct eager_call *calls = finder->calls->list.items;

    for (size_t i = end; i < end + FARTHEST && i < finder->calls->list.count; i++)
        if (eager_is_together(&calls[first], &calls[i]) &&
            str_equal(eager_base_name(profile_str(finder->profile, calls[i].type)),
                      STR("index_copy")))
            return true;
    return false;
}

static bool count_recurrence(struct id_map *rows, struct recurrence *recurrences, uint32_t *count,
                             uint64_t hash, uint32_t source, double ns)
{
    uint32_t row = id_map_get(rows, hash);

    if (row == NO_ID) {
        row = (*count)++;
        if (!id_map_put(rows, hash, row))
            return false;
    }
    recurrences[row].count++;
    recurrences[row].ns += ns;
    recurrences[row].source = source;
    return true;
}

/* What recurs within a step: all of it but once a step. */
static void sum_recurrences(struct finder *finder, const struct recurrence *recurrences,
                            uint32_t count, double least, enum waste_fact ns_fact)
{
    double steps = (double)finder->calls->windows.count, ns;

    for (uint32_t i = 0; i < count; i++) {
        if (recurrences[i].count < least * steps)
            continue;
        ns = recurrences[i].ns - recurrences[i].ns * steps / recurrences[i].count;
        finder->sums[ns_fact] += ns;
        eager_lines_add(&finder->lines, ns_fact, recurrences[i].source, ns);
        finder->sums[ns_fact + 1] += recurrences[i].count - steps;
    }
}

static bool count_constants(struct finder *finder)
{
    enum { FEWEST_A_STEP = 2, FEWEST_CALLS = 3 };
    const struct eager_call *calls = finder->calls->list.items;
    struct id_map            rows = { .arena = finder->scratch };
    uint32_t                 count = 0;
    struct recurrence       *recurrences =
        arena_new_array(finder->scratch, struct recurrence, finder->calls->list.count + 1);

    if (!recurrences)
        return false;
    for (size_t i = 0, end; i < finder->calls->list.count; i = end) {
        uint64_t hash = 0x9e3779b97f4a7c15u;

        end = i + 1;
        if (!(part_of(finder, calls[i].type) & MAKES) || !eager_is_unrecorded(&calls[i]))
            continue;
        end = constant_end(finder, i, &hash);
        end = end > i ? end : i + 1;
        if (end - i >= FEWEST_CALLS && !gets_rows(finder, i, end) &&
            !count_recurrence(&rows, recurrences, &count, hash, calls[i].source,
                              eager_span(finder->calls, i, end)))
            return false;
    }
    sum_recurrences(finder, recurrences, count, FEWEST_A_STEP, CONSTANTS_NS);
    return true;
}

/* Sizes of the weight of a product, where no activation has both of them. */
static bool weight_dims(const struct finder *finder, const struct eager_call *call,
                        struct dims *dims)
{
    const struct tensor *left, *right;
    const struct op     *op;
    struct str           name = eager_base_name(profile_str(finder->profile, call->type));

    if (call->op == NO_ID || finder->profile->ops.items[call->op].input_count < 2)
        return false;
    op = &finder->profile->ops.items[call->op];
    left = &finder->profile->tensors.items[op->first_input];
    if (str_equal(name, STR("addmm")) && op->input_count > 2)
        left++;
    right = left + 1;
    if (right->rank != 2 || left->rank < 2)
        return false;
    *dims = (struct dims) { { right->dims[0], right->dims[1] }, 2 };
    return !has_dim(dims, left->dims[left->rank - 2]);
}

static bool works_on_weight(struct finder *finder, const struct eager_call *call,
                            struct dims *weight)
{
    return call->op != NO_ID && eager_elements(finder->profile, call->op) > 0 &&
           !(part_of(finder, call->type) & IS_CAST) && !(traits_of(finder, call->type) & IS_GATE) &&
           fits(finder, call, weight, false);
}

/* The calls right before a product that work on its weight alone, products of matrices of its sizes
 * and identities that are made in between among them; views do not count. `end` is the product. */
static size_t weight_begin(struct finder *finder, size_t end, const struct dims *dims,
                           uint64_t *hash, uint32_t *works, bool *multiplies)
{
    enum { MOST_CALLS = 12 };
    const struct eager_call *calls = finder->calls->list.items;
    double                   all = (double)dims->of[0] * (double)dims->of[1];
    struct dims              weight = *dims;
    size_t                   first = end;

    *works = 0;
    *multiplies = false;
    for (size_t i = end; i-- > 0 && end - i <= MOST_CALLS &&
                         eager_is_together(&calls[i], &calls[end]) &&
                         calls[i].phase == PHASE_FORWARD;) {
        if (works_on_weight(finder, &calls[i], &weight))
            first = i;
        else if (!(part_of(finder, calls[i].type) & MAKES))
            break;
    }
    for (size_t i = end; i-- > first;) {
        *works += !(traits_of(finder, calls[i].type) & IS_LOOK) &&
                  eager_elements(finder->profile, calls[i].op) >= all;
        *multiplies |= (traits_of(finder, calls[i].type) & IS_PRODUCT) != 0;
        *hash = mix(*hash, &calls[i]);
    }
    return first;
}

/* Calls [first, end) work on matrices of a weight's sizes: it may be a state that each round leaves
 * for the next, as a filter's covariance. */
static bool is_carried(struct finder *finder, size_t first, size_t end, const struct dims *dims)
{
    const struct profile    *profile = finder->profile;
    const struct eager_call *calls = finder->calls->list.items;

    for (size_t i = first; i < end; i++) {
        const struct op *op = calls[i].op != NO_ID ? &profile->ops.items[calls[i].op] : NULL;

        if (traits_of(finder, calls[i].type) & IS_LOOK)
            continue;
        for (uint32_t j = 0; op && j < op->input_count; j++) {
            const struct tensor *tensor = &profile->tensors.items[op->first_input + j];

            if (tensor->rank == 2 && tensor->dims[0] == dims->of[0] &&
                tensor->dims[1] == dims->of[1])
                return true;
        }
    }
    return false;
}

/* A parameter gets one gradient a pass, so more uses than gradients are of few parameters; without
 * gradients, uses of slices of one tensor are rounds of a loop. */
static bool is_reused(const struct finder *finder, size_t since, size_t first, uint32_t uses)
{
    double handed = finder->calls->accumulated.count / (double)finder->calls->windows.count;
    double uses_a_step = (double)uses / (double)finder->calls->windows.count;

    if (handed > 0)
        return uses_a_step > handed;
    for (size_t i = since; i < first; i++)
        if (finder->kinds[finder->calls->list.items[i].type].traits & IS_SLICE)
            return true;
    return false;
}

static bool count_weights(struct finder *finder)
{
    enum { FEWEST_A_STEP = 4 };
    const struct eager_call *calls = finder->calls->list.items;
    struct id_map            rows = { .arena = finder->scratch };
    uint32_t                 count = 0, uses = 0;
    size_t                   since = 0, last = 0;
    struct recurrence       *recurrences =
        arena_new_array(finder->scratch, struct recurrence, finder->calls->list.count + 1);

    if (!recurrences)
        return false;
    for (size_t i = 0; i < finder->calls->list.count; i++) {
        uint64_t    hash = 0x9e3779b97f4a7c15u;
        struct dims dims;
        uint32_t    works;
        size_t      first;
        double      ns;
        bool        multiplies;

        if (!(traits_of(finder, calls[i].type) & IS_PRODUCT) || calls[i].phase != PHASE_FORWARD ||
            !weight_dims(finder, &calls[i], &dims))
            continue;
        first = weight_begin(finder, i, &dims, &hash, &works, &multiplies);
        if (works == 0 ||
            (multiplies && uses > 0 && eager_is_together(&calls[last], &calls[first]) &&
             is_carried(finder, last + 1, first, &dims)))
            continue;
        ns = eager_span(finder->calls, first, i);
        for (size_t j = first; j < i; j++)
            ns += calls[j].backward_ns;
        if (!count_recurrence(&rows, recurrences, &count, hash, calls[first].source, ns))
            return false;
        uses++;
        since = last;
        last = i;
    }
    if (uses > 0 && is_reused(finder, since, last, uses))
        sum_recurrences(finder, recurrences, count, FEWEST_A_STEP, WEIGHTS_NS);
    return true;
}

static bool find(struct finder *finder, struct eager_calls *calls)
{
    struct study           *study = finder->study;
    struct eager_validation validation;
    struct eager_walks      walks;
    bool                    is_set = true;

    if (!eager_calls_get(study, finder->scratch, calls))
        return false;
    finder->calls = calls;
    eager_lines_init(&finder->lines, finder->scratch);
    finder->is = arena_alloc(finder->scratch, (size_t)study->profile->names.count + 1);
    finder->kinds = arena_new_array(finder->scratch, struct eager_kind,
                                    (size_t)study->profile->names.count + 1);
    if (!finder->is || !finder->kinds)
        return false;
    count_statistics(finder);
    count_formatted(finder);
    if (!count_constants(finder) || !count_weights(finder) ||
        !eager_validation_find(study, calls, finder->scratch, &validation) ||
        !eager_walks_find(study, calls, finder->scratch, &walks))
        return false;
    finder->sums[VALIDATION_NS] = validation.ns;
    finder->sums[VALIDATION_PRODUCTS] = validation.products;
    if (validation.begin != NO_ID)
        eager_lines_add(&finder->lines, VALIDATION_NS,
                        own_line_apart(study, calls->is_user,
                                       calls->list.items[validation.begin].event,
                                       calls->list.items[validation.trained].event),
                        validation.ns);
    finder->sums[WALKED_NS] = walks.ns;
    eager_lines_add(&finder->lines, WALKED_NS, own_line(study, calls->is_user, walks.event),
                    walks.ns);
    finder->sums[WALKS] = walks.most * (double)calls->windows.count;
    for (size_t i = 0; is_set && i < FACT_COUNT; i++) {
        if (produces[i].unit == UNIT_NS)
            finder->sums[i] *= eager_median_factor(calls);
        is_set =
            facts_set(&study->facts, &produces[i], finder->sums[i] / (double)calls->windows.count);
    }
    return is_set && eager_lines_emit(study, &finder->lines, calls, produces, &tables[0]);
}

static bool run(struct study *study, struct err *err)
{
    struct arena       scratch = { 0 };
    struct eager_calls calls = { 0 };
    struct finder      finder = { .study = study, .profile = study->profile, .scratch = &scratch };
    bool               is_done;

    if (!eager_applies(study, "torch.|eager_waste_lines"))
        return true;
    is_done = find(&finder, &calls);
    arena_free(&scratch);
    return is_done || emit_limit("work that an eager program repeats", err);
}

const struct analysis analysis_eager_waste = {
    .name = "eager_waste",
    .summary = "work that an eager program repeats or does for Python to look at",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
