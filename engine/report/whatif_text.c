#include "report/whatif_text.h"

#include "analyze/schedule/whatif.h"
#include "analyze/study.h"
#include "report/head_text.h"
#include "report/layout.h"

#include <math.h>

enum { EDIT_COLUMNS = 34, VALUE_COLUMNS = 11, PART_COLUMNS = 20 };
static const double DOUBTFUL_ERROR = 0.05; /* a replay that is further off proves little */

static void write_value(struct layout *layout, double value, enum unit unit)
{
    layout_pad_left(layout, layout_value(layout->arena, value, unit), VALUE_COLUMNS);
}

static void write_step(struct layout *layout, const struct whatif *whatif)
{
    struct text line = { .arena = layout->arena };

    text_add(&line, STR("A step takes "));
    unit_print(&line, whatif->now.step_ns + whatif->recording_ns, UNIT_NS);
    if (whatif->recording_ns > 0.01 * whatif->now.step_ns) {
        text_add(&line, STR(", about "));
        unit_print(&line, whatif->now.step_ns, UNIT_NS);
        text_add(&line, STR(" without recording"));
    }
    if (whatif->is_path) {
        text_add(&line, STR("; what edits leave of its path:"));
        layout_wrap(layout, 0, "", 0, text_str(&line));
        layout_line(layout);
        return;
    }
    text_print(&line, "; %u step%s scheduled from %s give it back within ", whatif->step_count,
               whatif->step_count == 1 ? "" : "s",
               whatif->is_of_summaries ? "what ranks did between collectives" : "their events");
    unit_print(&line, whatif->error, UNIT_SHARE);
    text_add(&line, whatif->error > DOUBTFUL_ERROR ? STR(", so what follows is a rough estimate.")
                                                   : STR("."));
    layout_wrap(layout, 0, "", 0, text_str(&line));
    layout_line(layout);
}

static void write_row(struct layout *layout, struct str title, const struct whatif_result *result,
                      double now_ns)
{
    struct str clean = layout_clean(layout->arena, title);

    text_add(layout->text, STR("  "));
    if (text_width(clean) > EDIT_COLUMNS) {
        text_add(layout->text, clean);
        layout_line(layout);
        text_fill(layout->text, ' ', EDIT_COLUMNS + 2);
    } else {
        layout_pad(layout, clean, EDIT_COLUMNS);
    }
    write_value(layout, result->step_ns, UNIT_NS);
    write_value(layout, result->saved_ns, UNIT_NS);
    write_value(layout, now_ns > 0 ? result->saved_ns / now_ns : 0, UNIT_SHARE);
    text_print(layout->text, "   %s", part_title(result->bottleneck));
    layout_line(layout);
}

static void write_head(struct layout *layout, struct str title)
{
    text_add(layout->text, STR("  "));
    layout_pad(layout, title, EDIT_COLUMNS);
    layout_pad_left(layout, STR("step"), VALUE_COLUMNS);
    layout_pad_left(layout, STR("saves"), VALUE_COLUMNS);
    text_fill(layout->text, ' ', VALUE_COLUMNS);
    text_add(layout->text, STR("   then most is"));
    layout_line(layout);
}

static void write_table(struct layout *layout, const struct whatif *whatif)
{
    write_head(layout, STR("edit"));
    for (size_t i = 0; i < whatif->edits.count; i++)
        write_row(layout, str_from(whatif->edits.items[i].text), &whatif->each[i],
                  whatif->now.step_ns);
    if (whatif->edits.count > 1)
        write_row(layout, STR("all together"), &whatif->together, whatif->now.step_ns);
    layout_line(layout);
}

/* What an edit takes for granted. */
static void write_assumption(struct layout *layout, const struct whatif_edit *edit)
{
    if (edit->kind != WHATIF_HARDWARE)
        return;
    layout_wrap(
        layout, 0, "", 0,
        STR("An estimate from what makers say of both: kernels come as near to their limits "
            "as they did; host, copies and collectives stay as they are."));
    layout_line(layout);
}

/* What WHAT is worth is a share of this. */
static void add_selected(struct text *line, const struct whatif_result *result)
{
    unit_print(line, round(result->selected_count), UNIT_COUNT);
    text_add(line, STR(" pieces of work a step take "));
    unit_print(line, result->selected_ns, UNIT_NS);
    text_add(line, STR(", summed over threads and devices. "));
}

/* What the points of a sweep come to. */
static void write_shape(struct layout *layout, const struct whatif *whatif)
{
    struct sweep_shape          shape = sweep_shape(whatif);
    const struct whatif_result *gone = &whatif->each[SWEEP_INTERVALS];
    struct text                 line = { .arena = layout->arena };

    if (whatif->each[0].selected_count <= 0)
        text_print(&line, "%s selects nothing in these steps.", whatif->sweep);
    else if (shape.critical_share <= 0) {
        add_selected(&line, gone);
        text_add(&line, STR("The step does not wait for it: less of it saves nothing at first."));
    } else {
        add_selected(&line, gone);
        text_add(&line, STR("The step gets shorter by "));
        unit_print(&line, shape.critical_share, UNIT_SHARE);
        text_add(&line, STR(" of what they take less"));
        if (isnan(shape.knee))
            text_add(&line, STR(", down to nothing."));
        else
            text_print(&line, ", down to %.2f of their time; below that most is %s.", shape.knee,
                       part_title(gone->bottleneck));
    }
    layout_wrap(layout, 0, "", 0, layout_clean(layout->arena, text_str(&line)));
    layout_line(layout);
}

static void write_sweep(struct layout *layout, const struct whatif *whatif)
{
    enum { SHOWN = 4 }; /* each fourth point */

    write_head(layout, str_from(arena_text(layout->arena, "%s, its time by", whatif->sweep)));
    for (size_t point = 0; point <= SWEEP_INTERVALS; point += SHOWN)
        write_row(layout, str_from(arena_text(layout->arena, "%g", sweep_factor(point))),
                  &whatif->each[point], whatif->now.step_ns);
    layout_line(layout);
    write_shape(layout, whatif);
}

static void write_ideal(struct layout *layout, const char *name, double step_ns, double share)
{
    enum { NAME_COLUMNS = 12 };

    text_add(layout->text, STR("  "));
    layout_pad(layout, str_from(name), NAME_COLUMNS);
    write_value(layout, step_ns, UNIT_NS);
    write_value(layout, share, UNIT_SHARE);
}

static void write_ranks(struct layout *layout, const struct whatif *whatif)
{
    static const double LITTLE_SHARE = 0.01;
    struct text         line = { .arena = layout->arena };

    if (!whatif->ranks.count)
        return;
    text_print(&line, "With level ranks a step would be %.2f times as fast:", whatif->imbalance);
    layout_line(layout);
    layout_wrap(layout, 0, "", 0, text_str(&line));
    for (size_t i = 0; i < whatif->ranks.count; i++) {
        const struct rank_delay *rank = &whatif->ranks.items[i];

        if (rank->contribution < LITTLE_SHARE && i)
            continue;
        line = (struct text) { .arena = layout->arena };
        text_print(&line, "rank %d: no slower than the median it gives back ", rank->rank);
        unit_print(&line, rank->contribution, UNIT_SHARE);
        text_print(&line, " of that; beside level ranks it makes a step %.2f times as long",
                   rank->slowdown);
        layout_wrap(layout, 2, "", 4, text_str(&line));
    }
}

static void write_efficiency(struct layout *layout, const struct whatif *whatif)
{
    double step_ns = whatif->now.step_ns, last_ns = step_ns;

    text_add(layout->text,
             STR("  ideal              step efficiency   edit, on top of those above"));
    layout_line(layout);
    for (size_t i = 0; i < whatif->edits.count; i++) {
        last_ns = whatif->each[i].step_ns;
        write_ideal(layout, efficiency_name(i), last_ns, efficiency_factor(whatif, i));
        text_print(layout->text, "   %s", whatif->edits.items[i].text);
        layout_line(layout);
    }
    write_ideal(layout, "all", last_ns, step_ns > 0 ? last_ns / step_ns : 1);
    text_add(layout->text, STR("   the product of all"));
    layout_line(layout);
    write_ranks(layout, whatif);
}

static void write_parts(struct layout *layout, const struct whatif *whatif)
{
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("the step waits for"), PART_COLUMNS);
    layout_pad_left(layout, STR("now"), VALUE_COLUMNS);
    layout_pad_left(layout, STR("then"), VALUE_COLUMNS);
    layout_line(layout);
    for (int part = 0; part < PART_COUNT; part++) {
        double now_ns = whatif->now.part_ns[part], then_ns = whatif->together.part_ns[part];

        if (fmax(now_ns, then_ns) < whatif->now.step_ns / 1000)
            continue;
        text_add(layout->text, STR("  "));
        layout_pad(layout, str_from(part_title((enum part)part)), PART_COLUMNS);
        write_value(layout, now_ns, UNIT_NS);
        write_value(layout, then_ns, UNIT_NS);
        layout_line(layout);
    }
}

void whatif_text(const struct whatif *whatif, const struct study *study,
                 const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    head_text(&layout, study);
    write_step(&layout, whatif);
    if (whatif->sweep) {
        write_sweep(&layout, whatif);
        return;
    }
    if (whatif->is_efficiency) {
        write_efficiency(&layout, whatif);
        return;
    }
    write_table(&layout, whatif);
    for (size_t i = 0; i < whatif->edits.count; i++) {
        struct text line = { .arena = layout.arena };

        if (!whatif->is_path)
            write_assumption(&layout, &whatif->edits.items[i]);
        if (whatif->each[i].selected_count > 0)
            continue;
        text_print(&line, "%s selects nothing in these steps.", whatif->edits.items[i].text);
        layout_wrap(&layout, 0, "", 0, layout_clean(layout.arena, text_str(&line)));
        layout_line(&layout);
    }
    if (!whatif->is_path)
        write_parts(&layout, whatif);
}
