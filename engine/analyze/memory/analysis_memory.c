/*
 * memory: how much each allocator held at most, who held it, and whether it grows. Recordings of
 * single allocations are replayed; those with memory by op only (tfprof) give owners without a peak
 * in time.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/memory/memory_timeline.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum memory_fact {
    PEAK,
    CAPACITY,
    PEAK_SHARE,
    RESERVED,
    RESERVED_UNUSED_SHARE,
    FRAGMENTATION,
    GROWTH,
    GROWTH_SHARE,
    IS_GROWING,
    ALLOCATIONS,
    ALLOCATED,
    ALLOCATOR,
    DEVICE,
    TOP_OWNER,
    TOP_OWNER_BYTES,
    TOP_OWNER_SHARE,
    HOST_PEAK,
    HOST_GROWTH,
    RESIDUAL,
    RESIDUAL_OP,
    TEMPORARY,
    FAILED,
    FAILED_BYTES,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [PEAK] = { "memory.peak_bytes", UNIT_BYTES, "most bytes in use at once (device, else host)" },
    [CAPACITY] = { "memory.capacity_bytes", UNIT_BYTES, "what that memory can hold" },
    [PEAK_SHARE] = { "memory.peak_share", UNIT_SHARE, "peak over capacity" },
    [RESERVED] = { "memory.reserved_bytes", UNIT_BYTES, "held by the allocator at the peak" },
    [RESERVED_UNUSED_SHARE] = { "memory.reserved_unused_share", UNIT_SHARE,
                                "share of the reserved bytes not in use at the peak" },
    [FRAGMENTATION] = { "memory.fragmentation", UNIT_SHARE,
                        "1 - largest free block / free bytes, at the peak" },
    [GROWTH] = { "memory.growth_bytes_per_step", UNIT_BYTES,
                 "slope of the bytes in use over steps" },
    [GROWTH_SHARE] = { "memory.growth_share", UNIT_RATIO,
                       "that over capacity, else over the peak" },
    [IS_GROWING] = { "memory.is_growing", UNIT_BOOL,
                     "never less at the end of a step, over 5 steps" },
    [ALLOCATIONS] = { "memory.allocations_per_step", UNIT_COUNT, "allocations a step" },
    [ALLOCATED] = { "memory.allocated_bytes_per_step", UNIT_BYTES, "bytes allocated a step" },
    [ALLOCATOR] = { "memory.allocator", UNIT_NAME,
                    "the allocator that these facts are of: a device's where there is one, and of "
                    "these the one with the largest peak" },
    [DEVICE] = { "memory.device", UNIT_NAME, "its device" },
    [TOP_OWNER] = { "memory.top_owner", UNIT_NAME, "op that holds most at the peak" },
    [TOP_OWNER_BYTES] = { "memory.top_owner_bytes", UNIT_BYTES, "what it holds" },
    [TOP_OWNER_SHARE] = { "memory.top_owner_share", UNIT_SHARE, "that over the peak" },
    [HOST_PEAK] = { "memory.host_peak_bytes", UNIT_BYTES,
                    "largest peak of an allocator of host memory" },
    [HOST_GROWTH] = { "memory.host_growth_bytes_per_step", UNIT_BYTES, "slope of host memory" },
    [RESIDUAL] = { "memory.residual_bytes", UNIT_BYTES, "most bytes an op leaves behind" },
    [RESIDUAL_OP] = { "memory.residual_op", UNIT_NAME, "that op" },
    [TEMPORARY] = { "memory.temporary_bytes", UNIT_BYTES, "most temporary bytes of one op" },
    [FAILED] = { "memory.failed_count", UNIT_COUNT,
                 "allocations of the recording that failed for want of memory; PyTorch alone "
                 "tells" },
    [FAILED_BYTES] = { "memory.failed_bytes", UNIT_BYTES, "the most that one of them asked for" },
};
enum allocators_column {
    A_ALLOCATOR,
    A_DEVICE,
    A_HOST,
    A_PEAK,
    A_LIFETIME_PEAK,
    A_CAPACITY,
    A_PEAK_SHARE,
    A_RESERVED,
    A_FRAGMENTATION,
    A_GROWTH,
    A_IS_GROWING,
    A_ALLOCATIONS,
    A_RELEASES,
    A_ALLOCATED,
    A_PEAK_TIME,
    A_FREE
};
static const struct column_spec allocator_columns[] = {
    [A_ALLOCATOR] = { "allocator", UNIT_NAME, "allocator" },
    [A_DEVICE] = { "device", UNIT_NAME, "its device; none: host memory" },
    [A_HOST] = { "host", UNIT_NAME, "its host, where there are several" },
    [A_PEAK] = { "peak_bytes", UNIT_BYTES, "most bytes in use while recording" },
    [A_LIFETIME_PEAK] = { "lifetime_peak_bytes", UNIT_BYTES, "most since the program started" },
    [A_CAPACITY] = { "capacity_bytes", UNIT_BYTES, "what it can hold" },
    [A_PEAK_SHARE] = { "peak_share", UNIT_SHARE, "peak over capacity" },
    [A_RESERVED] = { "reserved_bytes", UNIT_BYTES,
                     "reserved at the peak; XSpace: of the bytes in use, the stack of programs" },
    [A_FRAGMENTATION] = { "fragmentation", UNIT_SHARE, "at the peak" },
    [A_GROWTH] = { "growth_bytes_per_step", UNIT_BYTES, "slope over steps" },
    [A_IS_GROWING] = { "is_growing", UNIT_BOOL, "never less at the end of a step" },
    [A_ALLOCATIONS] = { "allocations", UNIT_COUNT, "allocations a step" },
    [A_RELEASES] = { "releases", UNIT_COUNT, "releases a step" },
    [A_ALLOCATED] = { "allocated_bytes", UNIT_BYTES, "bytes allocated a step" },
    [A_PEAK_TIME] = { "peak_time_ns", UNIT_NS, "time of the peak, on the clock of the steps" },
    [A_FREE] = { "free_bytes", UNIT_BYTES, "capacity less peak" },
};
enum owners_column {
    O_OWNER,
    O_ALLOCATOR,
    O_REGION,
    O_BYTES,
    O_COUNT,
    O_SHARE,
    O_REQUESTED,
    O_RESIDUAL,
    O_TEMPORARY,
    O_OUTPUT,
    O_PERSISTENT,
    O_DEVICE,
    O_HOST,
    O_DTYPE,
    O_SHAPE
};
static const struct column_spec owner_columns[] = {
    [O_OWNER] = { "owner", UNIT_NAME, "op" },
    [O_ALLOCATOR] = { "allocator", UNIT_NAME, "allocator" },
    [O_REGION] = { "region", UNIT_NAME, "output, temp, persist, …" },
    [O_BYTES] = { "bytes", UNIT_BYTES, "held at the peak; without a timeline: the op's own peak" },
    [O_COUNT] = { "count", UNIT_COUNT, "blocks" },
    [O_SHARE] = { "share", UNIT_SHARE, "share of the peak" },
    [O_REQUESTED] = { "requested_bytes", UNIT_BYTES,
                      "asked for of these bytes; without a timeline: by the op in a step" },
    [O_RESIDUAL] = { "residual_bytes", UNIT_BYTES, "left behind by the op in a step" },
    [O_TEMPORARY] = { "temporary_bytes", UNIT_BYTES, "temporary in a step" },
    [O_OUTPUT] = { "output_bytes", UNIT_BYTES, "in its results" },
    [O_PERSISTENT] = { "persistent_bytes", UNIT_BYTES, "persistent" },
    [O_DEVICE] = { "device", UNIT_NAME, "the allocator's device; none: host memory" },
    [O_HOST] = { "host", UNIT_NAME, "its host, where there are several" },
    [O_DTYPE] = { "dtype", UNIT_NAME, "element type of what is held, where it is told" },
    [O_SHAPE] = { "shape", UNIT_NAME, "its shape, as recorded" },
};
enum uses_column {
    U_TIME,
    U_ALLOCATOR,
    U_DEVICE,
    U_HOST,
    U_BYTES,
    U_RESERVED,
    U_FRAGMENTATION,
    U_FREE,
    U_EVENT,
    U_EVENT_BYTES,
    U_REQUESTED,
    U_OP,
    U_REGION,
    U_DTYPE,
    U_SHAPE,
    U_STEP,
    U_ADDRESS
};
static const struct column_spec use_columns[] = {
    [U_TIME] = { "time_ns", UNIT_NS, "on the clock of the steps" },
    [U_ALLOCATOR] = { "allocator", UNIT_NAME, "allocator" },
    [U_DEVICE] = { "device", UNIT_NAME, "its device; none: host memory" },
    [U_HOST] = { "host", UNIT_NAME, "its host, where there are several" },
    [U_BYTES] = { "bytes", UNIT_BYTES, "in use then" },
    [U_RESERVED] = { "reserved_bytes", UNIT_BYTES, "held by the allocator then" },
    [U_FRAGMENTATION] = { "fragmentation", UNIT_SHARE, "1 - largest free block / free bytes" },
    [U_FREE] = { "free_bytes", UNIT_BYTES, "that the allocator can still give then" },
    [U_EVENT] = { "event", UNIT_NAME, "what happened then: allocation, release" },
    [U_EVENT_BYTES] = { "event_bytes", UNIT_BYTES, "allocated or released by it" },
    [U_REQUESTED] = { "requested_bytes", UNIT_BYTES, "asked for by it" },
    [U_OP] = { "op", UNIT_NAME, "whose it is" },
    [U_REGION] = { "region", UNIT_NAME, "output, temp, persist, …" },
    [U_DTYPE] = { "dtype", UNIT_NAME, "element type of it" },
    [U_SHAPE] = { "shape", UNIT_NAME, "its shape, as recorded" },
    [U_STEP] = { "step", UNIT_COUNT, "number of the step that it happened in" },
    [U_ADDRESS] = { "address", UNIT_NAME, "where it lies, as recorded" },
};
static const struct table_spec tables[] = {
    { "allocators", "memory by allocator", allocator_columns, ARRAY_COUNT(allocator_columns) },
    { "memory_owners", "who holds memory at the peak", owner_columns, ARRAY_COUNT(owner_columns) },
    { "memory_use", "memory over time: the fullest moment of each of 400 equal times", use_columns,
      ARRAY_COUNT(use_columns) },
};
enum { MOST_OWNERS = 200 };
#define STACK "stack of running programs"

static void emit_place(const struct study *study, struct table *table, int device, int host,
                       size_t row, const struct memory_timeline *from)
{
    const struct profile *profile = study->profile;

    if (from->device != NO_ID)
        emit_name(table, device, row, profile->devices.items[from->device].name);
    if (from->host != NO_ID && profile->hosts.count > 1)
        emit_name(table, host, row, profile->hosts.items[from->host].name);
}

static bool fill_allocators(struct study *study, const struct memory_timelines *timelines,
                            double steps)
{
    struct table *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < timelines->list.count; i++) {
        const struct memory_timeline *from = &timelines->list.items[i];
        size_t                        row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, A_ALLOCATOR, row, from->allocator);
        emit_place(study, table, A_DEVICE, A_HOST, row, from);
        emit_number(table, A_PEAK, row, from->peak_bytes);
        emit_number(table, A_PEAK_TIME, row, from->peak_time_ns);
        if (from->lifetime_peak_bytes >= 0)
            emit_number(table, A_LIFETIME_PEAK, row, from->lifetime_peak_bytes);
        if (from->capacity_bytes > 0) {
            emit_number(table, A_CAPACITY, row, from->capacity_bytes);
            emit_number(table, A_PEAK_SHARE, row, from->peak_bytes / from->capacity_bytes);
            emit_number(table, A_FREE, row, from->capacity_bytes - from->peak_bytes);
        }
        if (from->reserved_bytes >= 0)
            emit_number(table, A_RESERVED, row, from->reserved_bytes);
        if (from->fragmentation >= 0)
            emit_number(table, A_FRAGMENTATION, row, from->fragmentation);
        if (from->has_growth) {
            emit_number(table, A_GROWTH, row, from->growth_bytes);
            emit_number(table, A_IS_GROWING, row, from->is_growing);
        }
        emit_number(table, A_ALLOCATIONS, row, from->allocation_count / steps);
        emit_number(table, A_RELEASES, row, from->free_count / steps);
        emit_number(table, A_ALLOCATED, row, from->allocated_bytes / steps);
    }
    return table != NULL;
}

static void emit_dtype(struct study *study, struct table *table, int column, size_t row,
                       uint8_t dtype)
{
    if (dtype != DTYPE_UNKNOWN)
        emit_name(table, column, row, facts_name(&study->facts, str_from(dtype_name(dtype))));
}

/* What made the moment so full. */
static void emit_event(struct study *study, struct table *table, size_t row,
                       const struct memory_event *event)
{
    bool        is_release = event->kind == MEMORY_FREE || event->bytes < 0;
    const char *kind = is_release ? "release" : "allocation";

    if (event->kind == MEMORY_SNAPSHOT && event->bytes == 0)
        kind = "reading";
    emit_name(table, U_EVENT, row, facts_name(&study->facts, str_from(kind)));
    if (event->kind != MEMORY_SNAPSHOT || event->bytes != 0)
        emit_number(table, U_EVENT_BYTES, row, fabs((double)event->bytes));
    if (event->requested_bytes >= 0)
        emit_number(table, U_REQUESTED, row, (double)event->requested_bytes);
    emit_name(table, U_OP, row, event->op_name);
    emit_name(table, U_REGION, row, event->region);
    emit_name(table, U_SHAPE, row, event->shape);
    emit_dtype(study, table, U_DTYPE, row, event->dtype);
    if (event->address)
        emit_name(
            table, U_ADDRESS, row,
            facts_name(&study->facts, str_from(arena_text(study->arena, "0x%llx",
                                                          (unsigned long long)event->address))));
}

/* Of the allocator's host, and of the reference host where that is not told. */
static void emit_step(struct study *study, struct table *table, size_t row,
                      const struct memory_timeline *from, double time_ns)
{
    uint32_t           host = from->host == NO_ID ? study->steps.host : from->host;
    const struct step *steps = study->steps.list.items;
    size_t             step = LOWER_BOUND(study->steps.list.count, i,
                                          steps[i].host < host ||
                                              (steps[i].host == host && (double)steps[i].end_ns <= time_ns));

    if (step < study->steps.list.count && steps[step].host == host &&
        (double)steps[step].start_ns <= time_ns)
        emit_number(table, U_STEP, row, (double)steps[step].number);
}

static bool fill_uses(struct study *study, const struct memory_timelines *timelines)
{
    struct table *table = facts_table(&study->facts, &tables[2]);

    for (size_t i = 0; table && i < timelines->list.count; i++) {
        const struct memory_timeline *from = &timelines->list.items[i];

        for (size_t j = 0; j < from->moment_count; j++) {
            const struct memory_moment *moment = &from->moments[j];
            size_t                      row = table_add(table, study->arena);

            if (row == SIZE_MAX)
                return false;
            emit_number(table, U_TIME, row, moment->time_ns);
            emit_name(table, U_ALLOCATOR, row, from->allocator);
            emit_place(study, table, U_DEVICE, U_HOST, row, from);
            emit_number(table, U_BYTES, row, moment->bytes);
            if (moment->reserved_bytes >= 0)
                emit_number(table, U_RESERVED, row, moment->reserved_bytes);
            if (moment->fragmentation >= 0)
                emit_number(table, U_FRAGMENTATION, row, moment->fragmentation);
            if (moment->available_bytes >= 0)
                emit_number(table, U_FREE, row, moment->available_bytes);
            emit_event(study, table, row, &study->profile->memory_events.items[moment->event]);
            emit_step(study, table, row, from, moment->time_ns);
        }
    }
    return table != NULL;
}

static bool add_owner(struct study *study, struct table *table, const struct memory_timeline *from,
                      const struct memory_owner *owner)
{
    size_t row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, O_OWNER, row, owner->op_name);
    emit_name(table, O_ALLOCATOR, row, from->allocator);
    emit_place(study, table, O_DEVICE, O_HOST, row, from);
    emit_name(table, O_REGION, row, owner->region);
    emit_name(table, O_SHAPE, row, owner->shape);
    emit_dtype(study, table, O_DTYPE, row, owner->dtype);
    emit_number(table, O_BYTES, row, owner->bytes);
    if (owner->requested_bytes >= 0)
        emit_number(table, O_REQUESTED, row, owner->requested_bytes);
    if (owner->count > 0)
        emit_number(table, O_COUNT, row, owner->count);
    if (from->peak_bytes > 0)
        emit_number(table, O_SHARE, row, owner->bytes / from->peak_bytes);
    return true;
}

/* The smallest owners together, what programs hold while they run, and what was held before: so
 * that rows sum to the peak. */
static bool add_rest(struct study *study, struct table *table, const struct memory_timeline *from)
{
    struct memory_owner others = { .requested_bytes = -1 },
                        stack = { .bytes = from->stack_bytes, .requested_bytes = -1 },
                        earlier = { .bytes = from->earlier_bytes, .requested_bytes = -1 };
    char name[32];

    for (size_t i = MOST_OWNERS; i < from->owner_count; i++) {
        others.bytes += from->owners[i].bytes;
        others.count += from->owners[i].count;
    }
    if (from->owner_count > MOST_OWNERS) {
        snprintf(name, sizeof name, "%zu others", from->owner_count - MOST_OWNERS);
        others.op_name = facts_name(&study->facts, str_from(name));
        if (!add_owner(study, table, from, &others))
            return false;
    }
    stack.op_name = facts_name(&study->facts, STR(STACK));
    stack.region = facts_name(&study->facts, STR("stack"));
    earlier.op_name = facts_name(&study->facts, STR("taken before the recording"));
    return (stack.bytes <= 0 || add_owner(study, table, from, &stack)) &&
           (earlier.bytes <= 0 || add_owner(study, table, from, &earlier));
}

static bool fill_owners(struct study *study, struct table *table,
                        const struct memory_timelines *timelines)
{
    for (size_t i = 0; i < timelines->list.count; i++) {
        const struct memory_timeline *from = &timelines->list.items[i];

        for (size_t j = 0; j < from->owner_count && j < MOST_OWNERS; j++)
            if (!add_owner(study, table, from, &from->owners[j]))
                return false;
        if (!add_rest(study, table, from))
            return false;
    }
    return true;
}

/* The largest owner that has a name. What was taken before the recording has none. */
static bool set_top_owner(struct study *study, const struct memory_timeline *main)
{
    struct facts       *facts = &study->facts;
    struct memory_owner top = { 0 };

    if (main->owner_count > 0)
        top = main->owners[0];
    if (main->stack_bytes > top.bytes)
        top = (struct memory_owner) { .op_name = facts_name(facts, STR(STACK)),
                                      .bytes = main->stack_bytes };
    return top.op_name == 0 ||
           (facts_set(facts, &produces[TOP_OWNER], top.op_name) &&
            facts_set(facts, &produces[TOP_OWNER_BYTES], top.bytes) &&
            (main->peak_bytes <= 0 ||
             facts_set(facts, &produces[TOP_OWNER_SHARE], top.bytes / main->peak_bytes)));
}

/* Facts speak of the first timeline: a device's when there is one. */
static bool set_failed(struct study *study)
{
    const struct profile *profile = study->profile;
    struct facts         *facts = &study->facts;

    if (profile->format != FORMAT_KINETO)
        return true;
    return facts_set(facts, &produces[FAILED], profile->failed_allocations) &&
           (profile->failed_allocations == 0 ||
            facts_set(facts, &produces[FAILED_BYTES], (double)profile->failed_bytes));
}

static bool set_facts(struct study *study, const struct memory_timelines *timelines, double steps)
{
    const struct memory_timeline *main = &timelines->list.items[0];
    struct facts                 *facts = &study->facts;
    bool                          is_set = facts_set(facts, &produces[PEAK], main->peak_bytes) &&
                  facts_set(facts, &produces[ALLOCATIONS], main->allocation_count / steps) &&
                  facts_set(facts, &produces[ALLOCATED], main->allocated_bytes / steps);

    if (main->capacity_bytes > 0)
        is_set = is_set && facts_set(facts, &produces[CAPACITY], main->capacity_bytes) &&
                 facts_set(facts, &produces[PEAK_SHARE], main->peak_bytes / main->capacity_bytes);
    if (main->reserved_bytes > 0)
        is_set = is_set && facts_set(facts, &produces[RESERVED], main->reserved_bytes) &&
                 (main->reserved_bytes < main->peak_bytes ||
                  facts_set(facts, &produces[RESERVED_UNUSED_SHARE],
                            1 - main->peak_bytes / main->reserved_bytes));
    if (main->fragmentation >= 0)
        is_set = is_set && facts_set(facts, &produces[FRAGMENTATION], main->fragmentation);
    if (main->has_growth) {
        double whole = main->capacity_bytes > 0 ? main->capacity_bytes : main->peak_bytes;

        is_set =
            is_set && facts_set(facts, &produces[GROWTH], main->growth_bytes) &&
            facts_set(facts, &produces[IS_GROWING], main->is_growing) &&
            (whole <= 0 || facts_set(facts, &produces[GROWTH_SHARE], main->growth_bytes / whole));
    }
    is_set =
        is_set && facts_set(facts, &produces[ALLOCATOR], main->allocator) &&
        (main->device == NO_ID ||
         facts_set(facts, &produces[DEVICE], study->profile->devices.items[main->device].name)) &&
        set_top_owner(study, main);
    for (size_t i = 0; i < timelines->list.count; i++) {
        const struct memory_timeline *host = &timelines->list.items[i];

        if (host->device != NO_ID)
            continue;
        is_set =
            is_set && facts_set(facts, &produces[HOST_PEAK], host->peak_bytes) &&
            (!host->has_growth || facts_set(facts, &produces[HOST_GROWTH], host->growth_bytes));
        break;
    }
    return is_set;
}

struct op_bytes {
    uint32_t op;
    double   requested, peak, residual, output, temporary, persistent;
};

static int compare_op_bytes(const void *a, const void *b)
{
    const struct op_bytes *left = a, *right = b;

    return IN_ORDER(COMPARE(right->peak, left->peak), COMPARE(left->op, right->op));
}

static double most(double a, int64_t b)
{
    return (double)b > a ? (double)b : a;
}

/* Memory by op, at its largest step, most first. */
static struct op_bytes *sum_op_memory(const struct profile *profile, struct arena *scratch,
                                      size_t *count)
{
    struct op_bytes *sums = arena_new_array(scratch, struct op_bytes, profile->op_memory.count + 1);
    uint32_t        *row_of = arena_new_array(scratch, uint32_t, profile->ops.count + 1);

    *count = 0;
    if (!sums || !row_of)
        return NULL;
    for (size_t i = 0; i < profile->op_memory.count; i++) {
        const struct op_memory *memory = &profile->op_memory.items[i];
        struct op_bytes        *sum;

        if (!row_of[memory->op]) {
            sums[*count].op = memory->op;
            row_of[memory->op] = (uint32_t)++ * count;
        }
        sum = &sums[row_of[memory->op] - 1];
        sum->requested = most(sum->requested, memory->requested_bytes);
        sum->peak = most(sum->peak, memory->peak_bytes);
        sum->residual = most(sum->residual, memory->residual_bytes);
        sum->output = most(sum->output, memory->output_bytes);
        sum->temporary = most(sum->temporary, memory->temporary_bytes);
        sum->persistent = most(sum->persistent, memory->persistent_bytes);
    }
    if (*count > 1)
        qsort(sums, *count, sizeof *sums, compare_op_bytes);
    return sums;
}

static bool fill_op_memory(struct study *study, struct table *table, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    size_t                count, most_residual = 0;
    struct op_bytes      *sums = sum_op_memory(profile, scratch, &count);
    double                temporary = 0;

    if (!sums)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, O_OWNER, row, profile->ops.items[sums[i].op].name);
        emit_number(table, O_BYTES, row, sums[i].peak);
        emit_number(table, O_REQUESTED, row, sums[i].requested);
        emit_number(table, O_RESIDUAL, row, sums[i].residual);
        emit_number(table, O_TEMPORARY, row, sums[i].temporary);
        emit_number(table, O_OUTPUT, row, sums[i].output);
        emit_number(table, O_PERSISTENT, row, sums[i].persistent);
        if (sums[i].residual > sums[most_residual].residual)
            most_residual = i;
        temporary = sums[i].temporary > temporary ? sums[i].temporary : temporary;
    }
    if (count == 0)
        return true;
    return facts_set(&study->facts, &produces[RESIDUAL], sums[most_residual].residual) &&
           facts_set(&study->facts, &produces[RESIDUAL_OP],
                     profile->ops.items[sums[most_residual].op].name) &&
           facts_set(&study->facts, &produces[TEMPORARY], temporary);
}

static bool make(struct study *study, struct arena *scratch)
{
    static const char       capture[] = "memory (profile_memory, memory events, run metadata)";
    static const char       reason[] = "no allocation is in the recording";
    struct windows          windows;
    struct memory_timelines timelines;
    struct table           *owners;

    if (study->profile->memory_events.count + study->profile->op_memory.count == 0)
        return facts_absent(&study->facts, "memory.|allocators|memory_use|memory_owners", capture,
                            reason);
    owners = facts_table(&study->facts, &tables[1]);
    if (!owners || !windows_make_called(study, scratch, &windows) ||
        !memory_timelines_make(study, &windows, scratch, &timelines))
        return false;
    if (study->profile->op_memory.count > 0 && !fill_op_memory(study, owners, scratch))
        return false;
    if (timelines.list.count == 0)
        return facts_absent(&study->facts, "allocators|memory_use|memory.", NULL,
                            "memory is recorded by op, not over time");
    return set_failed(study) && fill_allocators(study, &timelines, (double)windows.count) &&
           fill_uses(study, &timelines) && fill_owners(study, owners, &timelines) &&
           set_facts(study, &timelines, (double)windows.count) &&
           facts_absent(&study->facts, "memory.", NULL,
                        "the recording does not tell, or has fewer than 5 steps");
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done = make(study, &scratch);

    arena_free(&scratch);
    return is_done || emit_limit("memory over time", err);
}

const struct analysis analysis_memory = {
    .name = "memory",
    .summary = "peaks, owners and growth of memory",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
