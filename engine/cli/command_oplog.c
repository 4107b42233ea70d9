/* oplog: an OpLogProto of what is known of ops, without TensorFlow. */
#include "base/file.h"
#include "base/macros.h"
#include "base/wire_out.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/view_input.h"

struct oplog_values {
    struct input_values input;
    const char         *own_types, *output;
    bool                is_registered;
};

#define INPUT(field) offsetof(struct oplog_values, input.field)
/* clang-format off */
static const struct option options[] = {
    { .name = "op_types", .kind = OPTION_TEXT, .offset = offsetof(struct oplog_values, own_types),
      .choices = "FILE",
      .help = "types of your own for ops: lines of TYPE = REGEX, which whole names match" },
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT,
      .offset = offsetof(struct oplog_values, output), .choices = "FILE",
      .help = "where to write the log" },
    { .name = "registered", .kind = OPTION_FLAG,
      .offset = offsetof(struct oplog_values, is_registered),
      .help = "float operations of those types alone that TensorFlow has formulas for, as its own logs" },
#include "cli/input_options.def"
};
/* clang-format on */

/* Fields of OpLogProto, OpLogEntry and CodeDef in tensorflow/core/profiler/tfprof_log.proto. */
enum { LOG_ENTRIES = 1 };
enum { ENTRY_NAME = 1, ENTRY_FLOAT_OPS = 2, ENTRY_TYPES = 3, ENTRY_CODE = 4 };
enum { CODE_TRACES = 1 };
enum { TRACE_FILE = 1, TRACE_LINE = 2, TRACE_FUNCTION = 3, TRACE_TEXT = 4, TRACE_FIRST_LINE = 5 };

static void put_text(struct text *message, uint32_t field, struct str text)
{
    if (text.len)
        wire_out_bytes(message, field, text);
}

static void put_trace(struct text *code, const struct profile *profile, uint32_t source)
{
    const struct source_line *line = &profile->sources.items[source];
    struct text               trace = { .arena = code->arena };

    put_text(&trace, TRACE_FILE, profile_str(profile, line->file));
    if (line->line)
        wire_out_number(&trace, TRACE_LINE, line->line);
    put_text(&trace, TRACE_FUNCTION, profile_str(profile, line->function));
    put_text(&trace, TRACE_TEXT, profile_str(profile, line->text));
    if (line->first_line > 0)
        wire_out_number(&trace, TRACE_FIRST_LINE, (uint64_t)line->first_line);
    wire_out_bytes(code, CODE_TRACES, text_str(&trace));
}

/* The lines that made an op, outermost first; each row names its caller, which was there before. */
static void put_code(struct text *entry, const struct profile *profile, uint32_t source)
{
    struct text code = { .arena = entry->arena };
    uint32_t    depth = 0, *path;

    for (uint32_t at = source; at != NO_ID; at = profile->sources.items[at].caller)
        depth++;
    path = arena_new_array(entry->arena, uint32_t, depth);
    entry->is_cut = entry->is_cut || !path;
    for (uint32_t at = source, i = depth; path && at != NO_ID;
         at = profile->sources.items[at].caller)
        path[--i] = at;
    for (uint32_t i = 0; path && i < depth; i++)
        put_trace(&code, profile, path[i]);
    entry->is_cut = entry->is_cut || code.is_cut;
    if (depth)
        wire_out_bytes(entry, ENTRY_CODE, text_str(&code));
}

/* Types that a log told; profiles repeat there what the op is and where it ran. */
static void put_types(struct text *entry, const struct profile *profile, const struct op *op,
                      struct str device)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];
        struct str         type = profile_str(profile, attr->value);

        if (str_equal(profile_str(profile, attr->name), STR("op_type")) &&
            attr->value != op->type && !str_equal(type, device))
            wire_out_bytes(entry, ENTRY_TYPES, type);
    }
}

/* False: nothing is known of the op. */
static bool put_entry(struct text *entry, const struct classic *classic,
                      const struct own_types *own, uint32_t node, bool is_registered)
{
    const struct profile      *profile = classic->profile;
    const struct classic_node *row = &classic->nodes.items[node];
    int64_t float_ops = is_registered ? profile->ops.items[row->op].flops : row->float_ops;
    size_t  named;

    wire_out_bytes(entry, ENTRY_NAME, classic_name(classic, node));
    named = entry->len;
    if (float_ops > 0)
        wire_out_number(entry, ENTRY_FLOAT_OPS, (uint64_t)float_ops);
    put_types(entry, profile, &profile->ops.items[row->op], classic_device(classic, node));
    for (size_t i = 0; i < own->items.count; i++)
        if (own_types_give(own, i, classic_name(classic, node)))
            wire_out_bytes(entry, ENTRY_TYPES, own->items.items[i].name);
    if (row->source != NO_ID)
        put_code(entry, profile, row->source);
    return entry->len > named;
}

static bool make_log(const struct view_call *view_call, const struct own_types *own,
                     const struct oplog_values *values, struct err *err)
{
    const struct classic *classic = view_call->classic;
    struct text          *log = view_call->text;
    uint32_t              count = 0;

    text_add(log, STR(""));
    for (uint32_t node = 0; node < classic->nodes.count; node++) {
        struct text entry = { .arena = view_call->arena };

        if (!put_entry(&entry, classic, own, node, values->is_registered))
            continue;
        wire_out_bytes(log, LOG_ENTRIES, text_str(&entry));
        log->is_cut = log->is_cut || entry.is_cut;
        count++;
    }
    if (values->output)
        text_print(view_call->complaints, "tfprof: %s: %u of %zu ops\n", values->output, count,
                   classic->nodes.count);
    return own_types_settled(own, err);
}

static bool make(struct call *call, struct err *err)
{
    const struct oplog_values *values = call->values;
    struct own_types           own = { 0 };
    struct input               input;
    struct view_call           view_call;
    struct text                texts[2];
    bool                       is_done;

    if (values->own_types && !own_types_read(values->own_types, call->arena, &own, err))
        return false;
    is_done = input_read(&input, &values->input, &call->operands, INPUT_VIEWS, err);
    if (is_done) {
        is_done = view_input_call(&input, &view_call, texts, "an op log", err);
        if (is_done && values->own_types)
            own_types_tell_unused(&own, values->own_types, view_call.classic, view_call.complaints);
        is_done = is_done && make_log(&view_call, &own, values, err) &&
                  view_input_keep(&view_call, call, err);
        input_free(&input);
    }
    own_types_free(&own);
    return is_done;
}

static bool run(struct call *call, struct err *err)
{
    const struct oplog_values *values = call->values;
    bool                       is_made;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (!values->output)
        return err_set(err, ERR_USAGE, "--output says where to: -o op_log");
    is_made = answer_prepare(call, err) && answer_make(call, call->arena, err);
    progress_end();
    if (!is_made)
        return false;
    if (call->text.len == 0) {
        err_set(err, ERR_INPUT, "nothing is known of any op that a log could tell");
        return err_advise(err, "--op_types FILE gives ops types of your own");
    }
    if (!file_write(values->output, text_str(&call->text), err))
        return false;
    answer_warn(call);
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct oplog_values, input),
    .has_no_result = true,
    .make = make,
};

const struct command command_oplog = {
    .name = "oplog",
    .summary = "write an op log for TensorFlow's profiler, without TensorFlow",
    .operands = "FILE...",
    .description =
        "Writes an OpLogProto, as TensorFlow's write_op_log does: for each op of the graph its "
        "types "
        "of your own, its float operations where they are known, and the lines that made it where "
        "they were recorded. FILE is a graph, with run metadata for shapes, or a ProfileProto.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct oplog_values),
    .run = run,
    .answer = &answer,
};
