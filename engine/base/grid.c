#include "base/grid.h"

bool grid_make(struct grid *grid, struct arena *arena, size_t columns, size_t rows)
{
    *grid = (struct grid) { .column_count = columns, .row_count = rows + 1, .arena = arena };
    grid->cells = arena_new_array(arena, struct str, columns * (rows + 1));
    grid->is_right = arena_new_array(arena, bool, columns);
    return grid->cells && grid->is_right;
}

static size_t column_width(const struct grid *grid, size_t column)
{
    size_t width = 0;
    bool   is_empty = grid->row_count > 1;

    for (size_t row = 0; row < grid->row_count; row++) {
        struct str cell = grid->cells[row * grid->column_count + column];

        if (row > 0 && cell.len > 0)
            is_empty = false;
        if (text_width(cell) > width)
            width = text_width(cell);
    }
    return is_empty ? 0 : width;
}

static void add_cell(struct text *text, struct str cell, size_t width, bool is_right, bool is_last)
{
    size_t blanks = width - text_width(cell);

    if (is_right)
        text_fill(text, ' ', blanks);
    text_add(text, cell);
    if (!is_right && !is_last)
        text_fill(text, ' ', blanks);
    text_add(text, is_last ? STR("\n") : STR("  "));
}

static void list_hidden(const struct grid *grid, const size_t *widths, struct text *text)
{
    const char *glue = "columns without room or values: ";

    for (size_t column = 0; column < grid->column_count; column++) {
        if (widths[column] > 0)
            continue;
        text_print(text, "%s%.*s", glue, STR_ARG(grid->cells[column]));
        glue = ", ";
    }
    if (glue[0] == ',')
        text_add_byte(text, '\n');
}

void grid_print(const struct grid *grid, unsigned room, struct text *text)
{
    size_t *widths = arena_new_array(grid->arena, size_t, grid->column_count + 1);
    size_t  used = 0, last = 0;

    if (!widths)
        return;
    for (size_t column = 0; column < grid->column_count; column++) {
        size_t width = column_width(grid, column);

        if (width == 0 || (room > 0 && used > 0 && used + width > room))
            continue;
        widths[column] = width;
        used += width + 2;
        last = column;
    }
    for (size_t row = 0; row < grid->row_count; row++)
        for (size_t column = 0; column <= last && column < grid->column_count; column++)
            if (widths[column] > 0)
                add_cell(text, grid->cells[row * grid->column_count + column], widths[column],
                         grid->is_right[column], column == last);
    if (room > 0)
        list_hidden(grid, widths, text);
}
