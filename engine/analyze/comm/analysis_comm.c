/* comm: what collectives cost, how much of it computing hides, and which rank keeps the others. */
#include "analyze/analysis.h"
#include "analyze/comm/collective_links.h"
#include "analyze/comm/collective_list.h"
#include "analyze/comm/comm_times.h"
#include "analyze/comm/rank_rows.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum comm_fact {
    COUNT,
    BYTES,
    NS,
    SHARE,
    EXPOSED_NS,
    EXPOSED_SHARE,
    OVERLAP,
    SMALL_COUNT,
    WAIT_NS,
    TAIL_NS,
    TAIL_BYTES,
    SKEW_NS,
    SKEW_SHARE,
    SKEW_RATIO,
    MATCHED_COUNT,
    ALONE_COUNT,
    MATCHED_BY,
    RANK_COUNT,
    SLOWEST,
    SLOWEST_HOST,
    SLOWEST_LATE_NS,
    SLOWEST_LAST_SHARE,
    STEP_SPREAD,
    COMPUTE_SPREAD,
    LINK_RATE,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [COUNT] = { "comm.count_per_step", UNIT_COUNT, "collectives of the reference host a step" },
    [BYTES] = { "comm.bytes_per_step", UNIT_BYTES, "their payload a step, where known" },
    [NS] = { "comm.ns", UNIT_NS, "time a step in collectives, waiting for others included" },
    [SHARE] = { "comm.share", UNIT_SHARE, "that over the step" },
    [EXPOSED_NS] = { "comm.exposed_ns", UNIT_NS,
                     "time a step in collectives that no kernel hides" },
    [EXPOSED_SHARE] = { "comm.exposed_share", UNIT_SHARE, "that over the step" },
    [OVERLAP] = { "comm.overlap", UNIT_SHARE, "share of collective time that kernels hide" },
    [SMALL_COUNT] = { "comm.small_count", UNIT_COUNT, "collectives below 1 MiB a step" },
    [WAIT_NS] = { "comm.wait_ns", UNIT_NS,
                  "time a step that collectives take beyond the shortest part in each, of any "
                  "device or rank: waiting for the last to join, mean over the host's parts" },
    [TAIL_NS] = { "comm.tail_ns", UNIT_NS,
                  "time a step in its last all-reduce that no kernel hides, where several are "
                  "made and that one begins as computing ends" },
    [TAIL_BYTES] = { "comm.tail_bytes", UNIT_BYTES, "payload of one such all-reduce, where known" },
    [SKEW_NS] = { "comm.skew_ns", UNIT_NS, "mean of latest less earliest start over ranks" },
    [SKEW_SHARE] = { "comm.skew_share", UNIT_SHARE,
                     "skew over the mean time of a collective, all ranks; at most all of it" },
    [SKEW_RATIO] = { "comm.skew_ratio", UNIT_RATIO,
                     "the same without a bound: above 1 where ranks come further apart than a "
                     "collective takes" },
    [MATCHED_COUNT] = { "comm.matched_count", UNIT_COUNT,
                        "collectives found to be the same on two ranks or more, all steps" },
    [ALONE_COUNT] = { "comm.alone_count", UNIT_COUNT,
                      "those of one rank that no other rank's recording has" },
    [MATCHED_BY] = { "comm.matched_by", UNIT_NAME,
                     "the least sure way it was found: number, order, or ends: when they end" },
    [RANK_COUNT] = { "ranks.count", UNIT_COUNT, "ranks recorded" },
    [SLOWEST] = { "ranks.slowest", UNIT_COUNT, "rank that others wait for most" },
    [SLOWEST_HOST] = { "ranks.slowest_host", UNIT_NAME, "its host" },
    [SLOWEST_LATE_NS] = { "ranks.slowest_late_ns", UNIT_NS, "its mean lateness at a collective" },
    [SLOWEST_LAST_SHARE] = { "ranks.slowest_last_share", UNIT_SHARE,
                             "share of collectives it is the last to join" },
    [STEP_SPREAD] = { "ranks.spread", UNIT_RATIO, "(longest - shortest) / mean step over ranks" },
    [COMPUTE_SPREAD] = { "ranks.compute_spread", UNIT_RATIO,
                         "(most - least) / mean compute time over ranks" },
    [LINK_RATE] = { "comm.link_bytes_per_s", UNIT_BYTES_PER_S,
                    "what the links of a device to others of its machine carry in one direction, "
                    "as its maker says" },
};
enum collectives_column {
    C_TYPE,
    C_NAME,
    C_COUNT,
    C_BYTES,
    C_MEAN_BYTES,
    C_NS,
    C_MEAN_NS,
    C_MAX_NS,
    C_EXPOSED_NS,
    C_MEDIAN_NS,
    C_SOLO_COUNT,
    C_SAME_BYTES,
    C_UNEVENNESS,
    C_GROUP_SIZE,
    C_BUS,
    C_LINK_SHARE,
    C_SOURCE_FILE,
    C_SOURCE_LINE
};
static const struct column_spec collective_columns[] = {
    [C_TYPE] = { "type", UNIT_NAME, "all-reduce, all-gather, …" },
    [C_NAME] = { "name", UNIT_NAME, "as recorded" },
    [C_COUNT] = { "count", UNIT_COUNT, "a step" },
    [C_BYTES] = { "bytes", UNIT_BYTES, "payload a step" },
    [C_MEAN_BYTES] = { "mean_bytes", UNIT_BYTES, "payload of one" },
    [C_NS] = { "ns", UNIT_NS, "time a step" },
    [C_MEAN_NS] = { "mean_ns", UNIT_NS, "mean of one" },
    [C_MAX_NS] = { "max_ns", UNIT_NS, "longest" },
    [C_EXPOSED_NS] = { "exposed_ns", UNIT_NS, "time a step that no kernel hides" },
    [C_MEDIAN_NS] = { "median_ns", UNIT_NS, "median of one" },
    [C_SOLO_COUNT] = { "solo_count", UNIT_COUNT,
                       "a step, of which kernels hide less than a tenth" },
    [C_SAME_BYTES] = { "same_bytes", UNIT_BOOL, "all of them carry the same, known payload" },
    [C_UNEVENNESS] = { "unevenness", UNIT_RATIO,
                       "the most that goes to one rank over the mean of all, where sizes differ" },
    [C_GROUP_SIZE] = { "group_size", UNIT_COUNT, "ranks in the group" },
    [C_BUS] = { "bus_bytes_per_s", UNIT_BYTES_PER_S, "bus bandwidth, waiting included" },
    [C_LINK_SHARE] = { "link_share", UNIT_SHARE,
                       "the least that the devices' links need over the time, of the call where "
                       "that is "
                       "most; of groups in one machine" },
    [C_SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [C_SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "collectives", "collectives of the reference host", collective_columns,
      ARRAY_COUNT(collective_columns) },
    { "ranks", "ranks side by side", rank_columns, RANK_COLUMNS },
};
enum { SMALL_BYTES = 1 << 20 };

struct collective_sum {
    uint32_t activity, event; /* first event, for its type */
    double   count, bytes, ns, max_ns, exposed_ns, group_size, solo_count, small_count;
    bool     is_on_device;
    double   link_share; /* the largest; 0 unknown */
    double   uneven_sum, uneven_count;
    double   first_bytes; /* of the first; < 0 unknown */
    bool     is_uneven;   /* another carried something else */
    VEC(double) lengths;
};
struct comm {
    struct study          *study;
    struct windows         windows;
    struct arena          *scratch;
    struct collective_list list;
    VEC(struct collective_sum) sums;
    double small_count;
};

static void add_unevenness(const struct profile *profile, uint32_t event,
                           struct collective_sum *sum)
{
    int64_t row;

    if (!profile_stat(profile, STAT_COLLECTIVE, event, &row) || row < 0 ||
        (uint64_t)row >= profile->collectives.count ||
        !(profile->collectives.items[row].unevenness > 0))
        return;
    sum->uneven_sum += (double)profile->collectives.items[row].unevenness;
    sum->uneven_count++;
}

static bool sum_collectives(struct comm *comm)
{
    const struct profile *profile = comm->study->profile;
    struct id_map         rows = { .arena = comm->scratch };

    for (size_t i = 0; i < comm->list.items.count; i++) {
        const struct collective_instance *item = &comm->list.items.items[i];
        const struct device_row *device = device_activity_row(comm->study->devices, item->device);
        uint64_t                 key = collective_kind(profile, item->event);
        uint32_t                 row = id_map_get(&rows, key);
        double                   bytes, ns = (double)(item->end_ns - item->start_ns);
        double                   hidden_ns = 0;
        struct collective_sum   *sum;

        if (item->host != comm->windows.host)
            continue;
        if (row == NO_ID) {
            struct collective_sum fresh = { .activity = (uint32_t)key, .event = item->event };

            row = (uint32_t)comm->sums.count;
            if (!vec_push(&comm->sums, comm->scratch, fresh) || !id_map_put(&rows, key, row))
                return false;
        }
        sum = &comm->sums.items[row];
        bytes = collective_payload(profile, item->event, &sum->group_size);
        if (sum->count == 0)
            sum->first_bytes = bytes;
        sum->is_uneven |= bytes < 0 || bytes > sum->first_bytes || bytes < sum->first_bytes;
        add_unevenness(profile, item->event, sum);
        if (device && ns > 0)
            sum->link_share = fmax(sum->link_share, collective_link_ns(profile, item) / ns);
        sum->is_on_device = item->device != NO_ID;
        sum->count++;
        sum->ns += ns;
        sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
        if (device)
            hidden_ns =
                (double)intervals_overlap_ns(&device->compute, item->start_ns, item->end_ns);
        sum->exposed_ns += ns - hidden_ns;
        sum->solo_count += hidden_ns < 0.1 * ns;
        if (!vec_push(&sum->lengths, comm->scratch, ns))
            return false;
        if (bytes > 0)
            sum->bytes += bytes;
        sum->small_count += bytes >= 0 && bytes < SMALL_BYTES;
    }
    return true;
}

/* Of collectives on devices the mean of these is told. */
static void take_means(struct comm *comm)
{
    double devices = device_activity_count(comm->study, &comm->windows);

    for (size_t i = 0; i < comm->sums.count; i++) {
        struct collective_sum *sum = &comm->sums.items[i];
        double                 among = sum->is_on_device ? devices : 1;

        sum->count /= among;
        sum->bytes /= among;
        sum->ns /= among;
        sum->exposed_ns /= among;
        sum->solo_count /= among;
        comm->small_count += sum->small_count / among;
    }
}

static int compare_sums(const void *a, const void *b)
{
    const struct collective_sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->event, right->event));
}

static bool fill_collectives(struct comm *comm)
{
    struct study         *study = comm->study;
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);
    double                steps = (double)comm->windows.count;

    if (comm->sums.count > 1)
        qsort(comm->sums.items, comm->sums.count, sizeof *comm->sums.items, compare_sums);
    for (size_t i = 0; table && i < comm->sums.count; i++) {
        struct collective_sum *sum = &comm->sums.items[i];
        const struct activity *activity = &profile->activities.items[sum->activity];
        const char            *type = collective_type(profile, sum->event);
        size_t                 row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, C_TYPE, row, facts_name(&study->facts, str_from(type)));
        emit_name(table, C_NAME, row, activity->name);
        emit_number(table, C_COUNT, row, sum->count / steps);
        emit_number(table, C_NS, row, sum->ns / steps);
        emit_number(table, C_MEAN_NS, row, sum->ns / sum->count);
        emit_number(table, C_MAX_NS, row, sum->max_ns);
        emit_number(table, C_EXPOSED_NS, row, sum->exposed_ns / steps);
        emit_number(table, C_MEDIAN_NS, row, sample_middle(sum->lengths.items, sum->lengths.count));
        emit_number(table, C_SAME_BYTES, row, !sum->is_uneven);
        emit_number(table, C_SOLO_COUNT, row, sum->solo_count / steps);
        if (sum->uneven_count > 0)
            emit_number(table, C_UNEVENNESS, row, sum->uneven_sum / sum->uneven_count);
        if (sum->group_size > 0)
            emit_number(table, C_GROUP_SIZE, row, sum->group_size);
        if (sum->bytes > 0) {
            emit_number(table, C_BYTES, row, sum->bytes / steps);
            emit_number(table, C_MEAN_BYTES, row, sum->bytes / sum->count);
            if (sum->ns > 0 && collective_bus_factor(type, sum->group_size) > 0)
                emit_number(table, C_BUS, row,
                            sum->bytes / sum->ns * 1e9 *
                                collective_bus_factor(type, sum->group_size));
        }
        if (sum->link_share > 0)
            emit_number(table, C_LINK_SHARE, row, sum->link_share);
        if (activity->source < profile->sources.count) {
            emit_name(table, C_SOURCE_FILE, row, profile->sources.items[activity->source].file);
            emit_number(table, C_SOURCE_LINE, row, profile->sources.items[activity->source].line);
        }
    }
    return table != NULL;
}

static bool set_skew(const struct comm *comm)
{
    struct facts *facts = &comm->study->facts;
    double        skew_ns, sum_ns = 0, ratio;

    if (comm->list.matched_count == 0)
        return true;
    skew_ns = comm->list.skew_ns / comm->list.matched_count;
    for (size_t i = 0; i < comm->list.items.count; i++)
        sum_ns += (double)(comm->list.items.items[i].end_ns - comm->list.items.items[i].start_ns);
    if (!facts_set(facts, &produces[SKEW_NS], skew_ns))
        return false;
    if (sum_ns <= 0)
        return true;
    ratio = skew_ns * (double)comm->list.items.count / sum_ns;
    return facts_set(facts, &produces[SKEW_SHARE], fmin(1, ratio)) &&
           facts_set(facts, &produces[SKEW_RATIO], ratio);
}

/* All parts of a collective end together; who joins last is in it for no longer than it takes. */
static bool set_wait(const struct comm *comm)
{
    const struct collective_instance *items = comm->list.items.items;
    double                            wait_ns = 0;
    bool                              is_shared = false;

    for (size_t first = 0, end = 0; first < comm->list.items.count; first = end) {
        double least_ns = INFINITY, sum_ns = 0, parts = 0;
        bool   has_others = false;

        for (; end < comm->list.items.count && items[end].key == items[first].key; end++) {
            double ns = (double)(items[end].end_ns - items[end].start_ns);

            has_others |= collective_is_other(&items[first], &items[end]);
            least_ns = fmin(ns, least_ns);
            sum_ns += items[end].host == comm->windows.host ? ns : 0;
            parts += items[end].host == comm->windows.host;
        }
        is_shared |= has_others;
        if (has_others && parts > 0)
            wait_ns += sum_ns / parts - least_ns;
    }
    if (!is_shared)
        return facts_absent(&comm->study->facts, produces[WAIT_NS].name,
                            emit_other_ranks(comm->study),
                            "no two devices or ranks share a collective in the recorded steps");
    return facts_set(&comm->study->facts, &produces[WAIT_NS],
                     wait_ns / (double)comm->windows.count);
}

static bool set_link_rate(const struct comm *comm)
{
    const struct profile *profile = comm->study->profile;
    double                rate = 0;

    for (size_t i = 0; i < comm->list.items.count && rate <= 0; i++)
        if (comm->list.items.items[i].host == comm->windows.host)
            rate = collective_link_rate(profile, comm->list.items.items[i].device);
    return rate > 0 ? facts_set(&comm->study->facts, &produces[LINK_RATE], rate)
                    : facts_absent(&comm->study->facts, produces[LINK_RATE].name, NULL,
                                   "the links of these devices are not known");
}

static bool set_comm_facts(struct comm *comm)
{
    struct study *study = comm->study;
    double        values[FACT_COUNT] = { 0 }, steps = (double)comm->windows.count;
    bool          is_set = true;

    if (!comm_times_sum(study, &comm->windows, &comm->list, comm->scratch, &values[NS],
                        &values[EXPOSED_NS]))
        return false;
    values[NS] /= steps;
    values[EXPOSED_NS] /= steps;
    for (size_t i = 0; i < comm->sums.count; i++) {
        values[COUNT] += comm->sums.items[i].count / steps;
        values[BYTES] += comm->sums.items[i].bytes / steps;
    }
    values[SHARE] = values[NS] * steps / (double)comm->windows.total_ns;
    values[EXPOSED_SHARE] = values[EXPOSED_NS] * steps / (double)comm->windows.total_ns;
    if (values[NS] > 0)
        values[OVERLAP] = 1 - values[EXPOSED_NS] / values[NS];
    values[SMALL_COUNT] = comm->small_count / steps;
    for (int i = COUNT; i <= SMALL_COUNT; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set && set_link_rate(comm) && set_wait(comm) && set_skew(comm);
}

static bool match_absent(struct study *study, const char *capture, const char *reason)
{
    bool is_set = true;

    for (int i = SKEW_NS; i <= MATCHED_BY; i++)
        is_set = is_set && facts_absent(&study->facts, produces[i].name, capture, "%s", reason);
    return is_set;
}

/* How it is known which collectives of the ranks are one: numbers are sure, ends are a guess. */
static bool set_match_facts(struct comm *comm)
{
    static const char *const names[MATCH_COUNT] = { "number", "order", "ends" };
    struct facts            *facts = &comm->study->facts;
    int                      by = MATCH_COUNT - 1;

    if (comm->study->profile->hosts.count < 2)
        return true;
    while (by > 0 && comm->list.matched_by[by] <= 0)
        by--;
    return facts_set(facts, &produces[MATCHED_COUNT], comm->list.matched_count) &&
           facts_set(facts, &produces[ALONE_COUNT], comm->list.alone_count) &&
           (comm->list.matched_count > 0
                ? facts_set(facts, &produces[MATCHED_BY], facts_name(facts, str_from(names[by])))
                : match_absent(comm->study, NULL, "no collective could be matched over ranks"));
}

struct tail { /* the last all-reduce of a step */
    const struct collective_instance *last;
    size_t                            count; /* all-reduces of the step */
};

/* A last all-reduce begins as computing ends when kernels hide no more than a little of it. */
static bool set_tail_facts(struct comm *comm)
{
    static const double HIDDEN_SHARE = 0.05; /* of the step */
    struct study       *study = comm->study;
    struct tail *tails = arena_new_array(comm->scratch, struct tail, comm->windows.count + 1);
    double       exposed_ns = 0, bytes = 0, count = 0, group_size;

    for (size_t i = 0; tails && i < comm->list.items.count; i++) {
        const struct collective_instance *item = &comm->list.items.items[i];
        size_t                            window = windows_find(&comm->windows, item->start_ns);

        if (item->host != comm->windows.host || item->device == NO_ID || window == SIZE_MAX ||
            strcmp(collective_type(study->profile, item->event), "all-reduce") != 0)
            continue;
        tails[window].count++;
        if (!tails[window].last || item->end_ns > tails[window].last->end_ns)
            tails[window].last = item;
    }
    for (size_t i = 0; tails && i < comm->windows.count; i++) {
        const struct collective_instance *last = tails[i].last;
        const struct device_row          *device =
            last ? device_activity_row(study->devices, last->device) : NULL;
        double hidden_ns, payload_bytes;

        if (!device || tails[i].count < 2)
            continue;
        hidden_ns = (double)intervals_overlap_ns(&device->compute, last->start_ns, last->end_ns);
        payload_bytes = collective_payload(study->profile, last->event, &group_size);
        if (hidden_ns > HIDDEN_SHARE * comm->windows.step_ns)
            continue;
        exposed_ns += (double)(last->end_ns - last->start_ns) - hidden_ns;
        bytes += payload_bytes > 0 ? payload_bytes : 0;
        count++;
    }
    return tails &&
           facts_set(&study->facts, &produces[TAIL_NS], exposed_ns / (double)comm->windows.count) &&
           (bytes <= 0 || facts_set(&study->facts, &produces[TAIL_BYTES], bytes / count));
}

/* The rank that is late most; time inside collectives would name the victims. */
static bool set_rank_facts(struct comm *comm, const struct table *table)
{
    struct study *study = comm->study;
    size_t        slowest = 0;
    double        late_ns = -1, step_spread = ranks_spread(table, R_STEP_NS);
    double        compute_spread = ranks_spread(table, R_COMPUTE_NS);
    bool is_set = facts_set(&study->facts, &produces[RANK_COUNT], (double)table->row_count);

    for (size_t row = 0; row < table->row_count; row++)
        if (table->columns[R_LATE_NS][row] > late_ns) {
            late_ns = table->columns[R_LATE_NS][row];
            slowest = row;
        }
    if (step_spread >= 0)
        is_set = is_set && facts_set(&study->facts, &produces[STEP_SPREAD], step_spread);
    if (compute_spread >= 0)
        is_set = is_set && facts_set(&study->facts, &produces[COMPUTE_SPREAD], compute_spread);
    if (late_ns < 0)
        return is_set && facts_absent(&study->facts, "ranks.", NULL,
                                      "no collective could be matched over ranks");
    is_set = is_set && facts_set(&study->facts, &produces[SLOWEST_LATE_NS], late_ns) &&
             facts_set(&study->facts, &produces[SLOWEST_HOST],
                       study->profile->hosts.items[slowest].name) &&
             facts_set(&study->facts, &produces[SLOWEST_LAST_SHARE],
                       table->columns[R_LAST_SHARE][slowest]);
    if (study->profile->hosts.items[slowest].rank >= 0)
        is_set = is_set && facts_set(&study->facts, &produces[SLOWEST],
                                     study->profile->hosts.items[slowest].rank);
    return is_set;
}

static bool make(struct study *study, struct arena *scratch)
{
    static const char none[] = "no collective is in the recorded steps";
    static const char one[] = "one rank was recorded";
    struct comm       comm = { .study = study, .scratch = scratch };
    struct rank_rows  rows = { study, &comm.windows, &comm.list, &tables[1] };
    struct table     *ranks;

    if (!windows_make(study, scratch, &comm.windows) ||
        !collective_list_make(study, &comm.windows, scratch, &comm.list) || !sum_collectives(&comm))
        return false;
    take_means(&comm);
    if (comm.list.items.count == 0) {
        if (!facts_absent(&study->facts, "comm.", NULL, none) ||
            !facts_absent(&study->facts, "collectives", NULL, none))
            return false;
    } else if (!fill_collectives(&comm) || !set_comm_facts(&comm) || !set_match_facts(&comm) ||
               !set_tail_facts(&comm)) {
        return false;
    }
    if (study->profile->hosts.count < 2)
        return facts_absent(&study->facts, "ranks.|ranks", emit_other_ranks(study), one) &&
               (comm.list.items.count == 0 || match_absent(study, emit_other_ranks(study), one));
    return ranks_fill(&rows, scratch, &ranks) && set_rank_facts(&comm, ranks);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    bool         is_done = make(study, &scratch);

    arena_free(&scratch);
    return is_done || emit_limit("collectives", err);
}

const struct analysis analysis_comm = {
    .name = "comm",
    .summary = "cost of collectives and lateness of ranks",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
