/*
 * profiler_service: asks the profiler's service of a TensorFlow or JAX program for a recording
 * (tensorflow.ProfilerService, profiler_service.proto and profiler_options.proto).
 */
#ifndef TFPROF_CAPTURE_PROFILER_SERVICE_H
#define TFPROF_CAPTURE_PROFILER_SERVICE_H

#include "base/arena.h"
#include "base/err.h"
#include "capture/grpc.h"

/* What a service is asked: for a recording; how it is at the moment; to begin one that goes on, for
 * the latest of that, to end it. */
enum capture_question {
    CAPTURE_RECORD,
    CAPTURE_MONITOR,
    CAPTURE_BEGIN,
    CAPTURE_SNAPSHOT,
    CAPTURE_END
};
struct capture_options {
    enum capture_question question;
    int64_t     duration_ms;
    int64_t     wait_ms;      /* for an answer, beside the duration; also for somebody to listen */
    int         host_level;   /* 0 off to 3 verbose */
    int         device_level; /* 0 off, 1 on */
    bool        has_python;
    const char *log_directory;       /* whole path */
    const char *run;                 /* its name below plugins/profile */
    struct tls_options          tls; /* for workers that are named grpcs://HOST:PORT */
    const struct grpc_metadata *metadata;
    size_t                      metadata_count;
};
struct capture_result {
    char *path; /* of the recording; NULL: not on this machine */
    char *told; /* what the service wrote, on its own disk, where path is NULL */
    char *words; /* the answer to CAPTURE_MONITOR; NULL for others */
};

/* Of one worker, "localhost:6009". Blocks until it answers. The service writes the recording
 * itself, below the log directory on its own disk; newer ones can send it, and then it is written
 * here, whole or not at all. False: ERR_USAGE for what is no HOST:PORT, else why nothing was
 * recorded. Any thread may call it. */
bool capture_worker(const char *worker, const struct capture_options *options, struct arena *arena,
                    struct capture_result *result, struct err *err);
/* Reads a ProfileResponse: the recording in it (len 0: none), and whether nothing was recorded.
 * False: damaged. */
bool capture_response_read(struct str message, struct str *xspace, bool *is_empty);

#endif
