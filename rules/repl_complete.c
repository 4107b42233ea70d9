/* repl_complete: what may stand at the end of a line of Lua. */
#include "base/sort.h"
#include "rules/repl.h"

#include "analyze/analysis.h"
#include "rules/api.h"

#include <stdlib.h>
#include <string.h>

struct completing {
    struct str         line, word; /* word: the part that is to be completed */
    struct arena      *arena;
    struct repl_words *words;
    bool               has_memory;
};

static void offer(struct completing *completing, const char *name)
{
    for (size_t i = 0; i < completing->words->items.count; i++)
        if (strcmp(completing->words->items.items[i], name) == 0)
            return;
    if (str_starts(str_from(name), completing->word) &&
        !vec_push(&completing->words->items, completing->arena, name))
        completing->has_memory = false;
}

static void offer_class(struct completing *completing, enum api_class class)
{
    for (size_t i = 0; i < api_name_count; i++)
        if (api_names[i].class == class)
            offer(completing, api_names[i].name);
}

static void offer_columns(struct completing *completing, const struct table_spec *table)
{
    if (str_contains(completing->line, str_from(table->name)))
        for (size_t i = 0; i < table->column_count; i++)
            offer(completing, table->columns[i].name);
}

/* In quotes: facts, tables, and columns of the tables that the line names. */
static void offer_names(struct completing *completing)
{
    for (size_t i = 0; i < analysis_count; i++) {
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            offer(completing, analyses[i]->produces[j].name);
        for (size_t j = 0; j < analyses[i]->table_count; j++) {
            offer(completing, analyses[i]->tables[j].name);
            offer_columns(completing, &analyses[i]->tables[j]);
        }
    }
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* Where the word at the end of the text begins. */
static size_t word_start(struct str text, bool is_quoted)
{
    size_t at = text.len;

    while (at > 0 && (is_word_byte(text.data[at - 1]) || (is_quoted && text.data[at - 1] == '.')))
        at--;
    return at;
}

static bool is_in_quotes(struct str line)
{
    char quote = 0;

    for (size_t i = 0; i < line.len; i++) {
        char byte = line.data[i];

        if (quote && byte == '\\')
            i++;
        else if (quote ? byte == quote : byte == '"' || byte == '\'')
            quote = quote ? 0 : byte;
    }
    return quote != 0;
}

/* Behind "fmt." or "p:": what belongs to it; false: nothing known does. */
static bool offer_members(struct completing *completing, struct str owner, char link)
{
    for (int class = API_PROFILE; class <= API_MATH; class ++) {
        bool is_profile = class == API_PROFILE && str_equal(owner, STR("p"));

        if (is_profile || str_equal(owner, str_from(api_classes[class].name))) {
            offer_class(completing, (enum api_class) class);
            return true;
        }
    }
    if (link == ':')
        offer_class(completing, API_QUERY);
    return link == ':';
}

bool repl_complete(struct str line, struct arena *arena, struct repl_words *words, size_t *from)
{
    struct completing completing = { line, .arena = arena, .words = words, .has_memory = true };
    bool              is_quoted = is_in_quotes(line);
    char              link;

    *words = (struct repl_words) { 0 };
    *from = word_start(line, is_quoted);
    completing.word = str_slice(line, *from, line.len);
    link = *from > 0 ? line.data[*from - 1] : 0;
    if (is_quoted) {
        offer_names(&completing);
    } else if (link == ':' || link == '.') {
        struct str before = str_slice(line, 0, *from - 1);

        offer_members(&completing, str_slice(before, word_start(before, false), before.len), link);
    } else {
        offer(&completing, "p");
        offer_class(&completing, API_GLOBAL);
        for (size_t i = 0; i < analysis_count; i++) /* keys of where { … } */
            for (size_t j = 0; j < analyses[i]->table_count; j++)
                offer_columns(&completing, &analyses[i]->tables[j]);
    }
    if (words->items.count > 0)
        qsort(words->items.items, words->items.count, sizeof *words->items.items, sort_by_text);
    return completing.has_memory;
}
