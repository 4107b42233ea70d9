#include "synth/job_sketch.h"

#include "base/macros.h"
#include "synth/grammar.h"

#include <stddef.h>

#define MS INT64_C(1000000)
#define MOST_NS (INT64_C(1000000) * MS)

/* "compute 80ms" */
struct setting {
    const char     *word;
    enum token_kind kind;
    size_t          offset;
    int64_t         least, most;
};
#define FIELD(member) offsetof(struct job_sketch, member)
static const struct setting settings[] = {
    { "job", TOKEN_NUMBER, FIELD(rank_count), 2, JOB_MOST_RANKS },
    { "stages", TOKEN_NUMBER, FIELD(stage_count), 1, 1024 },
    { "machine", TOKEN_NUMBER, FIELD(machine_size), 1, 1024 },
    { "steps", TOKEN_NUMBER, FIELD(step_count), 1, JOB_MOST_STEPS },
    { "seed", TOKEN_NUMBER, FIELD(seed), 0, INT64_MAX },
    { "compute", TOKEN_TIME, FIELD(compute_ns), 1, MOST_NS },
    { "host", TOKEN_TIME, FIELD(host_ns), 0, MOST_NS },
    { "link", TOKEN_TIME, FIELD(link_ns), 0, MOST_NS },
    { "reduce", TOKEN_TIME, FIELD(reduce_ns), 0, MOST_NS },
    { "meet", TOKEN_TIME, FIELD(meet_ns), 0, MOST_NS },
    { "clocks", TOKEN_TIME, FIELD(clocks_ns), 0, MOST_NS },
    { "noise", TOKEN_SHARE, FIELD(noise_share), 0, 1 },
    { "link_noise", TOKEN_SHARE, FIELD(link_noise_share), 0, 1 },
};

/* "slow_rank 17 25%": behind the rank or stage, where one belongs there, how much; then "every 5".
 */
enum { TAKES_RANK = 1, TAKES_STAGE = 2, TAKES_MORE = 4, TAKES_NS = 8, TAKES_EVERY = 16 };
static const struct fault_row {
    const char *word;
    uint32_t    takes;
    const char *example;
} faults[] = {
    [FAULT_SLOW_RANK] = { "slow_rank", TAKES_RANK | TAKES_MORE, "slow_rank 17 25%" },
    [FAULT_SLOW_STAGE] = { "slow_stage", TAKES_STAGE | TAKES_MORE, "slow_stage 3 30%" },
    [FAULT_SLOW_LINK] = { "slow_link", TAKES_RANK | TAKES_NS, "slow_link 17 6ms" },
    [FAULT_SLOW_PAIR] = { "slow_pair", TAKES_RANK | TAKES_NS, "slow_pair 17 6ms" },
    [FAULT_UNEVEN] = { "uneven", TAKES_NS, "uneven 27ms" },
    [FAULT_PAUSES] = { "pauses", TAKES_RANK | TAKES_NS | TAKES_EVERY, "pauses 17 40ms every 5" },
    [FAULT_SAVES] = { "saves", TAKES_NS | TAKES_EVERY, "saves 80ms every 10" },
};

struct parsing {
    struct job_sketch *sketch;
    uint32_t           seen; /* bits of settings made; one each */
};

static bool is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_WORD && str_equal(token->text, str_from(word));
}

static bool take_number(struct tokens *tokens, enum token_kind kind, const char *what,
                        double *value, struct err *err)
{
    const struct token *token = token_take(tokens);

    if (token->kind != kind)
        return token_fail(err, token, "%s is expected", what);
    *value = token->value;
    return true;
}

static const char *kind_text(enum token_kind kind)
{
    return kind == TOKEN_TIME ? "a time" : kind == TOKEN_SHARE ? "a share" : "a number";
}

static bool read_setting(struct parsing *parsing, size_t row, struct tokens *tokens,
                         struct err *err)
{
    const struct setting *setting = &settings[row];
    const struct token   *token = &tokens->list[tokens->at];
    char                 *field = (char *)parsing->sketch + setting->offset;
    double                value = 0;

    if (parsing->seen >> row & 1)
        return token_fail(err, &tokens->list[0], "%s has been said already", setting->word);
    parsing->seen |= 1U << row;
    if (!take_number(tokens, setting->kind, kind_text(setting->kind), &value, err))
        return false;
    if (value < (double)setting->least || value > (double)setting->most)
        return token_fail(err, token, "%s is out of range", setting->word);
    if (setting->kind == TOKEN_SHARE)
        *(double *)(void *)field = value;
    else
        *(int64_t *)(void *)field = (int64_t)value;
    return true;
}

static bool read_fault(struct job_sketch *sketch, enum job_fault_kind kind, struct tokens *tokens,
                       struct err *err)
{
    struct job_fault fault = { .kind = kind, .rank = -1, .stage = -1, .every = -1 };
    uint32_t         takes = faults[kind].takes;
    double           value = 0;

    if (sketch->fault_count == JOB_MOST_FAULTS)
        return token_fail(err, &tokens->list[0], "a job has at most %d faults", JOB_MOST_FAULTS);
    if (takes & (TAKES_RANK | TAKES_STAGE)) {
        if (!take_number(tokens, TOKEN_NUMBER, takes & TAKES_RANK ? "a rank" : "a stage", &value,
                         err))
            return false;
        *(takes & TAKES_RANK ? &fault.rank : &fault.stage) = (int64_t)value;
    }
    if (!take_number(tokens, takes & TAKES_NS ? TOKEN_TIME : TOKEN_SHARE,
                     takes & TAKES_NS ? "a time" : "a share", &value, err))
        return false;
    if (takes & TAKES_NS)
        fault.ns = (int64_t)value;
    else
        fault.share = value;
    if (takes & TAKES_EVERY) {
        const struct token *token = token_take(tokens);

        if (!is_word(token, "every"))
            return token_fail(err, token, "'every' is expected");
        if (!take_number(tokens, TOKEN_NUMBER, "a number of steps", &value, err))
            return false;
        if (value < 1)
            return token_fail(err, token, "every step is the most");
        fault.every = (int64_t)value;
    }
    sketch->faults[sketch->fault_count++] = fault;
    return true;
}

static bool read_word(struct parsing *parsing, struct tokens *tokens, struct err *err)
{
    const struct token *token = token_take(tokens);

    for (size_t i = 0; i < ARRAY_COUNT(settings); i++)
        if (is_word(token, settings[i].word))
            return read_setting(parsing, i, tokens, err);
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++)
        if (is_word(token, faults[i].word))
            return read_fault(parsing->sketch, (enum job_fault_kind)i, tokens, err) ||
                   err_advise(err, "a line looks like: %s", faults[i].example);
    return token_fail(err, token, "'%.*s' begins no line of a job",
                      (int)(token->text.len > 60 ? 60 : token->text.len), token->text.data);
}

static bool read_line(struct parsing *parsing, struct str line, struct arena *arena,
                      struct err *err)
{
    struct tokens tokens;

    if (!tokens_scan(line, arena, &tokens, err))
        return false;
    if (tokens.count == 1)
        return true; /* blank, or a comment */
    return read_word(parsing, &tokens, err) &&
           (tokens.list[tokens.at].kind == TOKEN_END ||
            token_fail(err, &tokens.list[tokens.at], "the line ends before this"));
}

/* What one line says alone may not fit what another says. */
static bool settle(struct job_sketch *sketch, struct err *err)
{
    if (sketch->rank_count < sketch->stage_count)
        return err_set(err, ERR_USAGE, "%lld stages have more than %lld ranks",
                       (long long)sketch->stage_count, (long long)sketch->rank_count);
    sketch->rank_count -= sketch->rank_count % sketch->stage_count;
    for (uint32_t i = 0; i < sketch->fault_count; i++) {
        const struct job_fault *fault = &sketch->faults[i];

        if (fault->rank >= sketch->rank_count || fault->stage >= sketch->stage_count)
            return err_set(err, ERR_USAGE, "%s: there are %lld ranks of %lld stages",
                           faults[fault->kind].word, (long long)sketch->rank_count,
                           (long long)sketch->stage_count);
        if (fault->kind == FAULT_SLOW_PAIR &&
            fault->rank % sketch->stage_count == sketch->stage_count - 1)
            return err_set(err, ERR_USAGE,
                           "slow_pair: rank %lld is in the last stage, it meets no next rank",
                           (long long)fault->rank);
    }
    return true;
}

bool job_sketch_is(struct str bytes)
{
    while (bytes.len) {
        struct str line = str_trim(str_cut(&bytes, '\n'));

        if (line.len && line.data[0] != '#')
            return str_starts(line, STR("job "));
    }
    return false;
}

bool job_sketch_parse(struct str bytes, struct arena *arena, struct job_sketch *sketch,
                      struct err *err)
{
    struct parsing parsing = { .sketch = sketch };
    uint32_t       number = 0;

    *sketch = (struct job_sketch) {
        .stage_count = 1,
        .machine_size = 8,
        .step_count = 50,
        .compute_ns = 80 * MS,
        .host_ns = 5 * MS,
        .link_ns = 2 * MS,
        .reduce_ns = 6 * MS,
        .meet_ns = MS / 2,
        .clocks_ns = 0,
        .link_noise_share = 0,
    };
    while (bytes.len) {
        number++;
        if (read_line(&parsing, str_cut(&bytes, '\n'), arena, err))
            continue;
        if (err->column && !err->line)
            err->line = number;
        return false;
    }
    return settle(sketch, err);
}
