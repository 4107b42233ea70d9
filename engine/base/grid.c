#include "base/grid.h"

#include <string.h>

enum { GAP = 2 };

bool grid_make(struct grid *grid, struct arena *arena, size_t columns, size_t rows)
{
    *grid = (struct grid) { .column_count = columns, .row_count = rows + 1, .arena = arena };
    grid->cells = arena_new_array(arena, struct str, columns * (rows + 1));
    grid->is_right = arena_new_array(arena, bool, columns);
    grid->turns = arena_new_array(arena, enum grid_turn, columns);
    for (size_t column = 1; grid->turns && column < columns; column++)
        grid->turns[column] = GRID_OTHERS;
    return grid->cells && grid->is_right && grid->turns;
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

/* Names of the columns that `widths` leaves out, with or without values. */
static void list_hidden(const struct grid *grid, const size_t *widths, bool has_values,
                        const char *title, unsigned room, struct text *text)
{
    size_t at = 0;

    for (size_t column = 0; column < grid->column_count; column++) {
        struct str name = grid->cells[column];

        if (widths[column] > 0 || (column_width(grid, column) > 0) != has_values)
            continue;
        text_add(text, at == 0 ? str_from(title) : STR(","));
        at += at == 0 ? strlen(title) : 1;
        if (at + 1 + text_width(name) >= room) {
            text_add(text, STR("\n "));
            at = 1;
        }
        text_print(text, " %.*s", STR_ARG(name));
        at += 1 + text_width(name);
    }
    if (at > 0)
        text_add_byte(text, '\n');
}

/* Gives room to the columns of a turn, from the left; what is left of it. */
static size_t give_room(const struct grid *grid, enum grid_turn turn, size_t room, size_t *widths)
{
    for (size_t column = 0; column < grid->column_count; column++) {
        size_t width = grid->turns[column] == turn ? column_width(grid, column) : 0;

        if (width == 0 || (width > room && turn != GRID_LEADS))
            continue;
        widths[column] = width;
        room -= width + GAP < room ? width + GAP : room;
    }
    return room;
}

bool grid_leads_fit(const struct grid *grid, unsigned room)
{
    size_t used = 0;

    for (size_t column = 0; column < grid->column_count; column++) {
        size_t width = grid->turns[column] <= GRID_MEASURES ? column_width(grid, column) : 0;

        used += width > 0 ? width + GAP : 0;
    }
    return used <= (size_t)room + GAP;
}

void grid_print(const struct grid *grid, unsigned room, struct text *text)
{
    size_t *widths = arena_new_array(grid->arena, size_t, grid->column_count + 1);
    size_t  last = 0, room_left;

    if (!widths)
        return;
    room_left = room ? room : SIZE_MAX;
    for (enum grid_turn turn = GRID_LEADS; turn < GRID_TURNS; turn++)
        room_left = give_room(grid, turn, room_left, widths);
    for (size_t column = 0; column < grid->column_count; column++)
        last = widths[column] > 0 ? column : last;
    for (size_t row = 0; row < grid->row_count; row++)
        for (size_t column = 0; column <= last && column < grid->column_count; column++)
            if (widths[column] > 0)
                add_cell(text, grid->cells[row * grid->column_count + column], widths[column],
                         grid->is_right[column], column == last);
    if (room > 0) {
        list_hidden(grid, widths, true, "--wide or --columns:", room, text);
        list_hidden(grid, widths, false, "without values:", room, text);
    }
}
