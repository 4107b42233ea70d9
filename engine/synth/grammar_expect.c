/* "expect acme/slow-decode finding impact 12% +- 2%": what a rule is to say of the profile. */
#include "synth/grammar.h"

#include "base/macros.h"

static const struct {
    const char         *text;
    enum expect_outcome outcome;
} outcomes[] = {
    { "finding", EXPECT_FINDING },
    { "silent", EXPECT_SILENT },
    { "skipped", EXPECT_SKIPPED },
};

static bool is_word(const struct tokens *tokens, const char *text)
{
    const struct token *token = &tokens->list[tokens->at];

    return token->kind == TOKEN_WORD && str_equal(token->text, str_from(text));
}

/* A share of the step or a time; the tolerance is of the same kind. */
static bool read_impact(struct tokens *tokens, struct sketch_expect *expect, struct err *err)
{
    const struct token *impact = token_take(tokens), *tolerance;

    if (impact->kind != TOKEN_SHARE && impact->kind != TOKEN_TIME)
        return token_fail(err, impact,
                          "an impact is a share of the step, like 12%%, or a time, like 1.2ms");
    if (!is_word(tokens, "+-"))
        return token_fail(err, token_take(tokens),
                          "how exact? +- and a tolerance are expected here");
    token_take(tokens);
    tolerance = token_take(tokens);
    if (tolerance->kind != impact->kind)
        return token_fail(err, tolerance, "the tolerance has the same unit as the impact");
    expect->has_impact = true;
    expect->is_share = impact->kind == TOKEN_SHARE;
    expect->impact = impact->value;
    expect->tolerance = tolerance->value;
    return true;
}

static bool read_outcome(struct tokens *tokens, struct sketch_expect *expect, struct err *err)
{
    const struct token *token = token_take(tokens);

    for (size_t i = 0; i < ARRAY_COUNT(outcomes); i++)
        if (token->kind == TOKEN_WORD && str_equal(token->text, str_from(outcomes[i].text))) {
            expect->outcome = outcomes[i].outcome;
            return true;
        }
    return token_fail(err, token, "finding, silent or skipped is expected here");
}

static bool read_details(struct tokens *tokens, struct sketch_expect *expect, struct err *err)
{
    const struct token *token;

    if (expect->outcome == EXPECT_FINDING && is_word(tokens, "impact")) {
        token_take(tokens);
        return read_impact(tokens, expect, err);
    }
    if (expect->outcome == EXPECT_SKIPPED && is_word(tokens, "because")) {
        token_take(tokens);
        token = token_take(tokens);
        if (token->kind != TOKEN_QUOTED && token->kind != TOKEN_WORD)
            return token_fail(err, token, "words of the reason are expected here");
        expect->because = token->text;
    }
    return true;
}

bool grammar_read_expect(struct tokens *tokens, struct sketch_expect *expect, struct err *err)
{
    const struct token *rule = token_take(tokens), *rest;

    if (rule->kind != TOKEN_WORD && rule->kind != TOKEN_QUOTED)
        return token_fail(err, rule, "a rule's id, or none, is expected here");
    expect->column = rule->column;
    if (rule->kind == TOKEN_WORD && str_equal(rule->text, STR("none"))) {
        expect->outcome = EXPECT_NONE;
    } else {
        expect->rule = rule->text;
        if (!read_outcome(tokens, expect, err) || !read_details(tokens, expect, err))
            return false;
    }
    rest = token_take(tokens);
    return rest->kind == TOKEN_END ||
           token_fail(err, rest, "nothing more is expected on this line");
}
