#include "analyze/eager/eager_rounds.h"

const struct eager_kind *eager_round_kind(const struct eager_rounds *seen, uint32_t type)
{
    struct eager_kind *kind = &seen->kinds[type];

    if (!kind->is_known)
        *kind = eager_kind_of(eager_base_name(profile_str(seen->profile, type)));
    return kind;
}

uint32_t eager_round_key(const struct eager_call *call, enum anchor_class class)
{
    bool by_shape = (class == ANCHOR_SLICE || class == ANCHOR_PRODUCT) && call->op != NO_ID;

    return (by_shape ? call->op : call->type) * 2 + by_shape;
}

/* Layers of a network slice too, each in the same way: a round there holds a normalisation or an
 * attention, and there are few of them, or several where there are more. */
static bool is_network(const struct eager_rounds *seen, const struct eager_cluster *cluster)
{
    enum { MOST_LAYERS = 24, MOST_BLOCKS = 128 };
    const struct eager_call *calls = seen->calls;
    uint32_t                 layers = 0, rounds = 1, before, longest = 1;

    for (uint32_t i = cluster->first; i <= cluster->last; i++)
        layers += (eager_round_kind(seen, calls[i].type)->traits & IS_LAYER) != 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = before = cluster->first; i <= cluster->last; i++) {
            if (eager_round_key(&calls[i],
                                (enum anchor_class)eager_round_kind(seen, calls[i].type)->class) !=
                cluster->key)
                continue;
            if (pass == 0 && i - before > longest)
                longest = i - before;
            rounds += pass == 1 && (i - before) * 2 > longest;
            before = i;
        }
    return (layers + 1 >= rounds && rounds < MOST_LAYERS) ||
           (layers + 2 >= 2 * rounds && rounds < MOST_BLOCKS);
}

/* A network whose results are drawn from in each round: what it takes next depends on the draw. */
static bool is_sampler(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                       uint32_t end)
{
    enum { PICKS_A_DRAW = 4 };
    const struct eager_call *calls = seen->calls;
    uint32_t                 products = 0, draws = 0;

    for (uint32_t i = cluster->first; i < end; i++) {
        uint16_t is = eager_round_kind(seen, calls[i].type)->traits;

        products += (is & IS_PRODUCT) != 0;
        draws += (is & IS_DRAW) != 0;
    }
    return draws * PICKS_A_DRAW >= cluster->count && products >= draws;
}

/* Steps of a solver or a sampler look up their step's number in a short vector and then work on
 * tensors far larger than it: each needs the one before, and nothing is taken apart. */
static bool is_schedule(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                        uint32_t end)
{
    enum { PICKS_A_PRODUCT = 4, WORK_AN_ENTRY = 16 };
    const struct profile    *profile = seen->profile;
    const struct eager_call *calls = seen->calls;
    uint32_t                 op = calls[cluster->first].op, products = 0, others = 0;
    double                   elements = 0;

    if (op == NO_ID || profile->ops.items[op].input_count == 0 ||
        profile->tensors.items[profile->ops.items[op].first_input].rank != 1)
        return false;
    for (uint32_t i = cluster->first; i < end; i++) {
        const struct eager_kind *kind = eager_round_kind(seen, calls[i].type);

        if (kind->class == ANCHOR_PRODUCT || kind->traits & IS_PRODUCT) {
            products++;
        } else if (!(kind->traits & IS_LOOK)) {
            elements += eager_elements(profile, calls[i].op);
            others++;
        }
    }
    return products * PICKS_A_PRODUCT >= cluster->count &&
           elements > WORK_AN_ENTRY * eager_elements(profile, op) * others;
}

enum { MOST_ANCHORS = 4 }; /* in a round */

/* Which part of the calls are of the type that stands at their place so many anchors before. */
static double part_alike(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                         uint32_t end, uint32_t anchors)
{
    const struct eager_call *calls = seen->calls;
    uint32_t                 at[MOST_ANCHORS] = { 0 }, count = 0, alike = 0, compared = 0;

    for (uint32_t i = cluster->first, start = i, before = i; i < end; i++) {
        if (calls[i].type == calls[cluster->first].type) {
            before = at[count % anchors];
            start = at[count++ % anchors] = i;
        }
        if (count <= anchors)
            continue;
        compared++;
        alike += before + (i - start) < start && calls[i].type == calls[before + (i - start)].type;
    }
    return compared ? (double)alike / (double)compared : 0;
}

/* Without shapes anchors of one type need not take the same thing, as those in the layers of a
 * network: the rounds of a loop call the same ops in the same order, most of them. */
static bool look_alike(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                       uint32_t end)
{
    static const double LEAST_ALIKE = 0.4;

    for (uint32_t anchors = 1; anchors <= MOST_ANCHORS; anchors++)
        if (part_alike(seen, cluster, end, anchors) >= LEAST_ALIKE)
            return true;
    return false;
}

/* Anchors that pick rows may take as many as they like, but of the same tensor in each round: a
 * statement that is written down several times picks of several ones. */
static bool picks_of_same(const struct eager_rounds *seen, const struct eager_cluster *cluster)
{
    enum { MOST_TENSORS = 8, PICKS_A_ROUND = 4 };
    const struct profile *profile = seen->profile;
    const struct tensor  *tensors[MOST_TENSORS];
    uint32_t              counts[MOST_TENSORS], known = 0, picks = 0, most = 0;

    for (uint32_t i = cluster->first; i <= cluster->last; i++) {
        const struct eager_call *call = &seen->calls[i];
        const struct tensor     *from;
        uint32_t                 t = 0;

        if (call->type != seen->calls[cluster->first].type || call->op == NO_ID ||
            profile->ops.items[call->op].input_count == 0)
            continue;
        from = &profile->tensors.items[profile->ops.items[call->op].first_input];
        picks++;
        while (t < known && !same_dims(tensors[t], from))
            t++;
        if (t == MOST_TENSORS)
            continue;
        if (t == known)
            tensors[known++] = from, counts[t] = 0;
        counts[t]++;
        most = counts[t] > most ? counts[t] : most;
    }
    return most * PICKS_A_ROUND >= picks;
}

/* What is stacked further behind a loop, past other work, is of its rounds where it holds as many
 * results as there are rounds, but for a few that were left out. A round may hold several
 * anchors. */
static bool stacks_rounds(uint32_t stacked, uint32_t anchors)
{
    enum { LEFT_OUT = 16 /* one of so many */ };

    for (uint32_t each = 1; each <= MOST_ANCHORS; each++) {
        uint32_t expected = stacked * each;
        uint32_t apart = expected > anchors ? expected - anchors : anchors - expected;

        if (apart * LEFT_OUT <= anchors)
            return true;
    }
    return false;
}

/* How many tensors the call at `at` stacks. Where a recording leaves out what a list holds, the
 * rows of what the next call takes tell. */
static uint32_t stacked_by(const struct eager_rounds *seen, uint32_t at, uint32_t run_end)
{
    const struct eager_call *calls = seen->calls;
    const struct tensor     *taken;

    if (eager_elements(seen->profile, calls[at].op) > 1)
        return seen->profile->ops.items[calls[at].op].input_count;
    if (at + 1 >= run_end || calls[at + 1].op == NO_ID)
        return 0;
    taken = profile_op_input(seen->profile, calls[at + 1].op, 0);
    return taken && taken->rank > 0 ? (uint32_t)taken->dims[0] : 0;
}

/* Rounds of a loop over products do not feed each other: their results are stacked behind it, or
 * each of them has a loss. */
bool eager_rounds_are_loop(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                           uint32_t end, uint32_t run_end)
{
    enum { FEWEST_PRODUCTS = 24, FEWEST_STACKED = 16, LOOK_BEHIND = 6, LOOK_FURTHER = 24 };
    const struct profile    *profile = seen->profile;
    const struct eager_call *calls = seen->calls;
    uint32_t                 losses = 0;

    if (is_sampler(seen, cluster, end))
        return false;
    if (eager_round_kind(seen, calls[cluster->first].type)->class == ANCHOR_PICK &&
        !picks_of_same(seen, cluster))
        return false;
    if (eager_round_kind(seen, calls[cluster->first].type)->class != ANCHOR_PRODUCT)
        return !is_network(seen, cluster) && !is_schedule(seen, cluster, end) &&
               (profile->has_shapes || look_alike(seen, cluster, end));
    if (cluster->count < FEWEST_PRODUCTS)
        return false;
    for (uint32_t i = cluster->first; i < end; i++)
        losses += (eager_round_kind(seen, calls[i].type)->traits & IS_LOSS) != 0;
    for (uint32_t i = end; i < run_end && i < end + LOOK_FURTHER; i++) {
        const struct op *op = calls[i].op != NO_ID ? &profile->ops.items[calls[i].op] : NULL;

        if (!op || !(eager_round_kind(seen, calls[i].type)->traits & IS_STACK))
            continue;
        /* Some recordings leave out what a list holds. */
        if ((i < end + LOOK_BEHIND && op->input_count >= FEWEST_STACKED) ||
            (i == end && eager_elements(profile, calls[i].op) <= 1) ||
            stacks_rounds(stacked_by(seen, i, run_end), cluster->count))
            return true;
    }
    return losses * 2 >= cluster->count;
}

/* The product at `last` takes more than the first ones of its type. */
static bool grows(const struct eager_rounds *seen, uint32_t first, uint32_t last)
{
    enum { EARLY_CALLS = 4, GROWTH = 2 };
    const struct profile    *profile = seen->profile;
    const struct eager_call *calls = seen->calls;
    uint32_t                 earlier = 0;
    double                   early = 0;

    for (uint32_t i = first; i < last && earlier < EARLY_CALLS; i++) {
        double elements = eager_elements(profile, calls[i].op);

        if (calls[i].type != calls[last].type)
            continue;
        early = elements > early ? elements : early;
        earlier++;
    }
    return earlier == EARLY_CALLS && eager_elements(profile, calls[last].op) > GROWTH * early;
}

bool eager_rounds_grow(const struct eager_rounds *seen, uint32_t first, uint32_t end)
{
    enum { LAST_PRODUCTS = 4 };
    uint32_t products = LAST_PRODUCTS, attentions = 1;

    for (uint32_t i = end; products + attentions > 0 && i-- > first;) {
        uint16_t  is = eager_round_kind(seen, seen->calls[i].type)->traits;
        uint32_t *left = is & IS_ATTENTION ? &attentions : &products;

        if (!(is & (IS_PRODUCT | IS_ATTENTION)) || *left == 0)
            continue;
        if (grows(seen, first, i))
            return true;
        (*left)--;
    }
    return false;
}

uint32_t eager_rounds_fed_back(const struct eager_rounds *seen, uint32_t first, uint32_t end)
{
    uint32_t rounds = 0;
    bool     is_picked = false, is_written = false;

    for (uint32_t i = first; i < end; i++) {
        uint16_t is = eager_round_kind(seen, seen->calls[i].type)->traits;

        if (is & IS_GATHER) {
            rounds += is_written;
            is_picked = is_written = false;
        }
        is_written |= is_picked && is & IS_WRITE;
        is_picked |= (is & IS_PICK) != 0;
    }
    return rounds;
}

/* Takes two tensors of the same shape, or changes one in place: a sum over the rounds. */
static bool adds_up(const struct eager_rounds *seen, uint32_t call)
{
    const struct profile *profile = seen->profile;
    const struct op      *op = &profile->ops.items[seen->calls[call].op];
    const struct tensor  *to = &profile->tensors.items[op->first_input];

    if (str_ends(profile_str(profile, seen->calls[call].type), STR("_")))
        return true;
    return op->input_count >= 2 && same_dims(&to[0], &to[1]);
}

/* A call behind which the next round begins gives what this one leaves. */
static bool leaves_sum(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                       uint32_t anchor)
{
    uint32_t last = anchor;

    while (last > cluster->first &&
           eager_round_kind(seen, seen->calls[last - 1].type)->traits & IS_LOOK)
        last--;
    return last > cluster->first && (seen->calls[last - 1].op == NO_ID || adds_up(seen, last - 1));
}

/* Results are put together, or summed up, some way behind the loop. */
static bool is_collected(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                         uint32_t end, uint32_t run_end)
{
    const struct profile *profile = seen->profile;
    uint32_t              sums = 0;

    for (uint32_t i = end; i < run_end; i++) {
        const struct eager_call *call = &seen->calls[i];
        uint16_t                 is = eager_round_kind(seen, call->type)->traits;

        sums += call->op != NO_ID && i < end + 2 * cluster->count && adds_up(seen, i);
        if (sums * 2 >= cluster->count)
            return true;
        if (is & IS_STACK && (call->op == NO_ID || profile->ops.items[call->op].input_count < 2 ||
                              profile->ops.items[call->op].input_count * 2 >= cluster->count))
            return true;
    }
    return false;
}

static bool is_anchor(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                      uint32_t at)
{
    return eager_round_key(&seen->calls[at], ANCHOR_SLICE) == cluster->key;
}

/* The largest operand of the last call of the first round, which has the sizes of what the round
 * leaves; NULL: it is a sum, to which each round may add its own, or not known. */
static const struct tensor *state_of(const struct eager_rounds  *seen,
                                     const struct eager_cluster *cluster)
{
    const struct profile *profile = seen->profile;
    const struct tensor  *state = NULL;
    const struct op      *op;
    uint32_t              last = cluster->first + 1;

    while (last < cluster->last && !is_anchor(seen, cluster, last))
        last++;
    while (--last > cluster->first &&
           eager_round_kind(seen, seen->calls[last].type)->traits & IS_LOOK) {
    }
    op = seen->calls[last].op != NO_ID ? &profile->ops.items[seen->calls[last].op] : NULL;
    if (!op || eager_round_kind(seen, seen->calls[last].type)->traits & IS_PRODUCT ||
        str_fits(eager_base_name(profile_str(profile, seen->calls[last].type)),
                 "add|add_|sub|sub_|lerp|lerp_|addcmul|addcmul_"))
        return NULL;
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct tensor *input = &profile->tensors.items[op->first_input + i];

        if (!state || tensor_count(input) > tensor_count(state))
            state = input;
    }
    return state;
}

/* In each round a product takes what has the sizes of the state that rounds leave, as a recurrent
 * cell does, or no round multiplies. */
static bool take_state(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                       uint32_t end, bool *multiplies)
{
    const struct profile *profile = seen->profile;
    const struct tensor  *state = state_of(seen, cluster);
    uint32_t              rounds = 0;
    bool                  is_taken = true;

    *multiplies = false;
    for (uint32_t i = cluster->first; i < end; i++) {
        const struct eager_call *call = &seen->calls[i];
        const struct tensor     *data;

        is_taken = is_taken && !is_anchor(seen, cluster, i);
        if (!(eager_round_kind(seen, call->type)->traits & IS_PRODUCT))
            continue;
        *multiplies = true;
        if (is_taken || !state)
            continue;
        data = profile_op_input(profile, call->op, 0);
        is_taken = state->rank > 1 && same_dims(data, state);
        rounds += is_taken;
    }
    return !*multiplies || rounds >= cluster->count;
}

/* The call, and the next one that is no view, are products, of which one takes what has the sizes
 * of the sum right behind them and the other what has not: a state and what comes to it. */
static bool adds_to_state(const struct eager_rounds *seen, uint32_t at, uint32_t end)
{
    uint32_t             found[3], count = 0;
    const struct tensor *data[2], *left, *right;

    for (uint32_t i = at; i < end && count < ARRAY_COUNT(found); i++)
        if (!(eager_round_kind(seen, seen->calls[i].type)->traits & IS_LOOK))
            found[count++] = i;
    if (count < ARRAY_COUNT(found) ||
        !str_fits(eager_base_name(profile_str(seen->profile, seen->calls[found[2]].type)),
                  "add|add_"))
        return false;
    for (int i = 0; i < 2; i++) {
        data[i] = profile_op_input(seen->profile, seen->calls[found[i]].op, 0);
        if (!(eager_round_kind(seen, seen->calls[found[i]].type)->traits & IS_PRODUCT) || !data[i])
            return false;
    }
    left = profile_op_input(seen->profile, seen->calls[found[2]].op, 0);
    right = profile_op_input(seen->profile, seen->calls[found[2]].op, 1);
    return left && right && left->rank > 1 && same_dims(left, right) &&
           same_dims(data[0], left) != same_dims(data[1], left);
}

/* Each round adds a product of a state to one of what it takes, as recurrent cells do that have no
 * gates: whatever is kept of a round, the next one needs its state. */
static bool are_recurrent(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                          uint32_t end)
{
    uint32_t sums = 0;

    for (uint32_t i = cluster->first; i < end; i++)
        sums += eager_round_kind(seen, seen->calls[i].type)->traits & IS_PRODUCT &&
                adds_to_state(seen, i, end);
    return sums >= cluster->count;
}

bool eager_rounds_hand_on(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                          uint32_t end, uint32_t run_end)
{
    enum { LEAVES = IS_WRITE | IS_READBACK | IS_PICK | IS_STACK | IS_LOSS | IS_DRAW };
    const struct eager_call *calls = seen->calls;
    bool                     multiplies;

    if (!seen->profile->has_shapes ||
        eager_round_kind(seen, calls[cluster->first].type)->class != ANCHOR_SLICE)
        return false;
    if (are_recurrent(seen, cluster, end))
        return true;
    if (!take_state(seen, cluster, end, &multiplies))
        return false;
    for (uint32_t i = cluster->first; i < end; i++) {
        struct str name = eager_base_name(profile_str(seen->profile, calls[i].type));

        if (eager_round_kind(seen, calls[i].type)->traits & LEAVES ||
            str_fits(name, "detach|clone"))
            return false;
        if (i > cluster->first && !multiplies && is_anchor(seen, cluster, i) &&
            leaves_sum(seen, cluster, i))
            return false;
    }
    return !is_collected(seen, cluster, end, run_end);
}

/* Whether the call is one of these and takes two tensors; `inputs`: they, where shapes are known.
 */
static bool takes_two(const struct eager_rounds *seen, const struct eager_call *call,
                      const char *names, const struct tensor **inputs)
{
    const struct op *op = call->op != NO_ID ? &seen->profile->ops.items[call->op] : NULL;

    *inputs = NULL;
    if (!str_fits(eager_base_name(profile_str(seen->profile, call->type)), names))
        return false;
    if (!seen->profile->has_shapes)
        return true;
    if (!op || op->input_count < 2)
        return false;
    *inputs = &seen->profile->tensors.items[op->first_input];
    return true;
}

/* A sum of two tensors like `state`, of which one may be what the last round left. */
static bool adds_to(const struct eager_rounds *seen, const struct eager_call *call,
                    const struct tensor *state)
{
    const struct tensor *inputs;

    return takes_two(seen, call, "add|sub|lerp", &inputs) &&
           (!inputs || (same_dims(&inputs[0], state) && same_dims(&inputs[1], state)));
}

/* Whether the call writes over all of a slice; `place`: that, where shapes are known. */
static bool writes_slice(const struct eager_rounds *seen, uint32_t at, const struct tensor **place)
{
    return takes_two(seen, &seen->calls[at], "copy", place) &&
           (!*place || ((*place)->rank > 0 && same_dims(*place, *place + 1)));
}

bool eager_rounds_note_state(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                             uint32_t run_end)
{
    enum { TAKES = IS_SLICE | IS_GATHER | IS_PICK | IS_DRAW | IS_READBACK | IS_SPLIT };
    enum { LEAST_BODY = 4 /* calls, of a slice, its write and what makes the state */ };
    const struct eager_call *calls = seen->calls;
    uint32_t                 sums = 0, rounds = 0, body = 0, end = cluster->last + 2;

    if (end > run_end || eager_round_kind(seen, calls[cluster->first].type)->class != ANCHOR_SLICE)
        return false;
    for (uint32_t i = cluster->first; i < end; i++, body++) {
        const struct tensor *place;

        if (!(eager_round_kind(seen, calls[i].type)->traits & TAKES))
            continue;
        if (eager_round_key(&calls[i], ANCHOR_SLICE) != cluster->key || i + 1 >= end ||
            !writes_slice(seen, i + 1, &place))
            return false;
        rounds++;
        for (uint32_t j = i + 2, is_sum = 0; j < end && !is_sum; j++) {
            if (eager_round_key(&calls[j], ANCHOR_SLICE) == cluster->key)
                break;
            is_sum = adds_to(seen, &calls[j], place);
            sums += is_sum;
        }
    }
    return sums + 1 >= rounds && body >= LEAST_BODY * rounds;
}
