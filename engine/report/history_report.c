#include "report/history_report.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "gate/history.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>

enum { CHART_ROWS = 8, EIGHTHS = 8, AXIS_COLUMNS = 12 };

struct chart {
    const struct history *history;
    size_t                columns, per_column; /* points a column */
    double                low, high;
};

/* Mean of the points of a column. */
static double column_value(const struct chart *chart, size_t column)
{
    double sum = 0;
    size_t from = column * chart->per_column, count = 0;

    for (; count < chart->per_column && from + count < chart->history->points.count; count++)
        sum += chart->history->points.items[from + count].value;
    return sum / (double)count;
}

static struct chart chart_start(const struct history *history, unsigned width)
{
    struct chart chart = { .history = history, .per_column = 1 };
    size_t       room = width > AXIS_COLUMNS + 8 ? width - AXIS_COLUMNS : 8;

    while (history->points.count > room * chart.per_column)
        chart.per_column++;
    chart.columns = (history->points.count + chart.per_column - 1) / chart.per_column;
    chart.low = chart.high = column_value(&chart, 0);
    for (size_t i = 1; i < chart.columns; i++) {
        chart.low = fmin(chart.low, column_value(&chart, i));
        chart.high = fmax(chart.high, column_value(&chart, i));
    }
    return chart;
}

/* The axis starts a little below the least value, so that it shows. */
static double filled_eighths(const struct chart *chart, size_t column)
{
    double span = chart->high - chart->low;

    if (span <= 0)
        return CHART_ROWS * EIGHTHS / 2.0;
    return 1 + (column_value(chart, column) - chart->low) / span * (CHART_ROWS * EIGHTHS - 1);
}

static void write_chart_row(struct layout *layout, const struct chart *chart, int row)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    struct str               label = STR("");

    if (row == CHART_ROWS - 1)
        label = layout_value(layout->arena, chart->high, chart->history->unit);
    else if (row == 0)
        label = layout_value(layout->arena, chart->low, chart->history->unit);
    layout_pad_left(layout, label, AXIS_COLUMNS - 2);
    text_add(layout->text, STR("  "));
    for (size_t i = 0; i < chart->columns; i++) {
        double eighths = round(filled_eighths(chart, i)) - row * EIGHTHS;

        text_add(layout->text, str_from(blocks[(int)fmax(0, fmin(EIGHTHS, eighths))]));
    }
    layout_line(layout);
}

static bool has_change(const struct chart *chart, size_t column)
{
    for (size_t i = 0; i < chart->history->changes.list.count; i++)
        if (chart->history->changes.list.items[i].index / chart->per_column == column)
            return true;
    return false;
}

static void write_marks(struct layout *layout, const struct chart *chart)
{
    if (chart->history->changes.list.count == 0)
        return;
    text_fill(layout->text, ' ', AXIS_COLUMNS);
    for (size_t i = 0; i < chart->columns; i++)
        text_add_byte(layout->text, has_change(chart, i) ? '^' : ' ');
    layout_line(layout);
}

static void write_change(struct layout *layout, const struct history *history,
                         const struct change_point *point)
{
    struct text line = { .arena = layout->arena };

    text_print(&line, "%s: ", history->points.items[point->index].name);
    unit_print(&line, point->before, history->unit);
    text_add(&line, STR(" to "));
    unit_print(&line, point->after, history->unit);
    if (point->before != 0)
        text_print(&line, " (%+.1f %%)", 100 * (point->after / point->before - 1));
    text_print(&line, ", p = %.2g", point->p_value);
    layout_wrap(layout, 2, "-", 4, layout_clean(layout->arena, text_str(&line)));
}

static void write_history(struct layout *layout, const struct history *history)
{
    struct text  line = { .arena = layout->arena };
    struct chart chart;

    text_print(&line, "%s, %zu measurement%s: %zu change%s of level", history->metric,
               history->points.count, history->points.count == 1 ? "" : "s",
               history->changes.list.count, history->changes.list.count == 1 ? "" : "s");
    if (history->skipped_count > 0)
        text_print(&line, " (%zu without it left out)", history->skipped_count);
    layout_wrap(layout, 0, "", 0, layout_clean(layout->arena, text_str(&line)));
    layout_line(layout);
    if (history->points.count == 0)
        return;
    chart = chart_start(history, layout->width);
    for (int row = CHART_ROWS - 1; row >= 0; row--)
        write_chart_row(layout, &chart, row);
    write_marks(layout, &chart);
    for (size_t i = 0; i < history->changes.list.count; i++)
        write_change(layout, history, &history->changes.list.items[i]);
}

void history_text(const struct history *histories, size_t count,
                  const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            layout_line(&layout);
        write_history(&layout, &histories[i]);
    }
}

static void write_json(struct json_writer *json, const struct history *history)
{
    json_object(json);
    put_text(json, "metric", history->metric);
    put_text(json, "unit", unit_json_name(history->unit));
    put_array(json, "points");
    for (size_t i = 0; i < history->points.count; i++) {
        json_object(json);
        put_text(json, "name", history->points.items[i].name);
        put_number(json, "value", unit_to_json(history->points.items[i].value, history->unit));
        json_object_end(json);
    }
    json_array_end(json);
    put_array(json, "changes");
    for (size_t i = 0; i < history->changes.list.count; i++) {
        const struct change_point *point = &history->changes.list.items[i];

        json_object(json);
        put_integer(json, "index", (int64_t)point->index);
        put_text(json, "name", history->points.items[point->index].name);
        put_number(json, "before", unit_to_json(point->before, history->unit));
        put_number(json, "after", unit_to_json(point->after, history->unit));
        put_number(json, "p", point->p_value);
        json_object_end(json);
    }
    json_array_end(json);
    put_integer(json, "left_out", (int64_t)history->skipped_count);
    json_object_end(json);
}

void history_json(const struct history *histories, size_t count,
                  const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.history/1");
    put_array(&json, "metrics");
    for (size_t i = 0; i < count; i++)
        write_json(&json, &histories[i]);
    json_array_end(&json);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
