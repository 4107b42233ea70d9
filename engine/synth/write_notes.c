/* What a format cannot hold of what a sketch says: one row, one sentence. */
#include "base/macros.h"
#include "synth/writers.h"

enum note_need { NEED_NOTHING, NEED_BYTES, NEED_HOST, NEED_GRID };
struct note_row {
    enum sketch_format format;
    enum sketch_word   word;
    enum note_need     need; /* the line must say that */
    const char        *text;
};
static const struct note_row rows[] = {
    { SKETCH_XSPACE, WORD_COLLECTIVE, NEED_BYTES,
      "an XSpace has no sizes and groups of collectives: left out" },
    { SKETCH_XSPACE, WORD_RANKS, NEED_NOTHING, "an XSpace knows hosts: ranks have no numbers" },
    { SKETCH_KINETO, WORD_ITERATOR, NEED_NOTHING,
      "Kineto knows no tf.data: iterators become plain ranges" },
    { SKETCH_PROFILE, WORD_ITERATOR, NEED_NOTHING, "a ProfileProto has no iterators: left out" },
    { SKETCH_PROFILE, WORD_NEXT, NEED_NOTHING,
      "a ProfileProto does not tell waiting for input: left out" },
    { SKETCH_PROFILE, WORD_RANGE, NEED_NOTHING, "a ProfileProto has no ranges: left out" },
    { SKETCH_PROFILE, WORD_PYTHON, NEED_NOTHING,
      "a ProfileProto has no Python functions: left out" },
    { SKETCH_PROFILE, WORD_CALL, NEED_NOTHING, "a ProfileProto has no calls: left out" },
    { SKETCH_PROFILE, WORD_COMPILE, NEED_NOTHING, "a ProfileProto has no compiling: left out" },
    { SKETCH_PROFILE, WORD_GC, NEED_NOTHING, "a ProfileProto has no garbage collection: left out" },
    { SKETCH_PROFILE, WORD_RANKS, NEED_NOTHING, "a ProfileProto does not tell its rank: left out" },
    { SKETCH_PROFILE, WORD_HOSTS, NEED_NOTHING, "a ProfileProto does not tell its host: left out" },
    { SKETCH_PROFILE, WORD_THREAD, NEED_NOTHING, "a ProfileProto has no threads: left out" },
    { SKETCH_PROFILE, WORD_COLLECTIVE, NEED_HOST,
      "a ProfileProto has no collectives of the host: left out" },
    { SKETCH_PROFILE, WORD_KERNEL, NEED_GRID,
      "a ProfileProto has no launch configurations: left out" },
    { SKETCH_PROFILE, WORD_SYNC, NEED_NOTHING, "a ProfileProto has no blocking calls: left out" },
};

static bool is_said(const struct note_row *row, const struct sketch_line *line)
{
    switch (row->need) {
    case NEED_NOTHING:
        return true;
    case NEED_BYTES:
        return line->bytes >= 0 || line->group >= 0;
    case NEED_HOST:
        return line->flags & FLAG_ON_HOST;
    case NEED_GRID:
        return line->grid.len > 0;
    }
    return false;
}

static void note_lines(const struct recording *recording, enum sketch_format format,
                       struct text *notes)
{
    const struct sketch *sketch = recording->sketch;

    for (size_t r = 0; r < ARRAY_COUNT(rows); r++)
        for (size_t i = 0; rows[r].format == format && i < sketch->lines.count; i++)
            if (sketch->lines.items[i].word == rows[r].word &&
                is_said(&rows[r], &sketch->lines.items[i])) {
                text_print(notes, "%s\n", rows[r].text);
                break;
            }
}

/* Device work outside of ops has no node to stand at. */
static void note_unowned(const struct recording *recording, struct text *notes)
{
    for (size_t i = 0; i < recording->events.count; i++) {
        const struct recorded_event *event = &recording->events.items[i];
        enum sketch_word             word = recorded_line(recording, event)->word;

        if (event->owner == NO_EVENT &&
            (event->role == ROLE_WORK || word == WORD_ALLOC || word == WORD_FREE)) {
            text_print(notes, "a ProfileProto has device work and memory of ops alone: what stands "
                              "outside of ops is left out\n");
            return;
        }
    }
}

void write_notes(const struct recording *recording, enum sketch_format format, struct text *notes)
{
    const struct sketch *sketch = recording->sketch;
    bool                 has_iterator = false;

    note_lines(recording, format, notes);
    for (size_t i = 0; i < sketch->lines.count; i++)
        has_iterator |= sketch->lines.items[i].word == WORD_ITERATOR;
    if (sketch->core_count && (format != SKETCH_XSPACE || !has_iterator))
        text_print(notes, "cores stand on the iterators of an XSpace alone: left out\n");
    if (format == SKETCH_KINETO && sketch->framework != FRAMEWORK_UNKNOWN &&
        sketch->framework != FRAMEWORK_PYTORCH)
        text_print(notes, "a Kineto trace is always PyTorch's: the framework is left out\n");
    if (format == SKETCH_XSPACE && sketch->framework == FRAMEWORK_PYTORCH)
        text_print(notes, "an XSpace does not say that it is PyTorch's: left out\n");
    if (format == SKETCH_PROFILE) {
        note_unowned(recording, notes);
        if (sketch->shapes.count)
            text_print(notes, "a ProfileProto has no shapes of inputs: left out\n");
        if (sketch->gpu != NO_LINE)
            text_print(notes, "a ProfileProto does not describe its devices: left out\n");
    }
}
