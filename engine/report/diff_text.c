#include "report/diff_text.h"

#include "analyze/diff/diff.h"
#include "report/describe.h"
#include "report/layout.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 40, VALUE_COLUMNS = 11 };

static void write_change(struct layout *layout, int64_t change, enum unit unit)
{
    struct text cell = { .arena = layout->arena };

    text_add_byte(&cell, change < 0 ? '-' : '+');
    unit_print(&cell, fabs((double)change), unit);
    layout_pad_left(layout, text_str(&cell), VALUE_COLUMNS);
}

static void write_name(struct layout *layout, struct str name)
{
    struct str clean = layout_clean(layout->arena, name);

    text_add(layout->text, STR("  "));
    if (text_width(clean) + 2 > NAME_COLUMNS) {
        text_add(layout->text, clean);
        layout_line(layout);
        text_fill(layout->text, ' ', NAME_COLUMNS);
    } else {
        layout_pad(layout, clean, NAME_COLUMNS - 2);
    }
}

static void write_row(struct layout *layout, struct str name, const struct diff_sums *sides,
                      bool has_bytes)
{
    write_name(layout, name);
    for (int side = 0; side < 2; side++)
        layout_pad_left(layout, layout_value(layout->arena, (double)sides[side].ns, UNIT_NS),
                        VALUE_COLUMNS);
    write_change(layout, sides[1].ns - sides[0].ns, UNIT_NS);
    if (has_bytes && sides[0].bytes != sides[1].bytes)
        write_change(layout, sides[1].bytes - sides[0].bytes, UNIT_BYTES);
    layout_line(layout);
}

static void write_heads(struct layout *layout, const char *title, bool has_bytes)
{
    layout_line(layout);
    layout_pad(layout, str_from(title), NAME_COLUMNS);
    layout_pad_left(layout, STR("before"), VALUE_COLUMNS);
    layout_pad_left(layout, STR("after"), VALUE_COLUMNS);
    layout_pad_left(layout, STR("change"), VALUE_COLUMNS);
    if (has_bytes)
        layout_pad_left(layout, STR("memory"), VALUE_COLUMNS);
    layout_line(layout);
}

static struct diff_sums *step_sums(const struct diff *diff, struct diff_sums sums[2])
{
    for (int side = 0; side < 2; side++)
        sums[side] = (struct diff_sums) { .ns = diff->step_ns[side] };
    return sums;
}

static struct str unit_title(const struct diff *diff)
{
    return diff->is_per_batch ? STR("a batch") : STR("the step");
}

static void write_parts(struct layout *layout, const struct diff *diff)
{
    struct diff_sums sums[2];

    write_heads(layout, diff->is_per_batch ? "part of a batch" : "part of the step", false);
    for (int part = 0; part < PART_COUNT; part++) {
        if (!diff->part_ns[part][0] && !diff->part_ns[part][1])
            continue;
        for (int side = 0; side < 2; side++)
            sums[side] = (struct diff_sums) { .ns = diff->part_ns[part][side] };
        write_row(layout, str_from(part_title((enum part)part)), sums, false);
    }
    write_row(layout, unit_title(diff), step_sums(diff, sums), false);
}

static bool is_told(const struct diff_row *row)
{
    return row->sides[0].ns || row->sides[1].ns || row->sides[0].bytes != row->sides[1].bytes;
}

static bool has_memory(const struct diff *diff, enum charge_by by)
{
    for (size_t i = 0; i < diff->rows[by].count; i++)
        if (diff->rows[by].items[i].sides[0].bytes != diff->rows[by].items[i].sides[1].bytes)
            return true;
    return false;
}

/* Below computing names stand alone; what else they are part of is said. */
static struct str row_title(struct layout *layout, const struct diff_row *row)
{
    struct text title = { .arena = layout->arena };

    text_add(&title, row->name);
    if (row->part != PART_COMPUTE)
        text_print(&title, ", %s", part_title(row->part));
    return text_str(&title);
}

static void write_others(struct layout *layout, size_t count, const struct diff_sums *sums,
                         bool has_bytes)
{
    struct text line = { .arena = layout->arena };

    if (!count)
        return;
    text_print(&line, "(%zu other%s)", count, count == 1 ? "" : "s");
    write_row(layout, text_str(&line), sums, has_bytes);
}

static void write_list(struct layout *layout, const struct diff *diff, enum charge_by by,
                       int64_t rows)
{
    struct diff_sums others[2] = { 0 }, step[2];
    bool             has_bytes = has_memory(diff, by);
    size_t           shown = 0, left_out = 0;

    write_heads(layout, charge_by_name(by), has_bytes);
    for (size_t i = 0; i < diff->rows[by].count; i++) {
        const struct diff_row *row = &diff->rows[by].items[i];

        if (!is_told(row))
            continue;
        if (rows == 0 || shown < (size_t)rows) {
            write_row(layout, row_title(layout, row), row->sides, has_bytes);
            shown++;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            others[side].ns += row->sides[side].ns;
            others[side].bytes += row->sides[side].bytes;
        }
        left_out++;
    }
    write_others(layout, left_out, others, has_bytes);
    if (diff->has_paths)
        write_row(layout, unit_title(diff), step_sums(diff, step), false);
}

/* Ops without scopes stand under their types in both lists. */
static bool is_same_list(const struct diff *diff)
{
    size_t count = diff->rows[CHARGE_BY_TYPE].count;

    for (size_t i = 0; i < count && count == diff->rows[CHARGE_BY_SCOPE].count; i++)
        if (!str_equal(diff->rows[CHARGE_BY_TYPE].items[i].name,
                       diff->rows[CHARGE_BY_SCOPE].items[i].name))
            return false;
    return count == diff->rows[CHARGE_BY_SCOPE].count;
}

static void write_head(struct layout *layout, const struct diff *diff)
{
    struct text line = { .arena = layout->arena };
    double      before = (double)diff->step_ns[0], after = (double)diff->step_ns[1];

    text_add(&line, diff->is_per_batch ? STR("A batch took ") : STR("A step took "));
    unit_print(&line, before, UNIT_NS);
    text_add(&line, STR(" and takes "));
    unit_print(&line, after, UNIT_NS);
    text_print(&line, " (%+.1f %%); steps: %u and %u.", 100 * (after / before - 1),
               diff->studies[0]->steps.used_count, diff->studies[1]->steps.used_count);
    if (diff->is_per_batch)
        text_print(&line, " A step worked through %.3g batch%s and works through %.3g.",
                   diff->batches[0], diff->batches[0] == 1 ? "" : "es", diff->batches[1]);
    layout_wrap(layout, 0, "", 0, text_str(&line));
}

void diff_text(const struct diff *diff, int64_t rows, const struct output_options *options,
               struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    write_head(&layout, diff);
    write_parts(&layout, diff);
    if (!diff->has_paths) {
        layout_line(&layout);
        layout_wrap(&layout, 0, "", 0,
                    STR("When each op ran is not recorded on both sides. What follows is the own "
                        "time of ops, which may run side by side: it sums to no step."));
    }
    write_list(&layout, diff, CHARGE_BY_TYPE, rows);
    if (!is_same_list(diff))
        write_list(&layout, diff, CHARGE_BY_SCOPE, rows);
    if (diff_has_lines(diff))
        write_list(&layout, diff, CHARGE_BY_LINE, rows);
}
