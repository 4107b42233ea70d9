#include "mcp/keep.h"

#include "base/json_fields.h"
#include "base/macros.h"
#include "read/json_scan.h"

#include <string.h>

enum { MOST_DEPTH = 32 };

struct keeper {
    struct json_writer   *json;
    struct json_scan     *scan;
    const struct keeping *how;
    int                   depth;
};
struct wish {                /* what a shape says of a member */
    struct str name, inside; /* inside.data NULL: whole */
    char       type;         /* 0: any */
    bool       is_always, is_array, is_bounded;
};

static bool keep_value(struct keeper *keeper, const struct wish *wish);

/* Behind the closing brace of the one that begins at `at`. */
static size_t behind_braces(struct str shape, size_t at)
{
    size_t depth = 0;

    for (; at < shape.len; at++) {
        depth += shape.data[at] == '{';
        depth -= shape.data[at] == '}';
        if (depth == 0)
            return at + 1;
    }
    return shape.len;
}

static bool next_wish(struct str *shape, struct wish *wish)
{
    size_t end = 0;

    *shape = str_trim(*shape);
    if (!shape->len)
        return false;
    while (end < shape->len && !strchr(" !:*+{", shape->data[end]))
        end++;
    *wish = (struct wish) { .name = str_slice(*shape, 0, end) };
    wish->is_always = end < shape->len && shape->data[end] == '!';
    end += wish->is_always;
    if (end + 1 < shape->len && shape->data[end] == ':') {
        wish->type = shape->data[end + 1];
        end += 2;
    }
    *shape = str_slice(*shape, end, shape->len);
    wish->is_bounded = str_starts(*shape, STR("*"));
    wish->is_array = wish->is_bounded || str_starts(*shape, STR("+"));
    *shape = str_slice(*shape, wish->is_array, shape->len);
    if (str_starts(*shape, STR("{"))) {
        end = behind_braces(*shape, 0);
        wish->inside = str_slice(*shape, 1, end - 1);
        *shape = str_slice(*shape, end, shape->len);
    }
    return true;
}

static bool find_wish(struct str shape, struct str name, struct wish *wish)
{
    while (next_wish(&shape, wish))
        if (str_equal(wish->name, name))
            return true;
    return false;
}

static bool keep_object(struct keeper *keeper, struct str shape)
{
    struct str  key;
    struct wish wish = { 0 };

    if (!json_open(keeper->scan, '{'))
        return false;
    json_object(keeper->json);
    while (json_member(keeper->scan, &key)) {
        struct str name = json_unescape(keeper->how->arena, key);

        if (shape.data && !find_wish(shape, name, &wish)) {
            json_skip(keeper->scan);
            continue;
        }
        json_key(keeper->json, arena_text(keeper->how->arena, "%.*s", STR_ARG(name)));
        if (!keep_value(keeper, shape.data ? &wish : NULL))
            return false;
    }
    json_object_end(keeper->json);
    return keeper->scan->state == JSON_FINE;
}

static bool keep_array(struct keeper *keeper, const struct wish *wish)
{
    struct wish item = { .inside = wish ? wish->inside : (struct str) { 0 } };
    size_t      most = wish && wish->is_bounded ? keeper->how->most_items : 0, count = 0;

    if (!json_open(keeper->scan, '['))
        return false;
    json_array(keeper->json);
    while (json_item(keeper->scan)) {
        if (most && ++count > most)
            json_skip(keeper->scan);
        else if (!keep_value(keeper, &item))
            return false;
    }
    json_array_end(keeper->json);
    return keeper->scan->state == JSON_FINE;
}

static void keep_text(struct keeper *keeper, struct str text)
{
    size_t most = keeper->how->most_bytes, len = 0, bytes;

    if (!most || text.len <= most) {
        json_str(keeper->json, text);
        return;
    }
    while (len < most && (bytes = str_letter_bytes(str_slice(text, len, text.len))) > 0)
        len += bytes;
    json_text(keeper->json, arena_text(keeper->how->arena, "%.*s…", (int)len, text.data));
}

static bool keep_scalar(struct keeper *keeper)
{
    bool       is_text = json_peek(keeper->scan) == '"';
    struct str raw = json_scalar(keeper->scan);
    double     number;

    if (keeper->scan->state != JSON_FINE)
        return false;
    if (is_text)
        keep_text(keeper, json_unescape(keeper->how->arena, raw));
    else if (str_fits(raw, "true|false"))
        json_bool(keeper->json, raw.data[0] == 't');
    else if (str_equal(raw, STR("null")))
        json_null(keeper->json);
    else if (str_to_double(raw, &number) && number - number == 0)
        (keeper->how->most_bytes ? json_number : json_exact)(keeper->json, number);
    else
        return false;
    return true;
}

static bool keep_value(struct keeper *keeper, const struct wish *wish)
{
    char first = json_peek(keeper->scan);
    bool is_kept;

    if (++keeper->depth > MOST_DEPTH)
        return false;
    is_kept = first == '{'   ? keep_object(keeper, wish ? wish->inside : (struct str) { 0 })
                : first == '[' ? keep_array(keeper, wish)
                             : keep_scalar(keeper);
    keeper->depth--;
    return is_kept;
}

bool json_keep(struct json_writer *json, struct str text, const char *shape,
               const struct keeping *how)
{
    struct json_scan scan = { .at = text.data, .end = text.data + text.len };
    struct keeper    keeper = { json, &scan, how, 0 };
    struct wish      wish = { .inside = shape ? str_from(shape) : (struct str) { 0 } };

    return keep_value(&keeper, &wish);
}

struct str json_keep_within(struct str text, const char *shape, size_t most_items,
                            size_t budget_bytes, struct arena *arena)
{
    static const size_t texts[] = { 600, 300, 120, 60 };
    struct text         kept = { .arena = arena };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        for (size_t items = most_items; items > 0; items = items > 3 ? items * 2 / 3 : items - 1) {
            struct keeping     how = { arena, items, texts[i] };
            struct json_writer json = { .text = &kept, .is_compact = true };

            kept.len = 0;
            if (!json_keep(&json, text, shape, &how) || kept.len <= budget_bytes)
                return text_str(&kept);
            if (items == 3 && i + 1 < ARRAY_COUNT(texts))
                break; /* few items are worth more with shorter texts */
        }
    return text_str(&kept);
}

static const char *type_name(char letter)
{
    switch (letter) {
    case 's':
        return "string";
    case 'n':
        return "number";
    case 'i':
        return "integer";
    case 'o':
        return "object";
    default:
        return NULL;
    }
}

static void put_type(struct json_writer *json, const char *name)
{
    if (!name)
        return;
    put_text(json, "type", name);
}

static void put_required(struct json_writer *json, struct str shape)
{
    struct wish wish;
    bool        has_any = false;

    while (next_wish(&shape, &wish)) {
        if (!wish.is_always)
            continue;
        if (!has_any) {
            put_array(json, "required");
        }
        has_any = true;
        json_str(json, wish.name);
    }
    if (has_any)
        json_array_end(json);
}

static void put_members(struct json_writer *json, struct str shape);

/* The schema of a member's value, or of its items. */
static void put_value(struct json_writer *json, const struct wish *wish)
{
    json_object(json);
    if (wish->inside.data)
        put_members(json, wish->inside);
    else
        put_type(json, type_name(wish->type));
    json_object_end(json);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the shapes of tools.def */
static void put_members(struct json_writer *json, struct str shape)
{
    struct str  rest = shape;
    struct wish wish;

    put_type(json, "object");
    put_object(json, "properties");
    while (next_wish(&rest, &wish)) {
        json_key(json, arena_text(json->text->arena, "%.*s", STR_ARG(wish.name)));
        if (!wish.is_array) {
            put_value(json, &wish);
            continue;
        }
        json_object(json);
        put_type(json, "array");
        json_key(json, "items");
        put_value(json, &wish);
        json_object_end(json);
    }
    json_object_end(json);
    put_required(json, shape);
}

void json_shape_schema(struct json_writer *json, const char *shape)
{
    json_object(json);
    put_members(json, str_from(shape));
    json_object_end(json);
}

void keep_all(struct json_writer *json, const char *text, struct arena *arena)
{
    json_keep(json, str_from(text), NULL, &(struct keeping) { .arena = arena });
}
