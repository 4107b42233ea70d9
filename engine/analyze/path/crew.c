#include "analyze/path/crew.h"

const struct leaf *worker_leaf_before(struct worker *worker, int64_t t_ns)
{
    while (worker->next > 0 && worker->line->leaves.items[worker->next - 1].start_ns >= t_ns)
        worker->next--;
    return worker->next > 0 ? worker_leaf(worker) : NULL;
}

const struct leaf *worker_leaf(const struct worker *worker)
{
    return &worker->line->leaves.items[worker->next - 1];
}

static struct crew_view no_view(int64_t changed_ns)
{
    return (struct crew_view) { .changed_ns = changed_ns,
                                .last_end_ns = INT64_MIN,
                                .busy = NO_ID,
                                .input = NO_ID,
                                .awaited = NO_ID };
}

static void forget_all(struct crew *crew)
{
    for (size_t i = 0; i < 2 * crew->width; i++)
        crew->views[i] = no_view(i < crew->width + crew->count ? INT64_MAX : INT64_MIN);
    crew->t_ns = INT64_MAX;
}

bool crew_make(struct crew *crew, struct arena *arena)
{
    crew->width = 1;
    while (crew->width < crew->count)
        crew->width *= 2;
    crew->views = arena_new_array(arena, struct crew_view, 2 * crew->width);
    if (crew->views)
        forget_all(crew);
    return crew->views != NULL;
}

static void join(struct crew *crew, size_t at)
{
    const struct crew_view *left = &crew->views[2 * at], *right = &crew->views[2 * at + 1];
    struct crew_view       *view = &crew->views[at];
    bool is_left = right->busy == NO_ID || (left->busy != NO_ID && left->rank >= right->rank);

    *view = is_left ? *left : *right;
    view->input = right->input != NO_ID ? right->input : left->input;
    view->awaited = right->awaited != NO_ID ? right->awaited : left->awaited;
    view->changed_ns = left->changed_ns > right->changed_ns ? left->changed_ns : right->changed_ns;
    view->last_end_ns =
        left->last_end_ns > right->last_end_ns ? left->last_end_ns : right->last_end_ns;
}

struct asking {
    struct crew  *crew;
    crew_look_fn *look;
    void         *context;
    int64_t       t_ns;
};

/* Of a part of the tree in which someone has changed since. */
static void ask(const struct asking *asking, size_t at)
{
    struct crew *crew = asking->crew;

    if (at >= crew->width) {
        crew->views[at] = asking->look(asking->context, (uint32_t)(at - crew->width), asking->t_ns);
        return;
    }
    for (size_t half = 2 * at; half <= 2 * at + 1; half++)
        if (crew->views[half].changed_ns >= asking->t_ns)
            ask(asking, half);
    join(crew, at);
}

const struct crew_view *crew_look(struct crew *crew, crew_look_fn *look, void *context,
                                  int64_t t_ns)
{
    struct asking asking = { crew, look, context, t_ns };

    if (t_ns > crew->t_ns)
        forget_all(crew);
    crew->t_ns = t_ns;
    if (crew->views[1].changed_ns >= t_ns)
        ask(&asking, 1);
    return &crew->views[1];
}

void crew_forget(struct crew *crew, uint32_t worker)
{
    if (worker >= crew->count)
        return;
    for (size_t at = crew->width + worker; at > 0; at /= 2)
        crew->views[at].changed_ns = INT64_MAX;
}
