#include "analyze/program/program_view.h"

#include "analyze/ops/op_times.h"
#include "analyze/program/call_graph.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/op_graph.h"

#include <stdlib.h>
#include <string.h>

static int compare_modules(const void *a, const void *b)
{
    const struct program_module *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(right->op_count, left->op_count),
                    COMPARE(left->name, right->name));
}

struct str program_module_name(const struct program_view *view, uint32_t name)
{
    if (name)
        return profile_str(view->study->profile, name);
    return view->is_calls ? STR("calls") : STR("main graph");
}

/* Edges of each op, and its time and calls a step. calls NULL: edges are those of the graph. */
static struct program_op *time_ops(const struct study *study, const struct call_graph *calls,
                                   struct arena *arena)
{
    const struct profile  *profile = study->profile;
    const struct op_times *times = study->op_times;
    struct program_op     *ops = arena_new_array(arena, struct program_op, profile->ops.count + 1);

    for (size_t i = 0; ops && i < profile->ops.count; i++) {
        uint32_t      vertex = profile->ops.items[i].graph_node;
        struct op_ids needs = { 0 }, needed_by = { 0 };

        if (calls) {
            ops[i] = (struct program_op) { .op = (uint32_t)i,
                                           .needs = calls->calls[i],
                                           .needed_by = calls->called_by[i],
                                           .caller = calls->caller[i] };
            continue;
        }
        if (vertex != NO_ID) {
            needs = op_graph_producers(profile->graph, vertex);
            needed_by = op_graph_consumers(profile->graph, vertex);
        }
        ops[i] = (struct program_op) { .op = (uint32_t)i,
                                       .needs = { needs.ids, needs.count },
                                       .needed_by = { needed_by.ids, needed_by.count },
                                       .caller = profile->ops.items[i].caller };
    }
    for (size_t i = 0; ops && times && i < times->count; i++) {
        const struct op_time *time = &times->rows[i];

        if (time->op == NO_ID)
            continue;
        ops[time->op].ns += time->self_ns / times->step_count;
        ops[time->op].calls += time->calls / times->step_count;
    }
    return ops;
}

static bool is_in_graph(const struct program_view *view, const struct program_op *item)
{
    const struct op *op = &view->study->profile->ops.items[item->op];

    if (view->is_calls)
        return item->calls > 0 || item->needs.count || item->needed_by.count;
    return op->graph_node != NO_ID && (op->module || item->needs.count || item->needed_by.count);
}

static bool list_modules(struct program_view *view, const struct program_op *ops,
                         struct arena *arena)
{
    const struct profile *profile = view->study->profile;
    struct id_map         rows = { .arena = arena };

    view->modules = arena_new_array(arena, struct program_module, profile->ops.count + 1);
    for (size_t i = 0; view->modules && i < profile->ops.count; i++) {
        const struct op *op = &profile->ops.items[i];
        uint32_t         name = view->is_calls ? 0 : op->module, row = id_map_get(&rows, name);
        struct program_module *module;

        if (!is_in_graph(view, &ops[i]))
            continue;
        if (row == NO_ID) {
            row = (uint32_t)view->module_count++;
            view->modules[row].name = name;
            if (!id_map_put(&rows, name, row))
                return false;
        }
        module = &view->modules[row];
        module->op_count++;
        module->fused_count += op->is_fused;
        module->ns += ops[i].ns;
        if (op->flops > 0)
            module->flops += (double)op->flops * ops[i].calls;
    }
    if (view->module_count > 1)
        qsort(view->modules, view->module_count, sizeof *view->modules, compare_modules);
    return view->modules != NULL;
}

/* How well a name fits: 2 it is the name, 1 a part of it, 0 not. */
static int fit(struct str name, const char *wanted)
{
    if (str_equal(name, str_from(wanted)))
        return 2;
    return str_contains(name, str_from(wanted));
}

/* The best row of those that fit; NO_ID with an error. */
struct choice {
    uint32_t   row;
    int        fit;
    size_t     count;         /* that fit so well */
    bool       takes_longest; /* of rows with one name the one with most time; else it is unclear */
    struct str name;          /* of the row */
    double     ns;
};

static void consider(struct choice *choice, struct str name, const char *wanted, size_t row,
                     double ns)
{
    int how = fit(name, wanted);

    if (how == 0 || how < choice->fit)
        return;
    if (how == choice->fit && choice->takes_longest && str_equal(name, choice->name)) {
        if (ns <= choice->ns)
            return;
        choice->count--;
    }
    choice->name = name;
    choice->ns = ns;
    choice->count = how == choice->fit ? choice->count + 1 : 1;
    choice->row = (uint32_t)row;
    choice->fit = how;
}

static bool settle(const struct choice *choice, const char *what, const char *wanted,
                   const char *advice, struct err *err)
{
    if (choice->count == 1)
        return true;
    if (choice->count == 0)
        err_set(err, ERR_USAGE, "no %s of the recording has '%s' in its name", what, wanted);
    else
        err_set(err, ERR_USAGE, "%zu %ss have '%s' in their names", choice->count, what, wanted);
    return err_advise(err, "%s", advice);
}

/* Rows of profile->ops that a module holds, all of them in `is_chosen`. */
static bool choose_module(struct program_view *view, const char *wanted,
                          const struct program_op *ops, bool *is_chosen, struct err *err)
{
    const struct profile *profile = view->study->profile;
    struct choice         choice = { .row = NO_ID };

    for (size_t i = 0; i < view->module_count; i++)
        consider(&choice, program_module_name(view, view->modules[i].name), wanted, i,
                 view->modules[i].ns);
    if (!settle(&choice, "module", wanted, "tfprof hlo PROFILE lists them", err))
        return false;
    for (size_t i = 0; i < profile->ops.count; i++)
        is_chosen[i] =
            is_in_graph(view, &ops[i]) &&
            (view->is_calls || profile->ops.items[i].module == view->modules[choice.row].name);
    return true;
}

struct walk {
    struct program_op *ops;
    bool              *is_chosen;
    uint32_t          *queue;
    size_t             count;
};

static void reach(struct walk *walk, uint32_t op, int32_t distance)
{
    if (walk->is_chosen[op])
        return;
    walk->is_chosen[op] = true;
    walk->ops[op].distance = distance;
    walk->queue[walk->count++] = op;
}

/* Breadth first, one way: +1 what needs the centre, -1 what it needs. */
static void spread(struct walk *walk, uint32_t centre, int32_t way, int64_t depth)
{
    walk->count = 0;
    walk->queue[walk->count++] = centre;
    for (size_t i = 0; i < walk->count; i++) {
        uint32_t           op = walk->queue[i];
        struct program_ids next = way > 0 ? walk->ops[op].needed_by : walk->ops[op].needs;

        if (llabs(walk->ops[op].distance) >= depth)
            continue;
        for (size_t j = 0; j < next.count; j++)
            reach(walk, next.ids[j], walk->ops[op].distance + way);
    }
}

static bool choose_around(struct program_view *view, const struct program_question *question,
                          struct program_op *ops, bool *is_chosen, struct arena *arena,
                          struct err *err)
{
    const struct profile *profile = view->study->profile;
    struct choice         choice = { .row = NO_ID, .takes_longest = true };
    struct walk           walk = { .ops = ops };

    for (size_t i = 0; i < profile->ops.count; i++)
        if (is_in_graph(view, &ops[i]) && (!question->module || is_chosen[i]))
            consider(&choice, profile_str(profile, profile->ops.items[i].name), question->op, i,
                     ops[i].ns);
    if (!settle(&choice, "op", question->op,
                "--module narrows the search; tfprof hlo PROFILE --module NAME lists its ops", err))
        return false;
    walk.queue = arena_new_array(arena, uint32_t, profile->ops.count + 1);
    walk.is_chosen = is_chosen;
    if (!walk.queue)
        return err_memory(err, "the neighbourhood");
    memset(is_chosen, 0, profile->ops.count * sizeof *is_chosen);
    view->centre = choice.row;
    is_chosen[view->centre] = true;
    spread(&walk, view->centre, -1, question->depth);
    spread(&walk, view->centre, 1, question->depth);
    return true;
}

/* What ops hold, as lists: the first op inside of each, and the next one beside it. */
struct nest {
    uint32_t *first, *next; /* row + 1; 0 none; first[count] is the top */
};

/* Ops inside ops that are not chosen stand at the top. */
static bool nest_make(const struct program_op *ops, size_t count, const bool *is_chosen,
                      struct arena *arena, struct nest *nest)
{

    nest->first = arena_new_array(arena, uint32_t, count + 1);
    nest->next = arena_new_array(arena, uint32_t, count + 1);
    for (size_t i = count; nest->first && nest->next && i-- > 0;) {
        uint32_t caller = ops[i].caller;
        size_t   above = caller && caller - 1 != i && is_chosen[caller - 1] ? caller - 1 : count;

        if (!is_chosen[i])
            continue;
        nest->next[i] = nest->first[above];
        nest->first[above] = (uint32_t)i + 1;
    }
    return nest->first && nest->next;
}

/* In order of the file, and behind each op what it holds. Ops that hold each other in a circle, as
 * damaged files have them, come last. */
static bool put_in_order(struct program_view *view, const struct program_op *ops,
                         const bool *is_chosen, struct arena *arena)
{
    size_t      count = view->study->profile->ops.count;
    struct nest nest;
    uint32_t   *open = arena_new_array(arena, uint32_t, count + 1), level = 0;
    bool       *is_put = arena_new_array(arena, bool, count + 1);

    view->ops = arena_new_array(arena, struct program_op, count + 1);
    if (!view->ops || !open || !is_put || !nest_make(ops, count, is_chosen, arena, &nest))
        return false;
    for (uint32_t at = nest.first[count]; at;) {
        is_put[at - 1] = true;
        view->ops[view->op_count] = ops[at - 1];
        view->ops[view->op_count++].level = level;
        if (nest.first[at - 1]) {
            open[level++] = at;
            at = nest.first[at - 1];
            continue;
        }
        at = nest.next[at - 1];
        while (!at && level > 0)
            at = nest.next[open[--level] - 1];
    }
    for (size_t i = 0; i < count; i++)
        if (is_chosen[i] && !is_put[i])
            view->ops[view->op_count++] = ops[i];
    return true;
}

/* Calls of ops stand for a program where there is none. */
static bool find_calls(struct program_view *view, const struct program_question *question,
                       struct arena *arena, struct call_graph *calls, struct err *err)
{
    const struct profile *profile = view->study->profile;

    view->is_calls = question->takes_calls && profile->event_count > 0 && profile->ops.count > 0;
    if (view->is_calls)
        return call_graph_make(view->study, arena, calls) || err_memory(err, "the calls");
    err_set(err, ERR_INCONCLUSIVE, "the recording holds no program: no HLO and no graph");
    return err_advise(err, "record with XLA's HLO in the trace, or give a GraphDef");
}

bool program_view_make(const struct study *study, const struct program_question *question,
                       struct arena *arena, struct program_view *view, struct err *err)
{
    const struct profile *profile = study->profile;
    bool                 *is_chosen = arena_new_array(arena, bool, profile->ops.count + 1);
    struct program_op    *ops;
    struct call_graph     calls = { 0 };

    *view = (struct program_view) { .study = study, .centre = NO_ID };
    if (!profile->graph && !find_calls(view, question, arena, &calls, err))
        return false;
    ops = time_ops(study, view->is_calls ? &calls : NULL, arena);
    if (!ops || !is_chosen || !list_modules(view, ops, arena))
        return err_memory(err, "the programs");
    if ((question->module && !choose_module(view, question->module, ops, is_chosen, err)) ||
        (question->op && !choose_around(view, question, ops, is_chosen, arena, err)))
        return false;
    return put_in_order(view, ops, is_chosen, arena) || err_memory(err, "the programs");
}
