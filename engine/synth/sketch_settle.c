/* What only a whole sketch tells: which lines take time, and whose consumer an iterator is. */
#include "base/text.h"
#include "synth/grammar.h"

enum { MAX_PARENTS = 32 };

bool sketch_fail(struct err *err, const struct sketch_line *line, const char *text)
{
    err_set(err, ERR_USAGE, "%s", text);
    err->line = line->number;
    err->column = line->column;
    return false;
}

static bool holds_time(const struct sketch_line *line)
{
    const struct word_row *row = grammar_word(line->word);

    return line->duration_ns >= 0 || line->first_child != NO_LINE ||
           !(row->takes & MAY_TAKE_TIME) || line->word == WORD_SYNC;
}

static bool fail_parent(const struct sketch_line *line, struct err *err)
{
    struct token token = { .column = line->column };

    token_fail(err, &token, "no iterator is called '%.*s'",
               (int)(line->parent_name.len > 60 ? 60 : line->parent_name.len),
               line->parent_name.data);
    err->line = line->number;
    return false;
}

/* The iterator that a line's elements go to: "parent NAME", or the nearest around it. */
static bool find_parent(struct sketch *sketch, struct sketch_line *line, struct err *err)
{
    line->iterator = NO_LINE;
    for (uint32_t i = line->parent; !line->parent_name.len && i != NO_LINE;
         i = sketch->lines.items[i].parent)
        if (sketch->lines.items[i].word == WORD_ITERATOR) {
            line->iterator = i;
            return true;
        }
    for (uint32_t i = 0; line->parent_name.len && i < sketch->lines.count; i++) {
        const struct sketch_line *other = &sketch->lines.items[i];

        if (other->word == WORD_ITERATOR && other != line &&
            str_equal(other->label.len ? other->label : other->name, line->parent_name)) {
            line->iterator = i;
            return true;
        }
    }
    return !line->parent_name.len || fail_parent(line, err);
}

/* "Root::Prefetch::Map", from the parents of an iterator. */
static bool name_iterator(const struct sketch *sketch, struct sketch_line *line,
                          struct arena *arena, struct err *err)
{
    const struct sketch_line *chain[MAX_PARENTS];
    struct text               path = { .arena = arena };
    size_t                    count = 0;

    for (const struct sketch_line *at = line;; at = &sketch->lines.items[at->iterator]) {
        if (count == MAX_PARENTS)
            return sketch_fail(err, line, "the parents of this iterator never end");
        chain[count++] = at;
        if (at->iterator == NO_LINE)
            break;
    }
    while (count-- > 0) {
        text_add(&path, chain[count]->name);
        if (count)
            text_add(&path, STR("::"));
    }
    line->path = text_str(&path);
    return !path.is_cut || err_memory(err, "the sketch");
}

bool sketch_settle(struct sketch *sketch, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < sketch->lines.count; i++) {
        struct sketch_line *line = &sketch->lines.items[i];

        if (!holds_time(line))
            return sketch_fail(err, line, "a time is missing here, or lines that take time inside");
        if (line->word == WORD_ITERATOR && !find_parent(sketch, line, err))
            return false;
        if (sketch->profile.len && !sketch_is_setting(line->word) && line->word != WORD_EXPECT)
            return sketch_fail(err, line, "a recorded profile is named: nothing is added to it");
    }
    for (size_t i = 0; i < sketch->lines.count; i++) {
        struct sketch_line *line = &sketch->lines.items[i];

        if (line->word == WORD_ITERATOR && !name_iterator(sketch, line, arena, err))
            return false;
    }
    return true;
}
