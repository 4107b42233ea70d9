#include "report/table_report.h"

#include "analyze/table_view.h"
#include "base/csv.h"
#include "base/grid.h"
#include "base/json_fields.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>

/* Names are shortened to the first of these that leaves room for what else says what a row is. */
static const size_t name_columns[] = { 48, 36, 28, 20 };

static struct str cell(const struct table_view *view, size_t row, size_t column, size_t most,
                       struct arena *arena)
{
    double    value = table_view_number(view, row, column);
    enum unit unit =
        unit_shown(table_view_column(view, column)->unit, table_view_column(view, column)->name);

    if (isnan(value))
        return (struct str) { "", 0 };
    if (unit == UNIT_NAME)
        return layout_shorten_middle(arena, layout_clean(arena, table_view_text(view, row, column)),
                                     most);
    return layout_value(arena, value, unit);
}

static bool is_all_zero(const struct table_view *view, size_t column)
{
    for (size_t row = 0; row < view->row_count; row++)
        if (table_view_number(view, row, column) != 0)
            return false;
    return table_view_column(view, column)->unit != UNIT_NAME;
}

static void fill_grid(struct grid *grid, const struct table_view *view, size_t most,
                      struct arena *arena)
{
    for (size_t column = 0; column < view->column_count; column++) {
        const struct column_spec *spec = table_view_column(view, column);

        grid->cells[column] = str_from(spec->name);
        grid->is_right[column] = spec->unit != UNIT_NAME && spec->unit != UNIT_BOOL;
        grid->yields[column] = column > 0 && is_all_zero(view, column);
        for (size_t row = 0; row < view->row_count; row++)
            grid->cells[(row + 1) * view->column_count + column] =
                cell(view, row, column, most, arena);
    }
}

void table_rows_text(const struct table_view *view, const struct output_options *options,
                     struct text *text)
{
    unsigned    room = options->is_complete ? 0 : options->width;
    struct grid grid;

    if (!grid_make(&grid, text->arena, view->column_count, view->row_count)) {
        text->is_cut = true;
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(name_columns); i++) {
        fill_grid(&grid, view, name_columns[i], text->arena);
        if (room == 0 || grid_leads_fit(&grid, room))
            break;
    }
    grid_print(&grid, room, text);
}

void table_text(const struct table_view *view, const struct output_options *options,
                struct text *text)
{
    const struct table_spec *spec = view->table->spec;

    text_print(text, "%s: %s\n", spec->name, spec->help);
    text_print(text, "%zu row%s", view->row_count, view->row_count == 1 ? "" : "s");
    if (view->row_count < view->matched_count)
        text_print(text, " of %zu; --top 0 shows all", view->matched_count);
    text_add(text, STR("\n\n"));
    table_rows_text(view, options, text);
}

void table_json_cell(struct json_writer *json, const struct table_view *view, size_t row,
                     size_t column)
{
    double value = table_view_number(view, row, column);

    switch (table_view_column(view, column)->unit) {
    case UNIT_NAME:
        json_str(json, table_view_text(view, row, column));
        break;
    case UNIT_BOOL:
        json_bool(json, value != 0);
        break;
    default:
        json_exact(json, value);
    }
}

void table_json_columns(struct json_writer *json, const struct table_view *view)
{
    put_array(json, "columns");
    for (size_t i = 0; i < view->column_count; i++) {
        const struct column_spec *column = table_view_column(view, i);

        json_object(json);
        put_text(json, "name", column->name);
        put_text(json, "unit", unit_name(column->unit));
        put_text(json, "help", column->help);
        json_object_end(json);
    }
    json_array_end(json);
}

void table_json_rows(struct json_writer *json, const struct table_view *view)
{
    table_json_columns(json, view);
    put_integer(json, "matched", (int64_t)view->matched_count);
    put_array(json, "rows");
    for (size_t row = 0; row < view->row_count; row++) {
        json_object(json);
        for (size_t column = 0; column < view->column_count; column++) {
            if (isnan(table_view_number(view, row, column)))
                continue;
            json_key(json, table_view_column(view, column)->name);
            table_json_cell(json, view, row, column);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

void table_json(const struct table_view *view, const struct output_options *options,
                struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.table/1");
    put_text(&json, "table", view->table->spec->name);
    put_text(&json, "help", view->table->spec->help);
    table_json_rows(&json, view);
    json_object_end(&json);
    text_add_byte(text, '\n');
}

void table_csv(const struct table_view *view, const struct output_options *options,
               struct text *text)
{
    (void)options;
    for (size_t column = 0; column < view->column_count; column++)
        text_print(text, "%s%s", column ? "," : "", table_view_column(view, column)->name);
    text_add_byte(text, '\n');
    for (size_t row = 0; row < view->row_count; row++) {
        for (size_t column = 0; column < view->column_count; column++) {
            if (column)
                text_add_byte(text, ',');
            if (table_view_column(view, column)->unit == UNIT_NAME)
                csv_text(text, table_view_text(view, row, column));
            else
                csv_number(text, table_view_number(view, row, column));
        }
        text_add_byte(text, '\n');
    }
}
