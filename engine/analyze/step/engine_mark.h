/*
 * engine_mark: what engines that serve language models write into the names of the ranges that they mark their steps with: how many
 * requests read their prompts in it (prefill), how many write their next token (decode), and over how many tokens.
 */
#ifndef TFPROF_ANALYZE_ENGINE_MARK_H
#define TFPROF_ANALYZE_ENGINE_MARK_H

#include "base/str.h"

struct engine_mark {
    double      prefills, decodes; /* requests; < 0 not told */
    double      tokens;            /* that go through the model in it; < 0 not told */
    double      kv_tokens;         /* that attention looks back at; < 0 not told */
    const char *guess;             /* the phase by the step's work, where the name tells nobody; or NULL */
    bool        is_draft;          /* a smaller model guesses what the other one then verifies: no token is new */
};
/* false: no range of an engine's step. */
bool        engine_mark_parse(struct str name, struct engine_mark *mark);
/* Whether it is the name of what an engine calls once a step, or marks in it, without saying for whom. */
bool        engine_call(struct str name);
/* The phase, "prefill" or "decode", that the name of a server's own range tells and nothing else; or
 * NULL. */
const char *engine_phase(struct str name);
/* Whether only servers have ranges of that name. */
bool        engine_phase_is_server(struct str name);
/* "prefill", "decode", "mixed", "draft", or "unknown" where neither number is told. */
const char *engine_mark_phase(const struct engine_mark *mark);

#endif
