#include "analyze/replay/edit_text.h"

#include "analyze/path/path.h"
#include "model/profile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *const edit_words[EDIT_KIND_COUNT] = {
#define EDIT(id, word, help) [EDIT_##id] = word,
#include "analyze/replay/edit.def"
#undef EDIT
};

static const char *part_word(unsigned part)
{
    return part_name((enum part)part);
}

static const char *kind_word(unsigned kind)
{
    return activity_kind_name((enum activity_kind)kind);
}

enum field_kind { FIELD_PARTS, FIELD_KINDS, FIELD_PATTERN, FIELD_HOST, FIELD_CELL, FIELD_NUMBER };
static const struct field {
    const char     *name;
    enum field_kind kind;
    size_t          offset;
} fields[] = {
    { "parts", FIELD_PARTS, offsetof(struct edit, select.part_mask) },
    { "kinds", FIELD_KINDS, offsetof(struct edit, select.kind_mask) },
    { "name", FIELD_PATTERN, offsetof(struct edit, select.name) },
    { "op_type", FIELD_PATTERN, offsetof(struct edit, select.op_type) },
    { "stage", FIELD_PATTERN, offsetof(struct edit, select.stage) },
    { "host", FIELD_HOST, offsetof(struct edit, select.host) },
    { "cell", FIELD_CELL, offsetof(struct edit, select.cell) },
    { "factor", FIELD_NUMBER, offsetof(struct edit, factor) },
    { "ns", FIELD_NUMBER, offsetof(struct edit, ns) },
};

static unsigned word_count(enum field_kind kind)
{
    return kind == FIELD_PARTS ? PART_COUNT : ACTIVITY_KIND_COUNT;
}

static const char *word_of(enum field_kind kind, unsigned row)
{
    return kind == FIELD_PARTS ? part_word(row) : kind_word(row);
}

static void print_mask(enum field_kind kind, uint32_t mask, struct text *text)
{
    const char *separator = "";

    for (unsigned i = 0; i < word_count(kind); i++)
        if (mask >> i & 1) {
            text_print(text, "%s%s", separator, word_of(kind, i));
            separator = ",";
        }
}

static void print_quoted(const char *value, struct text *text)
{
    bool is_plain = *value && !strpbrk(value, " \t\n\"");

    if (is_plain) {
        text_add(text, str_from(value));
        return;
    }
    text_add_byte(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            text_add_byte(text, '"');
        text_add_byte(text, *value);
    }
    text_add_byte(text, '"');
}

static void print_field(const struct field *field, const void *member, struct text *text)
{
    const char *const *pattern = member;
    const uint32_t    *number = member;
    const double      *value = member;

    switch (field->kind) {
    case FIELD_PARTS:
    case FIELD_KINDS:
        if (*number) {
            text_print(text, " %s=", field->name);
            print_mask(field->kind, *number, text);
        }
        return;
    case FIELD_PATTERN:
        if (*pattern) {
            text_print(text, " %s=", field->name);
            print_quoted(*pattern, text);
        }
        return;
    case FIELD_HOST:
    case FIELD_CELL:
        if (*number != (field->kind == FIELD_HOST ? NO_ID : 0))
            text_print(text, " %s=%u", field->name, *number);
        return;
    case FIELD_NUMBER:
        if (*value != 0) {
            text_print(text, " %s=", field->name);
            text_add_exact(text, *value);
        }
        return;
    }
}

void edit_print(const struct edit *edit, struct text *text)
{
    text_add(text, str_from(edit_words[edit->kind]));
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        print_field(&fields[i], (const char *)edit + fields[i].offset, text);
}

/* Reading: what is left of the text. */
struct reading {
    struct str    rest, whole;
    struct arena *arena;
    struct err   *err;
};

static bool fails(struct reading *reading, const char *what, struct str word)
{
    return err_set(reading->err, ERR_USAGE, "--edit '%.*s': %s '%.*s'", STR_ARG(reading->whole),
                   what, STR_ARG(word));
}

/* The text up to the next blank, or what stands between double quotes. */
static bool take_value(struct reading *reading, struct str *value)
{
    struct text text = { .arena = reading->arena };
    const char *at = reading->rest.data, *end = at + reading->rest.len;
    bool        is_quoted = at < end && *at == '"', is_open = is_quoted;

    for (at += is_quoted; at < end && (is_quoted || *at != ' '); at++) {
        if (is_quoted && *at == '"' && (++at == end || *at != '"')) {
            is_open = false;
            break;
        }
        text_add_byte(&text, *at);
    }
    if (is_open)
        return fails(reading, "no quote ends", reading->rest);
    reading->rest = str_trim((struct str) { at, (size_t)(end - at) });
    *value = text_str(&text);
    return text_is_whole(&text) || err_memory(reading->err, "an edit");
}

static bool scan_mask(struct reading *reading, enum field_kind kind, struct str list,
                      uint32_t *mask)
{
    while (list.len) {
        struct str word = str_cut(&list, ',');
        unsigned   row = 0;

        while (row < word_count(kind) && !str_equal(word, str_from(word_of(kind, row))))
            row++;
        if (row == word_count(kind))
            return fails(reading,
                         kind == FIELD_PARTS ? "no part of a step is called"
                                             : "no kind of activity is called",
                         word);
        *mask |= UINT32_C(1) << row;
    }
    return true;
}

static bool scan_row(struct reading *reading, struct str text, uint32_t *row)
{
    int64_t number;

    if (!str_to_int64(text, &number) || number < 0 || number >= NO_ID)
        return fails(reading, "no number of a row is", text);
    *row = (uint32_t)number;
    return true;
}

static bool scan_number(struct reading *reading, struct str text, double *number)
{
    return (str_to_double(text, number) && isfinite(*number) && *number >= 0) ||
           fails(reading, "no number of 0 or more is", text);
}

static bool scan_pattern(struct reading *reading, struct str text, const char **pattern)
{
    *pattern = arena_str(reading->arena, text).data;
    return *pattern || err_memory(reading->err, "an edit");
}

static bool scan_field(struct reading *reading, struct edit *edit)
{
    struct str name = str_slice(reading->rest, 0, str_find(reading->rest, '='));
    struct str value = { 0 };

    reading->rest = str_slice(reading->rest, name.len + 1, reading->rest.len);
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        void *member = (char *)edit + fields[i].offset;

        if (!str_equal(name, str_from(fields[i].name)))
            continue;
        if (!take_value(reading, &value))
            return false;
        switch (fields[i].kind) {
        case FIELD_PARTS:
        case FIELD_KINDS:
            return scan_mask(reading, fields[i].kind, value, member);
        case FIELD_PATTERN:
            return scan_pattern(reading, value, member);
        case FIELD_HOST:
        case FIELD_CELL:
            return scan_row(reading, value, member);
        case FIELD_NUMBER:
            return scan_number(reading, value, member);
        }
    }
    return fails(reading,
                 "an edit says parts, kinds, name, op_type, stage, host, cell, factor or ns, not",
                 name);
}

bool edit_scan(struct edit *edit, struct str text, struct arena *arena, struct err *err)
{
    struct reading reading = { str_trim(text), str_trim(text), arena, err };
    struct str     word = str_slice(reading.rest, 0, str_find(reading.rest, ' '));
    size_t         kind = 0;

    *edit = (struct edit) { .select.host = NO_ID };
    while (kind < EDIT_KIND_COUNT && !str_equal(word, str_from(edit_words[kind])))
        kind++;
    if (kind == EDIT_KIND_COUNT)
        return fails(
            &reading,
            "an edit begins with scale, subtract, overlap, prefetch, stage_parallel, stage_scale, "
            "omit, unblock or step, not",
            word);
    edit->kind = (enum edit_kind)kind;
    reading.rest = str_trim(str_slice(reading.rest, word.len, reading.rest.len));
    while (reading.rest.len)
        if (!scan_field(&reading, edit))
            return false;
    return true;
}
