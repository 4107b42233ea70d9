/* Rows with fixed units: one number a cell, for spreadsheets and programs; steps, statistics and
 * two profiles side by side. */
#include "view/rows.h"

#include "base/csv.h"
#include "base/intern.h"
#include "base/json_fields.h"
#include "base/macros.h"
#include "model/notes_json.h"
#include "view/groups.h"
#include "view/nodes.h"
#include "view/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct field { /* a number of a row */
    enum view_value value;
    bool            is_total;
    bool        has_below; /* sums the rows below; types of ops have none, but for the original */
    const char *name;
    enum attribute_kind kind;
};
struct grid {
    const struct view      *view;
    const struct view_call *call;
    struct view_rows        rows;
    VEC(struct field) fields;
    VEC(const char *) series; /* what each field has one cell of; empty name: the field alone */
    double *cells;            /* by shown row, field, series; NAN: unknown */
};

static double *cell_of(const struct grid *grid, size_t row, size_t field, size_t series)
{
    return &grid->cells[(row * grid->fields.count + field) * grid->series.count + series];
}

/* No float operations are known where some should be. */
static bool misses_flops(const struct classic *classic, const struct view_row *row, bool is_total)
{
    if (is_total)
        return row->flops == FLOPS_UNKNOWN;
    if (row->node != NO_ID)
        return flops_known_of(classic, row->node) == FLOPS_UNKNOWN;
    return flops_known_of_all(classic, row->members, row->member_count) == FLOPS_UNKNOWN;
}

/* A number of a row; NAN where the row does not count, or it is unknown. */
static double number_of(const struct classic *classic, const struct view_row *row,
                        const struct field *field)
{
    const int64_t *numbers = field->has_below ? row->total : row->self;

    if (!numbers || (!field->has_below && !row->is_accounted))
        return NAN;
    if (field->value == VALUE_FLOAT_OPS && misses_flops(classic, row, field->has_below))
        return NAN;
    return (double)numbers[field->value];
}

static const char *value_name(enum view_value value)
{
    static const char *const names[VIEW_VALUE_COUNT] = {
        [VALUE_RUNS] = "runs",
        [VALUE_EXEC_MICROS] = "micros",
        [VALUE_ACCELERATOR_MICROS] = "accelerator_micros",
        [VALUE_CPU_MICROS] = "cpu_micros",
        [VALUE_REQUESTED_BYTES] = "bytes",
        [VALUE_PEAK_BYTES] = "peak_bytes",
        [VALUE_RESIDUAL_BYTES] = "residual_bytes",
        [VALUE_OUTPUT_BYTES] = "output_bytes",
        [VALUE_PARAMETERS] = "params",
        [VALUE_FLOAT_OPS] = "float_ops",
        [VALUE_DEFINITIONS] = "definitions",
    };

    return names[value];
}

static bool add_field(struct grid *grid, enum view_value value, enum attribute_kind kind)
{
    for (int is_total = 0; is_total < 2; is_total++) {
        struct field field = { .value = value,
                               .is_total = is_total,
                               .has_below = is_total && (grid->view != &view_op ||
                                                         grid->call->options->is_compat),
                               .kind = kind };

        field.name =
            arena_text(grid->call->arena, "%s_%s", is_total ? "total" : "self", value_name(value));
        if (!field.name || !vec_push(&grid->fields, grid->call->arena, field))
            return false;
    }
    return true;
}

static bool is_text(const struct column *column)
{
    return column->kind == COLUMN_DEVICE || column->kind == COLUMN_OP_TYPES ||
           column->kind == COLUMN_INPUT_SHAPES;
}

static bool add_fields(struct grid *grid)
{
    const struct columns *columns = &grid->call->columns;

    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->items[i];

        if (is_text(column) || column->kind == COLUMN_HIDDEN_OPS)
            continue;
        if (!add_field(grid, column->value, column->kind) ||
            (column->kind == COLUMN_OCCURRENCE &&
             !add_field(grid, VALUE_DEFINITIONS, COLUMN_OCCURRENCE)))
            return false;
    }
    return true;
}

/* The rows of one step, or of the other profile, with the ids of their own. */
static bool rows_at(const struct grid *grid, const struct classic *classic, int64_t step,
                    struct view_rows *rows)
{
    struct view_options options = *grid->call->options;
    struct text         ignored = { .arena = grid->call->arena };
    struct view_call    call = *grid->call;

    options.step = step;
    call.options = &options;
    call.classic = classic;
    call.trees = classic == grid->call->classic ? grid->call->trees : NULL;
    call.complaints = &ignored;
    return grid->view->rows(&call, rows);
}

static bool fill_steps(struct grid *grid)
{
    const struct view_options *options = grid->call->options;

    for (size_t at = 0; at < options->steps.count; at++) {
        struct view_rows rows;

        if (!rows_at(grid, grid->call->classic, options->steps.items[at], &rows))
            return false;
        for (size_t i = 0; i < grid->rows.shown_count; i++)
            for (size_t field = 0; field < grid->fields.count; field++)
                *cell_of(grid, i, field, at) =
                    number_of(grid->call->classic, &rows.items[grid->rows.shown[i].id],
                              &grid->fields.items[field]);
    }
    return true;
}

/* The steps that statistics are of: those of -step, else all. */
static size_t chosen_steps(const struct grid *grid, const int64_t **steps)
{
    const struct view_options *options = grid->call->options;

    *steps = options->steps.count ? options->steps.items
             : options->step >= 0 ? &options->step
                                  : grid->call->classic->steps.items;
    return options->steps.count ? options->steps.count
           : options->step >= 0 ? 1
                                : grid->call->classic->steps.count;
}

/* Numbers by row and field, those of a cell side by side; used: how many each has. Steps in which a
 * row did not run do not count for it. */
static bool gather(const struct grid *grid, const int64_t *steps, size_t step_count,
                   double *numbers, uint32_t *used)
{
    for (size_t at = 0; at < step_count; at++) {
        struct view_rows rows;

        if (!rows_at(grid, grid->call->classic, steps[at], &rows))
            return false;
        for (size_t i = 0; i < grid->rows.shown_count; i++) {
            const struct view_row *row = &rows.items[grid->rows.shown[i].id];

            for (size_t field = 0; field < grid->fields.count; field++) {
                size_t         cell = i * grid->fields.count + field;
                const int64_t *whose = grid->fields.items[field].has_below ? row->total : row->self;
                double number = number_of(grid->call->classic, row, &grid->fields.items[field]);

                if (!isnan(number) && whose[VALUE_RUNS] > 0)
                    numbers[cell * step_count + used[cell]++] = number;
            }
        }
    }
    return true;
}

static bool fill_statistics(struct grid *grid)
{
    const int64_t *steps;
    size_t         step_count = chosen_steps(grid, &steps);
    size_t         cell_count = grid->rows.shown_count * grid->fields.count;
    double        *numbers =
        arena_new_array(grid->call->arena, double, cell_count *(step_count ? step_count : 1));
    uint32_t *used = arena_new_array(grid->call->arena, uint32_t, cell_count);

    if (!numbers || !used || !gather(grid, steps, step_count, numbers, used))
        return false;
    for (size_t cell = 0; cell < cell_count; cell++) {
        double  described[STATISTIC_COUNT];
        double *cells = grid->cells + cell * grid->series.count;

        statistics_describe(numbers + cell * step_count, used[cell], described);
        for (unsigned i = 0; i < STATISTIC_COUNT; i++)
            if (grid->call->options->statistics & 1u << i)
                *cells++ = described[i];
    }
    return true;
}

enum { SERIES_THIS, SERIES_OTHER, SERIES_CHANGE };

/* Rows that one of both lacks count as 0 there. */
static bool fill_other(struct grid *grid)
{
    struct view_rows other;
    struct intern    keys;
    uint32_t        *id_of;

    if (!rows_at(grid, grid->call->other, -1, &other) || !intern_init(&keys, grid->call->arena))
        return false;
    id_of = arena_new_array(grid->call->arena, uint32_t, other.count + 1);
    if (!id_of)
        return false;
    for (uint32_t i = 0; i < other.count; i++) {
        uint32_t key = intern_add(&keys, other.items[i].key);

        if (key == NO_ID)
            return false;
        id_of[key] = i;
    }
    for (size_t i = 0; i < grid->rows.shown_count; i++) {
        const struct view_row *row = &grid->rows.items[grid->rows.shown[i].id];
        uint32_t               key = intern_find(&keys, row->key);

        for (size_t field = 0; field < grid->fields.count; field++) {
            double was = key == NO_ID ? 0
                                      : number_of(grid->call->other, &other.items[id_of[key]],
                                                  &grid->fields.items[field]);
            double is = number_of(grid->call->classic, row, &grid->fields.items[field]);

            *cell_of(grid, i, field, SERIES_THIS) = is;
            *cell_of(grid, i, field, SERIES_OTHER) = was;
            *cell_of(grid, i, field, SERIES_CHANGE) = is - (isnan(was) ? 0 : was);
        }
    }
    return true;
}

static bool fill_plain(struct grid *grid)
{
    for (size_t i = 0; i < grid->rows.shown_count; i++)
        for (size_t field = 0; field < grid->fields.count; field++)
            *cell_of(grid, i, field, 0) =
                number_of(grid->call->classic, &grid->rows.items[grid->rows.shown[i].id],
                          &grid->fields.items[field]);
    return true;
}

static bool add_series(struct grid *grid, const char *name)
{
    return name && vec_push(&grid->series, grid->call->arena, name);
}

static bool fill(struct grid *grid)
{
    const struct view_options *options = grid->call->options;
    bool                       ok = true;
    size_t                     cells;

    for (unsigned i = 0; i < STATISTIC_COUNT; i++)
        ok = ok && (!(options->statistics & 1u << i) ||
                    add_series(grid, statistic_name((enum statistic)i)));
    for (size_t i = 0; i < options->steps.count && !options->statistics; i++)
        ok = ok && add_series(grid, arena_text(grid->call->arena, "step_%" PRId64,
                                               options->steps.items[i]));
    if (!grid->series.count && grid->call->other)
        ok = add_series(grid, "this") && add_series(grid, "other") && add_series(grid, "change");
    else if (!grid->series.count)
        ok = add_series(grid, "");
    if (!ok || __builtin_mul_overflow(grid->rows.shown_count,
                                      grid->fields.count * grid->series.count, &cells))
        return false;
    grid->cells = arena_new_array(grid->call->arena, double, cells);
    if (!grid->cells)
        return false;
    return options->statistics    ? fill_statistics(grid)
           : options->steps.count ? fill_steps(grid)
           : grid->call->other    ? fill_other(grid)
                                  : fill_plain(grid);
}

/* Device, types, shapes as one text each. */
static struct str text_of(const struct grid *grid, const struct view_row *row,
                          enum attribute_kind kind)
{
    const struct view_call *call = grid->call;
    struct text             text = { .arena = call->arena };
    struct node_types       types = { 0 };
    struct group            group = { .members = (uint32_t *)(uintptr_t)row->members,
                                      .count = row->member_count };

    text_add(&text, STR(""));
    if (row->node != NO_ID) {
        if (kind == COLUMN_DEVICE)
            return classic_device(call->classic, row->node);
        if (kind == COLUMN_INPUT_SHAPES)
            print_input_shapes(call, row->node, STR("|"), &text);
        else if (node_types_add(&types, call, row->node))
            print_types(&types, &text);
    } else if (kind == COLUMN_DEVICE) {
        group_print_devices(&group, call, &text);
    } else if (kind == COLUMN_OP_TYPES) {
        group_print_types(&group, call, &text);
    }
    return text_str(&text);
}

static const char *text_name(enum attribute_kind kind)
{
    return kind == COLUMN_DEVICE ? "device" : kind == COLUMN_OP_TYPES ? "op_types" : "input_shapes";
}

static char *cell_name(const struct grid *grid, size_t field, size_t series)
{
    const char *of = grid->series.items[series];

    return arena_text(grid->call->arena, "%s%s%s", grid->fields.items[field].name, *of ? "_" : "",
                      of);
}

static void print_cell(struct text *text, double number)
{
    if (floor(number) == number && fabs(number) < 1e15)
        text_print(text, "%.0f", number);
    else
        text_print(text, "%.6g", number);
}

static struct str parent_name(const struct grid *grid, const struct shown_row *shown)
{
    return shown->parent == NO_ID ? (struct str) { "", 0 }
                                  : grid->rows.items[grid->rows.shown[shown->parent].id].name;
}

static void print_csv(const struct grid *grid)
{
    const struct columns *columns = &grid->call->columns;
    struct text          *text = grid->call->text;

    text_add(text, STR("name,depth,parent"));
    for (size_t field = 0; field < grid->fields.count; field++)
        for (size_t series = 0; series < grid->series.count; series++)
            text_print(text, ",%s", cell_name(grid, field, series));
    for (size_t i = 0; i < columns->count; i++)
        if (is_text(&columns->items[i]))
            text_print(text, ",%s", text_name(columns->items[i].kind));
        else if (columns->items[i].kind == COLUMN_HIDDEN_OPS)
            text_add(text, STR(",hidden_ops"));
    text_add_byte(text, '\n');
    for (size_t i = 0; i < grid->rows.shown_count && view_row_fits(grid->call, i); i++) {
        const struct shown_row *shown = &grid->rows.shown[i];
        const struct view_row  *row = &grid->rows.items[shown->id];

        csv_text(text, row->name);
        text_print(text, ",%" PRIu32 ",", shown->depth);
        csv_text(text, parent_name(grid, shown));
        for (size_t field = 0; field < grid->fields.count; field++)
            for (size_t series = 0; series < grid->series.count; series++) {
                text_add_byte(text, ',');
                if (!isnan(*cell_of(grid, i, field, series)))
                    print_cell(text, *cell_of(grid, i, field, series));
            }
        for (size_t n = 0; n < columns->count; n++)
            if (is_text(&columns->items[n])) {
                text_add_byte(text, ',');
                csv_text(text, text_of(grid, row, columns->items[n].kind));
            } else if (columns->items[n].kind == COLUMN_HIDDEN_OPS) {
                text_print(text, ",%" PRIu32, row->hidden);
            }
        text_add_byte(text, '\n');
    }
}

static void print_json_row(const struct grid *grid, size_t at, char *const *names,
                           struct json_writer *json)
{
    const struct shown_row *shown = &grid->rows.shown[at];
    const struct view_row  *row = &grid->rows.items[shown->id];
    const struct columns   *columns = &grid->call->columns;

    json_object(json);
    json_key(json, "name");
    json_str(json, row->name);
    put_integer(json, "depth", shown->depth);
    if (shown->parent != NO_ID) {
        json_key(json, "parent");
        json_str(json, parent_name(grid, shown));
    }
    for (size_t field = 0; field < grid->fields.count; field++)
        for (size_t series = 0; series < grid->series.count; series++) {
            double number = *cell_of(grid, at, field, series);

            json_key(json, names[field * grid->series.count + series]);
            if (isnan(number))
                json_null(json);
            else if (floor(number) == number && fabs(number) < 1e15)
                json_integer(json, (int64_t)number);
            else
                json_exact(json, number);
        }
    for (size_t i = 0; i < columns->count; i++)
        if (is_text(&columns->items[i])) {
            json_key(json, text_name(columns->items[i].kind));
            json_str(json, text_of(grid, row, columns->items[i].kind));
        } else if (columns->items[i].kind == COLUMN_HIDDEN_OPS) {
            put_integer(json, "hidden_ops", row->hidden);
        }
    json_object_end(json);
}

static bool print_json(const struct grid *grid)
{
    const struct view_options *options = grid->call->options;
    struct json_writer         json = { .text = grid->call->text };
    char                     **names =
        arena_new_array(grid->call->arena, char *, grid->fields.count * grid->series.count + 1);

    if (!names)
        return false;
    for (size_t field = 0; field < grid->fields.count; field++)
        for (size_t series = 0; series < grid->series.count; series++) {
            char *name = cell_name(grid, field, series);

            if (!name)
                return false;
            names[field * grid->series.count + series] = name;
        }
    json_object(&json);
    put_text(&json, "view", grid->view->name);
    json_key(&json, "steps");
    json.is_compact = true;
    json_array(&json);
    for (size_t i = 0; i < grid->call->classic->steps.count; i++)
        json_integer(&json, grid->call->classic->steps.items[i]);
    json_array_end(&json);
    json.is_compact = false;
    json_key(&json, "step"); /* null: the mean of all */
    if (options->step >= 0)
        json_integer(&json, options->step);
    else
        json_null(&json);
    put_integer(&json, "row_count", (int64_t)grid->rows.shown_count);
    put_array(&json, "rows");
    for (size_t i = 0; i < grid->rows.shown_count && view_row_fits(grid->call, i); i++) {
        json.is_compact = false;
        print_json_row(grid, i, names, &json);
    }
    json_array_end(&json);
    json.is_compact = false;
    notes_json(&json, grid->call->recordings, ARRAY_COUNT(grid->call->recordings));
    json_object_end(&json);
    text_add_byte(grid->call->text, '\n');
    return true;
}

static void print_unit(const struct grid *grid, const struct field *field, size_t series,
                       double number, struct text *text)
{
    const char *name = grid->series.items[series];
    bool        is_statistic = grid->call->options->statistics != 0;

    if (isnan(number)) {
        text_add(text, STR("--"));
    } else if (is_statistic && name == statistic_name(STATISTIC_STEPS)) {
        text_print(text, "%.0f", number);
    } else if (is_statistic && name == statistic_name(STATISTIC_VARIATION)) {
        text_print(text, "%.1f%%", 100 * number);
    } else {
        bool is_less = number < 0;

        if (grid->call->other && series == SERIES_CHANGE)
            text_add_byte(text, is_less ? '-' : '+');
        else if (is_less)
            text_add_byte(text, '-');
        print_column_number(text, field->kind, (int64_t)llround(fabs(number)));
    }
}

/* For reading: totals where a row has rows below it, self alone in the view of types. */
static bool print_table(const struct grid *grid)
{
    enum { CELL_WIDTH = 11, NAME_WIDTH = 44 };
    struct text *text = grid->call->text;
    bool         is_list = grid->view == &view_op;

    for (size_t field = 0; field < grid->fields.count; field++) {
        const struct field *of = &grid->fields.items[field];

        if (of->is_total == is_list || of->value == VALUE_DEFINITIONS)
            continue;
        text_print(text, "%s%s\n%-*s", field > 1 ? "\n" : "", value_name(of->value), NAME_WIDTH,
                   "");
        for (size_t series = 0; series < grid->series.count; series++)
            text_print(text, "%*s", CELL_WIDTH, grid->series.items[series]);
        text_add_byte(text, '\n');
        for (size_t i = 0; i < grid->rows.shown_count && view_row_fits(grid->call, i); i++) {
            const struct shown_row *shown = &grid->rows.shown[i];
            struct str              name = grid->rows.items[shown->id].name;
            size_t                  indent = is_list ? 0 : 2 * (size_t)shown->depth;

            text_fill(text, ' ', indent);
            text_add(text, name);
            if (indent + name.len + 1 > NAME_WIDTH) {
                text_add_byte(text, '\n');
                text_fill(text, ' ', NAME_WIDTH);
            } else {
                text_fill(text, ' ', NAME_WIDTH - indent - name.len);
            }
            for (size_t series = 0; series < grid->series.count; series++) {
                struct text cell = { .arena = grid->call->arena };

                print_unit(grid, of, series, *cell_of(grid, i, field, series), &cell);
                text_print(text, "%*.*s", CELL_WIDTH, STR_ARG(text_str(&cell)));
            }
            text_add_byte(text, '\n');
        }
        view_rows_end(grid->call, grid->rows.shown_count);
    }
    return true;
}

bool rows_report(const struct view *view, const struct view_call *call, struct err *err)
{
    struct grid grid = { .view = view, .call = call };
    bool        is_done = view->rows(call, &grid.rows) && add_fields(&grid) && fill(&grid);

    if (is_done && call->options->format == VIEW_JSON)
        is_done = print_json(&grid);
    else if (is_done && call->options->format == VIEW_CSV)
        print_csv(&grid);
    else if (is_done)
        is_done = print_table(&grid);
    return is_done || err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
}
