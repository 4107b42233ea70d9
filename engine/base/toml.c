#include "base/toml.h"

#include "base/intern.h"
#include "base/text.h"

#include <string.h>

enum { MOST_DEPTH = 8 };

struct parser {
    const char   *at, *end, *line_start;
    uint32_t      line;
    struct arena *arena;
    struct toml  *toml;
    struct err   *err;
    const char   *table;
    uint32_t      index;
    unsigned      depth;
    struct intern keys;   /* of entries, with their table and index */
    struct intern tables; /* of entries */
    VEC(uint32_t) next;   /* by table: the index behind its last entry */
};

static bool fail(struct parser *parser, const char *expected)
{
    err_set(parser->err, ERR_USAGE, "expected %s", expected);
    parser->err->line = parser->line;
    parser->err->column = (uint32_t)(parser->at - parser->line_start) + 1;
    return false;
}

static bool no_memory(struct parser *parser)
{
    return err_set(parser->err, ERR_LIMIT, "the configuration does not fit the memory limit");
}

static char peek(const struct parser *parser)
{
    return parser->at < parser->end ? *parser->at : 0;
}

static bool take(struct parser *parser, char byte)
{
    if (parser->at == parser->end || *parser->at != byte)
        return false;
    parser->at++;
    if (byte == '\n') {
        parser->line++;
        parser->line_start = parser->at;
    }
    return true;
}

static void skip_blanks(struct parser *parser)
{
    while (peek(parser) == ' ' || peek(parser) == '\t')
        parser->at++;
}

static void skip_comment(struct parser *parser)
{
    skip_blanks(parser);
    if (peek(parser) == '#')
        while (parser->at < parser->end && *parser->at != '\n')
            parser->at++;
    if (peek(parser) == '\r')
        parser->at++;
}

/* Blanks, comments and newlines. */
static void skip_lines(struct parser *parser)
{
    do
        skip_comment(parser);
    while (take(parser, '\n'));
}

static bool is_bare(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

static bool add_escape(struct parser *parser, struct text *text)
{
    static const char names[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
    const char       *found = peek(parser) ? strchr(names, peek(parser)) : NULL;

    if (!found)
        return fail(parser, "an escape of TOML: \\b \\t \\n \\f \\r \\\" or \\\\");
    text_add_byte(text, bytes[found - names]);
    parser->at++;
    return true;
}

/* A string of one line in either kind of quotes. */
static bool parse_string(struct parser *parser, const char **string)
{
    struct text text = { .arena = parser->arena };
    char        quote = *parser->at++;

    text_add(&text, STR(""));
    while (peek(parser) != quote) {
        if (parser->at == parser->end || *parser->at == '\n')
            return fail(parser, "the closing quote of a string");
        if (quote == '"' && *parser->at == '\\') {
            parser->at++;
            if (!add_escape(parser, &text))
                return false;
            continue;
        }
        text_add_byte(&text, *parser->at++);
    }
    parser->at++;
    *string = text.data ? text.data : "";
    return !text.is_cut || no_memory(parser);
}

static bool parse_key_part(struct parser *parser, const char **part)
{
    const char *start = parser->at;

    if (peek(parser) == '"' || peek(parser) == '\'')
        return parse_string(parser, part);
    while (is_bare(peek(parser)))
        parser->at++;
    if (parser->at == start)
        return fail(parser, "a key");
    *part = arena_str(parser->arena, (struct str) { start, (size_t)(parser->at - start) }).data;
    return *part || no_memory(parser);
}

/* "a.b.c": all but the last part go to `table`, behind what is there. */
static bool parse_key(struct parser *parser, const char **table, const char **key)
{
    if (!parse_key_part(parser, key))
        return false;
    for (skip_blanks(parser); peek(parser) == '.'; skip_blanks(parser)) {
        parser->at++;
        skip_blanks(parser);
        *table = (*table)[0] ? arena_text(parser->arena, "%s.%s", *table, *key) : *key;
        if (!*table)
            return no_memory(parser);
        if (!parse_key_part(parser, key))
            return false;
    }
    return true;
}

static bool parse_bare(struct parser *parser, struct str *word)
{
    const char *start = parser->at;

    while (is_bare(peek(parser)) || peek(parser) == '+' || peek(parser) == '.' ||
           peek(parser) == ':')
        parser->at++;
    *word = (struct str) { start, (size_t)(parser->at - start) };
    return word->len > 0 || fail(parser, "a value");
}

static bool is_date(struct str word)
{
    if (word.len != 10 || word.data[4] != '-' || word.data[7] != '-')
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (i != 4 && i != 7 && (word.data[i] < '0' || word.data[i] > '9'))
            return false;
    return true;
}

static bool parse_scalar(struct parser *parser, struct toml_entry *entry)
{
    struct str  word;
    const char *start = parser->at;

    if (peek(parser) == '"' || peek(parser) == '\'') {
        entry->kind = TOML_TEXT;
        return parse_string(parser, &entry->text);
    }
    if (!parse_bare(parser, &word))
        return false;
    entry->text = arena_str(parser->arena, word).data;
    if (!entry->text)
        return no_memory(parser);
    if (str_fits(word, "true|false")) {
        entry->kind = TOML_BOOL;
        entry->number = word.data[0] == 't';
    } else if (is_date(word)) {
        entry->kind = TOML_DATE;
    } else if (str_to_double(word, &entry->number)) {
        entry->kind = TOML_NUMBER;
    } else {
        parser->at = start;
        return fail(parser, "a string in quotes, a number, true, false or a date");
    }
    return true;
}

static bool parse_array(struct parser *parser, struct toml_entry *entry)
{
    entry->kind = TOML_ARRAY;
    parser->at++;
    for (skip_lines(parser); !take(parser, ']'); skip_lines(parser)) {
        struct toml_entry item = { 0 };

        if (peek(parser) == '[' || peek(parser) == '{')
            return fail(parser, "a string or a number: arrays hold nothing else here");
        if (!parse_scalar(parser, &item))
            return false;
        if (!vec_push(&entry->items, parser->arena, item.text))
            return no_memory(parser);
        skip_lines(parser);
        if (!take(parser, ',') && peek(parser) != ']')
            return fail(parser, "a comma or ]");
    }
    return true;
}

static bool parse_pair(struct parser *parser, const char *table);

static bool parse_inline_table(struct parser *parser, const char *table)
{
    if (++parser->depth > MOST_DEPTH)
        return fail(parser, "fewer tables inside each other");
    parser->at++;
    for (skip_blanks(parser); !take(parser, '}'); skip_blanks(parser)) {
        if (!parse_pair(parser, table))
            return false;
        skip_blanks(parser);
        if (!take(parser, ',') && peek(parser) != '}')
            return fail(parser, "a comma or }");
    }
    parser->depth--;
    return true;
}

/* False: the key stands there twice, or memory ran out. `column`: of its value. */
static bool add_entry(struct parser *parser, const struct toml_entry *entry, uint32_t column)
{
    const char *name =
        arena_text(parser->arena, "%s\n%u\n%s", entry->table, entry->index, entry->key);
    uint32_t had = parser->keys.count;
    uint32_t table = intern_add(&parser->tables, str_from(entry->table));

    if (!name || table == NO_ID || intern_add(&parser->keys, str_from(name)) == NO_ID)
        return no_memory(parser);
    if (parser->keys.count == had) {
        fail(parser, "each key once");
        parser->err->line = entry->line;
        parser->err->column = column;
        return false;
    }
    while (parser->next.count <= table)
        if (!vec_push(&parser->next, parser->arena, 0))
            return no_memory(parser);
    parser->next.items[table] = entry->index + 1;
    return vec_push(&parser->toml->entries, parser->arena, *entry) || no_memory(parser);
}

/* key = value, flattened into entries */
static bool parse_pair(struct parser *parser, const char *table)
{
    struct toml_entry entry = { .table = table,
                                .index = parser->index,
                                .line = parser->line,
                                .column = (uint32_t)(parser->at - parser->line_start) + 1 };
    uint32_t          column;
    bool              is_fine;

    if (!parse_key(parser, &entry.table, &entry.key))
        return false;
    skip_blanks(parser);
    if (!take(parser, '='))
        return fail(parser, "=");
    skip_blanks(parser);
    if (peek(parser) == '{') {
        const char *inner =
            entry.table[0] ? arena_text(parser->arena, "%s.%s", entry.table, entry.key) : entry.key;
        return inner ? parse_inline_table(parser, inner) : no_memory(parser);
    }
    column = (uint32_t)(parser->at - parser->line_start) + 1;
    is_fine = peek(parser) == '[' ? parse_array(parser, &entry) : parse_scalar(parser, &entry);
    return is_fine && add_entry(parser, &entry, column);
}

/* The next free index of an array of tables. */
static uint32_t next_index(const struct parser *parser, const char *table)
{
    uint32_t id = intern_find(&parser->tables, str_from(table));

    return id < parser->next.count ? parser->next.items[id] : 0;
}

static bool parse_header(struct parser *parser)
{
    const char *outer = "", *last;
    bool        is_array;

    parser->at++;
    is_array = take(parser, '[');
    skip_blanks(parser);
    if (!parse_key(parser, &outer, &last))
        return false;
    parser->table = outer[0] ? arena_text(parser->arena, "%s.%s", outer, last) : last;
    if (!parser->table)
        return no_memory(parser);
    parser->index = is_array ? next_index(parser, parser->table) : 0;
    if (!take(parser, ']') || (is_array && !take(parser, ']')))
        return fail(parser, "] after the name of a table");
    return true;
}

bool toml_parse(struct str bytes, struct arena *arena, struct toml *toml, struct err *err)
{
    struct parser parser = { .at = bytes.data,
                             .end = bytes.data + bytes.len,
                             .line_start = bytes.data,
                             .line = 1,
                             .arena = arena,
                             .toml = toml,
                             .err = err,
                             .table = "" };

    *toml = (struct toml) { 0 };
    if (!intern_init(&parser.keys, arena) || !intern_init(&parser.tables, arena))
        return no_memory(&parser);
    for (skip_lines(&parser); parser.at < parser.end; skip_lines(&parser)) {
        parser.depth = 0;
        if (!(*parser.at == '[' ? parse_header(&parser) : parse_pair(&parser, parser.table)))
            return false;
        skip_comment(&parser);
        if (parser.at < parser.end && *parser.at != '\n')
            return fail(&parser, "the end of the line");
    }
    return true;
}

bool toml_fault(const struct toml_entry *entry, struct err *err)
{
    err->line = entry->line;
    err->column = entry->column;
    return false;
}
