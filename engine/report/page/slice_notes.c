#include "report/page/slice_notes.h"

#include "base/sort.h"
#include "base/wire_out.h"
#include "report/trace/details.h"

#include <stdlib.h>

enum { TEXT_BYTES_MOST = 400000 };

struct kept_event {
    uint32_t event, slice;
};
struct kept_events { /* by event */
    struct kept_event *items;
    size_t             count;
};

static int compare_kept(const void *left, const void *right)
{
    const struct kept_event *a = left, *b = right;

    return COMPARE(a->event, b->event);
}

static bool sort_events(struct kept_events *kept, const uint32_t *events, size_t count,
                        struct arena *arena)
{
    kept->items = arena_new_array(arena, struct kept_event, count);
    for (uint32_t i = 0; kept->items && i < count; i++)
        if (events[i] != NO_ID)
            kept->items[kept->count++] = (struct kept_event) { events[i], i };
    if (kept->count)
        qsort(kept->items, kept->count, sizeof *kept->items, compare_kept);
    return kept->items != NULL;
}

/* NO_ID: the event is no slice of its own. */
static uint32_t slice_of(const struct kept_events *kept, uint32_t event)
{
    const struct kept_event  wanted = { .event = event };
    const struct kept_event *found =
        kept->count ? bsearch(&wanted, kept->items, kept->count, sizeof wanted, compare_kept)
                    : NULL;

    return found ? found->slice : NO_ID;
}

/* "line train.py:41 · shapes float32[8,8] · grid 4,1,1" */
static void print_arguments(const struct trace_slice *slice, struct text *text)
{
    text->len = 0;
    for (size_t i = 0; i < slice->argument_count; i++) {
        const struct trace_argument *argument = &slice->arguments[i];

        text_print(text, i ? " · %s " : "%s ", argument->name);
        if (argument->kind == ARGUMENT_TEXT)
            text_add(text, argument->text);
        else if (argument->kind == ARGUMENT_INTEGER)
            text_print(text, "%lld", (long long)argument->integer);
        else
            text_print(text, "%g", argument->number);
    }
}

/* Details want events in the order of their rows. */
static bool add_texts(struct slice_notes *notes, const struct profile *profile,
                      const struct kept_events *kept, struct arena *arena)
{
    struct arena   scratch = { .budget_bytes = arena->budget_bytes };
    struct details details;
    struct text    text = { .arena = &scratch };
    size_t         bytes = 0;
    bool           is_done = details_begin(&details, profile, &scratch);

    details.no_ids = true;
    for (size_t i = 0; is_done && i < kept->count; i++) {
        struct trace_slice slice = { 0 };
        uint32_t           id;

        details_add(&details, kept->items[i].event, &slice);
        print_arguments(&slice, &text);
        id = intern_find(&notes->texts, text_str(&text));
        if (id == NO_ID && bytes + text.len <= TEXT_BYTES_MOST) {
            id = intern_add(&notes->texts, text_str(&text));
            bytes += text.len;
            is_done = id != NO_ID;
        }
        if (id != NO_ID)
            notes->text_of[kept->items[i].slice] = id;
    }
    is_done = is_done && !text.is_cut;
    arena_free(&scratch);
    notes->text_count = notes->texts.count - 1;
    return is_done;
}

static int compare_links(const void *left, const void *right)
{
    const struct slice_link *a = left, *b = right;

    return IN_ORDER(COMPARE(a->from, b->from), COMPARE(a->to, b->to));
}

/* Flows of which both ends are slices of their own. */
static bool add_links(struct slice_notes *notes, const struct profile *profile,
                      const struct kept_events *kept, struct arena *arena)
{
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        uint32_t           from = slice_of(kept, flow->from);
        uint32_t           to = from == NO_ID ? NO_ID : slice_of(kept, flow->to);

        if (to != NO_ID && !vec_push(&notes->links, arena, (struct slice_link) { from, to }))
            return false;
    }
    if (notes->links.count)
        qsort(notes->links.items, notes->links.count, sizeof *notes->links.items, compare_links);
    return true;
}

bool slice_notes_make(struct slice_notes *notes, const struct profile *profile,
                      const uint32_t *events, size_t count, struct arena *arena)
{
    struct kept_events kept = { 0 };

    *notes = (struct slice_notes) { .slice_count = count };
    notes->text_of = arena_new_array(arena, uint32_t, count);
    return notes->text_of && intern_init(&notes->texts, arena) &&
           sort_events(&kept, events, count, arena) && add_texts(notes, profile, &kept, arena) &&
           add_links(notes, profile, &kept, arena);
}

void slice_notes_pack(const struct slice_notes *notes, struct text *bytes)
{
    uint32_t from = 0;
    int64_t  to = 0;

    for (uint32_t id = 1; id <= notes->text_count; id++) {
        struct str text = intern_str(&notes->texts, id);

        wire_out_varint(bytes, text.len);
        text_add(bytes, text);
    }
    for (size_t i = 0; i < notes->slice_count; i++)
        wire_out_varint(bytes, notes->text_of[i]);
    for (size_t i = 0; i < notes->links.count; i++) {
        const struct slice_link *link = &notes->links.items[i];
        int64_t                  away = (int64_t)link->to - to;

        wire_out_varint(bytes, link->from - from);
        wire_out_varint(bytes, away < 0 ? (uint64_t)(-2 * away - 1) : (uint64_t)(2 * away));
        from = link->from;
        to = link->to;
    }
}
