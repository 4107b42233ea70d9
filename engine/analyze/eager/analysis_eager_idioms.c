/*
 * eager idioms: formulas that eager programs spell out in ops although the framework has one op for
 * them. Each thread's forward calls of a step become a text, one letter a call; calls that only
 * look at memory in another way are left out. An idiom is a pattern over those letters.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/emit.h"
#include "base/pattern.h"
#include "model/op_class.h"

#include <math.h>
#include <string.h>

enum idioms_column {
    IDIOM,
    COUNT,
    CALLS,
    NS,
    FORWARD_NS,
    PRODUCT_NS,
    PRODUCT_FLOPS,
    PIVOT_NS,
    LONGEST_NS,
    ELEMENTS,
    LAST_DIM,
    SHAPES,
    FIRST_OP,
    SOURCE_FILE,
    SOURCE_LINE,
};
static const struct column_spec columns[] = {
    [IDIOM] = { "idiom", UNIT_NAME,
                "attention, norm, gelu-tanh, gelu-erf, rope, glu, softmax, loss, onehot-product, "
                "outer, dropout or chain" },
    [COUNT] = { "count", UNIT_COUNT, "times a step" },
    [CALLS] = { "calls", UNIT_COUNT, "calls of ops a step" },
    [NS] = { "ns", UNIT_NS,
             "time a step, backward nodes included, and pauses of the host in which the large "
             "arrays "
             "of outer and onehot-product are freed" },
    [FORWARD_NS] = { "forward_ns", UNIT_NS, "of that, forward" },
    [PRODUCT_NS] = { "product_ns", UNIT_NS, "of that, in products, both ways" },
    [PRODUCT_FLOPS] = { "product_flops", UNIT_FLOPS, "operations of the forward products a step" },
    [PIVOT_NS] = { "pivot_ns", UNIT_NS,
                   "of that, in the op that gives the idiom its name, both ways" },
    [LONGEST_NS] = { "longest_ns", UNIT_NS,
                     "of that, in the longest call other than products, both ways" },
    [ELEMENTS] = { "elements", UNIT_COUNT, "most elements that one call took" },
    [LAST_DIM] = { "last_dim", UNIT_COUNT, "most elements in a row of the op that names it" },
    [SHAPES] = { "shapes", UNIT_NAME, "of that op" },
    [FIRST_OP] = { "first_op", UNIT_NAME, "type of the first call" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the first call, where recorded" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "eager_idioms", "formulas that eager programs spell out", columns, ARRAY_COUNT(columns) },
};

/* Letters: m product, s softmax, l log-softmax, + add, * multiply, p power, r root, u mean or sum,
 * x exp, o log, h tanh, e erf, g sigmoid, k mask, d dropout, n negation, a maximum, 1 one-hot,
 * c conversion, G gather, w silu, C concatenation, D random numbers, N norm, v other functions of
 * each element, t memory that is filled or written at indices, F anything else, B a call whose
 * result is far larger than its operands. Space: looks only. */
static const struct {
    const char *names; /* str_fits */
    char        letter;
} letters[] = {
    { "softmax", 's' },
    { "log_softmax", 'l' },
    { "add|sub|rsub", '+' },
    { "mul|div|true_divide|reciprocal", '*' },
    { "pow|square", 'p' },
    { "rsqrt|sqrt", 'r' },
    { "mean|sum|var|std|var_mean", 'u' },
    { "exp", 'x' },
    { "log", 'o' },
    { "tanh", 'h' },
    { "erf", 'e' },
    { "sigmoid", 'g' },
    { "masked_fill|where", 'k' },
    { "dropout|native_dropout", 'd' },
    { "neg", 'n' },
    { "amax|max", 'a' },
    { "one_hot", '1' },
    { "fill|full_like|scatter", 't' },
    { "rand|rand_like|bernoulli", 'D' },
    { "linalg_vector_norm", 'N' },
    { "to|type_as", 'c' },
    { "gather|index", 'G' },
    { "lt|le|gt|ge|ne|logical_not|bitwise_not|logical_and|view|reshape|transpose|t|permute|"
      "expand|expand_as|unsqueeze|squeeze|slice|select|narrow|chunk|split|unbind|detach|"
      "alias|flatten|contiguous|numpy_T|lift_fresh|zeros|ones|full|arange|tril|triu|empty|"
      "ones_like|zeros_like|scalar_tensor|broadcast_tensors|unsafe_view|item|eq",
      ' ' },
    { "silu", 'w' },
    { "cat|stack", 'C' },
    { "relu|relu6|leaky_relu|elu|hardtanh|hardsigmoid|softplus|clamp|clamp_min|clamp_max|clip|"
      "minimum|maximum|abs|sign|sin|cos|atan|floor|round|log1p|expm1|exp2|log2|addcmul|addcdiv|"
      "lerp",
      'v' },
};

/* One-hot rows, which smoothing scales and shifts; or what it fills and writes ones into. */
#define TARGETS "(?:(?:1c?|t{2,3})[*+]{0,2})?"

/* Tried in this order: the first takes the calls. */
static const struct {
    const char *name;
    const char *pattern;
    char        pivots[4]; /* the op that names it */
    bool        frees;     /* it makes arrays far larger than what it takes and gives */
} idioms[] = {
    { "outer", "B{1,2}[*+pxhakc]{0,3}[uN]", "B", true },
    { "attention", "m[*+kcd]{0,5}(?:s|(?:a\\+)?x[cd]?u\\*)[cdk*]{0,3}m", "sx", false },
    { "onehot-product", "1c?m", "1", true },
    { "loss", TARGETS "[sl](?:\\+?o)?" TARGETS "(?:\\+?o)?n?[*G](?:\\+?o)?[*nu+]{1,4}", "sl",
      false },
    { "loss", TARGETS "(?:a\\+)?xu\\*(?:\\+?o)?" TARGETS "(?:\\+?o)?n?[*G](?:\\+?o)?[*nu+]{1,4}",
      "x", false },
    { "gelu-tanh", "\\*{0,2}[p*]\\*{0,2}\\+\\*{1,2}h(?:\\*{0,2}\\+\\*{1,2})", "h", false },
    { "gelu-erf", "\\*{1,2}e(?:\\*?\\+\\*{1,2})", "e", false },
    { "norm",
      "(?:u\\+?[p*]?)?(?:u|pu)[+]{0,3}r[+]?\\*(?:\\*\\+?)?\\+?|(?:u\\+u\\+|uu\\+{1,2})\\*(?:\\*\\+?"
      ")?",
      "ru", false },
    { "rope", "\\*?nC\\*{1,2}\\+", "C", false },
    { "glu", "g\\*{1,2}|w\\*|nx\\+\\*{2,3}", "gwx", false },
    { "dropout", "Dc?\\*{1,2}", "D", false },
    { "softmax", "(?:a\\+)?xu\\*", "x", false },
    { "chain", "[*+pxoherdkngv]{4,}", "", false },
};
enum { IDIOM_COUNT = ARRAY_COUNT(idioms) };

struct found {
    double count, calls, ns, forward_ns, product_ns, flops, pivot_ns, longest_ns, elements,
        last_dim;
    uint32_t pivot_op, first_type, source;
};
struct matcher {
    struct study             *study;
    const struct eager_calls *calls;
    struct arena             *scratch;
    struct pattern           *patterns[IDIOM_COUNT];
    char                     *text;
    uint32_t                 *call_of; /* by letter of the text */
    size_t                    len;
    uint8_t                  *letter_of; /* by interned name; 0 not looked up yet */
    struct found              found[IDIOM_COUNT];
};

static char letter_of(struct matcher *matcher, uint32_t type)
{
    struct str name;

    if (matcher->letter_of[type])
        return (char)matcher->letter_of[type];
    name = eager_base_name(profile_str(matcher->study->profile, type));
    matcher->letter_of[type] = op_class_of(name) == OP_PRODUCT ? 'm' : 'F';
    for (size_t i = 0; i < ARRAY_COUNT(letters); i++)
        if (str_fits(name, letters[i].names))
            matcher->letter_of[type] = (uint8_t)letters[i].letter;
    return (char)matcher->letter_of[type];
}

/* "x[:, None] - y[None]": a result of more elements than this many of the larger operand. */
static bool is_outer(const struct profile *profile, uint32_t op)
{
    enum { TIMES_LARGER = 8, FEWEST_ELEMENTS = 1 << 16 };
    const struct tensor *left, *right;
    double               elements = 1;

    if (op == NO_ID || profile->ops.items[op].input_count < 2)
        return false;
    left = &profile->tensors.items[profile->ops.items[op].first_input];
    right = left + 1;
    if (left->rank < 2 || right->rank < 2)
        return false;
    for (int8_t i = 1; i <= left->rank || i <= right->rank; i++) {
        double a = i <= left->rank ? (double)left->dims[left->rank - i] : 1;
        double b = i <= right->rank ? (double)right->dims[right->rank - i] : 1;

        elements *= a > b ? a : b;
    }
    return elements >= FEWEST_ELEMENTS && elements > TIMES_LARGER * eager_elements(profile, op);
}

static double last_dim(const struct profile *profile, uint32_t op)
{
    const struct tensor *tensor;

    if (op == NO_ID || profile->ops.items[op].input_count == 0)
        return 0;
    tensor = &profile->tensors.items[profile->ops.items[op].first_input];
    return tensor->rank > 0 ? (double)tensor->dims[tensor->rank - 1] : 0;
}

static void count_call(struct matcher *matcher, struct found *found, const struct eager_call *call,
                       char letter, const char *pivots)
{
    const struct profile *profile = matcher->study->profile;
    double                ns = call->work_ns + call->backward_ns;
    double                row = last_dim(profile, call->op);
    double                elements = eager_elements(profile, call->op);

    found->calls++;
    found->ns += ns;
    found->forward_ns += call->work_ns;
    if (elements > found->elements)
        found->elements = elements;
    if (letter == 'm') {
        found->product_ns += ns;
        found->flops += eager_product_flops(profile, call->op);
    }
    if (letter && strchr(pivots, letter)) {
        found->pivot_ns += ns;
        if (row >= found->last_dim) {
            found->last_dim = row;
            found->pivot_op = call->op;
        }
    }
}

/* Arrays of all pairs and one-hot rows are large, and their memory goes back between the calls:
 * what that takes is the pause behind a call, but no longer than writing took. Of none behind a
 * product, which others may follow. */
static double freed_ns(const struct matcher *matcher, uint32_t at, char letter)
{
    const struct eager_call *call = &matcher->calls->list.items[at], *next = call + 1;
    double                   pause_ns;

    if (matcher->calls->is_on_device || letter == 'm' || at + 1 >= matcher->calls->list.count ||
        next->timeline != call->timeline || next->window != call->window)
        return 0;
    pause_ns = (double)(next->start_ns - call->end_ns);
    return pause_ns <= 0 ? 0 : pause_ns < call->work_ns ? pause_ns : call->work_ns;
}

/* The calls from the first to the last letter, those that only look included. */
static void count_match(struct matcher *matcher, size_t idiom, size_t first, size_t end)
{
    struct found *found = &matcher->found[idiom];
    double        longest_ns = 0;
    size_t        at = first;

    if (found->count == 0) {
        const struct eager_call *call = &matcher->calls->list.items[matcher->call_of[first]];

        found->first_type = call->type;
        found->source = call->source;
    }
    found->count++;
    for (uint32_t i = matcher->call_of[first]; i <= matcher->call_of[end - 1]; i++) {
        const struct eager_call *call = &matcher->calls->list.items[i];
        double                   ns = call->work_ns + call->backward_ns;
        bool                     is_letter = i == matcher->call_of[at];

        count_call(matcher, found, call, is_letter ? matcher->text[at] : ' ', idioms[idiom].pivots);
        if (is_letter && matcher->text[at] != 'm' && ns > longest_ns)
            longest_ns = ns;
        if (idioms[idiom].frees)
            found->ns += freed_ns(matcher, i, is_letter ? matcher->text[at] : ' ');
        at += is_letter;
    }
    found->longest_ns += longest_ns;
    memset(matcher->text + first, '_', end - first);
}

/* Where no shapes were recorded: calls far longer than starting an op takes, and about as long as
 * each other, pass over arrays of about one size. */
static bool are_passes(const struct matcher *matcher, size_t first, size_t end)
{
    static const double SHORTEST_NS = 20e3, MOST_TIMES = 6;
    double              shortest_ns = INFINITY, longest_ns = 0;

    for (size_t i = first; i < end; i++) {
        double ns = (double)matcher->calls->list.items[matcher->call_of[i]].work_ns;

        shortest_ns = ns < shortest_ns ? ns : shortest_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return shortest_ns >= SHORTEST_NS && longest_ns <= MOST_TIMES * shortest_ns;
}

/* A chain passes over the same large values in each call. One op again and again is a loop. */
static bool is_chain(const struct matcher *matcher, size_t first, size_t end)
{
    const struct profile    *profile = matcher->study->profile;
    const struct eager_call *calls = matcher->calls->list.items;
    uint32_t                 op = calls[matcher->call_of[first]].op;
    bool                     is_one_op = true;

    for (size_t i = first + 1; i < end; i++) {
        uint32_t next = calls[matcher->call_of[i]].op;

        if (eager_elements(profile, next) != eager_elements(profile, op))
            return false;
        is_one_op = is_one_op && next == op;
    }
    return !is_one_op && (eager_elements(profile, op) > 0 ||
                          (!profile->has_shapes && are_passes(matcher, first, end)));
}

/* A gate multiplies arrays; what is only scaled by a number, as a picture of 0 to 1 to one of 0 to
 * 255, is none. Without shapes that is not known. */
static bool is_gate(const struct matcher *matcher, size_t first, size_t end)
{
    const struct profile *profile = matcher->study->profile;

    for (size_t i = first; i < end; i++) {
        uint32_t op = matcher->calls->list.items[matcher->call_of[i]].op;
        bool     is_by_number = op != NO_ID && profile_op_input(profile, op, 1) &&
                            profile_op_input(profile, op, 1)->rank == 0;

        if (matcher->text[i] == '*' && !is_by_number)
            return true;
    }
    return false;
}

static bool is_what_it_says(const struct matcher *matcher, size_t idiom, size_t first, size_t end)
{
    if (!idioms[idiom].pivots[0])
        return is_chain(matcher, first, end);
    return strcmp(idioms[idiom].name, "glu") != 0 || is_gate(matcher, first, end);
}

static void match_text(struct matcher *matcher)
{
    struct str text = { matcher->text, matcher->len };

    for (size_t i = 0; i < IDIOM_COUNT; i++) {
        size_t spans[2], count, from = 0;

        while (from < text.len &&
               pattern_find(matcher->patterns[i], text, from, spans, 1, &count) == PATTERN_YES) {
            from = spans[1] > spans[0] ? spans[1] : spans[0] + 1;
            if (is_what_it_says(matcher, i, spans[0], spans[1]))
                count_match(matcher, i, spans[0], spans[1]);
        }
    }
    matcher->len = 0;
}

/* "x.expand(…).contiguous()", "x.repeat(…)": what is small becomes a large tensor of its own. */
static bool is_spread(const struct matcher *matcher, uint32_t at)
{
    enum { TIMES_LARGER = 8, FEWEST_ELEMENTS = 1 << 16 };
    const struct profile    *profile = matcher->study->profile;
    const struct eager_call *calls = matcher->calls->list.items;
    struct str               name = eager_base_name(profile_str(profile, calls[at].type)), before;
    double                   small, large;

    if (str_fits(name, "repeat|tile")) {
        small = eager_elements(profile, calls[at].op);
        large = at + 1 < matcher->calls->list.count ? eager_elements(profile, calls[at + 1].op) : 0;
    } else {
        if (at == 0 || (!str_equal(name, STR("contiguous")) && !str_equal(name, STR("clone"))))
            return false;
        before = eager_base_name(profile_str(profile, calls[at - 1].type));
        if (!str_equal(before, STR("expand")) && !str_equal(before, STR("expand_as")))
            return false;
        small = eager_elements(profile, calls[at - 1].op);
        large = eager_elements(profile, calls[at].op);
    }
    return small > 0 && large >= FEWEST_ELEMENTS && large > TIMES_LARGER * small;
}

static void match_all(struct matcher *matcher)
{
    const struct eager_call *before = NULL;

    for (uint32_t i = 0; i < matcher->calls->list.count; i++) {
        const struct eager_call *call = &matcher->calls->list.items[i];
        char                     letter;

        if (before && (before->timeline != call->timeline || before->window != call->window ||
                       before->phase != call->phase))
            match_text(matcher);
        before = call;
        if (call->phase != PHASE_FORWARD)
            continue;
        letter = letter_of(matcher, call->type);
        if (((letter == '+' || letter == '*') && is_outer(matcher->study->profile, call->op)) ||
            ((letter == ' ' || letter == 'F') && is_spread(matcher, i)))
            letter = 'B';
        /* A conversion that converts nothing only looks. */
        if (letter == ' ' || (letter == 'c' && call->conversion_ns == 0))
            continue;
        matcher->call_of[matcher->len] = i;
        matcher->text[matcher->len++] = letter;
    }
    match_text(matcher);
}

static bool add_row(struct matcher *matcher, struct table *table, size_t idiom)
{
    struct study         *study = matcher->study;
    const struct profile *profile = study->profile;
    const struct found   *found = &matcher->found[idiom];
    double                steps = (double)matcher->calls->windows.count;
    double                ns_steps = steps / eager_median_factor(matcher->calls);
    size_t                row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, IDIOM, row, facts_name(&study->facts, str_from(idioms[idiom].name)));
    emit_number(table, COUNT, row, found->count / steps);
    emit_number(table, CALLS, row, found->calls / steps);
    emit_number(table, NS, row, found->ns / ns_steps);
    emit_number(table, FORWARD_NS, row, found->forward_ns / ns_steps);
    emit_number(table, PRODUCT_NS, row, found->product_ns / ns_steps);
    emit_number(table, PRODUCT_FLOPS, row, found->flops / steps);
    emit_number(table, PIVOT_NS, row, found->pivot_ns / ns_steps);
    emit_number(table, LONGEST_NS, row, found->longest_ns / ns_steps);
    emit_number(table, ELEMENTS, row, found->elements);
    emit_number(table, LAST_DIM, row, found->last_dim);
    if (found->pivot_op != NO_ID)
        emit_name(table, SHAPES, row, emit_shapes(study, &profile->ops.items[found->pivot_op]));
    emit_name(table, FIRST_OP, row, found->first_type);
    emit_source(profile, table, SOURCE_FILE, row, found->source);
    return true;
}

static bool compile(struct matcher *matcher, struct err *err)
{
    for (size_t i = 0; i < IDIOM_COUNT; i++) {
        matcher->found[i].pivot_op = matcher->found[i].source = NO_ID;
        matcher->patterns[i] = pattern_new(str_from(idioms[i].pattern), PATTERN_SEARCH, false, err);
        if (!matcher->patterns[i])
            return false;
    }
    return true;
}

static bool find(struct matcher *matcher, struct eager_calls *calls)
{
    struct study *study = matcher->study;
    struct table *table = facts_table(&study->facts, &tables[0]);

    if (!table || !eager_calls_get(study, matcher->scratch, calls))
        return false;
    matcher->calls = calls;
    matcher->text = arena_alloc(matcher->scratch, calls->list.count + 1);
    matcher->call_of = arena_new_array(matcher->scratch, uint32_t, calls->list.count + 1);
    matcher->letter_of = arena_alloc(matcher->scratch, (size_t)study->profile->names.count + 1);
    if (!matcher->text || !matcher->call_of || !matcher->letter_of)
        return false;
    match_all(matcher);
    for (size_t i = 0; i < IDIOM_COUNT; i++)
        if (matcher->found[i].count > 0 && !add_row(matcher, table, i))
            return false;
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena       scratch = { 0 };
    struct eager_calls calls = { 0 };
    struct matcher     matcher = { .study = study, .scratch = &scratch };
    bool               is_done;

    if (!eager_applies(study, "eager_idioms"))
        return true;
    is_done = compile(&matcher, err);
    if (is_done && !find(&matcher, &calls))
        is_done = emit_limit("spelled-out formulas", err);
    for (size_t i = 0; i < IDIOM_COUNT; i++)
        pattern_free(matcher.patterns[i]);
    arena_free(&scratch);
    return is_done;
}

const struct analysis analysis_eager_idioms = {
    .name = "eager_idioms",
    .summary = "formulas that eager programs spell out although one op does them",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
