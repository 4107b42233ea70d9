#include "analyze/schedule/efficiency.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RANKS = 32, LATEST_RANKS = 8 }; /* of more than so many the latest are looked at */

static const double LEVEL_SHARE = 0.005; /* ranks that cost less of a step are level */

static const struct {
    enum whatif_kind kind;
    const char      *text, *name;
} ideals[EFFICIENCY_IDEALS] = {
    { WHATIF_NO_DELAYS, NULL, "delays" }, { WHATIF_NO_INPUT_WAIT, NULL, "input" },
    { WHATIF_FREE_HOST, NULL, "host" },   { WHATIF_DROP, "copy", "copies" },
    { WHATIF_LEVEL, NULL, "balance" },    { WHATIF_SCALE, "comm=0", "network" },
};

bool efficiency_scan(struct whatif *whatif, struct arena *arena, struct err *err)
{
    whatif->is_efficiency = true;
    for (size_t i = 0; i < EFFICIENCY_IDEALS; i++) {
        struct whatif_edit edit;

        if (!whatif_edit_scan(&edit, ideals[i].kind, ideals[i].text, arena, err))
            return false;
        if (!vec_push(&whatif->edits, arena, edit))
            return err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
    }
    return true;
}

const char *efficiency_name(size_t ideal)
{
    return ideals[ideal].name;
}

double efficiency_factor(const struct whatif *whatif, size_t ideal)
{
    double before_ns = ideal ? whatif->each[ideal - 1].step_ns : whatif->now.step_ns;

    return before_ns > 0 ? whatif->each[ideal].step_ns / before_ns : 1;
}

struct levelling {
    struct editor *editor;
    struct whatif *whatif;
    double        *work_ns; /* by host */
    double         median_ns;
};

/* A step with each host, or one alone, or all but one, no slower than the median. */
static bool level(struct levelling *levelling, uint32_t host, bool is_alone, double *step_ns,
                  struct err *err)
{
    struct whatif_result result;

    editor_reset(levelling->editor);
    for (uint32_t h = 0; h < levelling->editor->study->profile->hosts.count; h++)
        if (levelling->work_ns[h] > 0 && (h == host) == is_alone)
            editor_scale_host(levelling->editor, h,
                              fmin(1, levelling->median_ns / levelling->work_ns[h]));
    if (!editor_schedule(levelling->editor, levelling->whatif, &result, err))
        return false;
    *step_ns = result.step_ns;
    return true;
}

/* Whether fewer than `most` hosts need longer than this one. */
static bool is_late(const struct levelling *levelling, uint32_t host, size_t most)
{
    size_t later = 0;

    for (uint32_t h = 0; h < levelling->editor->study->profile->hosts.count; h++)
        later += levelling->work_ns[h] > levelling->work_ns[host];
    return later < most;
}

static int by_contribution(const void *left, const void *right)
{
    const struct rank_delay *a = left, *b = right;

    return IN_ORDER(COMPARE(b->contribution, a->contribution), COMPARE(a->host, b->host));
}

static bool add_rank(struct levelling *levelling, uint32_t host, double ideal_ns,
                     struct arena *arena, struct err *err)
{
    struct whatif    *whatif = levelling->whatif;
    struct rank_delay delay = { .host = host,
                                .rank = event_graph_rank(levelling->editor->graph, host) };
    double            alone_ns, others_ns;

    if (!level(levelling, host, true, &alone_ns, err) ||
        !level(levelling, host, false, &others_ns, err))
        return false;
    delay.contribution = (whatif->now.step_ns - alone_ns) / (whatif->now.step_ns - ideal_ns);
    delay.slowdown = others_ns / ideal_ns;
    return vec_push(&whatif->ranks, arena, delay) ||
           err_set(err, ERR_LIMIT, "the ranks do not fit the memory budget");
}

bool efficiency_ranks(struct editor *editor, struct whatif *whatif, struct arena *arena,
                      struct err *err)
{
    uint32_t         hosts = (uint32_t)editor->study->profile->hosts.count;
    struct levelling levelling = { .editor = editor, .whatif = whatif };
    double           ideal_ns;

    if (hosts < 2)
        return true;
    levelling.work_ns = arena_new_array(&editor->scratch, double, hosts + 1);
    if (!levelling.work_ns)
        return err_set(err, ERR_LIMIT, "the ranks do not fit the memory budget");
    editor_reset(editor);
    if (!editor_rank_work(editor, levelling.work_ns, &levelling.median_ns, err) ||
        !level(&levelling, NO_ID, false, &ideal_ns, err))
        return false;
    if (ideal_ns <= 0 || whatif->now.step_ns < ideal_ns * (1 + LEVEL_SHARE))
        return true;
    whatif->imbalance = whatif->now.step_ns / ideal_ns;
    for (uint32_t h = 0; h < hosts; h++)
        if (levelling.work_ns[h] > 0 &&
            is_late(&levelling, h, hosts > MOST_RANKS ? LATEST_RANKS : MOST_RANKS) &&
            !add_rank(&levelling, h, ideal_ns, arena, err))
            return false;
    if (whatif->ranks.count)
        qsort(whatif->ranks.items, whatif->ranks.count, sizeof *whatif->ranks.items,
              by_contribution);
    return true;
}
