#include "report/arrow.h"

#include "analyze/table_view.h"

#include <math.h>
#include <string.h>

/* Bytes that live in the arena, zeroed; NULL inside: it is spent. */
static struct str buffer_new(struct arena *arena, size_t count, size_t bytes)
{
    return (struct str) { arena_alloc_array(arena, count, bytes), count * bytes };
}

static void set_bit(struct str bits, size_t row)
{
    unsigned char *bytes = (unsigned char *)bits.data;

    bytes[row / 8] = (unsigned char)(bytes[row / 8] | 1u << row % 8);
}

static void fill_numbers(struct arrow_column *column, const struct table_view *view, size_t index)
{
    double *numbers = (double *)(void *)column->buffers[1].data;

    for (size_t row = 0; row < view->row_count; row++) {
        double number = table_view_number(view, row, index);

        if (isnan(number))
            continue;
        set_bit(column->buffers[0], row);
        if (column->type == ARROW_NUMBER)
            numbers[row] = number;
        else if (number != 0)
            set_bit(column->buffers[1], row);
    }
}

static size_t bytes_of_texts(const struct table_view *view, size_t index)
{
    size_t bytes = 0;

    for (size_t row = 0; row < view->row_count; row++)
        bytes += table_view_text(view, row, index).len;
    return bytes;
}

/* A row without a text has no value; so table_view tells them apart from none. */
static void fill_texts(struct arrow_column *column, const struct table_view *view, size_t index)
{
    int32_t *starts = (int32_t *)(void *)column->buffers[1].data;
    char    *bytes = (char *)column->buffers[2].data;
    size_t   at = 0;

    for (size_t row = 0; row < view->row_count; row++) {
        struct str text = table_view_text(view, row, index);

        if (!isnan(table_view_number(view, row, index)))
            set_bit(column->buffers[0], row);
        if (text.len)
            memcpy(bytes + at, text.data, text.len);
        at += text.len;
        starts[row + 1] = (int32_t)at;
    }
}

static void count_nulls(struct arrow_column *column, size_t row_count)
{
    const unsigned char *bits = (const unsigned char *)column->buffers[0].data;

    column->null_count = row_count;
    for (size_t row = 0; row < row_count; row++)
        column->null_count -= (size_t)(bits[row / 8] >> row % 8 & 1);
}

static bool make_column(struct arrow_column *column, const struct table_view *view, size_t index,
                        struct arena *arena, struct err *err)
{
    size_t rows = view->row_count, bytes = 0;

    column->spec = table_view_column(view, index);
    column->type = column->spec->unit == UNIT_NAME   ? ARROW_TEXT
                   : column->spec->unit == UNIT_BOOL ? ARROW_BOOL
                                                     : ARROW_NUMBER;
    column->buffer_count = column->type == ARROW_TEXT ? 3 : 2;
    if (column->type == ARROW_TEXT && (bytes = bytes_of_texts(view, index)) > INT32_MAX)
        return err_set(err, ERR_LIMIT, "column %s holds more text than Arrow's utf8 takes",
                       column->spec->name);
    column->buffers[0] = buffer_new(arena, (rows + 7) / 8, 1);
    column->buffers[1] = column->type == ARROW_TEXT   ? buffer_new(arena, rows + 1, sizeof(int32_t))
                         : column->type == ARROW_BOOL ? buffer_new(arena, (rows + 7) / 8, 1)
                                                      : buffer_new(arena, rows, sizeof(double));
    column->buffers[2] = buffer_new(arena, bytes, 1);
    if (!column->buffers[0].data || !column->buffers[1].data || !column->buffers[2].data)
        return err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
    (column->type == ARROW_TEXT ? fill_texts : fill_numbers)(column, view, index);
    count_nulls(column, rows);
    return true;
}

bool arrow_batch_make(struct arrow_batch *batch, const struct table_view *view, struct arena *arena,
                      struct err *err)
{
    *batch = (struct arrow_batch) {
        .row_count = view->row_count,
        .column_count = view->column_count,
        .columns = arena_new_array(arena, struct arrow_column, view->column_count),
    };
    if (!batch->columns)
        return err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
    for (size_t i = 0; i < view->column_count; i++)
        if (!make_column(&batch->columns[i], view, i, arena, err))
            return false;
    return true;
}
