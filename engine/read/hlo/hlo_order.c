#include "read/hlo/hlo_order.h"

#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto. */
enum {
    MODULE_ENTRY_ID = 6,
    MODULE_SCHEDULE = 7,
    SCHEDULE_SEQUENCES = 1,
    SEQUENCE_COMPUTATION = 1,
    SEQUENCE_VALUE = 2,
    SEQUENCE_IDS = 1,
    MOST_STEPS = 1 << 16, /* of a program */
    MOST_DEPTH = 16,
};

struct sequence {
    size_t first, count; /* of ids */
};
struct schedule {
    const struct hlo_module *module;
    struct hlo_edges        *edges;
    struct id_map            of; /* computation -> row of sequences */
    VEC(struct sequence) sequences;
    VEC(uint64_t) ids; /* of instructions */
    size_t first;      /* step of the program */
};

static bool add_ids(struct schedule *schedule, struct str sequence)
{
    for (struct wire field = wire_start(sequence); wire_next(&field);) {
        struct str rest = wire_numbers(&field);
        uint64_t   id;

        while (field.number == SEQUENCE_IDS && wire_take(&rest, &id))
            if (!vec_push(&schedule->ids, schedule->module->scratch, id))
                return false;
    }
    return true;
}

static bool add_sequence(struct schedule *schedule, struct str entry)
{
    struct sequence sequence = { .first = schedule->ids.count };
    uint64_t        computation = 0;

    for (struct wire field = wire_start(entry); wire_next(&field);) {
        if (field.number == SEQUENCE_COMPUTATION && field.type == WIRE_VARINT)
            computation = field.value;
        else if (field.number == SEQUENCE_VALUE && field.type == WIRE_BYTES &&
                 !add_ids(schedule, field.bytes))
            return false;
    }
    sequence.count = schedule->ids.count - sequence.first;
    return id_map_put(&schedule->of, computation, (uint32_t)schedule->sequences.count) &&
           vec_push(&schedule->sequences, schedule->module->scratch, sequence);
}

/* Names for what is there already, and ends of what began before, run nothing. */
static bool runs(struct str opcode)
{
    return !str_fits(opcode, "parameter|constant|tuple|get-tuple-element|bitcast|after-all|*-done|"
                             "add-dependency|opt-barrier|partition-id|replica-id");
}

/* How often a loop goes round, as the compiler found out; 1 where it could not. */
static size_t trip_count(const struct hlo_instruction *loop)
{
    static const struct str key = STR_INIT("\"known_trip_count\":{\"n\":\"");
    size_t                  at = str_search(loop->config, key), end;
    uint64_t                count;

    if (at == loop->config.len)
        return 1;
    at += key.len;
    end = at + str_find(str_slice(loop->config, at, loop->config.len), '"');
    return str_to_uint64(str_slice(loop->config, at, end), &count) && count < MOST_STEPS
               ? (size_t)count
               : 1;
}

static bool follow(struct schedule *schedule, uint64_t computation, unsigned depth);

/* What an instruction calls, once; a loop's condition, which stands behind its body, before that.
 */
static bool follow_called(struct schedule *schedule, const struct hlo_instruction *item,
                          unsigned depth)
{
    const uint64_t *called = schedule->module->called.items + item->first_called;
    bool            is_loop = str_equal(item->opcode, STR("while"));

    for (size_t i = 0; i < item->called_count; i++)
        if (!follow(schedule, called[is_loop ? item->called_count - 1 - i : i], depth))
            return false;
    return true;
}

static bool has_sequence(const struct schedule *schedule, const struct hlo_instruction *item)
{
    return item->called_count &&
           id_map_get(&schedule->of, schedule->module->called.items[item->first_called]) != NO_ID;
}

static bool add_step(struct schedule *schedule, const struct hlo_instruction *item, unsigned depth)
{
    struct hlo_step step = { item->op, item->target };
    size_t          rounds = str_equal(item->opcode, STR("while")) ? trip_count(item) : 1, before;

    if (!runs(item->opcode))
        return true;
    if (!str_fits(item->opcode, "while|call|conditional|async-start") ||
        !has_sequence(schedule, item))
        return vec_push(&schedule->edges->steps, schedule->module->scratch, step);
    for (size_t i = 0; i < rounds; i++) {
        before = schedule->edges->steps.count;
        if (!follow_called(schedule, item, depth + 1))
            return false;
        if (schedule->edges->steps.count == before)
            break;
    }
    return true;
}

/* Recursion ends at MOST_DEPTH. */
static bool follow(struct schedule *schedule, uint64_t computation, unsigned depth)
{
    uint32_t row = id_map_get(&schedule->of, computation);

    if (row == NO_ID || depth == MOST_DEPTH)
        return true;
    for (size_t i = 0; i < schedule->sequences.items[row].count; i++) {
        uint64_t id = schedule->ids.items[schedule->sequences.items[row].first + i];
        uint32_t index = id_map_get(&schedule->module->by_id, id);

        if (schedule->edges->steps.count - schedule->first >= MOST_STEPS)
            return true;
        if (index != NO_ID && !add_step(schedule, &schedule->module->list.items[index], depth))
            return false;
    }
    return true;
}

bool hlo_order_add(struct str bytes, const struct hlo_module *module, struct hlo_edges *edges)
{
    struct schedule schedule = {
        .module = module, .edges = edges, .of.arena = module->scratch, .first = edges->steps.count
    };
    struct hlo_order order = { .program = module->key, .first = edges->steps.count };
    uint64_t         entry = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == MODULE_ENTRY_ID && field.type == WIRE_VARINT)
            entry = field.value;
        if (field.number != MODULE_SCHEDULE || field.type != WIRE_BYTES)
            continue;
        for (struct wire item = wire_start(field.bytes); wire_next(&item);)
            if (item.number == SCHEDULE_SEQUENCES && item.type == WIRE_BYTES &&
                !add_sequence(&schedule, item.bytes))
                return false;
    }
    if (!follow(&schedule, entry, 0))
        return false;
    order.count = edges->steps.count - order.first;
    return order.count == 0 || vec_push(&edges->orders, module->scratch, order);
}
