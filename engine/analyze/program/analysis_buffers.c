/*
 * buffers: memory of compiled programs as the compiler laid it out: what each takes, how full its
 * heap of temporaries gets in the order that the program runs in, and what is alive at the fullest
 * moment.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"

enum sums_column {
    S_MODULE,
    S_SPACE,
    S_TOTAL,
    S_PARAMETER,
    S_OUTPUT,
    S_CONSTANT,
    S_TEMPORARY,
    S_THREAD,
    S_HEAP_PEAK,
    S_UNUSED,
    S_PEAK_OP,
    S_PEAK_POSITION,
    S_EVENTS
};
static const struct column_spec sums_columns[] = {
    [S_MODULE] = { "module", UNIT_NAME, "compiled program" },
    [S_SPACE] = { "space", UNIT_COUNT, "memory space; 0: the device's main memory" },
    [S_TOTAL] = { "total_bytes", UNIT_BYTES, "all that it takes there" },
    [S_PARAMETER] = { "parameter_bytes", UNIT_BYTES, "what it is given, results in its place too" },
    [S_OUTPUT] = { "output_bytes", UNIT_BYTES, "results that lie elsewhere" },
    [S_CONSTANT] = { "constant_bytes", UNIT_BYTES, "constants" },
    [S_TEMPORARY] = { "temporary_bytes", UNIT_BYTES, "for what is needed only while it runs" },
    [S_THREAD] = { "thread_bytes", UNIT_BYTES, "of each thread" },
    [S_HEAP_PEAK] = { "heap_peak_bytes", UNIT_BYTES, "most that temporaries hold at once" },
    [S_UNUSED] = { "unused_bytes", UNIT_BYTES, "of the temporary bytes, nothing's at that moment" },
    [S_PEAK_OP] = { "peak_op", UNIT_NAME, "instruction that it is so full for" },
    [S_PEAK_POSITION] = { "peak_position", UNIT_COUNT, "that moment, in table program_heap" },
    [S_EVENTS] = { "events", UNIT_COUNT, "moments at which temporaries come or go" },
};
enum alive_column {
    A_MODULE,
    A_SPACE,
    A_OP,
    A_OP_TYPE,
    A_BYTES,
    A_VALUE_BYTES,
    A_KIND,
    A_SHAPES,
    A_ALLOCATION,
    A_OFFSET,
    A_SOURCE_FILE,
    A_SOURCE_LINE
};
static const struct column_spec alive_columns[] = {
    [A_MODULE] = { "module", UNIT_NAME, "compiled program" },
    [A_SPACE] = { "space", UNIT_COUNT, "memory space; 0: the device's main memory" },
    [A_OP] = { "op", UNIT_NAME, "instruction that makes it; of several in one place the largest" },
    [A_OP_TYPE] = { "op_type", UNIT_NAME, "its opcode" },
    [A_BYTES] = { "bytes", UNIT_BYTES, "memory" },
    [A_VALUE_BYTES] = { "value_bytes", UNIT_BYTES, "of that, without padding, where it is known" },
    [A_KIND] = { "kind", UNIT_NAME, "parameter, output, constant, temporary, thread or unused" },
    [A_SHAPES] = { "shapes", UNIT_NAME, "operands and results of the instruction" },
    [A_ALLOCATION] = { "allocation", UNIT_COUNT, "number of the allocation it lies in" },
    [A_OFFSET] = { "offset_bytes", UNIT_BYTES, "where in it" },
    [A_SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [A_SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
enum heap_column { H_MODULE, H_SPACE, H_POSITION, H_EVENT, H_OP, H_BYTES, H_IN_USE };
static const struct column_spec heap_columns[] = {
    [H_MODULE] = { "module", UNIT_NAME, "compiled program" },
    [H_SPACE] = { "space", UNIT_COUNT, "memory space; 0: the device's main memory" },
    [H_POSITION] = { "position", UNIT_COUNT, "place among the program's events, from 0" },
    [H_EVENT] = { "event", UNIT_NAME, "allocation or release" },
    [H_OP] = { "op", UNIT_NAME, "instruction that took it" },
    [H_BYTES] = { "bytes", UNIT_BYTES, "that come or go" },
    [H_IN_USE] = { "in_use_bytes", UNIT_BYTES, "held by temporaries then" },
};
static const struct table_spec tables[] = {
    { "program_memory", "memory of compiled programs by what it is for", sums_columns,
      ARRAY_COUNT(sums_columns) },
    { "buffers", "what lies in the memory of a compiled program when it is fullest", alive_columns,
      ARRAY_COUNT(alive_columns) },
    { "program_heap", "temporaries of compiled programs in the order that they come and go",
      heap_columns, ARRAY_COUNT(heap_columns) },
};
enum { KINDS = PROGRAM_THREAD + 1 };

struct program_sum { /* of a program in a space */
    uint32_t module, space;
    int64_t  bytes[KINDS];
    int64_t  heap_bytes; /* of temporary allocations whose buffers have events */
    int64_t  in_use, peak;
    size_t   peak_event; /* row of program_events */
    uint32_t peak_op, position, peak_position;
};
struct looking {
    struct study         *study;
    const struct profile *profile;
    struct arena         *scratch;
    struct id_map         sum_of; /* module << 32 | space -> row */
    VEC(struct program_sum) sums;
    uint32_t *canonical;  /* by buffer: whose memory it uses */
    uint32_t *users;      /* by buffer: how many use its memory now */
    uint32_t *largest;    /* by allocation: its largest buffer, or NO_ID */
    bool     *has_events; /* by allocation */
};

static const struct program_allocation *allocation_of(const struct looking *looking,
                                                      uint32_t              buffer)
{
    uint32_t row = looking->profile->program_buffers.items[buffer].allocation;

    return row == NO_ID ? NULL : &looking->profile->program_allocations.items[row];
}

/* NULL: out of memory. */
static struct program_sum *sum_for(struct looking *looking, const struct program_allocation *of)
{
    uint64_t           key = (uint64_t)of->module << 32 | of->space;
    uint32_t           row = id_map_get(&looking->sum_of, key);
    struct program_sum fresh = { .module = of->module, .space = of->space, .peak_op = NO_ID };

    if (row != NO_ID)
        return &looking->sums.items[row];
    row = (uint32_t)looking->sums.count;
    return id_map_put(&looking->sum_of, key, row) &&
                   vec_push(&looking->sums, looking->scratch, fresh)
               ? &looking->sums.items[row]
               : NULL;
}

/* What an event adds to the memory in use; 0: it shares another's, or others still use its own. */
static int64_t apply(struct looking *looking, const struct program_event *event)
{
    uint32_t buffer = event->buffer, own = looking->canonical[buffer];

    if (event->kind == PROGRAM_GIVE_BACK)
        return own == NO_ID || looking->users[own] == 0 || --looking->users[own] > 0
                   ? 0
                   : -looking->profile->program_buffers.items[own].bytes;
    if (event->kind == PROGRAM_SHARE && event->shares_with != NO_ID &&
        looking->canonical[event->shares_with] != NO_ID) {
        own = looking->canonical[event->shares_with];
        looking->canonical[buffer] = own;
        return looking->users[own]++ > 0 ? 0 : looking->profile->program_buffers.items[own].bytes;
    }
    looking->canonical[buffer] = buffer;
    looking->users[buffer] = 1;
    return looking->profile->program_buffers.items[buffer].bytes;
}

static void forget(struct looking *looking)
{
    for (size_t i = 0; i < looking->profile->program_buffers.count; i++) {
        looking->canonical[i] = NO_ID;
        looking->users[i] = 0;
    }
}

static bool sum_allocations(struct looking *looking)
{
    const struct profile *profile = looking->profile;

    for (size_t i = 0; i < profile->program_allocations.count; i++) {
        const struct program_allocation *one = &profile->program_allocations.items[i];
        struct program_sum              *sum = sum_for(looking, one);

        if (!sum)
            return false;
        sum->bytes[one->kind] += one->bytes;
        looking->largest[i] = NO_ID;
    }
    for (size_t i = 0; i < profile->program_buffers.count; i++) {
        uint32_t at = profile->program_buffers.items[i].allocation;

        if (at != NO_ID && (looking->largest[at] == NO_ID ||
                            profile->program_buffers.items[i].bytes >
                                profile->program_buffers.items[looking->largest[at]].bytes))
            looking->largest[at] = (uint32_t)i;
    }
    for (size_t i = 0; i < profile->program_events.count; i++) {
        uint32_t at =
            profile->program_buffers.items[profile->program_events.items[i].buffer].allocation;

        if (at == NO_ID || looking->has_events[at])
            continue;
        looking->has_events[at] = true;
        if (profile->program_allocations.items[at].kind == PROGRAM_TEMPORARY)
            sum_for(looking, &profile->program_allocations.items[at])->heap_bytes +=
                profile->program_allocations.items[at].bytes;
    }
    return true;
}

static bool add_event(struct looking *looking, struct table *table, const struct program_sum *sum,
                      uint32_t buffer, int64_t change)
{
    struct study *study = looking->study;
    uint32_t      op = looking->profile->program_buffers.items[buffer].op;
    size_t        row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, H_MODULE, row, sum->module);
    emit_number(table, H_SPACE, row, sum->space);
    emit_number(table, H_POSITION, row, sum->position);
    emit_name(table, H_EVENT, row,
              facts_name(&study->facts, change < 0 ? STR("release") : STR("allocation")));
    if (op != NO_ID)
        emit_name(table, H_OP, row, looking->profile->ops.items[op].name);
    emit_number(table, H_BYTES, row, change < 0 ? -(double)change : (double)change);
    emit_number(table, H_IN_USE, row, (double)sum->in_use);
    return true;
}

/* The heap of temporaries, event by event: its course, and its fullest moment. */
static bool run_heaps(struct looking *looking, struct table *table)
{
    forget(looking);
    for (size_t i = 0; i < looking->profile->program_events.count; i++) {
        const struct program_event      *event = &looking->profile->program_events.items[i];
        const struct program_allocation *in = allocation_of(looking, event->buffer);
        int64_t                          change = apply(looking, event);
        struct program_sum              *sum = in ? sum_for(looking, in) : NULL;

        if (!sum || in->kind != PROGRAM_TEMPORARY || change == 0)
            continue;
        sum->in_use += change;
        if (sum->in_use > sum->peak) {
            sum->peak = sum->in_use;
            sum->peak_event = i;
            sum->peak_op = looking->profile->program_buffers.items[event->buffer].op;
            sum->peak_position = sum->position;
        }
        if (!add_event(looking, table, sum, looking->canonical[event->buffer], change))
            return false;
        sum->position++;
    }
    return true;
}

static bool add_alive(struct looking *looking, struct table *table, const struct program_sum *sum,
                      uint32_t buffer, int64_t bytes, const char *kind)
{
    const struct profile *profile = looking->profile;
    struct facts         *facts = &looking->study->facts;
    size_t                row = table_add(table, looking->study->arena);
    const struct op      *op;

    if (row == SIZE_MAX)
        return false;
    emit_name(table, A_MODULE, row, sum->module);
    emit_number(table, A_SPACE, row, sum->space);
    emit_number(table, A_BYTES, row, (double)bytes);
    emit_name(table, A_KIND, row, facts_name(facts, str_from(kind)));
    if (buffer == NO_ID)
        return true;
    emit_number(table, A_ALLOCATION, row, allocation_of(looking, buffer)->number);
    emit_number(table, A_OFFSET, row, (double)profile->program_buffers.items[buffer].offset);
    if (profile->program_buffers.items[buffer].value_bytes >= 0 &&
        profile->program_buffers.items[buffer].bytes == bytes)
        emit_number(table, A_VALUE_BYTES, row,
                    (double)profile->program_buffers.items[buffer].value_bytes);
    if (profile->program_buffers.items[buffer].op == NO_ID)
        return true;
    op = &profile->ops.items[profile->program_buffers.items[buffer].op];
    emit_name(table, A_OP, row, op->name);
    emit_name(table, A_OP_TYPE, row, op->type);
    emit_name(table, A_SHAPES, row, emit_shapes(looking->study, op));
    emit_source(profile, table, A_SOURCE_FILE, row, op->source);
    return true;
}

/* What lies in the heap at its fullest: `last` is the event that made it so. */
static bool add_heap(struct looking *looking, struct table *table, const struct program_sum *sum,
                     size_t first, size_t last)
{
    const struct program_event *events = looking->profile->program_events.items;
    int64_t                     unused = sum->heap_bytes - sum->peak;

    for (size_t i = first; i <= last; i++) {
        uint32_t                         buffer = events[i].buffer;
        const struct program_allocation *in = allocation_of(looking, buffer);

        /* A place that several share in turn is told once, by the one that took it. */
        if (!in || in->module != sum->module || in->space != sum->space ||
            in->kind != PROGRAM_TEMPORARY || events[i].kind != PROGRAM_TAKE ||
            looking->users[buffer] == 0)
            continue;
        if (!add_alive(looking, table, sum, buffer,
                       looking->profile->program_buffers.items[buffer].bytes, "temporary"))
            return false;
    }
    return unused <= 0 || add_alive(looking, table, sum, NO_ID, unused, "unused");
}

/* Events of a program stand together; its sums that have their peak at this one take their rows. */
static bool add_heaps(struct looking *looking, struct table *table)
{
    size_t   first = 0;
    uint32_t module = NO_ID;

    forget(looking);
    for (size_t i = 0; i < looking->profile->program_events.count; i++) {
        const struct program_event      *event = &looking->profile->program_events.items[i];
        const struct program_allocation *in = allocation_of(looking, event->buffer);
        const struct program_sum        *sum = in ? sum_for(looking, in) : NULL;

        apply(looking, event);
        if (!sum)
            continue;
        if (in->module != module) {
            module = in->module;
            first = i;
        }
        if (sum->peak > 0 && sum->peak_event == i && !add_heap(looking, table, sum, first, i))
            return false;
    }
    return true;
}

/* What is there from the program's beginning to its end, and temporaries of which no order is told.
 */
static bool add_allocations(struct looking *looking, struct table *table)
{
    static const char *const words[KINDS] = { [PROGRAM_TEMPORARY] = "temporary",
                                              [PROGRAM_PARAMETER] = "parameter",
                                              [PROGRAM_OUTPUT] = "output",
                                              [PROGRAM_CONSTANT] = "constant",
                                              [PROGRAM_THREAD] = "thread" };

    for (size_t i = 0; i < looking->profile->program_allocations.count; i++) {
        const struct program_allocation *one = &looking->profile->program_allocations.items[i];

        if (one->kind == PROGRAM_TEMPORARY && looking->has_events[i])
            continue;
        if (!add_alive(looking, table, sum_for(looking, one), looking->largest[i], one->bytes,
                       words[one->kind]))
            return false;
    }
    return true;
}

static bool add_sums(const struct looking *looking, struct table *table)
{
    for (size_t i = 0; i < looking->sums.count; i++) {
        const struct program_sum *sum = &looking->sums.items[i];
        size_t                    row = table_add(table, looking->study->arena);
        int64_t                   total = 0;

        if (row == SIZE_MAX)
            return false;
        for (int kind = 0; kind < KINDS; kind++)
            total += sum->bytes[kind];
        emit_name(table, S_MODULE, row, sum->module);
        emit_number(table, S_SPACE, row, sum->space);
        emit_number(table, S_TOTAL, row, (double)total);
        emit_number(table, S_PARAMETER, row, (double)sum->bytes[PROGRAM_PARAMETER]);
        emit_number(table, S_OUTPUT, row, (double)sum->bytes[PROGRAM_OUTPUT]);
        emit_number(table, S_CONSTANT, row, (double)sum->bytes[PROGRAM_CONSTANT]);
        emit_number(table, S_TEMPORARY, row, (double)sum->bytes[PROGRAM_TEMPORARY]);
        emit_number(table, S_THREAD, row, (double)sum->bytes[PROGRAM_THREAD]);
        emit_number(table, S_EVENTS, row, sum->position);
        if (sum->position == 0)
            continue;
        emit_number(table, S_HEAP_PEAK, row, (double)sum->peak);
        emit_number(table, S_UNUSED, row, (double)(sum->heap_bytes - sum->peak));
        emit_number(table, S_PEAK_POSITION, row, sum->peak_position);
        if (sum->peak_op != NO_ID)
            emit_name(table, S_PEAK_OP, row, looking->profile->ops.items[sum->peak_op].name);
    }
    return true;
}

static bool look(struct looking *looking)
{
    const struct profile *profile = looking->profile;
    struct facts         *facts = &looking->study->facts;
    struct table         *of[ARRAY_COUNT(tables)];

    for (size_t i = 0; i < ARRAY_COUNT(tables); i++)
        of[i] = facts_table(facts, &tables[i]);
    looking->canonical =
        arena_new_array(looking->scratch, uint32_t, profile->program_buffers.count);
    looking->users = arena_new_array(looking->scratch, uint32_t, profile->program_buffers.count);
    looking->largest =
        arena_new_array(looking->scratch, uint32_t, profile->program_allocations.count);
    looking->has_events =
        arena_new_array(looking->scratch, bool, profile->program_allocations.count);
    return of[0] && of[1] && of[2] && looking->canonical && looking->users && looking->largest &&
           looking->has_events && sum_allocations(looking) && run_heaps(looking, of[2]) &&
           add_allocations(looking, of[1]) && add_heaps(looking, of[1]) && add_sums(looking, of[0]);
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { .budget_bytes = study->arena->budget_bytes };
    struct looking looking = {
        .study = study, .profile = study->profile, .scratch = &scratch, .sum_of.arena = &scratch
    };
    bool is_done = true;

    if (study->profile->program_allocations.count > 0)
        is_done = look(&looking);
    else
        for (size_t i = 0; is_done && i < ARRAY_COUNT(tables); i++)
            is_done = facts_absent(&study->facts, tables[i].name, NULL,
                                   "the recording holds no compiled program with its memory");
    arena_free(&scratch);
    return is_done || emit_limit("the memory of compiled programs", err);
}

const struct analysis analysis_buffers = {
    .name = "buffers",
    .summary = "memory of compiled programs as the compiler laid it out",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
