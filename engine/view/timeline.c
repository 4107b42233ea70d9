#include "view/timeline.h"

#include <inttypes.h>

void timeline_begin(struct timeline_json *json)
{
    text_add(json->text, STR("{\"traceEvents\":["));
}

void timeline_end(struct timeline_json *json)
{
    text_add(json->text, STR("]}\n"));
}

void timeline_string(struct text *text, struct str s)
{
    size_t len;

    text_add_byte(text, '"');
    for (size_t i = 0; i < s.len; i += len) {
        unsigned char byte = (unsigned char)s.data[i];

        len = str_letter_bytes(str_slice(s, i, s.len));
        if (byte == '"' || byte == '\\')
            text_add_byte(text, '\\');
        if (byte < 0x20)
            text_print(text, "\\u%04x", byte);
        else if (len)
            text_add(text, str_slice(s, i, i + len));
        else
            text_add(text, STR("\xEF\xBF\xBD")); /* U+FFFD: JSON is of whole letters */
        len = len ? len : 1;
    }
    text_add_byte(text, '"');
}

static void next_event(struct timeline_json *json)
{
    if (json->has_events)
        text_add_byte(json->text, ',');
    json->has_events = true;
}

void timeline_process(struct timeline_json *json, const char *kind, struct str name,
                      int64_t process)
{
    struct text whole = { .arena = json->text->arena };

    text_print(&whole, "%s%.*s", kind, STR_ARG(name));
    next_event(json);
    text_add(json->text, STR("{\"args\":{\"name\":"));
    timeline_string(json->text, text_str(&whole));
    text_print(json->text, "},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%" PRId64 "}",
               process);
}

void timeline_region(struct timeline_json *json, const struct timeline_region *region)
{
    struct text *text = json->text;

    next_event(json);
    text_add(text, STR("{\"args\":{\"name\":"));
    timeline_string(text, region->name);
    if (region->has_op) {
        text_add(text, STR(",\"op\":"));
        timeline_string(text, region->name);
    }
    text_print(text, "},\"cat\":\"Op\",\"dur\":%" PRId64 ",\"name\":", region->duration_micros);
    timeline_string(text, region->name);
    text_print(text, ",\"ph\":\"X\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 "}",
               region->process, region->thread, region->start_micros);
}

struct place {
    uint32_t row;
    int64_t  depth, start_micros;
};

static void emit(struct timeline_json *json, const struct tree *tree, const struct place *place,
                 int64_t *deepest)
{
    struct timeline_region region = { .name = tree->nodes.items[place->row].name,
                                      .process = place->depth,
                                      .start_micros = place->start_micros,
                                      .duration_micros =
                                          tree_total_value(tree, place->row, VALUE_EXEC_MICROS),
                                      .has_op = true };

    if (place->depth > *deepest) {
        struct text level = { .arena = json->text->arena };

        *deepest = place->depth;
        text_print(&level, "%" PRId64, place->depth);
        timeline_process(json, "Scope:", text_str(&level), place->depth);
    }
    timeline_region(json, &region);
}

bool timeline_of_tree(const struct tree *tree, const struct view_call *call, struct text *text)
{
    struct timeline_json json = { .text = text };
    struct place        *stack = arena_new_array(call->arena, struct place, tree->nodes.count);
    size_t               depth = 0;
    int64_t              deepest = -1;

    if (!stack)
        return false;
    timeline_begin(&json);
    stack[depth++] = (struct place) { 0 };
    while (depth > 0) {
        struct place             at = stack[--depth];
        const struct tree_state *state = &tree->states[at.row];
        int64_t                  end_micros = at.start_micros;
        size_t                   first = depth;

        emit(&json, tree, &at, &deepest);
        for (uint32_t i = 0; i < state->shown_count; i++) {
            uint32_t row = tree->shown[state->first_shown + i];
            int64_t  micros = tree_total_value(tree, row, VALUE_EXEC_MICROS);

            if (micros <= 0)
                continue;
            stack[depth++] = (struct place) { row, at.depth + 1, end_micros };
            end_micros += micros;
        }
        for (size_t low = first, high = depth; low + 1 < high; low++) { /* the first is next */
            struct place swapped = stack[--high];

            stack[high] = stack[low];
            stack[low] = swapped;
        }
    }
    timeline_end(&json);
    return true;
}
