/* grid: cells in rows of columns for a terminal: as wide as their widest cell, from the left, as
 * many columns as there is room for. */
#ifndef TFPROF_BASE_GRID_H
#define TFPROF_BASE_GRID_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Columns that say what a row is, which are never left out; the numbers that one comes for; others; those that get
 * what room is left. */
enum grid_turn { GRID_LEADS, GRID_MEASURES, GRID_OTHERS, GRID_YIELDS, GRID_TURNS };

struct grid {
    struct str   *cells; /* row by row; the first row holds the columns' names */
    size_t        column_count, row_count;
    bool         *is_right; /* numbers stand on the right */
    enum grid_turn *turns;  /* which columns get room first; the first leads if nothing else is said */
    struct arena *arena;
};

/* rows: beside the one of names. False: exhausted. */
bool grid_make(struct grid *grid, struct arena *arena, size_t columns, size_t rows);
/* Leads and measures have room beside each other. */
bool grid_leads_fit(const struct grid *grid, unsigned room);
/* Columns without any value are left out, and with room (in columns of a terminal, 0: no limit)
 * those that do not fit; last lines name both. */
void grid_print(const struct grid *grid, unsigned room, struct text *text);

#endif
