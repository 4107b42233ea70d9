#include "analyze/table_view.h"

#include "base/macros.h"
#include "base/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct column_spec *table_view_column(const struct table_view *view, size_t column)
{
    return &view->table->spec->columns[view->columns[column]];
}

double table_view_number(const struct table_view *view, size_t row, size_t column)
{
    return view->table->columns[view->columns[column]][view->rows[row]];
}

static struct str cell_text(const struct facts *facts, double value)
{
    return isnan(value) ? (struct str) { "", 0 } : intern_str(facts->names, (uint32_t)value);
}

struct str table_view_text(const struct table_view *view, size_t row, size_t column)
{
    return cell_text(view->facts, table_view_number(view, row, column));
}

/* ERR_USAGE: what the table has instead. */
static bool find_column(const struct table *table, struct str name, struct arena *arena,
                        size_t *column, struct err *err)
{
    struct text known = { .arena = arena };

    for (*column = 0; *column < table->spec->column_count; ++*column)
        if (str_equal(name, str_from(table->spec->columns[*column].name)))
            return true;
    for (size_t i = 0; i < table->spec->column_count; i++)
        text_print(&known, "%s%s", i ? ", " : "", table->spec->columns[i].name);
    err_set(err, ERR_USAGE, "table %s has no column '%.*s'", table->spec->name, STR_ARG(name));
    return err_advise(err, "its columns are %.*s", STR_ARG(text_str(&known)));
}

enum sign { AT_MOST, AT_LEAST, UNLIKE, UNEQUAL, LESS, MORE, EQUAL, LIKE };
static const struct {
    struct str text;
    enum sign  sign;
} signs[] = {
    /* Longer ones first. */
    { STR_INIT("<="), AT_MOST }, { STR_INIT(">="), AT_LEAST }, { STR_INIT("!~"), UNLIKE },
    { STR_INIT("!="), UNEQUAL }, { STR_INIT("=="), EQUAL },    { STR_INIT("<"), LESS },
    { STR_INIT(">"), MORE },     { STR_INIT("="), EQUAL },     { STR_INIT("~"), LIKE },
};

struct condition {
    size_t          column;
    enum sign       sign;
    double          number;
    struct str      text;    /* of a column of texts */
    struct pattern *pattern; /* LIKE, UNLIKE */
};

/* Where the sign begins: behind the column's name, which has letters, digits and _ alone. */
static bool split_condition(struct str text, struct str *name, struct str *value, enum sign *sign)
{
    size_t at = 0;

    while (at < text.len && !memchr("<>=!~", text.data[at], 5))
        at++;
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        struct str rest = str_slice(text, at, text.len);

        if (!str_starts(rest, signs[i].text))
            continue;
        *name = str_trim(str_slice(text, 0, at));
        *value = str_trim(str_slice(rest, signs[i].text.len, rest.len));
        *sign = signs[i].sign;
        return true;
    }
    return false;
}

static bool scan_value(struct condition *condition, const struct column_spec *column,
                       struct str value, struct err *err)
{
    bool is_like = condition->sign == LIKE || condition->sign == UNLIKE;

    condition->text = value;
    if (is_like && column->unit != UNIT_NAME)
        return err_set(err, ERR_USAGE, "%s holds numbers; ~ is for texts", column->name);
    if (is_like) {
        condition->pattern = pattern_new(value, PATTERN_SEARCH, false, err);
        return condition->pattern != NULL;
    }
    if (column->unit == UNIT_NAME)
        return condition->sign == EQUAL || condition->sign == UNEQUAL ||
               err_set(err, ERR_USAGE, "%s holds texts; compare with =, !=, ~ or !~", column->name);
    if (unit_scan(value, column->unit == UNIT_BOOL ? UNIT_NONE : column->unit, &condition->number))
        return true;
    err_set(err, ERR_USAGE, "'%.*s' is no value of %s", STR_ARG(value), column->name);
    return err_advise(err, "it is in %s", unit_name(column->unit));
}

static bool scan_condition(struct condition *condition, const struct table *table, const char *text,
                           struct arena *arena, struct err *err)
{
    struct str name, value;

    if (!split_condition(str_from(text), &name, &value, &condition->sign)) {
        err_set(err, ERR_USAGE, "'%s' is no condition", text);
        return err_advise(err, "write COLUMN, one of < <= = != >= > ~ !~, and a value");
    }
    return find_column(table, name, arena, &condition->column, err) &&
           scan_value(condition, &table->spec->columns[condition->column], value, err);
}

static bool number_fits(const struct condition *condition, double value)
{
    switch (condition->sign) {
    case AT_MOST:
        return value <= condition->number;
    case AT_LEAST:
        return value >= condition->number;
    case LESS:
        return value < condition->number;
    case MORE:
        return value > condition->number;
    case UNEQUAL:
        return value != condition->number;
    default:
        return value == condition->number;
    }
}

/* *fits; false: the pattern costs too much to tell. A cell without a value fits nothing. */
static bool cell_fits(const struct condition *condition, const struct facts *facts,
                      const struct table *table, size_t row, bool *fits, struct err *err)
{
    double             value = table->columns[condition->column][row];
    enum pattern_match match;

    *fits = !isnan(value);
    if (!*fits)
        return true;
    if (table->spec->columns[condition->column].unit != UNIT_NAME) {
        *fits = number_fits(condition, value);
        return true;
    }
    if (!condition->pattern) {
        *fits = str_equal(cell_text(facts, value), condition->text) == (condition->sign == EQUAL);
        return true;
    }
    match = pattern_matches(condition->pattern, cell_text(facts, value));
    *fits = (match == PATTERN_YES) == (condition->sign == LIKE);
    return match != PATTERN_TOO_COSTLY ||
           err_set(err, ERR_USAGE, "'%.*s' costs too much on '%.*s'", STR_ARG(condition->text),
                   STR_ARG(cell_text(facts, value)));
}

static bool keep_rows(struct table_view *view, const struct condition *conditions, size_t count,
                      struct err *err)
{
    for (size_t row = 0; row < view->table->row_count; row++) {
        bool fits = true;

        for (size_t i = 0; i < count && fits; i++)
            if (!cell_fits(&conditions[i], view->facts, view->table, row, &fits, err))
                return false;
        if (fits)
            view->rows[view->row_count++] = row;
    }
    return true;
}

static bool select_rows(struct table_view *view, const struct option_list *where,
                        struct arena *arena, struct err *err)
{
    size_t            count = where->values.count;
    struct condition *conditions = arena_new_array(arena, struct condition, count);
    bool              is_done = conditions != NULL;

    for (size_t i = 0; is_done && i < count; i++)
        is_done = scan_condition(&conditions[i], view->table, where->values.items[i], arena, err);
    is_done = is_done && keep_rows(view, conditions, count, err);
    for (size_t i = 0; conditions && i < count; i++)
        pattern_free(conditions[i].pattern);
    return is_done;
}

struct sort_key {
    double     number;
    struct str text;
    size_t     row, place; /* place: before sorting */
    bool       is_text, is_turned;
};

static int compare_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    int                    order;

    if (isnan(a->number) != isnan(b->number))
        return isnan(a->number) ? 1 : -1;
    if (isnan(a->number))
        order = 0;
    else if (a->is_text)
        order = str_compare(a->text, b->text);
    else
        order = (a->number < b->number) - (a->number > b->number);
    if (order)
        return a->is_turned ? -order : order;
    return a->place < b->place ? -1 : 1;
}

static bool sort_rows(struct table_view *view, const char *sort, struct arena *arena,
                      struct err *err)
{
    struct sort_key *keys = arena_new_array(arena, struct sort_key, view->row_count);
    bool             is_turned = *sort == '-';
    size_t           column;

    if (!find_column(view->table, str_from(sort + is_turned), arena, &column, err))
        return false;
    if (!keys)
        return err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
    for (size_t i = 0; i < view->row_count; i++) {
        double value = view->table->columns[column][view->rows[i]];
        bool   is_text = view->table->spec->columns[column].unit == UNIT_NAME;

        keys[i] = (struct sort_key) { .number = value,
                                      .row = view->rows[i],
                                      .place = i,
                                      .is_text = is_text,
                                      .is_turned = is_turned };
        if (is_text)
            keys[i].text = cell_text(view->facts, value);
    }
    if (view->row_count)
        qsort(keys, view->row_count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < view->row_count; i++)
        view->rows[i] = keys[i].row;
    return true;
}

static bool select_columns(struct table_view *view, const struct option_list *names,
                           struct arena *arena, struct err *err)
{
    view->column_count =
        names->values.count ? names->values.count : view->table->spec->column_count;
    for (size_t i = 0; i < view->column_count; i++) {
        view->columns[i] = i;
        if (names->values.count && !find_column(view->table, str_from(names->values.items[i]),
                                                arena, &view->columns[i], err))
            return false;
    }
    return true;
}

bool table_view_make(struct table_view *view, const struct facts *facts, const struct table *table,
                     const struct table_query *query, struct arena *arena, struct err *err)
{
    size_t columns = query->columns.values.count + table->spec->column_count;

    *view = (struct table_view) { .facts = facts, .table = table };
    view->columns = arena_new_array(arena, size_t, columns);
    view->rows = arena_new_array(arena, size_t, table->row_count);
    if (!view->columns || !view->rows)
        return err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
    if (!select_columns(view, &query->columns, arena, err) ||
        !select_rows(view, &query->where, arena, err) ||
        (query->sort && !sort_rows(view, query->sort, arena, err)))
        return false;
    view->matched_count = view->row_count;
    if (query->top > 0 && (uint64_t)query->top < view->row_count)
        view->row_count = (size_t)query->top;
    return true;
}
