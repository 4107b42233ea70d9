#include "report/page/page.h"

#include "analyze/diff/diff.h"
#include "analyze/schedule/whatif.h"
#include "analyze/study.h"
#include "analyze/table_view.h"
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "report/output.h"
#include "report/page/assets.h"
#include "report/page/page_program.h"
#include "report/table_report.h"

#include <math.h>

static void put_table(struct json_writer *json, const struct table_view *view)
{
    json_object(json);
    put_text(json, "name", view->table->spec->name);
    put_text(json, "help", view->table->spec->help);
    put_integer(json, "matched", (int64_t)view->matched_count);
    table_json_columns(json, view);
    put_array(json, "rows");
    for (size_t row = 0; row < view->row_count; row++) {
        json_array(json);
        for (size_t column = 0; column < view->column_count; column++)
            if (isnan(table_view_number(view, row, column)))
                json_null(json);
            else
                table_json_cell(json, view, row, column);
        json_array_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static bool put_tables(struct json_writer *json, const struct facts *facts, size_t most_rows,
                       struct err *err)
{
    struct table_query query = { .top = (int64_t)most_rows };
    struct table_view  view;

    put_array(json, "tables");
    for (size_t i = 0; i < facts->tables.count; i++) {
        if (!table_view_make(&view, facts, facts->tables.items[i], &query, json->text->arena, err))
            return false;
        put_table(json, &view);
    }
    json_array_end(json);
    return true;
}

/* Numbers that the page draws beside its tables: the roofs of the device. */
static void put_facts(struct json_writer *json, const struct facts *facts)
{
    static const char *const names[] = { "flops.peak_per_s", "flops.memory_peak_per_s" };

    put_object(json, "facts");
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        double value;

        if (facts_get(facts, names[i], &value))
            put_number(json, names[i], value);
    }
    json_object_end(json);
}

/* What changed most; the page sums up what is left out. */
static void put_change(struct json_writer *json, const struct diff *whole, size_t most_rows)
{
    struct output_options shape = { .width = 80 };
    struct diff           change = *whole;

    for (int by = 0; most_rows > 0 && by < CHARGE_BY_COUNT; by++)
        if (change.rows[by].count > most_rows)
            change.rows[by].count = most_rows;
    json_key(json, "change");
    output_find("json")->diff(&change, 0, &shape, json->text);
    json->after_key = false;
}

static void put_sweep(struct json_writer *json, const struct whatif *sweep)
{
    struct sweep_shape shape = sweep_shape(sweep);

    json_object(json);
    put_text(json, "what", sweep->sweep);
    put_number(json, "selected_ms", sweep->each[0].selected_ns / 1e6);
    if (!isnan(shape.knee))
        put_number(json, "knee", shape.knee);
    put_array(json, "step_ms");
    for (size_t i = 0; i < sweep->edits.count; i++)
        json_number(json, sweep->each[i].step_ns / 1e6);
    json_array_end(json);
    put_array(json, "bottleneck");
    for (size_t i = 0; i < sweep->edits.count; i++)
        json_text(json, part_name(sweep->each[i].bottleneck));
    json_array_end(json);
    json_object_end(json);
}

static void put_sweeps(struct json_writer *json, const struct page_options *options)
{
    put_array(json, "sweeps");
    for (size_t i = 0; i < options->sweep_count; i++)
        put_sweep(json, options->sweeps[i]);
    json_array_end(json);
}

static void open_page(const struct page_options *options, struct text *text)
{
    text_print(text,
               "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "script-src '%s'; style-src 'unsafe-inline'; img-src data:; %sbase-uri 'none'; "
               "form-action 'none'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<title>tfprof</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n",
               page_script_hash, options->is_served ? "connect-src 'self'; " : "");
    text_add(text, page_style);
    text_add(text,
             STR("</style>\n</head>\n<body>\n<main><p>This page could not start: its script was "
                 "changed, or the browser is older than 2023.</p></main>\n"));
}

static bool put_data(const struct advice *advice, const struct study *study,
                     const struct page_options *options, const struct slice_set *slices,
                     struct text *text, struct err *err)
{
    struct output_options shape = { .width = 80 };
    struct json_writer    json = { .text = text, .is_compact = true };

    /* "<" is \u003c in all of it, so that no name can end the element. */
    text_add(text, STR("<script type=\"application/json\" id=\"data\">"));
    json_object(&json);
    json_key(&json, "advice");
    output_find("json")->advice(advice, study, &shape, text);
    json.after_key = false;
    if (options->change)
        put_change(&json, options->change, options->most_rows);
    if (!put_tables(&json, &study->facts, options->most_rows, err))
        return false;
    put_facts(&json, &study->facts);
    if (!page_put_program(&json, study))
        return err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
    if (options->is_served)
        put_bool(&json, "served", true);
    put_sweeps(&json, options);
    if (slices) {
        json_key(&json, "slices");
        slices_about(&json, slices);
    }
    json_object_end(&json);
    text_add(text, STR("</script>\n"));
    return true;
}

static bool out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
}

static void close_page(struct text *text)
{
    text_add(text, STR("</script>\n<script>"));
    text_add(text, page_script);
    text_add(text, STR("</script>\n</body>\n</html>\n"));
}

void page_write_gate(const struct gate_result *result, struct text *text)
{
    const struct page_options options = { 0 };
    struct output_options     shape = { .width = 80 };

    open_page(&options, text);
    text_add(text, STR("<script type=\"application/json\" id=\"data\">{\"gate\":"));
    output_find("json")->gate(result, &shape, text);
    text_add(text, STR("}</script>\n<script type=\"text/plain\" id=\"slices\">"));
    close_page(text);
}

bool page_write(const struct advice *advice, const struct study *study,
                const struct page_options *options, struct text *text, struct err *err)
{
    struct slice_set *slices = NULL;

    if (options->index) {
        slices = slices_make(options->index, WHOLE_SPAN, options->most_slices, text->arena);
        if (!slices)
            return out_of_memory(err);
        if (slices_are_empty(slices))
            slices = NULL;
    }
    open_page(options, text);
    if (!put_data(advice, study, options, slices, text, err))
        return false;
    text_add(text, STR("<script type=\"text/plain\" id=\"slices\">"));
    if (slices && !slices_pack(slices, text))
        return out_of_memory(err);
    close_page(text);
    return !text->is_cut || err_set(err, ERR_LIMIT, "the page does not fit the memory limit");
}

bool page_write_span(const struct slice_index *index, struct slice_span span, size_t most,
                     struct text *text, struct err *err)
{
    struct json_writer json = { .text = text, .is_compact = true };
    struct slice_set  *slices = slices_make(index, span, most, text->arena);

    if (!slices)
        return out_of_memory(err);
    json_object(&json);
    json_key(&json, "about");
    slices_about(&json, slices);
    text_add(text, STR(",\"block\":\""));
    if (!slices_pack(slices, text))
        return out_of_memory(err);
    text_add(text, STR("\"}\n"));
    return !text->is_cut || out_of_memory(err);
}

bool page_write_table(const struct facts *facts, const char *name, struct text *text,
                      struct err *err)
{
    struct json_writer  json = { .text = text, .is_compact = true };
    struct table_query  query = { 0 };
    struct table_view   view;
    const struct table *table = facts_find_table(facts, name);

    if (!table)
        return err_set(err, ERR_INPUT, "this recording has no table %s", name);
    if (!table_view_make(&view, facts, table, &query, text->arena, err))
        return false;
    put_table(&json, &view);
    text_add_byte(text, '\n');
    return !text->is_cut || err_set(err, ERR_LIMIT, "the table does not fit the memory limit");
}
