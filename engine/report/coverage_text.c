/* coverage_text: the last paragraph of the text report, and the listing of --coverage. */
#include "report/coverage_text.h"

#include "report/describe.h"
#include "rules/advice.h"

#include <string.h>

enum { SHOWN_REASONS = 3 };

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void add_looked(struct text *line, const struct advice *advice)
{
    uint32_t count = advice->rule_count - advice->other_format_count;

    text_print(line, "%u of %u rule%s looked", advice->looked_count, count, plural(count));
    if (advice->looked_count == 0)
        text_add(line, STR(", so nothing can be said about this program."));
    else if (advice->found_count > 0)
        text_print(line, ": %u found something.", advice->found_count);
    else
        text_add(line, STR(" and found nothing to improve."));
}

static void add_unlooked(struct text *line, const struct advice *advice,
                         const struct skip_groups *groups)
{
    size_t listed = 0, unlooked = advice->skipped.count - advice->other_format_count;

    text_print(line, " %zu could not look: ", unlooked);
    for (size_t i = 0; i < groups->list.count && i < SHOWN_REASONS; i++) {
        text_print(line, "%s%s (%u)", i > 0 ? ", " : "", groups->list.items[i].reason,
                   groups->list.items[i].count);
        listed += groups->list.items[i].count;
    }
    if (listed < unlooked)
        text_print(line, ", other reasons (%zu)", unlooked - listed);
    if (advice->capture_hint && advice->capture_hint_rules > 0)
        text_print(line, "; capture with %s to allow %u more", advice->capture_hint,
                   advice->capture_hint_rules);
    text_add_byte(line, '.');
}

static void write_group(struct layout *layout, const struct advice *advice, const char *reason)
{
    struct text line = { .arena = layout->arena };
    const char *capture = NULL;

    text_print(&line, "%s:", reason);
    for (size_t i = 0; i < advice->skipped.count; i++) {
        const struct skipped_rule *skipped = &advice->skipped.items[i];

        if (strcmp(skipped->reason, reason) != 0)
            continue;
        text_print(&line, " %s", skipped->rule);
        capture = capture ? capture : skipped->capture;
    }
    layout_wrap(layout, 2, "", 4, text_str(&line));
    if (capture)
        layout_wrap(layout, 4, "Capture:", 6, str_from(capture));
}

static void write_other_formats(struct layout *layout, const struct advice *advice)
{
    struct text line = { .arena = layout->arena };

    if (advice->other_format_count == 0)
        return;
    layout_line(layout);
    layout_wrap(layout, 0, "", 0, STR("Rules for profiles of other formats:"));
    for (size_t i = 0; i < advice->skipped.count; i++)
        if (advice->skipped.items[i].is_other_format)
            text_print(&line, "%s%s", line.len ? " " : "", advice->skipped.items[i].rule);
    layout_wrap(layout, 2, "", 4, text_str(&line));
}

static void write_complete(struct layout *layout, const struct advice *advice,
                           const struct skip_groups *groups)
{
    if (groups->list.count > 0) {
        layout_line(layout);
        layout_wrap(layout, 0, "", 0, STR("Rules that could not look:"));
    }
    for (size_t i = 0; i < groups->list.count; i++)
        write_group(layout, advice, groups->list.items[i].reason);
    write_other_formats(layout, advice);
    for (size_t i = 0; i < advice->suppressed.count; i++) {
        const struct suppressed_rule *suppressed = &advice->suppressed.items[i];
        struct text                   line = { .arena = layout->arena };

        if (i == 0) {
            layout_line(layout);
            layout_wrap(layout, 0, "", 0, STR("Suppressed:"));
        }
        text_print(&line, "%s (%u): %s", suppressed->rule, suppressed->count, suppressed->reason);
        layout_wrap(layout, 2, "", 4, text_str(&line));
    }
}

static void write_failed(struct layout *layout, const struct advice *advice)
{
    for (size_t i = 0; i < advice->failed.count; i++) {
        struct text line = { .arena = layout->arena };

        text_print(&line, "%s: %s", advice->failed.items[i].rule, advice->failed.items[i].message);
        layout_wrap(layout, 0, "Rule failed:", 2, text_str(&line));
    }
}

void coverage_text(struct layout *layout, const struct advice *advice, bool is_complete)
{
    struct text        line = { .arena = layout->arena };
    struct skip_groups groups = { 0 };

    if (!skip_groups_collect(advice, layout->arena, &groups))
        groups = (struct skip_groups) { 0 };
    add_looked(&line, advice);
    if (advice->skipped.count > advice->other_format_count)
        add_unlooked(&line, advice, &groups);
    if (advice->other_format_count > 0)
        text_print(&line, " %u more %s not for this format.", advice->other_format_count,
                   advice->other_format_count == 1 ? "is" : "are");
    if (advice->failed.count > 0)
        text_print(&line, " %zu failed.", advice->failed.count);
    if (!is_complete && advice->skipped.count + advice->suppressed.count > 0)
        text_add(&line, STR(" All of it: --coverage"));
    layout_wrap(layout, 0, "", 0, text_str(&line));
    write_failed(layout, advice);
    if (is_complete)
        write_complete(layout, advice, &groups);
}
