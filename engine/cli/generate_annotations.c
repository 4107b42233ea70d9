/*
 * generate_annotations: tfprof.lua, the rule API for the Lua language server of editors: what rules
 * may call, and every fact and table by name, so that both complete and are checked.
 */
#include "analyze/analysis.h"
#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"
#include "base/macros.h"
#include "base/unit.h"
#include "cli/generate.h"
#include "model/profile.h"
#include "rules/api.h"

#include <stdio.h>
#include <string.h>

/* A "---" line never holds a newline. */
static void add_comment(struct text *text, const char *words)
{
    for (; *words; words++)
        text_add_byte(text, *words == '\n' ? ' ' : *words);
}

static void add_choice(struct text *text, const char *name)
{
    text_print(text, "---| \"%s\"\n", name);
}

static void add_facts_and_tables(struct text *text)
{
    text_add(text, STR("---@alias tfprof.fact_name\n"));
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            add_choice(text, analyses[i]->produces[j].name);
    text_add(text, STR("\n---@alias tfprof.table_name\n"));
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            add_choice(text, analyses[i]->tables[j].name);
    text_add_byte(text, '\n');
}

static void add_enumerations(struct text *text)
{
    static const char fixed[] =
        "---@alias tfprof.severity \"info\"|\"warn\"|\"error\"|\"veto\"\n"
        "---@alias tfprof.preset \"recommended\"|\"strict\"|\"all\"\n"
        "---@alias tfprof.confidence \"low\"|\"medium\"|\"high\"\n"
        "---@alias tfprof.format \"profile\"|\"graph\"|\"xspace\"|\"kineto\"\n"
        "---@alias tfprof.framework \"tensorflow\"|\"jax\"|\"pytorch\"|\"\"\n";

    text_add(text, str_from(fixed));
    text_add(text, STR("\n---@alias tfprof.unit\n"));
    for (int unit = UNIT_NONE; unit <= UNIT_BOOL; unit++)
        if (unit != UNIT_NAME)
            add_choice(text, unit_name((enum unit)unit));
    text_add(text, STR("\n---@alias tfprof.part\n"));
    for (int part = 0; part < PART_COUNT; part++)
        add_choice(text, part_name((enum part)part));
    text_add(text, STR("\n---@alias tfprof.activity\n"));
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        add_choice(text, activity_kind_name((enum activity_kind)kind));
    text_add(text, STR("\n---@alias tfprof.edit_kind\n"));
    for (size_t i = 0; i < EDIT_KIND_COUNT; i++)
        add_choice(text, edit_words[i]);
    text_add_byte(text, '\n');
}

static const char *type_of_unit(enum unit unit)
{
    return unit == UNIT_NAME ? "string" : unit == UNIT_BOOL ? "boolean" : "number";
}

/* A field of facts or of a row; a name that is no word of Lua is quoted. None may be absent: rules
 * say what they need, and editors would ask for a check of each. */
static void add_value(struct text *text, const char *name, bool is_quoted, enum unit unit,
                      const char *help)
{
    text_print(text, "---@field %s%s%s %s ", is_quoted ? "[\"" : "", name, is_quoted ? "\"]" : "",
               type_of_unit(unit));
    if (unit != UNIT_NAME && unit != UNIT_BOOL && unit != UNIT_NONE)
        text_print(text, "(%s) ", unit_name(unit));
    add_comment(text, help);
    text_add_byte(text, '\n');
}

static void add_fact_class(struct text *text)
{
    text_add(text, STR("---@class tfprof.facts\n"));
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count; j++) {
            const struct fact_spec *spec = &analyses[i]->produces[j];

            add_value(text, spec->name, true, spec->unit, spec->help);
        }
    text_add_byte(text, '\n');
}

static bool is_own_of_table(struct str type)
{
    return str_fits(type, "query|row|where|column|group");
}

/* A type with "tfprof.query", "tfprof.row" and so on made those of one table. */
static void add_type(struct text *text, struct str type, const char *table)
{
    static const struct str prefix = STR_INIT("tfprof.");

    while (type.len > 0) {
        size_t     at = str_search(type, prefix), end = at + prefix.len;
        struct str name;

        if (at == type.len)
            break;
        while (end < type.len &&
               (type.data[end] == '_' || (type.data[end] >= 'a' && type.data[end] <= 'z')))
            end++;
        name = str_slice(type, at + prefix.len, end);
        text_add(text, str_slice(type, 0, end));
        if (table && is_own_of_table(name))
            text_print(text, ".%s", table);
        type = str_slice(type, end, type.len);
    }
    text_add(text, type);
}

/* "column tfprof.column …" -> "column: tfprof.column.ops" */
static void add_short_takes(struct text *text, const char *takes, const char *table)
{
    struct str rest = str_from(takes);

    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n'), name = str_cut(&line, ' ');

        text_add(text, STR(", "));
        text_add(text, name);
        text_add(text, STR(": "));
        add_type(text, str_cut(&line, ' '), table);
    }
}

/* The methods of a query over one table. */
static void add_query_class(struct text *text, const char *table)
{
    text_print(text, "---@class tfprof.query.%s: tfprof.query\n", table);
    for (size_t i = 0; i < api_name_count; i++) {
        const struct api_name *name = &api_names[i];
        struct str             gives = str_from(name->gives);

        if (name->class != API_QUERY)
            continue;
        text_print(text, "---@field %s fun(self: tfprof.query.%s", name->name, table);
        add_short_takes(text, name->takes, table);
        text_add(text, STR("): "));
        add_type(text, str_cut(&gives, ' '), table);
        text_add_byte(text, '\n');
    }
    text_add_byte(text, '\n');
}

static void add_where_class(struct text *text, const struct table_spec *table)
{
    text_print(text, "---@class tfprof.where.%s\n", table->name);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column_spec *column = &table->columns[i];

        text_print(text, "---@field %s? %s%s\n", column->name, type_of_unit(column->unit),
                   column->unit == UNIT_NAME   ? "|{ like: string }"
                   : column->unit == UNIT_BOOL ? ""
                                               : "|{ min?: number, max?: number }");
    }
    text_print(text, "\n---@class tfprof.group.%s: tfprof.group\n---@field first tfprof.row.%s\n\n",
               table->name, table->name);
}

static void add_table(struct text *text, const struct table_spec *table)
{
    text_add(text, STR("---"));
    add_comment(text, table->help);
    text_print(text, "\n---@class tfprof.row.%s\n", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        add_value(text, table->columns[i].name, false, table->columns[i].unit,
                  table->columns[i].help);
    text_print(text, "\n---@alias tfprof.column.%s\n", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        add_choice(text, table->columns[i].name);
    text_add_byte(text, '\n');
    add_where_class(text, table);
    add_query_class(text, table->name);
}

/* A field's type that ends in "?" says that it may be absent. */
static void add_field(struct text *text, const struct api_name *name)
{
    struct str type = str_from(name->type);
    bool       is_optional = str_ends(type, STR("?"));

    if (is_optional)
        type.len--;
    text_print(text, "---@field %s%s %.*s ", name->name, is_optional ? "?" : "", STR_ARG(type));
    add_comment(text, name->help);
    text_add_byte(text, '\n');
}

static void add_lines(struct text *text, const char *tag, const char *lines)
{
    struct str rest = str_from(lines);

    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');

        text_print(text, "---@%s %.*s\n", tag, STR_ARG(line));
    }
}

/* What p:table gives for each table. */
static void add_overloads(struct text *text)
{
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            text_print(text,
                       "---@overload fun(self: tfprof.profile, name: \"%s\"): tfprof.query.%s\n",
                       analyses[i]->tables[j].name, analyses[i]->tables[j].name);
}

static void add_function(struct text *text, const struct api_name *name, const char *owner)
{
    struct str  rest = str_from(name->takes);
    const char *glue = "";

    text_add(text, STR("---"));
    add_comment(text, name->help);
    text_add_byte(text, '\n');
    add_lines(text, "param", name->takes);
    /* A return is named by the comment behind "#". */
    for (struct str gives = str_from(name->gives); gives.len > 0;) {
        struct str line = str_cut(&gives, '\n'), type = str_cut(&line, ' ');

        text_print(text, "---@return %.*s # %.*s\n", STR_ARG(type), STR_ARG(line));
    }
    if (name->class == API_PROFILE && strcmp(name->name, "table") == 0)
        add_overloads(text);
    text_print(text, "function %s%s(", owner, name->name);
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n'), word = str_cut(&line, ' ');

        if (str_ends(word, STR("?")))
            word.len--;
        text_print(text, "%s%.*s", glue, STR_ARG(word));
        glue = ", ";
    }
    text_add(text, STR(") end\n\n"));
}

static bool is_library(enum api_class class)
{
    return class >= API_STRING && class <= API_MATH;
}

/* Names of a class that has functions: a global table, or methods of a value. */
static void add_functions(struct text *text, enum api_class class)
{
    const char *name = api_classes[class].name;
    bool        is_method = class == API_PROFILE || class == API_QUERY;
    char        owner[32] = "";

    if (class != API_GLOBAL) {
        text_print(text, "---@class %s%s%s\n", is_library(class) ? "" : "tfprof.", name,
                   is_library(class) ? "lib" : "");
        for (size_t i = 0; i < api_name_count; i++)
            if (api_names[i].class == class && api_names[i].type)
                add_field(text, &api_names[i]);
        text_print(text, "%s%s = {}\n\n", is_method ? "local " : "", name);
        snprintf(owner, sizeof owner, "%s%s", name, is_method ? ":" : ".");
    }
    for (size_t i = 0; i < api_name_count; i++)
        if (api_names[i].class == class && !api_names[i].type)
            add_function(text, &api_names[i], owner);
}

static void add_fields(struct text *text, enum api_class class)
{
    text_print(text, "---@class tfprof.%s%s\n", api_classes[class].name,
               class == API_EDIT ? ": tfprof.select" : "");
    for (size_t i = 0; i < api_name_count; i++)
        if (api_names[i].class == class)
            add_field(text, &api_names[i]);
    text_add_byte(text, '\n');
}

void generate_annotations(struct text *text)
{
    text_print(text,
               "---@meta tfprof\n"
               "-- Rule API 1 of tfprof %s for the Lua language server. Written by\n"
               "-- `tfprof --generate annotations`; rules do not load it.\n\n",
               TFPROF_VERSION);
    add_enumerations(text);
    add_facts_and_tables(text);
    add_fact_class(text);
    text_add(text, STR("---@alias tfprof.column string\n---@alias tfprof.row table<string,any>\n"
                       "---@alias tfprof.where table<string,any>\n\n"
                       "---@class tfprof.replay_price: tfprof.price\n---@field [integer] "
                       "tfprof.edit\n\n"));
    for (int class = 0; class < API_CLASS_COUNT; class ++)
        if (api_classes[class].is_fields)
            add_fields(text, (enum api_class) class);
        else
            add_functions(text, (enum api_class) class);
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            add_table(text, &analyses[i]->tables[j]);
}
