/*
 * rules_fixtures: runs the fixtures of a directory: *.synth files, at any depth, each a profile with
 * lines that expect something of rules (docs/synth.md). Then the durations that a fixture describes
 * and the sizes of its allocations are halved and doubled, one kind of line after the other, and so
 * are the rules' parameters, to see which changes an expectation notices.
 */
#ifndef TFPROF_CLI_RULES_FIXTURES_H
#define TFPROF_CLI_RULES_FIXTURES_H

#include "rules/catalogue.h"
#include "rules/trial.h"

struct fixtures_run {
    struct rule_trials trials; /* one a rule that some fixture names */
    uint32_t           fixture_count, fault_count;
};

/* Adds what does not hold to `report`, with the fixture's line, and counts it. false: the rules
 * cannot be loaded, or no memory is left. */
bool rules_fixtures(const char *directory, struct arena *arena, struct text *report,
                    struct fixtures_run *run, struct err *err);

#endif
