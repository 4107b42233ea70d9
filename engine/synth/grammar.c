#include "synth/grammar.h"

#include "base/macros.h"
#include "base/option.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Far beyond any recording, and sums of many of them still fit. */
#define MAX_TIME_NS INT64_C(100000000000000)
#define MAX_NUMBER INT64_C(1000000000000000)
#define MAX_BYTES INT64_C(1000000000000)
enum { MAX_REPEAT = 1000000 };

static const struct word_row words[] = {
#define WORD(id, text, where, takes, clauses, example)                                             \
    [WORD_##id] = { text, where, takes, clauses, example },
#include "synth/sketch_words.def"
#undef WORD
};

enum clause_kind {
    CLAUSE_TIME,
    CLAUSE_COUNT,
    CLAUSE_NUMBER,
    CLAUSE_SIZE,
    CLAUSE_SHARE,
    CLAUSE_TEXT,
    CLAUSE_FLAG
};
struct clause {
    const char      *text;
    uint32_t         bit;
    enum clause_kind kind;
    size_t           offset; /* of the field; of a flag: the flag */
};
#define FIELD(name) offsetof(struct sketch_line, name)
static const struct clause clauses[] = {
    { "at", HAS_AT, CLAUSE_TIME, FIELD(at_ns) },
    { "noise", HAS_NOISE, CLAUSE_SHARE, FIELD(noise_share) },
    { "unmarked", HAS_UNMARKED, CLAUSE_FLAG, FLAG_UNMARKED },
    { "gpu", HAS_GPU, CLAUSE_COUNT, FIELD(gpu) },
    { "stream", HAS_STREAM, CLAUSE_COUNT, FIELD(stream) },
    { "late", HAS_LATE, CLAUSE_TIME, FIELD(late_ns) },
    { "launch", HAS_LAUNCH, CLAUSE_TIME, FIELD(launch_ns) },
    { "flops", HAS_FLOPS, CLAUSE_NUMBER, FIELD(flops) },
    { "parent", HAS_PARENT, CLAUSE_TEXT, FIELD(parent_name) },
    { "as", HAS_AS, CLAUSE_TEXT, FIELD(label) },
    { "parallel", HAS_PARALLEL, CLAUSE_COUNT, FIELD(parallel) },
    { "grid", HAS_GRID, CLAUSE_TEXT, FIELD(grid) },
    { "block", HAS_GRID, CLAUSE_TEXT, FIELD(block) },
    { "pageable", HAS_COPY, CLAUSE_FLAG, FLAG_PAGEABLE },
    { "pinned", HAS_COPY, CLAUSE_FLAG, FLAG_PINNED },
    { "blocking", HAS_COPY | HAS_GRID, CLAUSE_FLAG, FLAG_BLOCKING },
    { "group", HAS_COLLECTIVE, CLAUSE_COUNT, FIELD(group) },
    { "host", HAS_ON_HOST | HAS_COLLECTIVE, CLAUSE_FLAG, FLAG_ON_HOST },
    { "memory", HAS_MEMORY, CLAUSE_SIZE, FIELD(bytes) },
    { "used", HAS_USED, CLAUSE_SIZE, FIELD(used_bytes) },
    { "sms", HAS_SMS, CLAUSE_COUNT, FIELD(sms) },
    { "compute", HAS_COMPUTE, CLAUSE_NUMBER, FIELD(compute) },
    { "to", HAS_TO, CLAUSE_COUNT, FIELD(to) },
};

const struct word_row *grammar_word(enum sketch_word word)
{
    return &words[word];
}

const char *sketch_word_text(enum sketch_word word)
{
    return words[word].text;
}

bool grammar_find(struct str text, enum sketch_word *word)
{
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (str_equal(text, str_from(words[i].text))) {
            *word = (enum sketch_word)i;
            return true;
        }
    return false;
}

/* The nearest of the texts, or NULL. */
static const char *nearest(struct str text, const char *const *texts, size_t count)
{
    char name[32];

    if (text.len >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", STR_ARG(text));
    return option_nearest(name, texts, count);
}

const char *grammar_nearest(struct str text, uint32_t where)
{
    const char *texts[WORD_COUNT];
    size_t      count = 0;

    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].where & where)
            texts[count++] = words[i].text;
    return nearest(text, texts, count);
}

bool token_fail(struct err *err, const struct token *token, const char *format, ...)
{
    va_list arguments;

    *err = (struct err) { .code = ERR_USAGE, .column = token->column };
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return false;
}

/* What stands where something else was expected. */
static bool expected(struct err *err, const struct token *token, const char *what)
{
    if (token->kind == TOKEN_END)
        return token_fail(err, token, "%s is missing here", what);
    return token_fail(err, token, "%s is expected here, not '%.*s'", what,
                      (int)(token->text.len > 60 ? 60 : token->text.len), token->text.data);
}

const struct token *token_take(struct tokens *tokens)
{
    const struct token *token = &tokens->list[tokens->at];

    tokens->at += token->kind != TOKEN_END;
    return token;
}

static bool is_name(const struct token *token)
{
    return token->kind == TOKEN_WORD || token->kind == TOKEN_QUOTED;
}

static bool read_time(const struct token *token, int64_t *ns, struct err *err)
{
    if (token->kind == TOKEN_NUMBER && token->value != 0)
        return token_fail(err, token, "a time needs a unit, like %.*sms or %.*sus",
                          STR_ARG(token->text), STR_ARG(token->text));
    if (token->kind != TOKEN_TIME && token->kind != TOKEN_NUMBER)
        return expected(err, token, "a time, like 4ms,");
    if (token->value > (double)MAX_TIME_NS)
        return token_fail(err, token, "no time is that long: 27 hours are the most");
    *ns = (int64_t)round(token->value);
    return true;
}

static bool read_count(const struct token *token, int64_t *count, struct err *err)
{
    if (token->kind != TOKEN_NUMBER)
        return expected(err, token, "a whole number, like 4,");
    if (token->value != floor(token->value) || token->value > (double)MAX_NUMBER)
        return token_fail(err, token, "%.*s is not a whole number of a reasonable size",
                          STR_ARG(token->text));
    *count = (int64_t)token->value;
    return true;
}

static bool read_size(const struct token *token, int64_t *bytes, struct err *err)
{
    if (token->kind != TOKEN_SIZE)
        return expected(err, token, "a size, like 4MB,");
    if (token->value > (double)MAX_BYTES)
        return token_fail(err, token, "no size is that large: 1TB is the most");
    *bytes = (int64_t)token->value;
    return true;
}

static bool read_number(const struct token *token, double *number, struct err *err)
{
    if (token->kind != TOKEN_NUMBER)
        return expected(err, token, "a number, like 2G,");
    *number = token->value;
    return true;
}

static bool read_share(const struct token *token, double *share, struct err *err)
{
    if (token->kind != TOKEN_SHARE)
        return expected(err, token, "a share, like 2%,");
    if (token->value > 1)
        return token_fail(err, token, "a share is at most 100%%");
    *share = token->value;
    return true;
}

static bool read_text(const struct token *token, struct str *text, struct err *err)
{
    /* "8,1,1" and "256" are no numbers to those who take a text. */
    if (token->kind == TOKEN_END)
        return expected(err, token, "a name");
    *text = token->text;
    return true;
}

static bool read_clause(const struct clause *clause, struct tokens *tokens,
                        struct sketch_line *line, struct err *err)
{
    void *field = (char *)line + (clause->kind == CLAUSE_FLAG ? 0 : clause->offset);

    switch (clause->kind) {
    case CLAUSE_TIME:
        return read_time(token_take(tokens), field, err);
    case CLAUSE_COUNT:
        return read_count(token_take(tokens), field, err);
    case CLAUSE_NUMBER:
        return read_number(token_take(tokens), field, err);
    case CLAUSE_SIZE:
        return read_size(token_take(tokens), field, err);
    case CLAUSE_SHARE:
        return read_share(token_take(tokens), field, err);
    case CLAUSE_TEXT:
        return read_text(token_take(tokens), field, err);
    case CLAUSE_FLAG:
        line->flags |= (uint32_t)clause->offset;
        return true;
    }
    return true;
}

static const struct clause *find_clause(const struct word_row *row, const struct token *token)
{
    for (size_t i = 0; token->kind == TOKEN_WORD && i < ARRAY_COUNT(clauses); i++)
        if ((clauses[i].bit & row->clauses) && str_equal(token->text, str_from(clauses[i].text)))
            return &clauses[i];
    return NULL;
}

/* "x8", or "x" and a number behind it. */
static bool is_repeat(const struct tokens *tokens, const struct token *token)
{
    struct str text = token->text;

    if (token->kind != TOKEN_WORD || text.data[0] != 'x')
        return false;
    if (text.len == 1)
        return tokens->list[tokens->at].kind == TOKEN_NUMBER;
    for (size_t i = 1; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return true;
}

static bool read_repeat(struct tokens *tokens, const struct token *token, struct sketch_line *line,
                        struct err *err)
{
    int64_t count = 0;

    if (token->text.len > 1)
        str_to_int64(str_slice(token->text, 1, token->text.len), &count);
    else if (!read_count(token_take(tokens), &count, err))
        return false;
    if (count < 1 || count > MAX_REPEAT)
        return token_fail(err, token, "a line repeats 1 to %d times", MAX_REPEAT);
    line->repeat = (uint32_t)count;
    return true;
}

static bool is_shape(const struct token *token)
{
    return token->kind == TOKEN_WORD && str_find(token->text, '[') < token->text.len &&
           str_ends(token->text, STR("]"));
}

static bool read_shape(struct sketch *sketch, const struct token *token, struct sketch_line *line,
                       struct arena *arena, struct err *err)
{
    struct sketch_shape shape = { 0 };
    size_t              open = str_find(token->text, '[');
    struct str          dims = str_slice(token->text, open + 1, token->text.len - 1);

    shape.type = str_slice(token->text, 0, open);
    while (dims.len) {
        struct str dim = str_trim(str_cut(&dims, ','));

        if (shape.rank == SKETCH_MAX_RANK || !str_to_int64(dim, &shape.dims[shape.rank]) ||
            shape.dims[shape.rank] < 0 || shape.dims[shape.rank] > MAX_NUMBER)
            return token_fail(err, token, "a shape is a type and up to %d sizes, like f32[128,256]",
                              SKETCH_MAX_RANK);
        shape.rank++;
    }
    if (line->shape_count == SKETCH_MAX_SHAPES)
        return token_fail(err, token, "an op has at most %d shapes", SKETCH_MAX_SHAPES);
    if (line->shape_count++ == 0)
        line->first_shape = (uint32_t)sketch->shapes.count;
    return vec_push(&sketch->shapes, arena, shape) || err_memory(err, "the sketch");
}

/* "copy takes …": what the line may still have, for a token that means nothing there. */
static bool not_understood(const struct word_row *row, const struct token *token, struct err *err)
{
    const char *texts[ARRAY_COUNT(clauses)], *near;
    size_t      count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(clauses); i++)
        if (clauses[i].bit & row->clauses)
            texts[count++] = clauses[i].text;
    near = token->kind == TOKEN_WORD ? nearest(token->text, texts, count) : NULL;
    token_fail(err, token, "'%.*s' is not understood here",
               (int)(token->text.len > 60 ? 60 : token->text.len), token->text.data);
    if (near)
        return err_advise(err, "did you mean %s?", near);
    return err_advise(err, "a line looks like: %s", row->example);
}

/* Names that may be absent are quoted, or have a slash, so that a mistyped word is none. */
static bool is_scoped(const struct token *token)
{
    return token->kind == TOKEN_QUOTED ||
           (token->kind == TOKEN_WORD && str_find(token->text, '/') < token->text.len);
}

/* What a token is to its line: the first that fits. */
struct reading {
    const struct word_row *row;
    bool                   has_name, has_title, has_time, has_size;
};

static bool read_token(struct sketch *sketch, struct tokens *tokens, struct reading *reading,
                       struct sketch_line *line, struct arena *arena, struct err *err)
{
    const struct token  *token = token_take(tokens);
    const struct clause *clause = find_clause(reading->row, token);
    uint32_t             takes = reading->row->takes;

    if (clause)
        return read_clause(clause, tokens, line, err);
    if ((takes & MAY_REPEAT) && is_repeat(tokens, token))
        return read_repeat(tokens, token, line, err);
    if ((takes & (TAKES_TIME | MAY_TAKE_TIME)) && !reading->has_time &&
        (token->kind == TOKEN_TIME || token->kind == TOKEN_NUMBER)) {
        reading->has_time = true;
        return read_time(token, &line->duration_ns, err);
    }
    if ((takes & (TAKES_SIZE | MAY_TAKE_SIZE)) && !reading->has_size && token->kind == TOKEN_SIZE) {
        reading->has_size = true;
        return read_size(token, &line->bytes, err);
    }
    if ((takes & TAKES_SHAPES) && is_shape(token))
        return read_shape(sketch, token, line, arena, err);
    if ((takes & MAY_TAKE_NAME) && !reading->has_name && token->kind == TOKEN_QUOTED) {
        reading->has_name = true;
        line->name = token->text;
        return true;
    }
    if ((takes & MAY_TAKE_TITLE) && !reading->has_title && is_scoped(token)) {
        reading->has_title = true;
        line->title = token->text;
        return true;
    }
    return not_understood(reading->row, token, err);
}

bool grammar_read(struct sketch *sketch, struct tokens *tokens, struct sketch_line *line,
                  struct arena *arena, struct err *err)
{
    struct reading reading = { .row = &words[line->word] };
    uint32_t       takes = reading.row->takes;

    if (takes & TAKES_NAME) {
        const struct token *token = token_take(tokens);

        if (!is_name(token) || !token->text.len) {
            expected(err, token, "a name");
            return err_advise(err, "a line looks like: %s", reading.row->example);
        }
        line->name = token->text;
        line->value_column = token->column;
    }
    if (takes & TAKES_COUNT)
        line->value_column = tokens->list[tokens->at].column;
    if ((takes & TAKES_COUNT) && !read_count(token_take(tokens), &line->count, err))
        return false;
    if ((takes & TAKES_SHARE) && !read_share(token_take(tokens), &line->share, err))
        return false;
    while (tokens->list[tokens->at].kind != TOKEN_END)
        if (!read_token(sketch, tokens, &reading, line, arena, err))
            return false;
    if ((takes & TAKES_TIME) && !reading.has_time) {
        expected(err, token_take(tokens), "a time");
        return err_advise(err, "a line looks like: %s", reading.row->example);
    }
    if ((takes & TAKES_SIZE) && !reading.has_size) {
        expected(err, token_take(tokens), "a size");
        return err_advise(err, "a line looks like: %s", reading.row->example);
    }
    return true;
}
