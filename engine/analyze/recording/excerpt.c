#include "analyze/recording/excerpt.h"

#include "analyze/emit.h"
#include "model/interval.h"
#include "model/subset.h"

struct cut {
    const struct profile *whole;
    struct profile       *part;
    struct arena         *arena, *scratch;
    struct subset         subset;
    struct intervals      stretches;
    uint8_t              *kinds; /* by label */
    bool                  is_rare[ACTIVITY_KIND_COUNT];
};

/* Every used step is looked at. */
static uint32_t mark_all(struct steps *steps)
{
    uint32_t count = 0;

    for (size_t i = 0; i < steps->list.count; i++) {
        steps->list.items[i].is_sampled = steps->list.items[i].is_used;
        count += steps->list.items[i].is_used && steps->list.items[i].host == steps->host;
    }
    return count;
}

/* Keeps `wanted` of the reference host's used steps, in stretches spread evenly. */
static bool mark_some(struct cut *cut, struct steps *steps, uint32_t used, uint32_t wanted)
{
    uint32_t stretches = wanted < EXCERPT_STRETCHES ? wanted : EXCERPT_STRETCHES;
    uint32_t length = wanted / stretches, at = 0;

    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *step = &steps->list.items[i];
        uint32_t     stretch, first;

        step->is_sampled = false;
        if (!step->is_used || step->host != steps->host)
            continue;
        stretch = (uint32_t)((uint64_t)at * stretches / used);
        first = (uint32_t)(((uint64_t)stretch * used + stretches - 1) / stretches);
        step->is_sampled = at - first < length;
        at++;
        if (step->is_sampled &&
            !intervals_add(&cut->stretches, cut->scratch, step->start_ns, step->end_ns))
            return false;
    }
    intervals_settle(&cut->stretches);
    return true;
}

static bool find_rare_kinds(struct cut *cut, uint32_t most_events)
{
    const struct profile *whole = cut->whole;
    uint32_t              counts[ACTIVITY_KIND_COUNT] = { 0 }, count;
    int64_t               labels[EVENT_BATCH];

    cut->kinds = profile_label_kinds(whole, cut->scratch);
    for (uint32_t first = 0; cut->kinds && first < whole->event_count; first += count) {
        count = whole->event_count - first;
        count = count < EVENT_BATCH ? count : EVENT_BATCH;
        packed_read(&whole->event_labels, first, count, labels);
        for (uint32_t i = 0; i < count; i++)
            counts[cut->kinds[labels[i]]]++;
    }
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        cut->is_rare[kind] = counts[kind] <= most_events / EXCERPT_RARE_PART;
    return cut->kinds != NULL;
}

/* Events that share time with a stretch, and those of rare kinds. `next` is the first stretch that
 * has not ended when they start. */
static bool cut_batch(struct cut *cut, uint32_t first, uint32_t count, size_t *next)
{
    const struct interval *stretches = cut->stretches.list.items;
    size_t                 stretch_count = cut->stretches.list.count;
    int64_t                starts_ns[EVENT_BATCH], durations_ns[EVENT_BATCH], labels[EVENT_BATCH];

    packed_read(&cut->whole->event_starts_ns, first, count, starts_ns);
    packed_read(&cut->whole->event_durations_ns, first, count, durations_ns);
    packed_read(&cut->whole->event_labels, first, count, labels);
    for (uint32_t i = 0; i < count; i++) {
        bool is_inside;

        while (*next < stretch_count && stretches[*next].end_ns <= starts_ns[i])
            (*next)++;
        is_inside =
            *next < stretch_count && (starts_ns[i] >= stretches[*next].start_ns ||
                                      starts_ns[i] + durations_ns[i] > stretches[*next].start_ns);
        if ((is_inside || cut->is_rare[cut->kinds[labels[i]]]) &&
            !subset_keep(&cut->subset, first + i, 1))
            return false;
    }
    return true;
}

static bool cut_timeline(struct cut *cut, struct timeline *timeline)
{
    uint32_t kept_before = cut->part->event_count, count;
    size_t   next = 0;

    for (uint32_t done = 0; done < timeline->event_count; done += count) {
        count = timeline->event_count - done;
        count = count < EVENT_BATCH ? count : EVENT_BATCH;
        if (!cut_batch(cut, timeline->first_event + done, count, &next))
            return false;
    }
    timeline->first_event = kept_before;
    timeline->event_count = cut->part->event_count - kept_before;
    return true;
}

static bool cut_timelines(struct cut *cut)
{
    const struct profile *whole = cut->whole;
    struct timeline      *timelines =
        arena_new_array(cut->arena, struct timeline, whole->timelines.count + 1);

    if (!timelines)
        return false;
    for (size_t i = 0; i < whole->timelines.count; i++) {
        timelines[i] = whole->timelines.items[i];
        if (!cut_timeline(cut, &timelines[i]))
            return false;
    }
    cut->part->timelines.items = timelines;
    return true;
}

static bool note_sample(struct cut *cut, uint32_t sampled, uint32_t used)
{
    struct profile *part = cut->part;
    struct note    *notes = arena_new_array(cut->arena, struct note, part->notes.count + 1);
    char           *what = arena_text(cut->arena,
                                      "a long recording: %u of its %u steps, evenly spread, are "
                                                "looked at in detail",
                                      sampled, used);

    if (!notes || !what)
        return false;
    for (size_t i = 0; i < part->notes.count; i++)
        notes[i] = part->notes.items[i];
    notes[part->notes.count] = (struct note) { .what = what, .count = 1 };
    part->notes.items = notes;
    part->notes.count++;
    return true;
}

static void move_markers(const struct cut *cut, struct steps *steps)
{
    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].event != NO_ID)
            steps->list.items[i].event = subset_event(&cut->subset, steps->list.items[i].event);
}

bool excerpt_make(struct study *study, uint32_t most_events, struct err *err)
{
    const struct profile *whole = study->profile;
    struct arena          scratch = { 0 };
    uint32_t              used = mark_all(&study->steps), wanted;
    struct cut            cut = { .whole = whole, .arena = study->arena, .scratch = &scratch };
    bool                  is_done;

    if (whole->event_count <= most_events || used < 2)
        return true;
    wanted = (uint32_t)((uint64_t)used * (most_events / 2) / whole->event_count);
    if (wanted == 0)
        wanted = 1;
    cut.part = arena_new(study->arena, struct profile);
    if (!cut.part)
        return emit_limit("an excerpt of the recording", err);
    subset_start(&cut.subset, whole, cut.part, study->arena, &scratch);
    is_done = find_rare_kinds(&cut, most_events) && mark_some(&cut, &study->steps, used, wanted) &&
              cut_timelines(&cut) && subset_finish(&cut.subset);
    if (is_done) {
        uint32_t sampled = 0;

        for (size_t i = 0; i < study->steps.list.count; i++)
            sampled += study->steps.list.items[i].is_sampled;
        move_markers(&cut, &study->steps);
        study->profile = cut.part;
        is_done = note_sample(&cut, sampled, used);
    }
    arena_free(&scratch);
    return is_done || emit_limit("an excerpt of the recording", err);
}
