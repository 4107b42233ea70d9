#include "analyze/excess/pause_kinds.h"

#include "base/sample.h"

/* Schedulers give a thread back sooner. */
static const double LONGEST_ASIDE_NS = 50e6;
/* Times the usual pause of its kind. */
static const double MUCH_LONGER = 8;
/* Of the pauses of a kind: as many long ones are part of what the program does there, and so is one
 * in each step. */
static const double LEAST_SHARE = 0.2;
/* One of fewer steps tells nothing about what comes again. */
enum { FEWEST_STEPS = 2 };
/* Of a kind that comes more often a step, chance makes one long in each: there only those that are
 * long at the same place in half of the steps come again. */
enum { FEW_A_STEP = 4 };
/* A loop over values that Python makes or reads: pauses a step, and their usual length of a long
 * one's. */
enum { FEWEST_ROUNDS = 16 };
static const double NEARLY_LONG = 0.5;

struct kind {
    VEC(double) lengths;
    double   usual_ns;
    uint32_t count, long_count;
    uint32_t step, step_count;      /* the last + 1, and how many it has so far */
    uint32_t long_steps, last_step; /* steps with a long one, and the last of them + 1 */
    bool     carries_values;        /* between Python and tensors */
};
struct kinds {
    struct ledger *ledger;
    struct intern  names; /* types of the ops before and behind, as bytes */
    VEC(struct kind) items;
    uint32_t     *of_unit; /* row of items, or NO_ID */
    uint32_t     *place;   /* by unit: how many of its kind came before it in its step */
    struct id_map at;      /* steps with a long one, by kind and place */
};

/* What a tensor is made of a list by, or numbers are read by: tolist() and numpy() end so. */
static bool carries_values(const struct ledger *ledger, uint32_t before, uint32_t behind)
{
    const struct profile *profile = ledger->study->profile;
    struct str            first = profile_str(profile, before), then = profile_str(profile, behind);

    return str_fits(first, "*::item|*::is_nonzero|*::detach_|*::lift_fresh|*::resolve_neg") ||
           str_fits(then, "*::empty|*::item");
}

/* The type of an op's unit; 0: there is none. */
static uint32_t type_of(const struct ledger *ledger, uint32_t op)
{
    return op == NO_ID ? 0 : ledger->units.items[op].type;
}

bool pause_carries_values(const struct ledger *ledger, uint32_t u)
{
    return carries_values(ledger, type_of(ledger, ledger->op_before[u]),
                          type_of(ledger, ledger->op_behind[u]));
}

/* Adds a pause to those between the same two types. */
static bool add_pause(struct kinds *kinds, uint32_t u)
{
    const struct ledger    *ledger = kinds->ledger;
    const struct work_unit *unit = &ledger->units.items[u];
    uint32_t                key[] = { type_of(ledger, ledger->op_before[u]),
                                      type_of(ledger, ledger->op_behind[u]) };
    uint32_t     id = intern_add(&kinds->names, (struct str) { (const char *)key, sizeof key });
    struct kind *kind;

    if (id == NO_ID ||
        (id > kinds->items.count && !vec_push(&kinds->items, ledger->scratch, (struct kind) { 0 })))
        return false;
    kind = &kinds->items.items[id - 1];
    if (kind->step != unit->step + 1)
        kind->step_count = 0;
    kind->step = unit->step + 1;
    kind->carries_values = carries_values(ledger, key[0], key[1]);
    kinds->of_unit[u] = id - 1;
    kinds->place[u] = kind->step_count++;
    return vec_push(&kind->lengths, ledger->scratch, unit->ns);
}

/* The kind of each pause, and how long those of one kind are. */
static bool sort_out(struct kinds *kinds)
{
    const struct ledger *ledger = kinds->ledger;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        kinds->of_unit[u] = NO_ID;
        if (unit_is_forward_pause(&ledger->units.items[u]) && !add_pause(kinds, u))
            return false;
    }
    return true;
}

static bool is_long(const struct kind *kind, double ns, double long_ns)
{
    return ns >= long_ns && ns > MUCH_LONGER * kind->usual_ns;
}

static uint64_t place_of(const struct kinds *kinds, size_t u)
{
    return (uint64_t)kinds->of_unit[u] << 32 | kinds->place[u];
}

static bool measure(struct kinds *kinds, double long_ns)
{
    for (size_t i = 0; i < kinds->items.count; i++) {
        struct kind *kind = &kinds->items.items[i];

        kind->count = (uint32_t)kind->lengths.count;
        kind->usual_ns = sample_middle(kind->lengths.items, kind->count);
    }
    for (size_t u = 0; u < kinds->ledger->units.count; u++) {
        const struct work_unit *unit = &kinds->ledger->units.items[u];
        struct kind            *kind;

        if (kinds->of_unit[u] == NO_ID)
            continue;
        kind = &kinds->items.items[kinds->of_unit[u]];
        if (!is_long(kind, unit->ns, long_ns))
            continue;
        uint32_t steps = id_map_get(&kinds->at, place_of(kinds, u));

        kind->long_count++;
        kind->long_steps += kind->last_step != unit->step + 1;
        kind->last_step = unit->step + 1;
        if (!id_map_put(&kinds->at, place_of(kinds, u), steps == NO_ID ? 1 : steps + 1))
            return false;
    }
    return true;
}

/* One in each step is the program's, where it is not one of many. Frames cut what lies between two
 * ops into pieces, which tell no places. */
static bool is_each_step(const struct kinds *kinds, size_t u, const struct kind *kind)
{
    size_t   steps = kinds->ledger->step_count;
    uint32_t here = id_map_get(&kinds->at, place_of(kinds, u));

    return steps >= FEWEST_STEPS && kind->long_steps == steps &&
           (kind->count <= FEW_A_STEP * steps || kinds->ledger->study->profile->has_python_frames ||
            (here != NO_ID && here > 1 && 2 * here >= steps));
}

static bool recurs(const struct kinds *kinds, size_t u, const struct kind *kind)
{
    const struct work_unit *unit = &kinds->ledger->units.items[u];

    if (unit->ns > LONGEST_ASIDE_NS)
        return true;
    if (kind->count == 1)
        return false;
    return unit->ns <= MUCH_LONGER * kind->usual_ns || is_each_step(kinds, u, kind) ||
           (kind->long_count > 1 && kind->long_count >= LEAST_SHARE * kind->count);
}

static bool is_loop(const struct kinds *kinds, const struct work_unit *unit,
                    const struct kind *kind, double long_ns)
{
    return kind->carries_values && kind->count >= FEWEST_ROUNDS * kinds->ledger->step_count &&
           kind->usual_ns >= NEARLY_LONG * long_ns && unit->ns <= MUCH_LONGER * kind->usual_ns;
}

uint8_t *pause_kinds_find(struct ledger *ledger, double long_ns)
{
    struct kinds kinds = { .ledger = ledger };
    uint8_t     *found = arena_new_array(ledger->scratch, uint8_t, ledger->units.count + 1);
    bool         is_short = ledger->step_count < FEWEST_STEPS;

    kinds.of_unit = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    kinds.place = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    kinds.at.arena = ledger->scratch;
    if (!found || !kinds.of_unit || !kinds.place || !intern_init(&kinds.names, ledger->scratch) ||
        !sort_out(&kinds) || !measure(&kinds, long_ns))
        return NULL;
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct kind      *kind =
            kinds.of_unit[u] == NO_ID ? NULL : &kinds.items.items[kinds.of_unit[u]];

        if (kind && is_loop(&kinds, unit, kind, long_ns))
            found[u] = PAUSE_LOOP;
        else if (!kind || recurs(&kinds, u, kind) ||
                 (is_short && (kind->carries_values || ledger->study->profile->has_python_frames)))
            found[u] = PAUSE_AGAIN;
        else if (is_short)
            found[u] = PAUSE_UNKNOWN;
    }
    return found;
}
