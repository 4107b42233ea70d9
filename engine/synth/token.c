#include "synth/token.h"

#include "base/macros.h"
#include "base/text.h"
#include "base/unit.h"

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool fail(struct err *err, size_t at, const char *text)
{
    err_set(err, ERR_USAGE, "%s", text);
    err->column = (uint32_t)at + 1;
    return false;
}

/* A word that begins like a number is one when all of it is; which kind, its last byte tells. */
static void classify(struct token *token)
{
    static const struct {
        enum unit       unit;
        enum token_kind kind;
    } rows[] = {
        { UNIT_COUNT, TOKEN_NUMBER },
        { UNIT_NS, TOKEN_TIME },
        { UNIT_BYTES, TOKEN_SIZE },
        { UNIT_SHARE, TOKEN_SHARE },
    };
    struct str text = token->text;

    token->kind = TOKEN_WORD;
    if (!is_digit(text.data[0]) && (text.len < 2 || text.data[0] != '.' || !is_digit(text.data[1])))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (unit_scan(text, rows[i].unit, &token->value)) {
            token->kind = rows[i].kind;
            return;
        }
}

/* `at` is behind the opening quote; gives the place behind the closing one, or SIZE_MAX. */
static size_t scan_quoted(struct str line, size_t at, struct arena *arena, struct token *token)
{
    struct text text = { .arena = arena };
    size_t      first = at;
    bool        is_plain = true;

    token->kind = TOKEN_QUOTED;
    for (; at < line.len && line.data[at] != '"'; at++) {
        if (line.data[at] == '\\' && at + 1 < line.len) {
            if (is_plain)
                text_add(&text, str_slice(line, first, at));
            is_plain = false;
            at++;
        }
        if (!is_plain)
            text_add_byte(&text, line.data[at]);
    }
    if (at >= line.len || text.is_cut)
        return SIZE_MAX;
    token->text = is_plain ? str_slice(line, first, at) : text_str(&text);
    return at + 1;
}

static size_t scan_word(struct str line, size_t at, struct token *token)
{
    size_t first = at;

    while (at < line.len && !is_blank(line.data[at]) && line.data[at] != '"')
        at++;
    token->text = str_slice(line, first, at);
    classify(token);
    return at;
}

bool tokens_scan(struct str line, struct arena *arena, struct tokens *tokens, struct err *err)
{
    size_t at = 0;

    *tokens = (struct tokens) { 0 };
    for (;;) {
        struct token *token = &tokens->list[tokens->count];
        size_t        first;

        while (at < line.len && is_blank(line.data[at]))
            at++;
        first = at;
        token->column = (uint32_t)at + 1;
        if (at >= line.len || line.data[at] == '#')
            break;
        if (++tokens->count == TOKEN_MAX_COUNT)
            return fail(err, at, "the line has too many words");
        at = line.data[at] == '"' ? scan_quoted(line, at + 1, arena, token)
                                  : scan_word(line, at, token);
        if (at == SIZE_MAX)
            return fail(err, first, "the quote is never closed");
    }
    tokens->list[tokens->count++].kind = TOKEN_END;
    return true;
}
