#include "report/why_text.h"

#include "analyze/schedule/why.h"
#include "analyze/study.h"
#include "base/sort.h"
#include "report/efficiency.h"
#include "report/head_text.h"
#include "report/layout.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN_CAUSES = 12, VALUE_COLUMNS = 10 };
static const double SMALL_SHARE = 0.01; /* of the time asked about */

static void write_subject(struct layout *layout, const struct why *why)
{
    struct text line = { .arena = layout->arena };

    unit_print(&line, why->duration_ns, UNIT_NS);
    text_print(&line, ": %s", why->subject ? why->subject : "");
    if (!why->is_step) {
        text_print(&line, "; step %lld, from ", (long long)why->step);
        unit_print(&line, why->start_ns, UNIT_NS);
        text_add(&line, STR(" on"));
    }
    text_add(&line, STR("."));
    layout_wrap(layout, 0, "", 0, layout_clean(layout->arena, text_str(&line)));
    layout_line(layout);
}

static double weight_of(const struct why *why, const struct why_cause *cause)
{
    return why->is_compared ? fabs(cause->ns - cause->usual_ns) : cause->ns;
}

static struct str describe(struct layout *layout, const struct why_cause *cause)
{
    enum { NAME_COLUMNS = 60 };
    struct text line = { .arena = layout->arena };

    text_print(&line, "%s: ", part_title(cause->class));
    if (cause->name && *cause->name)
        text_add(&line, layout_shorten(layout->arena, str_from(cause->name), NAME_COLUMNS));
    else
        text_add(&line, cause->class == PART_UNKNOWN ? STR("nothing recorded explains it")
                                                     : STR("nothing recorded"));
    if (cause->owner && *cause->owner) {
        text_add(&line, STR(" in "));
        text_add(&line, layout_shorten(layout->arena, str_from(cause->owner), NAME_COLUMNS));
    }
    if (cause->count > 1)
        text_print(&line, ", %u pieces", cause->count);
    /* A Python function's name tells its file and line already. */
    if (cause->file && *cause->file &&
        !(cause->name && str_starts(str_from(cause->name), str_from(cause->file)))) {
        text_print(&line, "  %s:%u", cause->file, cause->line);
        if (cause->function && *cause->function)
            text_print(&line, " %s", cause->function);
    }
    return layout_clean(layout->arena, text_str(&line));
}

static void write_cause(struct layout *layout, const struct why *why, const struct why_cause *cause)
{
    unsigned      indent = 2 + VALUE_COLUMNS + 2;
    struct text   head = { .arena = layout->arena };
    struct layout column = { .text = &head, .arena = layout->arena, .width = layout->width };

    layout_pad_left(&column, layout_value(layout->arena, cause->ns, UNIT_NS), VALUE_COLUMNS);
    if (why->is_compared) {
        double more_ns = cause->ns - cause->usual_ns;

        text_add(&head, more_ns < 0 ? STR(" -") : STR(" +"));
        layout_pad_left(&column, layout_value(layout->arena, fabs(more_ns), UNIT_NS),
                        VALUE_COLUMNS - 1);
        indent += VALUE_COLUMNS + 2;
    }
    text_add_byte(&head, ' ');
    layout_wrap(layout, 2, text_str(&head).data, indent, describe(layout, cause));
}

struct class_sum {
    enum part class;
    double ns, usual_ns;
};

static int compare_sums(const void *left, const void *right)
{
    const struct class_sum *a = left, *b = right;

    return IN_ORDER(COMPARE(b->ns, a->ns), COMPARE(a->class, b->class));
}

/* All causes by class: first what kind of work it was. */
static void write_classes(struct layout *layout, const struct why *why)
{
    struct text      line = { .arena = layout->arena };
    struct class_sum sums[PART_COUNT] = { 0 };
    int              shown = 0;

    for (int i = 0; i < PART_COUNT; i++)
        sums[i].class = (enum part)i;
    for (size_t i = 0; i < why->causes.count; i++) {
        sums[why->causes.items[i].class].ns += why->causes.items[i].ns;
        sums[why->causes.items[i].class].usual_ns += why->causes.items[i].usual_ns;
    }
    qsort(sums, PART_COUNT, sizeof *sums, compare_sums);
    text_add(&line, STR("In all: "));
    for (int i = 0; i < PART_COUNT; i++) {
        double more_ns = sums[i].ns - sums[i].usual_ns;

        if (sums[i].ns < SMALL_SHARE * why->duration_ns)
            continue;
        text_print(&line, "%s%s ", shown++ ? ", " : "", part_title(sums[i].class));
        unit_print(&line, sums[i].ns, UNIT_NS);
        if (!why->is_compared)
            continue;
        text_add(&line, more_ns < 0 ? STR(" (- ") : STR(" (+ "));
        unit_print(&line, fabs(more_ns), UNIT_NS);
        text_add_byte(&line, ')');
    }
    text_add_byte(&line, '.');
    if (shown > 1 || (shown && why->is_compared))
        layout_wrap(layout, 2, "", 4, text_str(&line));
}

/* Small causes are told as their sum. */
static void write_causes(struct layout *layout, const struct why *why, const struct study *study)
{
    double   rest_ns = 0, least_ns = why->duration_ns * SMALL_SHARE;
    uint32_t rest = 0, shown = 0;

    write_classes(layout, why);
    if (why->is_step)
        efficiency_text(layout, study, "All steps: ");
    text_add(layout->text, STR("  "));
    if (why->is_compared)
        text_add(layout->text, STR("Most excess first; beside what it takes more:"));
    else
        text_add(layout->text, why->is_summed ? STR("Most time first:") : STR("Latest first:"));
    layout_line(layout);
    for (size_t i = 0; i < why->causes.count; i++) {
        const struct why_cause *cause = &why->causes.items[i];

        if (shown >= SHOWN_CAUSES || weight_of(why, cause) < least_ns) {
            rest_ns += weight_of(why, cause);
            rest += cause->count;
            continue;
        }
        write_cause(layout, why, cause);
        shown++;
    }
    if (rest) {
        text_fill(layout->text, ' ', 2);
        layout_pad_left(layout, layout_value(layout->arena, rest_ns, UNIT_NS), VALUE_COLUMNS);
        text_print(layout->text, "  in %u more piece%s", rest, rest == 1 ? "" : "s");
        layout_line(layout);
    }
    if (why->began) {
        struct text line = { .arena = layout->arena };

        text_print(&line, "Before it: %s.", why->began);
        layout_wrap(layout, 2, "", 4, layout_clean(layout->arena, text_str(&line)));
    }
}

static struct str describe_late(struct layout *layout, const struct why_late *late)
{
    enum { NAME_COLUMNS = 40 };
    struct text line = { .arena = layout->arena };

    text_print(&line, "%s, step %lld (", late->who, (long long)late->step);
    unit_print(&line, late->share, UNIT_SHARE);
    text_add(&line, STR(" of it), "));
    text_add(&line, layout_shorten(layout->arena, str_from(late->name), NAME_COLUMNS));
    if (late->class_ns > 0) {
        text_print(&line, "; %s ", part_title(late->cause.class));
        unit_print(&line, late->class_ns, UNIT_NS);
        text_add(&line, STR(" longer"));
        if (late->cause.name && *late->cause.name) {
            text_add(&line, STR(", mostly "));
            text_add(&line,
                     layout_shorten(layout->arena, str_from(late->cause.name), NAME_COLUMNS));
        }
    }
    return layout_clean(layout->arena, text_str(&line));
}

/* Who came last each time. */
static void write_late(struct layout *layout, const struct why *why)
{
    enum { SHOWN_LATE = 8 };
    double rest_ns = 0;

    if (why->late.count < 2)
        return;
    layout_line(layout);
    text_add(layout->text,
             STR("  Who came last, by how much, and what it did longer than the first:"));
    layout_line(layout);
    for (size_t i = 0; i < why->late.count; i++) {
        const struct why_late *late = &why->late.items[i];
        struct text            head = { .arena = layout->arena };
        struct layout column = { .text = &head, .arena = layout->arena, .width = layout->width };

        if (i >= SHOWN_LATE) {
            rest_ns += late->late_ns;
            continue;
        }
        layout_pad_left(&column, layout_value(layout->arena, late->late_ns, UNIT_NS),
                        VALUE_COLUMNS);
        text_add_byte(&head, ' ');
        layout_wrap(layout, 2, text_str(&head).data, 2 + VALUE_COLUMNS + 2,
                    describe_late(layout, late));
    }
    if (why->late.count > SHOWN_LATE) {
        text_fill(layout->text, ' ', 2);
        layout_pad_left(layout, layout_value(layout->arena, rest_ns, UNIT_NS), VALUE_COLUMNS);
        text_print(layout->text, "  at %zu more", why->late.count - SHOWN_LATE);
        layout_line(layout);
    }
}

void why_text(const struct why *why, const struct study *study,
              const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    head_text(&layout, study);
    write_subject(&layout, why);
    write_causes(&layout, why, study);
    write_late(&layout, why);
}
