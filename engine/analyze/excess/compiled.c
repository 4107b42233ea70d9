#include "analyze/excess/compiled.h"

#include "base/macros.h"
#include "model/names.h"
#include "model/op_graph.h"

/* Detectors ask the same of the same few types, again and again. */
enum { TYPE_LISTS = 1024 }; /* places; far fewer literals are in the code */

static size_t place_of(const char *types)
{
    return (uintptr_t)types * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* What is known of a list; NULL: there is no room, and each time is the first. */
static uint8_t *fits_of(const struct compiled *compiled, const char *types)
{
    enum { MOST_TRIES = 16 };
    struct type_fits *fits;

    for (size_t i = 0; i < MOST_TRIES; i++) {
        fits = &compiled->fits[(place_of(types) + i) % TYPE_LISTS];
        if (!fits->types) {
            fits->of = arena_new_array(compiled->scratch, uint8_t, compiled->type_count + 1);
            fits->types = types;
        }
        if (fits->types == types)
            return fits->of;
    }
    return NULL;
}

/* Where nothing is known yet, or the list is not at its first place. */
static bool find_out(const struct compiled *compiled, uint32_t op, const char *types)
{
    uint8_t *of = fits_of(compiled, types), *known = of ? &of[compiled->type_row[op]] : NULL;
    bool     fits;

    if (known && *known)
        return *known == 2;
    fits = str_fits(profile_str(compiled->profile, compiled->profile->ops.items[op].type), types);
    if (known)
        *known = fits ? 2 : 1;
    return fits;
}

bool compiled_is_type(const struct compiled *compiled, uint32_t op, const char *types)
{
    const struct type_fits *fits = &compiled->fits[place_of(types) % TYPE_LISTS];
    uint8_t known = fits->types == types && fits->of ? fits->of[compiled->type_row[op]] : 0;

    return known ? known == 2 : find_out(compiled, op, types);
}

static bool number_types(struct compiled *compiled)
{
    const struct profile *profile = compiled->profile;
    uint32_t *row_of = arena_new_array(compiled->scratch, uint32_t, profile->names.count + 1);

    compiled->type_row = arena_new_array(compiled->scratch, uint32_t, profile->ops.count + 1);
    compiled->fits = arena_new_array(compiled->scratch, struct type_fits, TYPE_LISTS);
    if (!row_of || !compiled->type_row || !compiled->fits)
        return false;
    for (size_t op = 0; op < profile->ops.count; op++) {
        uint32_t *row = &row_of[profile->ops.items[op].type];

        *row = *row ? *row : ++compiled->type_count;
        compiled->type_row[op] = *row;
    }
    return true;
}

bool compiled_holds(const struct compiled *compiled, uint32_t op)
{
    return compiled_is_type(compiled, op, "fusion|call");
}

static bool is_plain(enum op_class op_class)
{
    return op_class == OP_ELEMENTWISE || op_class == OP_OTHER || op_class == OP_CALLBACK ||
           op_class == OP_VIEW;
}

/* Functions of JAX that draw numbers; their instructions are plain arithmetic by themselves. */
static bool draws_numbers(struct str origin)
{
    return name_is(origin, NAMES_JAX_RANDOM);
}

/* What an instruction was made from tells more than its opcode: "…/while/body/sort". */
static enum op_class class_of_origin(struct str origin)
{
    size_t slash = str_find_last(origin, '/');

    if (draws_numbers(origin))
        return OP_RANDOM;
    return op_class_of(slash < origin.len ? str_slice(origin, slash + 1, origin.len) : origin);
}

/* Names come again and again: each is looked at once. */
static enum op_class class_of(struct compiled *compiled, uint32_t row)
{
    const struct op *op = &compiled->profile->ops.items[row];
    uint8_t         *own = &compiled->of_type[op->type], *made = &compiled->of_origin[op->origin];

    if (!*own)
        *own = (uint8_t)(op_class_of(profile_str(compiled->profile, op->type)) + 1);
    if (!op->origin || !is_plain((enum op_class)(*own - 1)))
        return (enum op_class)(*own - 1);
    if (!*made)
        *made = (uint8_t)(class_of_origin(profile_str(compiled->profile, op->origin)) + 1);
    if (*made - 1 == OP_OTHER || *made - 1 == OP_VIEW || *own - 1 == OP_VIEW)
        return (enum op_class)(*made - 1 == OP_RANDOM ? OP_RANDOM : *own - 1);
    return (enum op_class)(*made - 1);
}

static double weight_of(const struct profile *profile, const struct op *op)
{
    double elements = 0;

    for (uint32_t i = 0; i < op->output_count; i++)
        elements += tensor_elements(&profile->tensors.items[op->first_output + i]);
    return (double)op->flops > elements ? (double)op->flops : elements;
}

/* Operations of a product in the time in which one element is passed over: products stay in
 * registers and caches, passes wait for memory. */
static const double MULTIPLIED_AT_ONCE = 8;

static bool multiplies(const struct compiled *compiled, uint32_t op)
{
    return compiled_is_type(compiled, op, "dot|convolution");
}

bool compiled_works(const struct compiled *compiled, uint32_t op)
{
    static const char idle[] =
        "parameter|constant|tuple|get-tuple-element|bitcast|broadcast|iota|reshape";

    return !compiled_is_type(compiled, op, idle);
}

bool compiled_is_complex(const struct compiled *compiled, uint32_t op)
{
    const struct op *row = &compiled->profile->ops.items[op];
    enum dtype       dtype = row->output_count
                                 ? (enum dtype)compiled->profile->tensors.items[row->first_output].dtype
                                 : DTYPE_UNKNOWN;

    return dtype == DTYPE_C64 || dtype == DTYPE_C128;
}

bool compiled_hands_on(const struct compiled *compiled, uint32_t op)
{
    return compiled_is_type(compiled, op, "bitcast|copy|transpose|reshape|convert|parameter");
}

uint32_t compiled_maker(const struct compiled *compiled, uint32_t op)
{
    enum { FARTHEST = 64 };

    for (int steps = 0; steps < FARTHEST; steps++) {
        struct op_ids producers = op_graph_producers(compiled->profile->graph, op);

        if (compiled->root[op] != NO_ID)
            op = compiled->root[op];
        else if (compiled_hands_on(compiled, op) && producers.count == 1)
            op = producers.ids[0];
        else
            break;
    }
    return op;
}

const struct tensor *compiled_result(const struct compiled *compiled, uint32_t op)
{
    const struct op *row = &compiled->profile->ops.items[op];

    return row->output_count == 1 ? &compiled->profile->tensors.items[row->first_output] : NULL;
}

double compiled_elements(const struct compiled *compiled, uint32_t op)
{
    const struct op *row = &compiled->profile->ops.items[op];

    return row->output_count ? tensor_elements(&compiled->profile->tensors.items[row->first_output])
                             : 0;
}

double compiled_operand(const struct compiled *compiled, uint32_t op, uint32_t row)
{
    const struct op *of = &compiled->profile->ops.items[op];

    return row < of->input_count
               ? tensor_elements(&compiled->profile->tensors.items[of->first_input + row])
               : 0;
}

uint32_t compiled_timed(const struct compiled *compiled, uint32_t op)
{
    return compiled->timed[op];
}

/* Asked of each instruction for each loop: looked up once. */
static bool find_places(struct compiled *compiled)
{
    const struct op *ops = compiled->profile->ops.items;
    size_t           count = compiled->profile->ops.count;

    compiled->inside = arena_new_array(compiled->scratch, struct op_rows, count + 1);
    compiled->timed = arena_new_array(compiled->scratch, uint32_t, count + 1);
    if (!compiled->inside || !compiled->timed)
        return false;
    for (uint32_t op = 0; op < count; op++) {
        struct op_rows *rows = ops[op].caller ? &compiled->inside[ops[op].caller - 1] : NULL;
        uint32_t        timed = op;

        if (rows)
            *rows = (struct op_rows) { rows->end ? rows->first : op, op + 1 };
        while (ops[timed].caller && compiled_holds(compiled, ops[timed].caller - 1))
            timed = ops[timed].caller - 1;
        compiled->timed[op] = timed;
    }
    return true;
}

/* What a computation gives goes to what holds it, and to nothing beside. */
static void find_roots(struct compiled *compiled)
{
    const struct profile *profile = compiled->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        uint32_t      caller = profile->ops.items[op].caller;
        struct op_ids consumers = op_graph_consumers(profile->graph, op);

        for (size_t i = 0; caller && i < consumers.count; i++)
            if (consumers.ids[i] == caller - 1 && compiled_holds(compiled, caller - 1))
                compiled->root[caller - 1] = op;
    }
}

struct contents { /* weight by class of what one op holds */
    double of[OP_CLASS_COUNT];
};

/* A loop holds ops that have their own time: it is of a class only where it draws numbers. */
static void take_class(struct compiled *compiled, uint32_t op, const struct contents *contents)
{
    int most = OP_OTHER;

    for (int c = 0; c < OP_CLASS_COUNT; c++)
        if (c != OP_OTHER && c != OP_VIEW && contents->of[c] > contents->of[most])
            most = c;
    if (contents->of[most] > 0 && (compiled_holds(compiled, op) || most == OP_RANDOM))
        compiled->op_class[op] = (uint8_t)most;
}

/* The class of most that an op holds. Programs list what is called before its caller, so one walk
 * in order of rows knows contents first. */
static bool sum_contents(struct compiled *compiled)
{
    const struct profile *profile = compiled->profile;
    uint32_t        *slot = arena_new_array(compiled->scratch, uint32_t, profile->ops.count + 1);
    struct contents *contents;
    uint32_t         used = 0;

    for (uint32_t op = 0; slot && op < profile->ops.count; op++)
        if (compiled_holds(compiled, op) || compiled_is_type(compiled, op, "while"))
            slot[op] = ++used;
    contents = arena_new_array(compiled->scratch, struct contents, used + 1);
    if (!slot || !contents)
        return false;
    for (uint32_t op = 0; op < profile->ops.count; op++) {
        uint32_t caller = profile->ops.items[op].caller;

        if (slot[op])
            take_class(compiled, op, &contents[slot[op]]);
        if (!caller || !slot[caller - 1] || !compiled_works(compiled, op))
            continue;
        contents[slot[caller - 1]].of[compiled->op_class[op]] +=
            compiled->weight[op] * (multiplies(compiled, op) ? MULTIPLIED_AT_ONCE : 1);
        compiled->weight[caller - 1] += compiled->weight[op];
    }
    return true;
}

static bool is_through(const struct compiled *compiled, uint32_t op)
{
    return compiled_is_type(compiled, op, "get-tuple-element|tuple|bitcast|copy");
}

/* What only hands on results is a part of what makes, or takes, them. */
static bool is_among_random(const struct compiled *compiled, uint32_t op)
{
    const struct op_graph *graph = compiled->profile->graph;
    uint32_t               caller = compiled->profile->ops.items[op].caller;
    struct op_ids sides[] = { op_graph_producers(graph, op), op_graph_consumers(graph, op) };

    if (caller && compiled->op_class[caller - 1] == OP_RANDOM)
        return true;
    for (size_t side = 0; side < ARRAY_COUNT(sides); side++) {
        size_t random = 0;

        for (size_t i = 0; i < sides[side].count; i++)
            random += compiled->op_class[sides[side].ids[i]] == OP_RANDOM;
        if (random && random == sides[side].count)
            return true;
    }
    return false;
}

static void follow_copies(struct compiled *compiled)
{
    enum { MOST_ROUNDS = 8 };
    const struct profile *profile = compiled->profile;
    bool                  has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < profile->graph->vertex_count; op++)
            if (compiled->op_class[op] != OP_RANDOM && is_through(compiled, op) &&
                is_among_random(compiled, op))
                compiled->op_class[op] = OP_RANDOM, has_changed = true;
    }
}

static uint32_t source_among(const struct compiled *compiled, struct op_ids ops)
{
    for (size_t i = 0; i < ops.count; i++)
        if (compiled->source[ops.ids[i]] != NO_ID)
            return compiled->source[ops.ids[i]];
    return NO_ID;
}

static void spread_sources(struct compiled *compiled)
{
    enum { MOST_ROUNDS = 8 };
    const struct profile *profile = compiled->profile;
    bool                  has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
            uint32_t *source = &compiled->source[op];

            if (*source == NO_ID && profile->ops.items[op].caller)
                *source = compiled->source[profile->ops.items[op].caller - 1];
            if (*source == NO_ID)
                *source = source_among(compiled, op_graph_producers(profile->graph, op));
            if (*source == NO_ID)
                *source = source_among(compiled, op_graph_consumers(profile->graph, op));
            else
                continue;
            has_changed |= *source != NO_ID;
        }
    }
}

static bool has_attr(const struct profile *profile, const struct op *op, struct str name)
{
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (str_equal(profile_str(profile, profile->attrs.items[op->first_attr + i].name), name))
            return true;
    return false;
}

bool compiled_same_shape(const struct tensor *a, const struct tensor *b)
{
    if (a->rank < 0 || a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int8_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

bool compiled_is_root(const struct compiled *compiled, uint32_t op)
{
    return has_attr(compiled->profile, &compiled->profile->ops.items[op], STR("root"));
}

/* A parameter whose shape is among the results of its program may be its state. */
static bool is_returned(const struct profile *profile, const struct op *parameter, uint32_t root)
{
    const struct op *of = &profile->ops.items[root];

    for (uint32_t i = 0; i < of->output_count && parameter->output_count; i++)
        if (compiled_same_shape(&profile->tensors.items[parameter->first_output],
                                &profile->tensors.items[of->first_output + i]))
            return true;
    return false;
}

/* Rows of one program follow one another; its root lies among them. */
static void mark_parameters(struct compiled *compiled)
{
    const struct profile *profile = compiled->profile;

    for (uint32_t first = 0, end; first < profile->ops.count; first = end) {
        uint32_t root = NO_ID;

        for (end = first; end < profile->ops.count &&
                          profile->ops.items[end].program == profile->ops.items[first].program;
             end++)
            if (has_attr(profile, &profile->ops.items[end], STR("root")))
                root = end;
        for (uint32_t op = first; op < end; op++) {
            const struct op *row = &profile->ops.items[op];

            if (has_attr(profile, row, STR("entry")))
                compiled->from[op] = root == NO_ID || has_attr(profile, row, STR("donated")) ||
                                             is_returned(profile, row, root)
                                         ? FROM_STATE
                                         : FROM_INPUT;
        }
    }
}

/* What a parameter of a loop's or a branch's computation can come from. */
static uint8_t from_caller(const struct compiled *compiled, uint32_t op)
{
    const struct op *row = &compiled->profile->ops.items[op];

    if (!row->caller || !compiled_is_type(compiled, op, "parameter") ||
        compiled_holds(compiled, row->caller - 1))
        return 0;
    return compiled->from[row->caller - 1] |
           (compiled_is_type(compiled, row->caller - 1, "while") ? FROM_LOOP : 0);
}

/* Until nothing changes; loops within loops take a round each. */
static void spread(struct compiled *compiled)
{
    enum { MOST_ROUNDS = 32 };
    const struct op_graph *graph = compiled->profile->graph;
    bool                   has_changed = true;

    for (int round = 0; has_changed && round < MOST_ROUNDS; round++) {
        has_changed = false;
        for (uint32_t op = 0; op < graph->vertex_count; op++) {
            struct op_ids producers = op_graph_producers(graph, op);
            uint8_t       from = compiled->from[op] | from_caller(compiled, op);

            for (size_t i = 0; i < producers.count; i++)
                from |= compiled->from[producers.ids[i]];
            has_changed |= from != compiled->from[op];
            compiled->from[op] = from;
        }
    }
}

bool compiled_open(struct compiled *compiled, const struct profile *profile, struct arena *scratch)
{
    size_t count = profile->ops.count;

    *compiled = (struct compiled) { .profile = profile, .scratch = scratch };
    compiled->op_class = arena_new_array(scratch, uint8_t, count + 1);
    compiled->from = arena_new_array(scratch, uint8_t, count + 1);
    compiled->source = arena_new_array(scratch, uint32_t, count + 1);
    compiled->of_type = arena_new_array(scratch, uint8_t, profile->names.count + 1);
    compiled->of_origin = arena_new_array(scratch, uint8_t, profile->names.count + 1);
    compiled->weight = arena_new_array(scratch, double, count + 1);
    compiled->root = arena_new_array(scratch, uint32_t, count + 1);
    if (!number_types(compiled) || !find_places(compiled) || !compiled->op_class ||
        !compiled->from || !compiled->source || !compiled->of_type || !compiled->of_origin ||
        !compiled->weight || !compiled->root)
        return false;
    for (uint32_t op = 0; op < count; op++) {
        compiled->op_class[op] = (uint8_t)class_of(compiled, op);
        compiled->source[op] = profile->ops.items[op].source;
        compiled->root[op] = NO_ID;
        compiled->weight[op] =
            compiled_holds(compiled, op) ? 0 : weight_of(profile, &profile->ops.items[op]);
        if (multiplies(compiled, op))
            compiled->weight[op] /= MULTIPLIED_AT_ONCE;
    }
    if (profile->format != FORMAT_XSPACE || !profile->graph)
        return true;
    if (!sum_contents(compiled))
        return false;
    find_roots(compiled);
    follow_copies(compiled);
    spread_sources(compiled);
    mark_parameters(compiled);
    spread(compiled);
    return true;
}
