/* token_calls: a graph function of TensorFlow is called again and again, looks words up, attends to
 * them and picks one. Two things are seen of it by the ops that it runs, without shapes.
 * uncached_calls: it joins or writes nothing that a later call could go on with: keys and values of
 * all words are made anew in each.
 * remade_keys: it does keep them, and some products before its last attention take many times what
 * others do: keys and values of what all words look at, an encoder's output, which stays the same.
 */
#include "analyze/excess/graph_calls.h"
#include "base/sample.h"

static const double MOST_PICK = 0.8;     /* of the calls: one lookup, attention and pick each */
static const double HEAVY = 8;           /* times what is usual for ops of the type */
static const double LEAST_SHARE = 0.1;   /* of the calls' ops that such products take */
static const double ROWS_AGAIN = 0.6;    /* of a call: a word alone still reads all weights */
static const double ALL_BUT_ONCE = 0.95; /* they are made once a text */

enum { FEWEST_CALLS = 12, FEWEST_ALIKE = 4 };

struct kind {             /* an op of the function, by row of profile->ops */
    double ns, offset_ns; /* sums over its runs */
    size_t runs;
    bool   is_heavy;
};
struct finder {
    struct ledger     *ledger;
    struct graph_calls calls;
    struct kind       *kinds;
    uint32_t           name;  /* of the function that most time goes to */
    size_t             count; /* of its calls */
    size_t             lookups, picks, writes, selects, softmaxes, batch_products;
    double             last_attention_ns; /* offset in a call */
};

static bool choose(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    size_t               names = ledger->study->profile->names.count;
    double              *ns = arena_new_array(ledger->scratch, double, names + 1);

    for (size_t i = 0; ns && i < finder->calls.list.count; i++) {
        const struct graph_call *call = &finder->calls.list.items[i];

        ns[call->name] += (double)(call->end_ns - call->start_ns);
        if (!finder->name || ns[call->name] > ns[finder->name])
            finder->name = call->name;
    }
    for (size_t i = 0; ns && i < finder->calls.list.count; i++)
        finder->count += finder->calls.list.items[i].name == finder->name;
    return ns != NULL;
}

static bool is_batch_product(struct str type)
{
    return str_fits(type, "*BatchMatMul*|*Einsum");
}

/* What a later call could go on with; shapes are joined, too, and padding is hidden from a lookup.
 */
static bool writes(struct str name, struct str type, enum op_class op_class)
{
    if (str_contains(name, STR("Tensordot/")) || str_contains(name, STR("embedding")))
        return false;
    return op_class == OP_CONCAT || op_class == OP_SCATTER || op_class == OP_ONE_HOT ||
           str_fits(type, "*Assign*|TensorList*|TensorArray*|Pad*|*UpdateSlice*");
}

/* In the function, or eagerly behind it. */
static bool picks(const struct profile *profile, const struct activity *activity)
{
    static const struct str eager = STR_INIT("EagerLocalExecute: ");
    static const char       types[] = "ArgMax|TopK*|*Multinomial|*RandomCategorical*";
    struct str              name = profile_str(profile, activity->name);

    if (activity->kind == ACTIVITY_OP)
        return activity->op != NO_ID &&
               str_fits(profile_str(profile, profile->ops.items[activity->op].type), types);
    return activity->kind == ACTIVITY_DISPATCH && str_starts(name, eager) &&
           str_fits(str_slice(name, eager.len, name.len), types);
}

static void count(struct finder *finder, uint32_t event, uint32_t op)
{
    const struct profile    *profile = finder->ledger->study->profile;
    const struct graph_call *call = graph_call_at(&finder->calls, event_start_ns(profile, event));
    struct str               name = profile_str(profile, profile->ops.items[op].name);
    struct str               type = profile_str(profile, profile->ops.items[op].type);
    enum op_class            op_class = op_class_of(type);

    if (!call || call->name != finder->name)
        return;
    finder->lookups += op_class == OP_GATHER || op_class == OP_EMBEDDING;
    finder->writes += writes(name, type, op_class);
    finder->selects += str_fits(type, "Select*") && !str_contains(name, STR("embedding"));
    finder->softmaxes += op_class == OP_SOFTMAX;
    finder->batch_products += is_batch_product(type);
    finder->kinds[op].ns += (double)event_duration_ns(profile, event);
    finder->kinds[op].offset_ns += (double)(event_start_ns(profile, event) - call->start_ns);
    finder->kinds[op].runs++;
}

/* Whether calls of the chosen function make words with attention; the recording may cut some. */
static bool make_words(struct finder *finder)
{
    double least = MOST_PICK * (double)finder->count;

    return finder->count >= FEWEST_CALLS && (double)finder->lookups >= least &&
           (double)finder->picks >= least && (double)finder->softmaxes >= least &&
           finder->batch_products >= 2 * finder->softmaxes;
}

/* Opens the finder; `found`: there is such a function. */
static bool open(struct finder *finder, bool *found)
{
    struct ledger        *ledger = finder->ledger;
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    uint32_t              event;

    *found = false;
    if (!graph_calls_find(ledger, &finder->calls))
        return false;
    if (finder->calls.list.count < FEWEST_CALLS)
        return true;
    finder->kinds = arena_new_array(ledger->scratch, struct kind, profile->ops.count + 1);
    if (!finder->kinds || !choose(finder))
        return false;
    while (host_events_next(&events, &event)) {
        const struct activity *activity = event_activity(profile, event);

        finder->picks += picks(profile, activity);
        if (activity->kind == ACTIVITY_OP && activity->op != NO_ID)
            count(finder, event, activity->op);
    }
    /* One hides the words to come from each attention; more write a row by a mask. */
    if (finder->selects > finder->softmaxes)
        finder->writes += finder->selects - finder->softmaxes;
    *found = make_words(finder);
    return true;
}

static bool is_in_function(struct finder *finder, const struct work_unit *unit)
{
    const struct graph_call *call = graph_call_of(&finder->calls, unit);

    return unit->kind == UNIT_OP && unit->op != NO_ID && call && call->name == finder->name;
}

static bool claim(struct finder *finder, const struct detector *self, double share,
                  const char *what)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_in_function(finder, unit) || (finder->writes && !finder->kinds[unit->op].is_heavy))
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell, "%s", what))
            return false;
        ledger_claim(ledger, cell, unit, share);
    }
    return true;
}

static bool find_uncached(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    bool          found;

    if (!open(&finder, &found))
        return false;
    return !found || finder.writes ||
           claim(
               &finder, self, ROWS_AGAIN,
               "calls look words up, attend to them and pick one, and join or write nothing else");
}

const struct detector detector_uncached_calls = { "uncached-call", CAUSE_REPEAT, GRADE_NAMES,
                                                  find_uncached };

static double mean_of(const struct kind *kind)
{
    return kind->ns / (double)kind->runs;
}

/* Ops before the last attention that take many times what is usual for their type. */
static void find_heavy(struct finder *finder, const char *types, double *means)
{
    const struct profile *profile = finder->ledger->study->profile;
    size_t                alike = 0;
    double                usual_ns;

    for (size_t op = 0; op < profile->ops.count; op++)
        if (finder->kinds[op].runs &&
            str_fits(profile_str(profile, profile->ops.items[op].type), types))
            means[alike++] = mean_of(&finder->kinds[op]);
    usual_ns = sample_median(means, alike);
    for (size_t op = 0; alike >= FEWEST_ALIKE && op < profile->ops.count; op++) {
        struct kind *kind = &finder->kinds[op];

        kind->is_heavy |= kind->runs &&
                          str_fits(profile_str(profile, profile->ops.items[op].type), types) &&
                          mean_of(kind) >= HEAVY * usual_ns &&
                          kind->offset_ns / (double)kind->runs < finder->last_attention_ns;
    }
}

static void find_last_attention(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (size_t op = 0; op < profile->ops.count; op++) {
        const struct kind *kind = &finder->kinds[op];
        double             at_ns = kind->runs ? kind->offset_ns / (double)kind->runs : 0;

        if (kind->runs && is_batch_product(profile_str(profile, profile->ops.items[op].type)) &&
            at_ns > finder->last_attention_ns)
            finder->last_attention_ns = at_ns;
    }
}

/* Products of the encoder's output, and what follows each. */
static bool are_remade(const struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    size_t                products = 0;
    double                heavy_ns = 0, all_ns = 0;

    for (size_t op = 0; op < profile->ops.count; op++) {
        const struct kind *kind = &finder->kinds[op];

        all_ns += kind->ns;
        heavy_ns += kind->is_heavy ? kind->ns : 0;
        products += kind->is_heavy &&
                    op_class_of(profile_str(profile, profile->ops.items[op].type)) == OP_PRODUCT;
    }
    return products >= 2 && heavy_ns >= LEAST_SHARE * all_ns;
}

static bool find_remade(struct ledger *ledger, const struct detector *self)
{
    static const char *const types[] = { "MatMul|*MklMatMul|*FusedMatMul", "BiasAdd",
                                         "*Transpose" };
    struct finder            finder = { .ledger = ledger };
    double                  *means;
    bool                     found;

    if (!open(&finder, &found))
        return false;
    if (!found || !finder.writes)
        return true;
    means = arena_new_array(ledger->scratch, double, ledger->study->profile->ops.count + 1);
    if (!means)
        return false;
    find_last_attention(&finder);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        find_heavy(&finder, types[i], means);
    return !are_remade(&finder) ||
           claim(&finder, self, ALL_BUT_ONCE,
                 "products before an attention take many times what others do, in each call");
}

const struct detector detector_remade_keys = { "remade-keys", CAUSE_REPEAT, GRADE_SIZES,
                                               find_remade };
