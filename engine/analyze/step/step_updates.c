/*
 * step_updates: steps by the updates of PyTorch's optimizers. Of how many a step is, where several
 * optimizers take turns, as those of two networks against each other, of an actor and its critics,
 * or of tables beside the rest: each update has the ops in it, and those since the one before, by
 * which it is known again. And where a step ends: evaluation, averages of weights and what else
 * follows the last update up to the end of the recording ends each step that it follows.
 */
#include "analyze/step/step_markers.h"
#include "base/sample.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_ROUNDS = 3, /* until they are steps */
    MOST_TURNS = 8,    /* updates a step */
};
static const double MOST_OFF = 0.02; /* ops since the one before, as branches on values make them */
/* Of the updates: those that lead to the next one by as many ops as most do. Some evaluate or save
 * besides. */
static const double LEAST_ALIKE = 0.6;
static const double LEAST_SAME = 0.9; /* of the ops that follow updates */

struct update {
    uint32_t inside, since; /* ops; and calls for a batch since */
    uint32_t behind;        /* row of ops: the first behind it */
    bool     is_closure;    /* it calls forward and backward pass itself */
};
/* Numbers of autograd: they grow with each op that is trained. */
struct numbers {
    int64_t first;
    bool    grow;
};
struct walk {
    const struct profile *profile;
    struct arena         *scratch;
    struct marker        *list;
    struct update        *updates;
    size_t                count;
    VEC(uint32_t) ops; /* events of the updates' timeline */
    size_t rest;       /* ops behind the last update that end a step, too */
};

static void note_number(const struct profile *profile, uint32_t event, struct numbers *numbers)
{
    int64_t number;

    if (!profile_stat(profile, STAT_SEQUENCE, event, &number) || number < 0)
        return;
    numbers->grow |= numbers->first >= 0 && number > numbers->first;
    numbers->first = numbers->first < 0 ? number : numbers->first;
}

/* Lists the ops, and says of each update which are its own. */
static bool look_at(struct walk *walk)
{
    const struct profile  *profile = walk->profile;
    const struct timeline *line = &profile->timelines.items[walk->list->timeline];
    struct numbers         inside = { -1, false };
    size_t                 u = 0;

    walk->ops.count = 0;
    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        enum activity_kind kind = event_activity(profile, i)->kind;
        int64_t            start_ns = event_start_ns(profile, i);

        if (kind != ACTIVITY_OP && kind != ACTIVITY_INPUT_WAIT)
            continue;
        while (u < walk->count && start_ns >= walk->list[u].end_ns) {
            walk->updates[u++].behind = (uint32_t)walk->ops.count;
            inside = (struct numbers) { -1, false };
        }
        if (kind == ACTIVITY_OP && !vec_push(&walk->ops, walk->scratch, i))
            return false;
        if (u == walk->count)
            continue;
        walk->updates[u].since++;
        if (start_ns < walk->list[u].start_ns || kind != ACTIVITY_OP)
            continue;
        walk->updates[u].inside++;
        note_number(profile, i, &inside);
        walk->updates[u].is_closure = inside.grow;
    }
    while (u < walk->count)
        walk->updates[u++].behind = (uint32_t)walk->ops.count;
    return true;
}

/* Updates with nothing between them are one: those of an optimizer a part, or a parameter. */
static void join_neighbours(struct walk *walk)
{
    struct update *updates = walk->updates;
    size_t         kept = 0;

    for (size_t i = 0; i < walk->count; i++) {
        if (kept > 0 && !updates[i].is_closure && updates[i].inside &&
            updates[i].inside == updates[i].since) {
            walk->list[kept - 1].end_ns = walk->list[i].end_ns;
            updates[kept - 1].inside += updates[i].inside;
            updates[kept - 1].since += updates[i].since;
            updates[kept - 1].behind = updates[i].behind;
            continue;
        }
        walk->list[kept] = walk->list[i];
        updates[kept++] = updates[i];
    }
    walk->count = kept;
}

/* What leads to the first update may have begun before the recording. */
static bool is_same(const struct update *updates, size_t a, size_t b, bool and_since)
{
    return updates[a].inside == updates[b].inside &&
           (!and_since || a == 0 ||
            abs((int)updates[a].since - (int)updates[b].since) <= MOST_OFF * updates[a].since);
}

/* The first update of each optimizer may make what it keeps of the gradients. */
static bool is_the_first(const struct update *updates, size_t i, size_t turns)
{
    return i < turns && updates[i].inside > updates[i + turns].inside;
}

/* The fewest updates after which all come again; 0: they do not, or tell nothing. */
static size_t find_turns(const struct update *updates, size_t count, bool and_since)
{
    for (size_t turns = 1; turns <= MOST_TURNS && turns * FEWEST_ROUNDS <= count; turns++) {
        size_t i = 0;

        while (i + turns < count && updates[i].inside &&
               (is_the_first(updates, i, turns) || is_same(updates, i, i + turns, and_since)))
            i++;
        if (i + turns == count)
            return turns;
    }
    return 0;
}

static bool are_about(double a, double b)
{
    return fabs(a - b) <= MOST_OFF * b;
}

/* Most lead to the next one by as many ops. */
static bool are_mostly_alike(const struct walk *walk)
{
    double *since = arena_new_array(walk->scratch, double, walk->count);
    double  usual;
    size_t  alike = 0;

    if (!since)
        return false;
    for (size_t i = 1; i < walk->count; i++)
        since[i - 1] = walk->updates[i].since;
    usual = sample_middle(since, walk->count - 1);
    for (size_t i = 1; i < walk->count; i++)
        alike += are_about(walk->updates[i].since, usual);
    return alike > 1 && (double)alike >= LEAST_ALIKE * (double)(walk->count - 1);
}

/* Two rounds of the same updates: as many ops lead to each. What follows the last one leads to the
 * second round, too, unless only that one has it, as where it saves. */
static bool are_two_rounds(const struct walk *walk)
{
    size_t turns = walk->count / 2;
    double rest = (double)walk->ops.count - walk->updates[walk->count - 1].behind;

    if (walk->count % 2 || turns < 1 || turns > MOST_TURNS)
        return false;
    for (size_t i = 0; i < turns; i++) {
        const struct update *first = &walk->updates[i], *second = &walk->updates[i + turns];

        if (!first->inside || first->inside != second->inside ||
            (!are_about(first->since, second->since) &&
             (i > 0 || !are_about(first->since + rest, second->since))))
            return false;
    }
    return true;
}

static bool are_closures(const struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        if (!walk->updates[i].is_closure)
            return false;
    return walk->count > 0;
}

/* Of how many updates a step is; *is_told: ops or closures tell it. */
static size_t turns_of(const struct walk *walk, bool *is_told)
{
    size_t turns = find_turns(walk->updates, walk->count, true);

    *is_told = true;
    if (!turns && are_two_rounds(walk))
        return walk->count / 2;
    if (turns)
        return turns;
    if (are_closures(walk))
        return 1;
    turns = find_turns(walk->updates, walk->count, false);
    *is_told = turns > 1 || (turns && are_mostly_alike(walk));
    return turns ? turns : 1;
}

/* Whether the first `count` ops behind two updates are the same ones, but for a few. */
static bool are_followed_alike(const struct walk *walk, const struct update *a,
                               const struct update *b, size_t count)
{
    size_t same = 0;

    for (size_t i = 0; i < count; i++)
        same += event_activity(walk->profile, walk->ops.items[a->behind + i])->name ==
                event_activity(walk->profile, walk->ops.items[b->behind + i])->name;
    return (double)same >= LEAST_SAME * (double)count;
}

/* How many ops follow the last update of each step of `turns`: those of the last one up to the end
 * of the recording, if they follow the others, too, and none of them is of a forward pass that is
 * trained. */
static size_t find_rest(const struct walk *walk, size_t turns)
{
    const struct update *last = &walk->updates[walk->count - 1];
    size_t               rest = walk->ops.count - last->behind;
    struct numbers       numbers = { -1, false };

    if (walk->count % turns)
        return 0;
    for (size_t i = 0; i < rest; i++)
        note_number(walk->profile, walk->ops.items[last->behind + i], &numbers);
    if (numbers.grow)
        return 0;
    for (size_t i = turns - 1; i + 1 < walk->count; i += turns)
        if (walk->updates[i + 1].since < walk->updates[i + 1].inside + rest ||
            !are_followed_alike(walk, &walk->updates[i], last, rest))
            return 0;
    return rest;
}

/* Where the step ends whose last update is `u`. */
static int64_t end_of(const struct walk *walk, size_t u)
{
    int64_t end_ns = walk->list[u].end_ns;

    for (size_t i = 0; i < walk->rest; i++) {
        int64_t op_ns = event_end_ns(walk->profile, walk->ops.items[walk->updates[u].behind + i]);

        end_ns = op_ns > end_ns ? op_ns : end_ns;
    }
    return end_ns;
}

/* Where the step begins whose first update is `u`: with it, where it calls the forward pass itself;
 * else where the one before ends. */
static int64_t begin_of(const struct walk *walk, size_t u)
{
    if (walk->updates[u].is_closure)
        return walk->list[u].start_ns;
    return u > 0 ? end_of(walk, u - 1) : walk->profile->start_ns;
}

/* Rounds that the recording cuts are left out. */
static size_t join_rounds(const struct walk *walk, size_t turns, struct marker *rounds)
{
    size_t kept = 0;

    for (size_t i = 0; i + turns <= walk->count; i += turns) {
        struct marker round = walk->list[i + turns - 1];

        round.start_ns = begin_of(walk, i);
        round.end_ns = end_of(walk, i + turns - 1);
        rounds[kept++] = round;
    }
    return kept;
}

bool markers_take_turns(struct profile const *profile, struct arena *scratch,
                        struct markers *markers, bool *are_told)
{
    size_t         count = markers->list.count, kept = 0;
    struct update *updates = arena_new_array(scratch, struct update, count + 1);
    struct marker *list = arena_new_array(scratch, struct marker, count + 1);
    struct walk    walk = { .profile = profile, .scratch = scratch };

    *are_told = true;
    if (!updates || !list)
        return false;
    if (count)
        memcpy(list, markers->list.items, count * sizeof *list);
    for (size_t from = 0, end; from < count; from = end) {
        size_t turns;
        bool   is_told;

        for (end = from; end < count && list[end].host == list[from].host;)
            end++;
        walk.list = &list[from];
        walk.updates = &updates[from];
        walk.count = end - from;
        if (!look_at(&walk))
            return false;
        join_neighbours(&walk);
        turns = turns_of(&walk, &is_told);
        *are_told = *are_told && is_told;
        walk.rest = find_rest(&walk, turns);
        kept += join_rounds(&walk, turns, &markers->list.items[kept]);
    }
    markers->list.count = kept;
    return true;
}
