#include "analyze/ops/siblings.h"

#include "base/intern.h"
#include "base/vec.h"
#include "model/op_graph.h"

#include <string.h>

struct kind {                      /* instructions that do the same */
    uint32_t first, members, free; /* free: those that need no other member */
    int8_t   bit;                  /* in `needs`; -1: too few, or not followed */
};
struct finder {
    const struct profile *profile;
    struct arena          scratch;
    uint32_t             *kind_of; /* by op; NO_ID: none */
    uint64_t             *needs;   /* by op: kinds that its operands come from */
    VEC(struct kind) kinds;
};

static bool is_candidate(const struct finder *finder, const struct op *op)
{
    return !op->is_fused && op->output_count &&
           !str_fits(profile_str(finder->profile, op->type),
                     "parameter|constant|tuple|get-tuple-element|bitcast");
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static uint64_t hash_of(const struct finder *finder, const struct op *op)
{
    uint64_t hash = mix(mix(mix(op->module, op->program), op->caller), op->type);

    for (uint32_t i = 0; i < op->input_count + op->output_count; i++) {
        const struct tensor *tensor = &finder->profile->tensors.items[op->first_input + i];

        hash = mix(mix(hash, tensor->dtype), (uint64_t)(uint8_t)tensor->rank);
        for (int axis = 0; axis < tensor->rank; axis++)
            hash = mix(hash, (uint64_t)tensor->dims[axis]);
    }
    return hash;
}

static bool is_same_tensor(const struct tensor *a, const struct tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

static bool is_same(const struct finder *finder, const struct op *a, const struct op *b)
{
    const struct tensor *tensors = finder->profile->tensors.items;

    if (a->module != b->module || a->program != b->program || a->caller != b->caller ||
        a->type != b->type || a->input_count != b->input_count ||
        a->output_count != b->output_count)
        return false;
    for (uint32_t i = 0; i < a->input_count + a->output_count; i++)
        if (!is_same_tensor(&tensors[a->first_input + i], &tensors[b->first_input + i]))
            return false;
    return true;
}

static bool find_kinds(struct finder *finder)
{
    const struct op *ops = finder->profile->ops.items;
    struct id_map    by_hash = { .arena = &finder->scratch };

    for (uint32_t i = 0; i < finder->profile->ops.count; i++) {
        uint64_t hash;
        uint32_t found;

        finder->kind_of[i] = NO_ID;
        if (!is_candidate(finder, &ops[i]))
            continue;
        hash = hash_of(finder, &ops[i]);
        found = id_map_get(&by_hash, hash);
        if (found == NO_ID) {
            found = (uint32_t)finder->kinds.count;
            if (!vec_push(&finder->kinds, &finder->scratch, ((struct kind) { i, 0, 0, -1 })) ||
                !id_map_put(&by_hash, hash, found))
                return false;
        }
        if (!is_same(finder, &ops[i], &ops[finder->kinds.items[found].first]))
            continue;
        finder->kind_of[i] = found;
        finder->kinds.items[found].members++;
    }
    return true;
}

/* Those with most members are followed. false: none has enough. */
static bool choose(struct finder *finder)
{
    int8_t count = 0;

    while (count < SIBLINGS_KINDS) {
        struct kind *best = NULL;

        for (size_t k = 0; k < finder->kinds.count; k++) {
            struct kind *kind = &finder->kinds.items[k];

            if (kind->bit < 0 && kind->members >= SIBLINGS_FEWEST &&
                (!best || kind->members > best->members))
                best = kind;
        }
        if (!best)
            break;
        best->bit = count++;
    }
    return count > 0;
}

static uint64_t bit_of(const struct finder *finder, uint32_t op)
{
    uint32_t kind = finder->kind_of[op];
    int8_t   bit = kind == NO_ID ? -1 : finder->kinds.items[kind].bit;

    return bit < 0 ? 0 : UINT64_C(1) << bit;
}

/* Operands come first in the order, so what they need is known. */
static void follow(struct finder *finder, struct op_ids order)
{
    for (size_t i = 0; i < order.count; i++) {
        uint32_t      op = order.ids[i];
        struct op_ids producers = op_graph_producers(finder->profile->graph, op);

        for (size_t p = 0; p < producers.count; p++)
            finder->needs[op] |= finder->needs[producers.ids[p]] | bit_of(finder, producers.ids[p]);
        if (bit_of(finder, op) && !(finder->needs[op] & bit_of(finder, op)))
            finder->kinds.items[finder->kind_of[op]].free++;
    }
}

static bool count_all(struct finder *finder, uint32_t *counts)
{
    struct op_ids order;
    struct err    err = { 0 };
    bool          is_acyclic;

    if (!op_graph_sort(finder->profile->graph, &finder->scratch, &order, &is_acyclic, &err))
        return false;
    follow(finder, order);
    for (size_t i = 0; i < order.count; i++) {
        uint32_t op = order.ids[i];

        if (bit_of(finder, op) && !(finder->needs[op] & bit_of(finder, op)) &&
            finder->kinds.items[finder->kind_of[op]].free >= SIBLINGS_FEWEST)
            counts[op] = finder->kinds.items[finder->kind_of[op]].free;
    }
    return true;
}

bool siblings_count(const struct profile *profile, struct arena *arena, uint32_t **counts)
{
    struct finder finder = { .profile = profile,
                             .scratch = { .budget_bytes = arena->budget_bytes } };
    size_t        count = profile->ops.count;
    bool          ok;

    *counts = NULL;
    if (profile->format != FORMAT_XSPACE || !profile->graph ||
        profile->graph->vertex_count != count)
        return true;
    *counts = arena_new_array(arena, uint32_t, count + 1);
    finder.kind_of = arena_new_array(&finder.scratch, uint32_t, count + 1);
    finder.needs = arena_new_array(&finder.scratch, uint64_t, count + 1);
    ok = *counts && finder.kind_of && finder.needs && find_kinds(&finder) &&
         (!choose(&finder) || count_all(&finder, *counts));
    arena_free(&finder.scratch);
    return ok;
}
