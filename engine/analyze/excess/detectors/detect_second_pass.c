/* second_pass: a graph function that trains calls its model twice, and no gradients are made of one
 * call: its results are compared with labels for a metric, which those of the other would do for. A
 * call puts the model's name with a number in front of its ops; layers keep theirs. Without such a
 * comparison it may be a target network or a teacher, which have names of layers in common too. */
#include "analyze/excess/ledger.h"

#include <stdio.h>

enum { FEWEST_PRODUCTS = 2 };

struct call {      /* of a model, by id of its name */
    uint32_t base; /* the name without its number, by id */
    uint32_t products;
    bool     trains, is_again;
};
struct finder {
    struct ledger *ledger;
    struct intern  names;  /* of calls and, without numbers, of models */
    struct intern  layers; /* "model_1/dense": with an op of a forward pass */
    VEC(struct call) calls;
    uint32_t *call_of; /* by row of profile->ops: id of names; 0 none */
    bool      compares;
};

static struct str without_numbers(struct str name)
{
    size_t end = name.len;

    while (end > 0 &&
           ((name.data[end - 1] >= '0' && name.data[end - 1] <= '9') || name.data[end - 1] == '_'))
        end--;
    return end > 0 ? str_slice(name, 0, end) : name;
}

static struct str layer_of(struct str name)
{
    size_t slash = str_find_last(name, '/');

    return str_slice(name, 0, slash < name.len ? slash : 0);
}

/* The call with a name; NULL: out of memory. */
static struct call *call_named(struct finder *finder, struct str name, uint32_t *id)
{
    struct call call = { .base = intern_add(&finder->names, without_numbers(name)) };

    *id = intern_add(&finder->names, name);
    if (call.base == NO_ID || *id == NO_ID)
        return NULL;
    while (finder->calls.count <= *id || finder->calls.count <= call.base)
        if (!vec_push(&finder->calls, finder->ledger->scratch, (struct call) { 0 }))
            return NULL;
    finder->calls.items[*id].base = call.base;
    return &finder->calls.items[*id];
}

static bool is_comparison(struct str type)
{
    return str_fits(type, "Equal|InTopK*");
}

static bool learn(struct finder *finder, size_t row)
{
    static const struct str gradient = STR_INIT("gradient_tape/");
    const struct profile   *profile = finder->ledger->study->profile;
    const struct op        *op = &profile->ops.items[row];
    struct str              name = profile_str(profile, op->name);
    struct str              type = profile_str(profile, op->type);
    enum op_class           op_class = op_class_of(type);
    bool                    trains = str_starts(name, gradient);
    struct call            *call;
    uint32_t                id;

    name = trains ? str_slice(name, gradient.len, name.len) : name;
    /* The gradient of a maximum compares, too: where it was. */
    finder->compares |= !trains && str_find(name, '/') >= name.len && is_comparison(type);
    if (str_find(name, '/') >= name.len)
        return true;
    call = call_named(finder, str_slice(name, 0, str_find(name, '/')), &id);
    if (!call)
        return false;
    call->trains |= trains;
    if (trains)
        return true;
    call->products += op_class == OP_PRODUCT || op_class == OP_CONVOLUTION;
    finder->call_of[row] = id;
    return intern_add(&finder->layers, layer_of(name)) != NO_ID;
}

/* Whether the other call has the same layer. */
static bool has_layer(const struct finder *finder, struct str name, struct str other)
{
    char       text[512];
    struct str layer = layer_of(name);
    size_t     slash = str_find(name, '/');
    int length = snprintf(text, sizeof text, "%.*s%.*s", STR_ARG(other), (int)(layer.len - slash),
                          layer.data + slash);

    return length > 0 && (size_t)length < sizeof text && layer.len > slash &&
           intern_find(&finder->layers, str_from(text)) != NO_ID;
}

static bool repeats(const struct finder *finder, uint32_t again, uint32_t first)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct str            other = intern_str(&finder->names, first);

    for (size_t row = 0; row < profile->ops.count; row++) {
        struct str    name = profile_str(profile, profile->ops.items[row].name);
        enum op_class op_class = op_class_of(profile_str(profile, profile->ops.items[row].type));

        if (finder->call_of[row] == again &&
            (op_class == OP_PRODUCT || op_class == OP_CONVOLUTION) &&
            !has_layer(finder, name, other))
            return false;
    }
    return true;
}

static bool has_first(const struct finder *finder, uint32_t again)
{
    const struct call *call = &finder->calls.items[again];

    for (uint32_t first = 0; first < finder->calls.count; first++) {
        const struct call *other = &finder->calls.items[first];

        if (other->trains && other->base == call->base && other->products == call->products &&
            repeats(finder, again, first))
            return true;
    }
    return false;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t id = unit->kind == UNIT_OP && unit->op != NO_ID ? finder->call_of[unit->op] : 0;

        if (!id || !finder->calls.items[id].is_again)
            continue;
        if (cell == NO_ID)
            cell = ledger_cell(ledger, self, unit);
        if (cell == NO_ID || !ledger_tell(ledger, cell, "%.*s has the layers of a call that trains",
                                          STR_ARG(intern_str(&finder->names, id))))
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    bool                  is_found = false;

    if (ledger->is_torch || ledger_is_jax(ledger) || profile->format != FORMAT_XSPACE)
        return true;
    finder.call_of = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    if (!finder.call_of || !intern_init(&finder.names, ledger->scratch) ||
        !intern_init(&finder.layers, ledger->scratch))
        return false;
    for (size_t row = 0; row < profile->ops.count; row++)
        if (!learn(&finder, row))
            return false;
    for (uint32_t id = 1; finder.compares && id < finder.calls.count; id++) {
        struct call *call = &finder.calls.items[id];

        call->is_again =
            !call->trains && call->products >= FEWEST_PRODUCTS && has_first(&finder, id);
        is_found |= call->is_again;
    }
    return !is_found || claim(&finder, self);
}

const struct detector detector_second_pass = { "second-pass", CAUSE_REPEAT, GRADE_SIZES, find };
