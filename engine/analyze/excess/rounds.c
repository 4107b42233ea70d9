#include "analyze/excess/rounds.h"

#include "analyze/step/steps.h"

#include <string.h>

struct finder {
    struct rounds *rounds;
    uint32_t      *same, *begin; /* keys by row of rounds.units */
    uint32_t      *next;         /* the next row of that key; count: none */
    bool          *is_again;     /* an earlier row has its key */
    bool          *is_taken;     /* of a block */
};

static bool list_units(struct ledger *ledger, size_t step, const struct round_keys *keys,
                       struct finder *finder)
{
    uint32_t first = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    size_t   most = end - first + 1;

    finder->rounds->units = arena_new_array(ledger->scratch, uint32_t, most);
    finder->same = arena_new_array(ledger->scratch, uint32_t, most);
    finder->begin = arena_new_array(ledger->scratch, uint32_t, most);
    finder->next = arena_new_array(ledger->scratch, uint32_t, most);
    finder->is_again = arena_new_array(ledger->scratch, bool, most);
    finder->is_taken = arena_new_array(ledger->scratch, bool, most);
    if (!finder->rounds->units || !finder->same || !finder->begin || !finder->next ||
        !finder->is_again || !finder->is_taken)
        return false;
    for (uint32_t u = first; u < end; u++)
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op_class != OP_VIEW) {
            finder->same[finder->rounds->count] = keys->same[u];
            finder->begin[finder->rounds->count] = keys->begin[u];
            finder->rounds->units[finder->rounds->count++] = u;
        }
    return true;
}

static bool link_keys(struct ledger *ledger, struct finder *finder)
{
    uint32_t  count = finder->rounds->count, most = 0;
    uint32_t *last;

    for (uint32_t i = 0; i < count; i++)
        most = finder->begin[i] > most ? finder->begin[i] : most;
    last = arena_new_array(ledger->scratch, uint32_t, (size_t)most + 1);
    if (!last)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = last[finder->begin[i]];

        finder->next[i] = count;
        if (before)
            finder->next[before - 1] = i, finder->is_again[i] = true;
        last[finder->begin[i]] = i + 1;
    }
    return true;
}

/* How far all rounds go on alike, without reaching into one another. */
static uint32_t common_length(const struct finder *finder, const uint32_t *starts, uint32_t count)
{
    for (uint32_t length = 0;; length++)
        for (uint32_t r = 0; r < count; r++) {
            uint32_t at = starts[r] + length;

            if (at >= (r + 1 < count ? starts[r + 1] : finder->rounds->count) ||
                finder->same[at] != finder->same[starts[0] + length])
                return length;
        }
}

/* All of one key, from its first on. */
static bool look_at(struct ledger *ledger, struct finder *finder, uint32_t first)
{
    struct round_block block = { 0 };
    uint32_t           starts[MOST_ROUNDS], *kept;

    for (uint32_t at = first; at < finder->rounds->count; at = finder->next[at]) {
        if (block.count == MOST_ROUNDS)
            return true;
        starts[block.count++] = at;
    }
    if (block.count < 2)
        return true;
    block.length = common_length(finder, starts, block.count);
    for (uint32_t r = 0; r < block.count; r++)
        memset(&finder->is_taken[starts[r]], true, block.length * sizeof *finder->is_taken);
    kept = arena_new_array(ledger->scratch, uint32_t, block.count);
    if (!kept)
        return false;
    memcpy(kept, starts, block.count * sizeof *kept);
    block.starts = kept;
    return vec_push(&finder->rounds->blocks, ledger->scratch, block);
}

/* The keys of a unit and of some behind it as one. */
static bool key_of_row(const uint32_t *same, const uint32_t *units, size_t count,
                       struct intern *rows, uint32_t *key)
{
    enum { MOST = 9 };
    uint32_t words[MOST];
    size_t   used = 0;

    for (; used < MOST && used < count; used++)
        words[used] = same[units[used]];
    *key = intern_add(rows, (struct str) { (const char *)words, used * sizeof *words });
    return *key != NO_ID;
}

bool rounds_keys(struct ledger *ledger, struct round_keys *keys)
{
    size_t        most = ledger->units.count + 1, count = 0;
    uint32_t     *units = arena_new_array(ledger->scratch, uint32_t, most);
    struct intern rows;

    keys->same = arena_new_array(ledger->scratch, uint32_t, most);
    keys->counted = 0;
    keys->counted_in =
        arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->ops.count + 1);
    if (!units || !keys->same || !keys->counted_in || !intern_init(&rows, ledger->scratch))
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        keys->same[u] = 4 * (unit->op + 1) + unit->phase;
        if (unit->kind == UNIT_OP && unit->op_class != OP_VIEW)
            units[count++] = u;
    }
    keys->begin = keys->same;
    keys->count = 4 * ((uint32_t)ledger->study->profile->ops.count + 1);
    if (ledger->study->profile->has_shapes)
        return true;
    keys->begin = arena_new_array(ledger->scratch, uint32_t, most);
    for (size_t i = 0; keys->begin && i < count; i++)
        if (!key_of_row(keys->same, units + i, count - i, &rows, &keys->begin[units[i]]))
            return false;
    keys->count = rows.count + 1;
    return keys->begin != NULL;
}

bool rounds_are_told(const struct ledger *ledger)
{
    return ledger->study->profile->has_shapes || ledger->study->steps.source != STEPS_WHOLE_TRACE;
}

bool rounds_find(struct ledger *ledger, size_t step, const struct round_keys *keys,
                 struct rounds *rounds)
{
    struct finder finder = { .rounds = rounds };

    *rounds = (struct rounds) { 0 };
    if (!list_units(ledger, step, keys, &finder) || !link_keys(ledger, &finder))
        return false;
    for (uint32_t i = 0; i < rounds->count; i++)
        if (!finder.is_again[i] && !finder.is_taken[i] && !look_at(ledger, &finder, i))
            return false;
    return true;
}

struct round_products round_products(const struct ledger *ledger, struct round_keys *keys,
                                     const struct rounds *rounds, const struct round_block *block)
{
    struct round_products products = { 0 };

    keys->counted++;
    for (uint32_t row = block->starts[0]; row < block->starts[0] + block->length; row++) {
        const struct work_unit *unit = &ledger->units.items[rounds->units[row]];

        if (unit->op_class != OP_PRODUCT && unit->op_class != OP_CONVOLUTION)
            continue;
        products.count++;
        if (unit->op == NO_ID || keys->counted_in[unit->op] == keys->counted)
            continue;
        keys->counted_in[unit->op] = keys->counted;
        products.shapes++;
    }
    return products;
}
