/* sketch: lines of text into a tree, by their indentation and the grammar. */
#include "synth/sketch.h"

#include "base/macros.h"
#include "base/text.h"
#include "synth/grammar.h"

#include <stdio.h>

enum { MAX_DEPTH = 32, MAX_LINES = 10000, MAX_RANKS = 64, MAX_PARENTS = 32 };
static const int64_t LAUNCH_NS = 5000;

/* Lines that are still open, outermost first. */
struct level {
    uint32_t line, last_child; /* NO_LINE: the top; no child yet */
    uint32_t indent;           /* of its children, once there is one */
    uint32_t where;            /* bits of where its children stand */
    bool     has_child;
};
struct parsing {
    struct sketch *sketch;
    struct arena  *arena;
    struct level   levels[MAX_DEPTH + 1];
    uint32_t       depth; /* of the innermost level */
    uint32_t       number;
    uint32_t       seen; /* bits of settings made; one each */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "no memory left for the sketch");
}

static bool fail_line(struct err *err, const struct sketch_line *line, const char *text)
{
    err_set(err, ERR_USAGE, "%s", text);
    err->line = line->number;
    err->column = line->column;
    return false;
}

/* Finds the level that a line of this indentation belongs to; those deeper are closed. */
static bool find_level(struct parsing *parsing, uint32_t indent, struct err *err)
{
    struct level *level = &parsing->levels[parsing->depth];

    if (!level->has_child) {
        uint32_t outer = parsing->depth ? parsing->levels[parsing->depth - 1].indent : 0;

        if (parsing->depth == 0 ? indent == 0 : indent > outer) {
            level->has_child = true;
            level->indent = indent;
            return true;
        }
        if (parsing->depth == 0)
            return token_fail(err, &(struct token) { .column = 1 },
                              "the first line is not indented");
        parsing->depth--;
    }
    while (parsing->depth > 0 && indent < parsing->levels[parsing->depth].indent)
        parsing->depth--;
    return indent == parsing->levels[parsing->depth].indent ||
           token_fail(err, &(struct token) { .column = indent + 1 },
                      "the line is indented like no line above it");
}

static uint32_t where_below(const struct word_row *row, uint32_t where)
{
    if (row->takes & HOLDS_SAME)
        return where;
    return (row->takes & HOLDS_STEP     ? IN_STEP
            : row->takes & HOLDS_HOST   ? IN_HOST
            : row->takes & HOLDS_STREAM ? IN_STREAM
                                        : 0U);
}

/* Lines of a step that are no blocks of their own run on its main thread. */
static bool may_stand(const struct word_row *row, uint32_t where)
{
    return (row->where & where) || (where == IN_STEP && (row->where & IN_HOST));
}

static bool misplaced(const struct parsing *parsing, const struct token *token,
                      const struct word_row *row, struct err *err)
{
    const struct level *level = &parsing->levels[parsing->depth];

    if (level->where == 0)
        return token_fail(err, token, "%s holds no lines of its own",
                          sketch_word_text(parsing->sketch->lines.items[level->line].word));
    if (level->where == IN_TOP)
        token_fail(err, token, "%s stands inside a step", row->text);
    else if (row->where == IN_TOP)
        token_fail(err, token, "%s stands outside of steps, not indented", row->text);
    else
        token_fail(err, token, "%s does not stand on a %s", row->text,
                   level->where == IN_STREAM ? "stream of a device" : "host thread");
    return err_advise(err, "a line looks like: %s", row->example);
}

/* Opens the line that was added last for lines below it. */
static bool open_level(struct parsing *parsing, uint32_t row, uint32_t where, uint32_t column,
                       struct err *err)
{
    struct level *level = &parsing->levels[parsing->depth];
    uint32_t      previous = level->last_child;

    if (previous != NO_LINE)
        parsing->sketch->lines.items[previous].next = row;
    else if (level->line != NO_LINE)
        parsing->sketch->lines.items[level->line].first_child = row;
    else
        parsing->sketch->first = row;
    level->last_child = row;
    if (parsing->depth == MAX_DEPTH)
        return token_fail(err, &(struct token) { .column = column },
                          "lines are nested at most %d deep", MAX_DEPTH);
    parsing->levels[++parsing->depth] =
        (struct level) { .line = row, .last_child = NO_LINE, .where = where };
    return true;
}

struct choice {
    const char *text;
    int         value;
};

static bool choose(const struct sketch_line *line, const struct choice *choices, size_t count,
                   int *value, struct err *err)
{
    struct token token = { .column = line->value_column };
    char         list[128] = "";
    size_t       len = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_equal(line->name, str_from(choices[i].text))) {
            *value = choices[i].value;
            return true;
        }
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                i == 0           ? ""
                                : i + 1 == count ? " and "
                                                 : ", ",
                                choices[i].text);
    }
    token_fail(err, &token, "there is no %s '%.*s'", sketch_word_text(line->word),
               (int)(line->name.len > 60 ? 60 : line->name.len), line->name.data);
    return err_advise(err, "there are %s", list);
}

static const struct choice formats[] = {
    { "xspace", SKETCH_XSPACE },
    { "kineto", SKETCH_KINETO },
    { "profile", SKETCH_PROFILE },
};
static const struct choice frameworks[] = {
    { "tensorflow", FRAMEWORK_TENSORFLOW },
    { "jax", FRAMEWORK_JAX },
    { "pytorch", FRAMEWORK_PYTORCH },
};

/* The texts are those that write_names.c knows. */
static const struct choice directions[] = {
    { "h2d", 0 },
    { "d2h", 1 },
    { "d2d", 2 },
    { "p2p", 3 },
};

static bool set_ranks(struct sketch *sketch, const struct sketch_line *line, struct err *err)
{
    struct token token = { .column = line->value_column };

    if (line->count < 1 || line->count > MAX_RANKS)
        return token_fail(err, &token, "1 to %d ranks are possible", MAX_RANKS);
    sketch->rank_count = (uint32_t)line->count;
    sketch->has_ranks = true;
    return true;
}

/* A line at the top that says something about the whole profile. */
static bool set(struct parsing *parsing, uint32_t row, struct err *err)
{
    struct sketch            *sketch = parsing->sketch;
    const struct sketch_line *line = &sketch->lines.items[row];
    int                       value = 0;

    switch (line->word) {
    case WORD_FORMAT:
        if (!choose(line, formats, ARRAY_COUNT(formats), &value, err))
            return false;
        sketch->format = (enum sketch_format)value;
        return true;
    case WORD_FRAMEWORK:
        if (!choose(line, frameworks, ARRAY_COUNT(frameworks), &value, err))
            return false;
        sketch->framework = (enum sketch_framework)value;
        return true;
    case WORD_SEED:
        sketch->seed = (uint64_t)line->count;
        return true;
    case WORD_NOISE:
        sketch->noise_share = line->share;
        return true;
    case WORD_PACE:
        sketch->pace_share = line->share;
        return true;
    case WORD_RANKS:
    case WORD_HOSTS:
        return set_ranks(sketch, line, err);
    case WORD_CORES:
        sketch->core_count = (uint32_t)(line->count > 1 << 16 ? 1 << 16 : line->count);
        return true;
    case WORD_LAUNCH:
        sketch->launch_ns = line->duration_ns;
        return true;
    case WORD_GPU:
        sketch->gpu = row;
        return true;
    case WORD_PROFILE:
        sketch->profile = line->name;
        return true;
    default:
        return true;
    }
}

static bool is_setting(enum sketch_word word)
{
    return word <= WORD_PROFILE;
}

/* A setting counts once, so that the second of two does not win in silence. */
static bool add_setting(struct parsing *parsing, uint32_t row, const struct token *token,
                        struct err *err)
{
    enum sketch_word word = parsing->sketch->lines.items[row].word;

    if (parsing->seen >> word & 1)
        return token_fail(err, token, "%s has been said already", sketch_word_text(word));
    parsing->seen |= 1U << word;
    return set(parsing, row, err);
}

static bool add_expect(struct parsing *parsing, struct tokens *tokens, struct err *err)
{
    struct sketch_expect expect = { .number = parsing->number };

    return grammar_read_expect(tokens, &expect, err) &&
           (vec_push(&parsing->sketch->expects, parsing->arena, expect) || no_memory(err));
}

static bool add_line(struct parsing *parsing, struct tokens *tokens, struct err *err)
{
    struct sketch      *sketch = parsing->sketch;
    const struct token *token = &tokens->list[tokens->at++];
    struct level       *level = &parsing->levels[parsing->depth];
    struct sketch_line  line = { .number = parsing->number,
                                 .column = token->column,
                                 .first_child = NO_LINE,
                                 .next = NO_LINE,
                                 .parent = level->line,
                                 .repeat = 1,
                                 .duration_ns = -1,
                                 .at_ns = -1,
                                 .late_ns = -1,
                                 .launch_ns = -1,
                                 .bytes = -1,
                                 .used_bytes = -1,
                                 .count = -1,
                                 .to = -1,
                                 .stream = -1,
                                 .gpu = -1,
                                 .parallel = -1,
                                 .group = -1,
                                 .sms = -1,
                                 .share = -1,
                                 .noise_share = -1,
                                 .compute = -1,
                                 .flops = -1 };
    uint32_t            row = (uint32_t)sketch->lines.count;

    if (token->kind != TOKEN_WORD || !grammar_find(token->text, &line.word)) {
        const char *near = grammar_nearest(token->text, IN_ANY);

        token_fail(err, token, "'%.*s' begins no line",
                   (int)(token->text.len > 60 ? 60 : token->text.len), token->text.data);
        return near ? err_advise(err, "did you mean %s?", near) : false;
    }
    if (!may_stand(grammar_word(line.word), level->where))
        return misplaced(parsing, token, grammar_word(line.word), err);
    if (line.word == WORD_EXPECT) {
        if (!add_expect(parsing, tokens, err))
            return false;
    } else if (!grammar_read(sketch, tokens, &line, parsing->arena, err)) {
        return false;
    }
    if (line.word == WORD_COPY &&
        !choose(&line, directions, ARRAY_COUNT(directions), &(int) { 0 }, err))
        return false;
    if (!vec_push(&sketch->lines, parsing->arena, line))
        return no_memory(err);
    return open_level(parsing, row, where_below(grammar_word(line.word), level->where),
                      token->column, err) &&
           (!is_setting(line.word) || add_setting(parsing, row, token, err));
}

static bool read_line(struct parsing *parsing, struct str text, struct err *err)
{
    struct tokens tokens;
    uint32_t      indent = 0;

    if (!tokens_scan(text, parsing->arena, &tokens, err))
        return false;
    if (tokens.count == 1)
        return true; /* blank, or a comment */
    indent = tokens.list[0].column - 1;
    if (str_find(str_slice(text, 0, indent), '\t') < indent)
        return token_fail(err, &tokens.list[0], "indent with blanks, not with tabs");
    return find_level(parsing, indent, err) && add_line(parsing, &tokens, err);
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
            return fail_line(err, line, "the parents of this iterator never end");
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
    return !path.is_cut || no_memory(err);
}

static bool settle(struct sketch *sketch, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < sketch->lines.count; i++) {
        struct sketch_line *line = &sketch->lines.items[i];

        if (!holds_time(line))
            return fail_line(err, line, "a time is missing here, or lines that take time inside");
        if (line->word == WORD_ITERATOR && !find_parent(sketch, line, err))
            return false;
        if (sketch->profile.len && !is_setting(line->word) && line->word != WORD_EXPECT)
            return fail_line(err, line, "a recorded profile is named: nothing is added to it");
    }
    for (size_t i = 0; i < sketch->lines.count; i++) {
        struct sketch_line *line = &sketch->lines.items[i];

        if (line->word == WORD_ITERATOR && !name_iterator(sketch, line, arena, err))
            return false;
    }
    return true;
}

bool sketch_parse(struct str bytes, struct arena *arena, struct sketch *sketch, struct err *err)
{
    struct parsing parsing = { .sketch = sketch, .arena = arena };
    struct str     rest = bytes;

    *sketch = (struct sketch) {
        .bytes = bytes, .rank_count = 1, .launch_ns = LAUNCH_NS, .gpu = NO_LINE, .first = NO_LINE
    };
    parsing.levels[0] = (struct level) { .line = NO_LINE, .last_child = NO_LINE, .where = IN_TOP };
    while (rest.len) {
        if (++parsing.number > MAX_LINES)
            return err_set(err, ERR_LIMIT, "a sketch has at most %d lines", MAX_LINES);
        if (read_line(&parsing, str_cut(&rest, '\n'), err))
            continue;
        if (err->column && !err->line)
            err->line = parsing.number;
        return false;
    }
    return settle(sketch, arena, err);
}
