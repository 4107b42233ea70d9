/* tool_json: a tool's page for programs: exact numbers with units, all rows, reasons for what is
 * absent. */
#include "report/tool.h"

#include "analyze/study.h"
#include "base/json_fields.h"
#include "report/output.h"
#include "report/table_report.h"

static void write_absence(struct json_writer *json, const struct facts *facts, const char *name)
{
    const struct absence *absence = facts_why_absent(facts, name);

    json_object(json);
    put_text(json, "name", name);
    if (absence)
        put_text(json, "reason", absence->reason);
    if (absence && absence->capture)
        put_text(json, "capture", absence->capture);
    json_object_end(json);
}

static void write_fact(struct json_writer *json, const struct facts *facts, const struct fact *fact)
{
    json_object(json);
    put_text(json, "name", fact->spec->name);
    put_text(json, "unit", unit_name(fact->spec->unit));
    put_text(json, "help", fact->spec->help);
    json_key(json, "value");
    if (fact->spec->unit == UNIT_NAME)
        json_str(json, intern_str(facts->names, (uint32_t)fact->value));
    else if (fact->spec->unit == UNIT_BOOL)
        json_bool(json, fact->value != 0);
    else
        json_exact(json, fact->value);
    json_object_end(json);
}

/* Those that are there, or those that are not. */
static void write_names(struct json_writer *json, const struct facts *facts, const char *names,
                        bool are_there, struct arena *arena)
{
    struct str  rest = str_from(names);
    const char *name;

    put_array(json, are_there ? "facts" : "absent");
    while ((name = tool_next_name(&rest, arena)) != NULL) {
        const struct fact *fact = facts_find(facts, name);

        if (fact && are_there)
            write_fact(json, facts, fact);
        else if (!fact && !are_there)
            write_absence(json, facts, name);
    }
    json_array_end(json);
}

static void write_section(struct json_writer *json, const struct tool_section *section,
                          const struct facts *facts, int64_t rows, struct arena *arena)
{
    struct table_view view;

    json_object(json);
    put_text(json, "title", section->title);
    if (section->facts) {
        write_names(json, facts, section->facts, true, arena);
        write_names(json, facts, section->facts, false, arena);
    } else {
        put_text(json, "table", section->table);
        put_text(json, "where", section->where);
        if (tool_view(&view, section, facts, rows < 0 ? 0 : rows, arena)) {
            table_json_rows(json, &view);
        } else {
            put_array(json, "absent");
            write_absence(json, facts, section->table);
            json_array_end(json);
        }
    }
    json_object_end(json);
}

void tool_json(const struct tool *tool, const struct study *study, int64_t rows,
               const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.tool/1");
    put_text(&json, "tool", tool->name);
    put_text(&json, "summary", tool->summary);
    put_array(&json, "sections");
    for (size_t i = 0; i < TOOL_SECTIONS && tool->sections[i].title; i++)
        write_section(&json, &tool->sections[i], &study->facts, rows, text->arena);
    json_array_end(&json);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
