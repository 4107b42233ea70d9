/*
 * fixture: a profile for tests of rules, in a file of a few lines: described (engine/synth), or the
 * name of a recorded one. A described one goes the whole way that a real file goes: bytes, reader,
 * analyses.
 */
#ifndef TFPROF_CLI_FIXTURE_H
#define TFPROF_CLI_FIXTURE_H

#include "base/file.h"
#include "cli/input.h"
#include "synth/recording.h"

struct fixture {
    const char   *path;
    struct file   file;
    struct arena  arena;
    struct sketch sketch;
};

/* ERR_USAGE with line and column for a text that is wrong; fixture_close is due in any case. */
bool fixture_open(struct fixture *fixture, const char *path, struct err *err) MUST_USE;
void fixture_close(struct fixture *fixture);
/* Its profile under analysis, with durations changed; input_free is due only on true. */
bool fixture_study(const struct fixture *fixture, const struct recording_change *change,
                   struct input *input, struct err *err) MUST_USE;

#endif
