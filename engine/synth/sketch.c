/* sketch: lines of text into a tree, by their indentation and the grammar. */
#include "synth/sketch.h"

#include "base/macros.h"
#include "synth/grammar.h"

enum { MAX_DEPTH = 32, MAX_LINES = 10000 };
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

/* A setting counts once, so that the second of two does not win in silence. */
static bool add_setting(struct parsing *parsing, uint32_t row, const struct token *token,
                        struct err *err)
{
    enum sketch_word word = parsing->sketch->lines.items[row].word;

    if (parsing->seen >> word & 1)
        return token_fail(err, token, "%s has been said already", sketch_word_text(word));
    parsing->seen |= 1U << word;
    return sketch_set(parsing->sketch, row, err);
}

static bool add_expect(struct parsing *parsing, struct tokens *tokens, struct err *err)
{
    struct sketch_expect expect = { .number = parsing->number };

    return grammar_read_expect(tokens, &expect, err) &&
           (vec_push(&parsing->sketch->expects, parsing->arena, expect) ||
            err_memory(err, "the sketch"));
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
    if (line.word == WORD_COPY && !sketch_check_copy(&line, err))
        return false;
    if (!vec_push(&sketch->lines, parsing->arena, line))
        return err_memory(err, "the sketch");
    return open_level(parsing, row, where_below(grammar_word(line.word), level->where),
                      token->column, err) &&
           (!sketch_is_setting(line.word) || add_setting(parsing, row, token, err));
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
    return sketch_settle(sketch, arena, err);
}
