#include "analyze/path/leaves.h"

struct open_event {
    int64_t  end_ns;
    uint32_t event, kinds;
    uint32_t frame; /* NO_ID until a leaf needs it */
};

struct flattening {
    const struct profile  *profile;
    const struct interval *windows;
    size_t                 window_count, window; /* first window that ends behind cursor_ns */
    int64_t                cursor_ns;            /* everything before it is done */
    struct arena          *arena, *leaf_arena;
    struct path           *path;
    struct path_line      *line;
    VEC(struct open_event) stack;
};

/* The frame of stack entry `depth`, made together with those of its ancestors. */
static uint32_t frame_of(struct flattening *flat, size_t depth)
{
    size_t first = depth;

    while (first > 0 && flat->stack.items[first - 1].frame == NO_ID)
        first--;
    for (size_t i = first; i <= depth; i++) {
        struct open_event *open = &flat->stack.items[i];

        if (open->frame != NO_ID)
            continue;
        open->frame = (uint32_t)flat->path->frames.count;
        if (!vec_push(&flat->path->frames, flat->arena,
                      (struct frame) { .event = open->event,
                                       .parent = i ? flat->stack.items[i - 1].frame : NO_ID,
                                       .kinds = open->kinds,
                                       .timeline = flat->line->timeline }))
            return NO_ID;
    }
    return flat->stack.items[depth].frame;
}

/* The innermost open event owns [cursor, until): keep what lies in windows. */
static bool advance(struct flattening *flat, int64_t until_ns)
{
    size_t window = flat->window;

    while (window < flat->window_count && flat->windows[window].end_ns <= flat->cursor_ns)
        window++;
    flat->window = window;
    for (; flat->stack.count && window < flat->window_count; window++) {
        int64_t start_ns = flat->windows[window].start_ns, end_ns = flat->windows[window].end_ns;

        if (start_ns < flat->cursor_ns)
            start_ns = flat->cursor_ns;
        if (end_ns > until_ns)
            end_ns = until_ns;
        if (start_ns >= end_ns)
            break;
        uint32_t frame = frame_of(flat, flat->stack.count - 1);

        if (frame == NO_ID || !vec_push(&flat->line->leaves, flat->leaf_arena,
                                        (struct leaf) { start_ns, end_ns, frame }))
            return false;
    }
    if (until_ns > flat->cursor_ns)
        flat->cursor_ns = until_ns;
    return true;
}

static bool close_until(struct flattening *flat, int64_t start_ns, int64_t end_ns)
{
    while (flat->stack.count) {
        int64_t top_end_ns = flat->stack.items[flat->stack.count - 1].end_ns;

        if (top_end_ns >= end_ns && top_end_ns > start_ns)
            return true;
        if (!advance(flat, top_end_ns < start_ns ? top_end_ns : start_ns))
            return false;
        flat->stack.count--;
    }
    return true;
}

bool leaves_build(const struct profile *profile, const struct interval *windows,
                  size_t window_count, struct arena *arena, struct arena *leaf_arena,
                  struct path *path, struct path_line *line)
{
    const struct timeline *timeline = &profile->timelines.items[line->timeline];
    struct arena           scratch = { .budget_bytes = arena->budget_bytes };
    struct flattening      flat = { .profile = profile,
                                    .windows = windows,
                                    .window_count = window_count,
                                    .cursor_ns = INT64_MIN,
                                    .arena = arena,
                                    .leaf_arena = leaf_arena,
                                    .path = path,
                                    .line = line };
    bool                   ok = true;

    for (uint32_t i = 0; ok && i < timeline->event_count; i++) {
        uint32_t event = timeline->first_event + i;
        int64_t  start_ns = event_start_ns(profile, event);
        int64_t  duration_ns = event_duration_ns(profile, event);

        if (duration_ns <= 0)
            continue;
        ok = close_until(&flat, start_ns, start_ns + duration_ns) && advance(&flat, start_ns);
        if (!ok)
            break;
        uint32_t kinds = UINT32_C(1) << event_activity(profile, event)->kind;

        if (flat.stack.count)
            kinds |= flat.stack.items[flat.stack.count - 1].kinds;
        ok = vec_push(&flat.stack, &scratch,
                      (struct open_event) { start_ns + duration_ns, event, kinds, NO_ID });
    }
    ok = ok && close_until(&flat, INT64_MAX - 1, INT64_MAX);
    arena_free(&scratch);
    return ok;
}
