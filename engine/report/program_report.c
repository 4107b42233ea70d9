#include "report/program_report.h"

#include "analyze/program/program_view.h"
#include "base/grid.h"
#include "base/json_fields.h"
#include "report/info_json.h"
#include "report/layout.h"
#include "report/output.h"

static const struct op *op_at(const struct program_view *view, const struct program_op *item)
{
    return &view->study->profile->ops.items[item->op];
}

/* "float32[128,512]"; "[?]" for what is unknown. */
static void add_shape(struct text *text, const struct tensor *tensor)
{
    if (tensor->dtype != DTYPE_UNKNOWN)
        text_print(text, "%s", dtype_name((enum dtype)tensor->dtype));
    text_add_byte(text, '[');
    for (int i = 0; i < tensor->rank && i < TENSOR_MAX_RANK; i++) {
        text_print(text, i ? "," : "");
        if (tensor->dims[i] < 0)
            text_add_byte(text, '?');
        else
            text_print(text, "%lld", (long long)tensor->dims[i]);
    }
    text_add(text, tensor->rank < 0 ? STR("?]") : STR("]"));
}

/* Results of an op, "(a, b)" for several. */
static struct str results_of(const struct program_view *view, const struct op *op,
                             struct arena *arena)
{
    const struct tensor *results = view->study->profile->tensors.items + op->first_output;
    struct text          text = { .arena = arena };

    if (op->output_count > 1)
        text_add_byte(&text, '(');
    for (uint32_t i = 0; i < op->output_count; i++) {
        if (i > 0)
            text_add(&text, STR(", "));
        add_shape(&text, &results[i]);
    }
    if (op->output_count > 1)
        text_add_byte(&text, ')');
    return text_str(&text);
}

/* "1.23 ms a step · 11.6 GFLOP · model.py:12", what of it is known. */
static struct str remark_of(const struct program_view *view, const struct program_op *item,
                            struct arena *arena)
{
    const struct profile *profile = view->study->profile;
    const struct op      *op = op_at(view, item);
    struct text           text = { .arena = arena };

    if (item->ns > 0) {
        text_add(&text, layout_value(arena, item->ns, UNIT_NS));
        text_add(&text, STR(" a step"));
    }
    if (op->flops > 0) {
        text_print(&text, text.len ? " · " : "");
        text_add(&text, layout_value(arena, (double)op->flops, UNIT_FLOPS));
    }
    if (op->source < profile->sources.count) {
        const struct source_line *source = &profile->sources.items[op->source];

        text_print(&text, text.len ? " · " : "");
        text_add_clean(&text, profile_str(profile, source->file));
        text_print(&text, ":%u", source->line);
    }
    return text_str(&text);
}

/* "  %dot.3 = float32[8,8] dot(%a, %b)  // 1.2 ms a step" */
static void instruction_text(const struct program_view *view, const struct program_op *item,
                             struct text *text)
{
    const struct profile *profile = view->study->profile;
    const struct op      *op = op_at(view, item);
    struct program_ids    operands = item->needs;
    struct str            remark = remark_of(view, item, text->arena);
    struct str            results = results_of(view, op, text->arena);

    text_fill(text, ' ', 2 + 2 * (size_t)item->level);
    text_add_clean(text, profile_str(profile, op->name));
    text_add(text, STR(" = "));
    text_add(text, results);
    text_print(text, results.len ? " " : "");
    text_add_clean(text, profile_str(profile, op->type));
    text_add_byte(text, '(');
    for (size_t i = 0; i < operands.count; i++) {
        text_print(text, i ? ", " : "");
        text_add_clean(text, profile_str(profile, profile->ops.items[operands.ids[i]].name));
    }
    text_add_byte(text, ')');
    if (remark.len) {
        text_add(text, STR("  // "));
        text_add(text, remark);
    }
    text_add_byte(text, '\n');
}

static void add_rest(struct text *text, size_t rows, size_t count, const char *what)
{
    if (rows && count > rows)
        text_print(text, "%zu more %s; --top 0 shows all\n", count - rows, what);
}

static void modules_text(const struct program_view *view, size_t rows,
                         const struct output_options *options, struct text *text)
{
    static const char *const names[] = { "module", "time a step", "operations", "instructions",
                                         "fused" };
    struct arena            *arena = text->arena;
    size_t                   shown = rows && rows < view->module_count ? rows : view->module_count;
    struct grid              grid;

    if (!grid_make(&grid, arena, ARRAY_COUNT(names), shown)) {
        text->is_cut = true;
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        grid.cells[i] = str_from(names[i]);
        grid.is_right[i] = i > 0;
    }
    for (size_t i = 0; i < shown; i++) {
        const struct program_module *module = &view->modules[i];
        struct str                  *cells = &grid.cells[(i + 1) * ARRAY_COUNT(names)];

        cells[0] = layout_clean(arena, program_module_name(view, module->name));
        if (module->ns > 0)
            cells[1] = layout_value(arena, module->ns, UNIT_NS);
        if (module->flops > 0)
            cells[2] = layout_value(arena, module->flops, UNIT_FLOPS);
        cells[3] = layout_value(arena, (double)module->op_count, UNIT_COUNT);
        cells[4] = layout_value(arena, (double)module->fused_count, UNIT_COUNT);
    }
    text_print(text, view->is_calls
                         ? "No compiled program was recorded; ops and which of them call which:\n\n"
                         : "Programs of the recording, the one that takes most first:\n\n");
    grid_print(&grid, options->width, text);
    add_rest(text, rows, view->module_count, "modules");
}

/* What stands above the instructions that are `ring` steps away from the one that was asked for. */
static void ring_title(const struct program_view *view, int32_t ring, bool is_first,
                       struct text *text)
{
    const char *gap = is_first ? "" : "\n";
    uint32_t    module = 0;

    if (ring < 0) {
        text_print(text, "%s%d %s it:\n", gap, -ring, view->is_calls ? "inside of" : "before");
        return;
    }
    if (ring > 0) {
        text_print(text, "\n%d %s it:\n", ring, view->is_calls ? "around" : "behind");
        return;
    }
    if (!view->is_calls)
        module = view->study->profile->ops.items[view->centre].module;
    text_print(text, "%sin %.*s:\n", gap,
               STR_ARG(layout_clean(text->arena, program_module_name(view, module))));
}

/* In rings round the one that was asked for, what it needs first. */
static void neighbourhood_text(const struct program_view *view, size_t rows, struct text *text)
{
    int32_t first = 0, last = 0;
    size_t  left = rows ? rows : SIZE_MAX;

    for (size_t i = 0; i < view->op_count; i++) {
        first = view->ops[i].distance < first ? view->ops[i].distance : first;
        last = view->ops[i].distance > last ? view->ops[i].distance : last;
    }
    for (int32_t ring = first; ring <= last && left; ring++) {
        ring_title(view, ring, ring == first, text);
        for (size_t i = 0; i < view->op_count && left; i++) {
            struct program_op item = view->ops[i];

            if (item.distance != ring)
                continue;
            item.level = 0;
            instruction_text(view, &item, text);
            left--;
        }
    }
    add_rest(text, rows, view->op_count, "instructions");
}

void program_text(const struct program_view *view, size_t rows,
                  const struct output_options *options, struct text *text)
{
    if (view->centre != NO_ID) {
        neighbourhood_text(view, rows, text);
        return;
    }
    if (!view->op_count) {
        modules_text(view, rows, options, text);
        return;
    }
    text_add_clean(
        text, program_module_name(view, view->is_calls ? 0 : op_at(view, &view->ops[0])->module));
    text_add(text, STR(":\n"));
    for (size_t i = 0; i < view->op_count && (!rows || i < rows); i++)
        instruction_text(view, &view->ops[i], text);
    add_rest(text, rows, view->op_count, "instructions");
}

/* Text inside a quoted string of DOT: its own escapes are \" and \\, and \l ends a line on the
 * left. */
static void add_quoted(struct text *text, struct str s)
{
    struct text clean = { .arena = text->arena };

    text_add_clean(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"' || clean.data[i] == '\\')
            text_add_byte(text, '\\');
        text_add_byte(text, clean.data[i]);
    }
}

static void node_dot(const struct program_view *view, const struct program_op *item,
                     struct text *text)
{
    const struct profile *profile = view->study->profile;
    const struct op      *op = op_at(view, item);

    text_print(text, "  %u [%slabel=\"", item->op, item->op == view->centre ? "penwidth=3 " : "");
    add_quoted(text, profile_str(profile, op->name));
    text_add(text, STR("\\l"));
    add_quoted(text, profile_str(profile, op->type));
    text_add_byte(text, ' ');
    add_quoted(text, results_of(view, op, text->arena));
    text_add(text, STR("\\l"));
    add_quoted(text, remark_of(view, item, text->arena));
    text_add(text, STR("\\l\"];\n"));
}

void program_dot(const struct program_view *view, struct text *text)
{
    bool *is_shown = arena_new_array(text->arena, bool, view->study->profile->ops.count + 1);

    text_add(text, STR("digraph program {\n  node [shape=box fontname=\"monospace\"];\n"));
    for (size_t i = 0; is_shown && i < view->op_count; i++) {
        is_shown[view->ops[i].op] = true;
        node_dot(view, &view->ops[i], text);
    }
    for (size_t i = 0; is_shown && i < view->op_count; i++) {
        struct program_ids operands = view->ops[i].needs;

        for (size_t j = 0; j < operands.count; j++)
            if (is_shown[operands.ids[j]])
                text_print(text, "  %u -> %u;\n", operands.ids[j], view->ops[i].op);
    }
    text_add(text, STR("}\n"));
    text->is_cut = text->is_cut || !is_shown;
}

static void put_shapes(struct json_writer *json, const char *key, const struct tensor *tensors,
                       uint32_t count)
{
    put_array(json, key);
    for (uint32_t i = 0; i < count; i++) {
        json_object(json);
        if (tensors[i].dtype != DTYPE_UNKNOWN)
            put_text(json, "dtype", dtype_name((enum dtype)tensors[i].dtype));
        if (tensors[i].rank >= 0) {
            put_array(json, "dims");
            for (int j = 0; j < tensors[i].rank && j < TENSOR_MAX_RANK; j++)
                if (tensors[i].dims[j] < 0)
                    json_null(json);
                else
                    json_integer(json, tensors[i].dims[j]);
            json_array_end(json);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_names(struct json_writer *json, const struct program_view *view, const char *key,
                      struct program_ids ids)
{
    const struct profile *profile = view->study->profile;

    put_array(json, key);
    for (size_t i = 0; i < ids.count; i++)
        json_str(json, profile_str(profile, profile->ops.items[ids.ids[i]].name));
    json_array_end(json);
}

static void put_instruction(struct json_writer *json, const struct program_view *view,
                            const struct program_op *item)
{
    const struct profile *profile = view->study->profile;
    const struct op      *op = op_at(view, item);

    json_object(json);
    put_str(json, "name", profile_str(profile, op->name));
    put_str(json, "opcode", profile_str(profile, op->type));
    put_str(json, "module", program_module_name(view, view->is_calls ? 0 : op->module));
    put_str(json, "origin", profile_str(profile, op->origin));
    if (item->caller)
        put_str(json, "inside", profile_str(profile, profile->ops.items[item->caller - 1].name));
    if (view->centre != NO_ID)
        put_integer(json, "distance", item->distance);
    put_shapes(json, "results", profile->tensors.items + op->first_output, op->output_count);
    put_names(json, view, "needs", item->needs);
    put_names(json, view, "needed_by", item->needed_by);
    if (item->calls > 0) {
        put_ms(json, "ms", item->ns);
        put_number(json, "calls", item->calls);
    }
    if (op->flops >= 0)
        put_integer(json, "flops", op->flops);
    if (op->bytes >= 0)
        put_integer(json, "bytes", op->bytes);
    if (op->source < profile->sources.count) {
        put_str(json, "file", profile_str(profile, profile->sources.items[op->source].file));
        put_integer(json, "line", profile->sources.items[op->source].line);
    }
    json_object_end(json);
}

void program_json(const struct program_view *view, struct text *text)
{
    struct json_writer json = { .text = text };

    json_object(&json);
    put_text(&json, "schema", "tfprof.hlo/1");
    json_key(&json, "profile");
    info_json_profile(&json, view->study->recording, false);
    put_array(&json, "modules");
    for (size_t i = 0; i < view->module_count; i++) {
        const struct program_module *module = &view->modules[i];

        json_object(&json);
        put_str(&json, "name", program_module_name(view, module->name));
        put_integer(&json, "instructions", (int64_t)module->op_count);
        put_integer(&json, "fused", (int64_t)module->fused_count);
        put_ms(&json, "ms", module->ns);
        put_number(&json, "flops", module->flops);
        json_object_end(&json);
    }
    json_array_end(&json);
    put_array(&json, "instructions");
    for (size_t i = 0; i < view->op_count; i++)
        put_instruction(&json, view, &view->ops[i]);
    json_array_end(&json);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
