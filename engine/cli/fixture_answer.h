/* fixture_answer: what one rule says of a fixture's study, against what the fixture expects. */
#ifndef TFPROF_CLI_FIXTURE_ANSWER_H
#define TFPROF_CLI_FIXTURE_ANSWER_H

#include "rules/rule.h"
#include "synth/sketch.h"

struct study;

/* How the rule ended, and the impacts of its findings. */
struct answer {
    enum rule_outcome outcome;
    const char       *reason;
    const char       *title; /* of the first finding */
    VEC(struct impact) impacts;
};

/* Asks the rule alone: nothing hides what it finds. false: ERR_LIMIT. */
bool answer_ask(const struct rule *rule, struct study *study, struct arena *arena,
                struct answer *answer, struct err *err);
bool answer_holds(const struct sketch_expect *expect, const struct answer *answer);
/* "a finding with an impact of 12.0 % +- 2.00 %"; "keeps quiet" */
void answer_print_expected(const struct sketch_expect *expect, struct text *text);
void answer_print(const struct sketch_expect *expect, const struct answer *answer,
                  struct text *text);

#endif
