/*
 * kineto_daemon: recordings of PyTorch programs that run, by the protocol that their profiler,
 * Kineto, asks a daemon on the machine by. Programs that were started with KINETO_USE_DAEMON=1 ask
 * every few seconds whether they are to record, by datagrams to a local socket; what answers is a
 * configuration. They write the recording themselves.
 */
#ifndef TFPROF_CAPTURE_KINETO_DAEMON_H
#define TFPROF_CAPTURE_KINETO_DAEMON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <sys/types.h>

struct kineto_options {
    int64_t     duration_ms, wait_ms; /* wait: for programs to ask, and for what they write */
    bool        has_python;           /* calls of Python, and the program's lines */
    const char *directory;            /* whole path; is there */
    pid_t       process;              /* 0: all of this user */
};
struct kineto_results {
    VEC(char *) paths;  /* of recordings, as programs asked */
    VEC(pid_t) missing; /* programs that were asked and wrote nothing */
};

/* All programs record the same time. False: none was recorded, and why. */
bool kineto_capture(const struct kineto_options *options, struct arena *arena,
                    struct kineto_results *results, struct err *err);

#endif
