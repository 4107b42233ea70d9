/* The change of a step as a text for reading and as JSON in nanoseconds and bytes. */
#include "base/json_writer.h"
#include "view/attributes.h"
#include "view/diff.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NS_PER_MICRO = 1000, NAME_WIDTH = 40, CELL_WIDTH = 11 };

static const char *const by_names[DIFF_BY_COUNT] = { "type", "scope", "line" };

static void print_cell(struct text *text, int64_t number, bool is_bytes, bool is_change)
{
    struct text cell = { .arena = text->arena };
    int64_t     size = llabs(is_bytes ? number : number / NS_PER_MICRO);

    if (number < 0)
        text_add_byte(&cell, '-');
    else if (is_change)
        text_add_byte(&cell, '+');
    if (is_bytes)
        print_bytes(&cell, size);
    else
        print_micros(&cell, size);
    text_print(text, " %*.*s", CELL_WIDTH - 1, STR_ARG(text_str(&cell)));
}

static void print_part(struct str name, const struct diff_sums *sides, struct text *text)
{
    text_print(text, "  %.*s", STR_ARG(name));
    if (name.len + 3 > NAME_WIDTH) {
        text_add_byte(text, '\n');
        text_fill(text, ' ', NAME_WIDTH);
    } else {
        text_fill(text, ' ', NAME_WIDTH - 2 - name.len);
    }
    print_cell(text, sides[0].ns, false, false);
    print_cell(text, sides[1].ns, false, false);
    print_cell(text, sides[1].ns - sides[0].ns, false, true);
    print_cell(text, sides[1].bytes - sides[0].bytes, true, true);
    text_add_byte(text, '\n');
}

static void print_parts(const struct diff *diff, enum diff_by by, int64_t rows, struct text *text)
{
    struct diff_sums others[2] = { 0 };
    size_t           count = diff->parts[by].count;
    size_t           left_out = 0;

    text_print(text, "\n%-*s%*s%*s%*s%*s\n", NAME_WIDTH, by_names[by], CELL_WIDTH, "before",
               CELL_WIDTH, "after", CELL_WIDTH, "change", CELL_WIDTH, "bytes");
    for (size_t i = 0; i < count; i++) {
        const struct diff_part *part = &diff->parts[by].items[i];

        if (!part->sides[0].ns && !part->sides[1].ns &&
            part->sides[0].bytes == part->sides[1].bytes)
            continue;
        if (rows == 0 || i < (size_t)rows) {
            print_part(part->name, part->sides, text);
            continue;
        }
        for (int side = 0; side < 2; side++) {
            others[side].ns += part->sides[side].ns;
            others[side].bytes += part->sides[side].bytes;
        }
        left_out++;
    }
    if (left_out) {
        struct text line = { .arena = text->arena };

        text_print(&line, "(%zu others)", left_out);
        print_part(text_str(&line), others, text);
    }
}

static bool has_lines(const struct classic *classic)
{
    return classic->has_code || classic->lines;
}

void diff_print(const struct diff *diff, int64_t rows, struct text *text)
{
    int64_t change = diff->step[1].ns - diff->step[0].ns;

    text_add(text, STR("A step took "));
    print_micros(text, diff->step[0].ns / NS_PER_MICRO);
    text_add(text, STR(" and takes "));
    print_micros(text, diff->step[1].ns / NS_PER_MICRO);
    if (diff->step[0].ns > 0)
        text_print(text, " (%+.1f%%)", 100 * (double)change / (double)diff->step[0].ns);
    text_print(text, "; steps: %zu and %zu.\n", diff->classics[0]->steps.count,
               diff->classics[1]->steps.count);
    for (int by = 0; by < DIFF_BY_COUNT; by++) {
        if (by == DIFF_BY_LINE && !has_lines(diff->classics[0]) && !has_lines(diff->classics[1]))
            continue;
        print_parts(diff, (enum diff_by)by, rows, text);
        print_part(STR("the step"), diff->step, text);
    }
}

static void json_sums(struct json_writer *json, const struct diff_sums *sides)
{
    static const char *const names[2][3] = {
        { "before_ns", "before_bytes", "before_runs" },
        { "after_ns", "after_bytes", "after_runs" },
    };

    for (int side = 0; side < 2; side++) {
        json_key(json, names[side][0]);
        json_integer(json, sides[side].ns);
        json_key(json, names[side][1]);
        json_integer(json, sides[side].bytes);
        json_key(json, names[side][2]);
        json_number(json, sides[side].runs);
    }
    json_key(json, "change_ns");
    json_integer(json, sides[1].ns - sides[0].ns);
    json_key(json, "change_bytes");
    json_integer(json, sides[1].bytes - sides[0].bytes);
}

void diff_print_json(const struct diff *diff, struct text *text)
{
    struct json_writer json = { .text = text };

    json_object(&json);
    json_key(&json, "step");
    json_object(&json);
    json_sums(&json, diff->step);
    json_object_end(&json);
    for (int by = 0; by < DIFF_BY_COUNT; by++) {
        json_key(&json, by_names[by]);
        json_array(&json);
        for (size_t i = 0; i < diff->parts[by].count; i++) {
            const struct diff_part *part = &diff->parts[by].items[i];

            json.is_compact = false;
            json_object(&json);
            json_key(&json, "name");
            json_str(&json, part->name);
            json_sums(&json, part->sides);
            json_object_end(&json);
        }
        json_array_end(&json);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}
