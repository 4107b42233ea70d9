/* short_text: a line a fix. What it stands on, and the range of the saving, stand below under the
 * same number. */
#include "report/short_text.h"

#include "base/macros.h"
#include "report/describe.h"

#include <math.h>
#include <string.h>

enum {
    MAX_LINES = 3,
    NUMBER_COLUMNS = 5,
    SHARE_COLUMNS = 8,
    BLANKS = 2,
    PLACE_COLUMNS = 24,
    CLAUSE_BYTES = 30
};

/* "train.py:41", else what it is about. */
struct str short_text_place(struct arena *arena, const struct finding *finding)
{
    const struct subject *subject = &finding->subject;
    const char *names[] = { subject->op, subject->kernel, subject->scope, subject->device };
    struct text text = { .arena = arena };

    if (finding->locations.count > 0) {
        const struct location *location = &finding->locations.items[0];
        const char            *slash = strrchr(location->file, '/');

        text_print(&text, "%s:%u", slash ? slash + 1 : location->file, location->line);
    }
    for (size_t i = 0; i < ARRAY_COUNT(names) && text.len == 0; i++)
        text_add(&text, str_from(names[i] ? names[i] : ""));
    return layout_shorten(arena, layout_clean(arena, text_str(&text)), PLACE_COLUMNS);
}

/* Whether the sentence, or what stands before its colon, is over at `at`. A few words before a
 * colon
 * ("Fuse: compile the step") do not say what to do yet. */
static bool ends_clause(struct str s, size_t at)
{
    bool is_end = at + 1 < s.len && (s.data[at + 1] == ' ' || s.data[at + 1] == '\n');

    return is_end && (s.data[at] == '.' || (s.data[at] == ':' && at >= CLAUSE_BYTES));
}

/* What to do, and how only where that is short. */
struct str short_text_fix(struct arena *arena, const struct finding *finding)
{
    bool       has_remedy = finding->remedy_text && *finding->remedy_text;
    struct str s = str_from(has_remedy ? finding->remedy_text : finding->title);

    for (size_t i = 0; i < s.len; i++)
        if (ends_clause(s, i))
            return layout_clean(arena, str_slice(s, 0, i));
    return layout_clean(arena,
                        s.len > 0 && s.data[s.len - 1] == '.' ? str_slice(s, 0, s.len - 1) : s);
}

static void write_line(struct layout *layout, const struct finding *finding, uint32_t number)
{
    struct str   place = short_text_place(layout->arena, finding);
    struct str   what = short_text_fix(layout->arena, finding);
    size_t       used = NUMBER_COLUMNS + SHARE_COLUMNS + BLANKS;
    const size_t place_width = place.len > 0 ? BLANKS + text_width(place) : 0;
    size_t       room = layout->width > used + place_width ? layout->width - used - place_width : 1;
    struct text  head = { .arena = layout->arena };

    text_print(&head, "  %u.", number);
    layout_pad(layout, text_str(&head), NUMBER_COLUMNS);
    layout_style(layout, STYLE_GOOD);
    layout_pad_left(layout, layout_value(layout->arena, finding->impact.share, UNIT_SHARE),
                    SHARE_COLUMNS);
    layout_end(layout);
    text_fill(layout->text, ' ', BLANKS);
    what = layout_shorten(layout->arena, what, room);
    if (place.len > 0)
        layout_pad(layout, what, (unsigned)(room + BLANKS));
    else
        text_add(layout->text, what);
    text_add(layout->text, place);
    layout_line(layout);
}

bool short_text_has(const struct finding *finding, double min_share)
{
    return finding_is_shown(finding, min_share) && finding_is_fixable(finding) &&
           finding->impact.method != METHOD_SHARE && isfinite(finding->impact.share);
}

void short_text(struct layout *layout, const struct advice *advice, double min_share)
{
    uint32_t number = 0, written = 0;

    for (size_t i = 0; i < advice->findings.count && written < MAX_LINES; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (!finding_is_shown(finding, min_share))
            continue;
        number++;
        if (!short_text_has(finding, min_share))
            continue;
        if (written++ == 0)
            layout_wrap(
                layout, 0, "", 0,
                STR("What to do, the most and surest first, and what it saves of the step:"));
        write_line(layout, finding, number);
    }
    if (written > 0)
        layout_line(layout);
}
