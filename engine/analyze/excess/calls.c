#include "analyze/excess/calls.h"

enum { FEWEST_PARTS = 16 }; /* a stage of a network has fewer layers between a split and a join */

static const double ALIKE = 0.7; /* of the ways from one op to the next of its type are as long */

bool calls_open(struct call_rows *rows, struct ledger *ledger)
{
    *rows = (struct call_rows) { .ledger = ledger };
    rows->ops = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    return rows->ops != NULL;
}

void calls_of_step(struct call_rows *rows, size_t step)
{
    const struct ledger *ledger = rows->ledger;

    rows->count = 0;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op_class != OP_VIEW)
            rows->ops[rows->count++] = u;
}

const struct work_unit *call_op(const struct call_rows *rows, uint32_t row)
{
    return &rows->ledger->units.items[rows->ops[row]];
}

bool call_is_product(const struct work_unit *unit)
{
    return unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
           unit->op_class == OP_ATTENTION || unit->op_class == OP_CELL;
}

bool call_is_pick(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->op_class == OP_SORT || str_fits(unit_type(ledger, unit), "*argm*|*multinomial*");
}

/* A batch, or another text: what is looked up next was not picked. */
static bool brings_others(const struct call_rows *rows, uint32_t row)
{
    struct str type = unit_type(rows->ledger, call_op(rows, row));

    for (uint32_t u = rows->ops[row - 1] + 1; u < rows->ops[row]; u++)
        if (rows->ledger->units.items[u].phase == UNIT_INPUT)
            return true;
    return str_fits(type, "*::rand*|*::pad_sequence");
}

bool call_is_looked_up(const struct call_rows *rows, uint32_t row)
{
    while (++row < rows->count && !call_is_product(call_op(rows, row)) && !brings_others(rows, row))
        if (call_op(rows, row)->op_class == OP_EMBEDDING)
            return true;
    return false;
}

/* Halves that are put together behind a sign change are turned positions, no history. */
static bool is_turned(const struct call_rows *rows, uint32_t row)
{
    return row > 0 && str_ends(unit_type(rows->ledger, call_op(rows, row - 1)), STR("::neg"));
}

/* A row that is picked of the results of this call goes on into other layers. */
static bool picks_words(const struct call_rows *rows, const struct stretch *stretch)
{
    uint32_t end = stretch->first + 2 * stretch->distance;

    for (uint32_t row = stretch->first; row < end && row < rows->count; row++)
        if (call_is_pick(rows->ledger, call_op(rows, row)) && call_is_looked_up(rows, row))
            return true;
    return false;
}

/* An array is taken apart right before the first call, or in it, and not again in the second. */
static bool is_split_once(const struct call_rows *rows, const struct stretch *stretch)
{
    const struct ledger *ledger = rows->ledger;
    uint32_t             second = stretch->first + stretch->distance;
    uint32_t             split = 0;

    for (uint32_t u = stretch->first ? rows->ops[stretch->first - 1] : 0;
         u < rows->ops[second + stretch->distance - 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP ||
            !str_fits(unit_type(ledger, unit), "aten::split*|aten::chunk|aten::tensor_split|"
                                               "aten::unbind"))
            continue;
        if (u >= rows->ops[second])
            return false;
        split++;
    }
    return split == 1;
}

/* Each call begins with a slice, and cuts nothing else. */
static bool is_sliced(const struct call_rows *rows, const struct stretch *stretch)
{
    uint32_t slices = 0;

    for (uint32_t row = stretch->first; row < stretch->first + stretch->distance; row++)
        if (str_fits(unit_type(rows->ledger, call_op(rows, row)), "aten::slice|aten::narrow")) {
            slices++;
            if (row != stretch->first)
                return false;
        }
    return slices == 1;
}

/* Dozens of calls for the parts of an array, whose results are put together. */
static bool takes_parts(const struct call_rows *rows, const struct stretch *stretch)
{
    uint32_t behind = stretch->first + stretch->calls * stretch->distance;

    if (stretch->calls < FEWEST_PARTS ||
        (!is_split_once(rows, stretch) && !is_sliced(rows, stretch)))
        return false;
    while (behind < rows->count &&
           call_op(rows, behind)->type == call_op(rows, behind - stretch->distance)->type)
        behind++;
    return behind < rows->count &&
           str_fits(unit_type(rows->ledger, call_op(rows, behind)), "*::cat|*::concat|*::stack");
}

/* Windows of a picture: results are written into their place, and the next window goes through
 * convolutions. Layers that keep keys and values write them into theirs, and multiply them next. */
static bool is_placed(const struct call_rows *rows, const struct stretch *stretch)
{
    uint32_t end = stretch->first + 2 * stretch->distance;
    bool     is_written = false;

    for (uint32_t row = stretch->first + 1; row < end && row < rows->count; row++) {
        const struct work_unit *unit = call_op(rows, row);

        if (call_is_product(unit) && is_written)
            return unit->op_class == OP_CONVOLUTION;
        is_written |= str_fits(unit_type(rows->ledger, unit), "aten::copy_|aten::add_") &&
                      str_ends(unit_type(rows->ledger, call_op(rows, row - 1)), STR("::slice"));
    }
    return false;
}

struct call_traits calls_look_at(const struct call_rows *rows, const struct stretch *stretch)
{
    struct call_traits is = { .picks_words = picks_words(rows, stretch),
                              .takes_parts = takes_parts(rows, stretch),
                              .is_placed = is_placed(rows, stretch) };
    uint32_t           behind = 0; /* the last product */
    bool               joins;
    bool is_told = false; /* what comes out is, in classes: sums of that are no state */

    for (uint32_t row = stretch->first; row < stretch->first + stretch->distance; row++) {
        const struct work_unit *unit = call_op(rows, row);
        struct str              type = unit_type(rows->ledger, unit);

        if (call_is_product(unit) || call_is_pick(rows->ledger, unit) ||
            unit->op_class == OP_READBACK || unit->op_class == OP_SOFTMAX) {
            is.ends_in_sums = false;
            is_told = !call_is_product(unit);
        } else if (unit->op_class == OP_ELEMENTWISE) {
            is.ends_in_sums = !is_told;
        }
        is.products += call_is_product(unit);
        is.attentions += unit->op_class == OP_ATTENTION;
        is.cells += unit->op_class == OP_CELL;
        is.softmaxes += unit->op_class == OP_SOFTMAX;
        is.looks_up |= unit->op_class == OP_EMBEDDING;
        is.picks |= call_is_pick(rows->ledger, unit);
        is.draws |= unit->op_class == OP_RANDOM && !str_contains(type, STR("dropout"));
        is.reads |= unit->op_class == OP_READBACK;
        is.is_handed |= str_ends(type, STR("::lift_fresh"));
        joins = str_fits(type, "*::cat|*::concat") && !is_turned(rows, row);
        is.joined += joins;
        behind += joins || str_fits(type, "*copy_") || unit->op_class == OP_SCATTER;
        if (!call_is_product(unit))
            continue;
        is.kept += is.products > 1 ? behind : 0;
        behind = 0;
    }
    return is;
}

/* The next stretch of enough calls at that distance, from `row` on. false: there is none. */
bool calls_next(const struct call_rows *rows, uint32_t row, uint32_t distance,
                struct stretch *stretch)
{
    for (uint32_t first = row; first + distance < rows->count; first = row + 1) {
        for (row = first; row + distance < rows->count &&
                          call_op(rows, row)->type == call_op(rows, row + distance)->type;)
            row++;
        *stretch = (struct stretch) { first, distance, (row - first) / distance + 1 };
        if (stretch->calls >= FEWEST_CALLS)
            return true;
    }
    return false;
}

/* How far most ops of a type are from the next of it; 0: no distance is that of most. */
static uint32_t usual_distance(const struct call_rows *rows, uint32_t first, const uint32_t *next)
{
    uint32_t usual = 0, votes = 0, same = 0, all = 0;

    for (uint32_t row = first; next[row] < rows->count; row = next[row]) {
        if (votes == 0)
            usual = next[row] - row;
        votes = next[row] - row == usual ? votes + 1 : votes - 1;
    }
    for (uint32_t row = first; next[row] < rows->count; row = next[row], all++)
        same += next[row] - row == usual;
    return (double)same >= ALIKE * all ? usual : 0;
}

/* The distances between rows with the same key. false: out of memory. */
static bool distances_of(const struct call_rows *rows, const uint32_t *keys, uint32_t *next,
                         uint32_t distances[MOST_DISTANCES], uint32_t *count)
{
    struct id_map first = { .arena = rows->ledger->scratch }; /* by key */

    for (uint32_t row = rows->count; row-- > 0;) {
        uint32_t behind = id_map_get(&first, keys[row]);

        next[row] = behind == NO_ID ? rows->count : behind;
        if (!id_map_put(&first, keys[row], row))
            return false;
    }
    *count = 0;
    for (uint32_t row = 0; row < rows->count && *count < MOST_DISTANCES; row++) {
        uint32_t distance, known = 0;

        if (id_map_get(&first, keys[row]) != row)
            continue;
        distance = usual_distance(rows, row, next);
        while (known < *count && distances[known] != distance)
            known++;
        if (distance >= SHORTEST_CALL && known == *count)
            distances[(*count)++] = distance;
    }
    return true;
}

/* Numbers for two types in a row, which may come once in a call whose types all come often. */
static bool number_pairs(const struct call_rows *rows, uint32_t *keys)
{
    struct id_map numbers = { .arena = rows->ledger->scratch }; /* by type */
    uint32_t      count = 0;

    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t type = call_op(rows, row)->type;

        keys[row] = id_map_get(&numbers, type);
        if (keys[row] == NO_ID && !id_map_put(&numbers, type, keys[row] = count++))
            return false;
    }
    for (uint32_t row = 0; row + 1 < rows->count; row++)
        keys[row] = keys[row] * count + keys[row + 1];
    return true;
}

bool calls_distances(struct call_rows *rows, bool of_pairs, uint32_t distances[MOST_DISTANCES],
                     uint32_t *count)
{
    struct ledger *ledger = rows->ledger;
    uint32_t      *next = arena_new_array(ledger->scratch, uint32_t, (size_t)rows->count + 1);
    uint32_t      *keys = arena_new_array(ledger->scratch, uint32_t, (size_t)rows->count + 1);

    if (!next || !keys)
        return false;
    for (uint32_t row = 0; row < rows->count; row++)
        keys[row] = call_op(rows, row)->type;
    return (!of_pairs || number_pairs(rows, keys)) &&
           distances_of(rows, keys, next, distances, count);
}

bool calls_longest(struct call_rows *rows, struct stretch *best)
{
    uint32_t distances[MOST_DISTANCES], count;

    *best = (struct stretch) { 0 };
    if (!calls_distances(rows, false, distances, &count))
        return false;
    for (uint32_t d = 0; d < count; d++)
        for (struct stretch stretch = { 0 }; calls_next(
                 rows, stretch.first + stretch.calls * stretch.distance, distances[d], &stretch);)
            if (stretch.calls * stretch.distance > best->calls * best->distance)
                *best = stretch;
    return true;
}

/* Words are picked of what comes out, by the program where a cell carries its state on. */
bool calls_write_text(const struct call_traits *is)
{
    return is->looks_up && (is->picks_words || is->cells > 0);
}

/* Each call takes what the one before made: steps of a solver, of a sampler of pictures; or what
 * somebody does with what was drawn. */
bool calls_feed_themselves(const struct call_traits *is)
{
    return (is->ends_in_sums && !is->looks_up) || is->draws;
}
