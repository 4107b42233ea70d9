#include "analyze/input/pipeline.h"

static double threads_of(const struct pipeline *pipeline, const struct stage *stage, double asked)
{
    double threads = asked > 0 ? asked : stage->parallelism;

    if (pipeline->core_count > 0 && threads > pipeline->core_count)
        threads = pipeline->core_count;
    return threads > 1 ? threads : 1;
}

double pipeline_section_ns(const struct pipeline *pipeline, uint32_t section, const double *factors,
                           const double *threads)
{
    double serial_ns = 0;

    for (uint32_t i = 0; i < pipeline->stages.count; i++) {
        const struct stage *stage = &pipeline->stages.items[i];

        /* A stage that works ahead waits for its input on a thread that the step does not wait for:
         * that time is left out. Copying its elements is done, and counted, where they are taken.
         */
        if (stage->section == section)
            serial_ns += stage->self_ns * (factors ? factors[i] : 1) /
                         (threads && threads[i] > 1 ? threads[i] : 1);
    }
    return serial_ns;
}

struct section_times {
    double feed_ns, own_ns;
};

/* What feeds an asynchronous stage is serial; its own function runs on its threads beside that. */
static struct section_times times_of(const struct pipeline *pipeline, uint32_t row,
                                     const double *factors, const double *threads)
{
    const struct stage *stage = &pipeline->stages.items[row];

    return (struct section_times) {
        .feed_ns = pipeline_section_ns(pipeline, row, factors, threads),
        .own_ns = stage->cpu_ns * (factors ? factors[row] : 1) /
                  threads_of(pipeline, stage, threads ? threads[row] : 0),
    };
}

double pipeline_period_ns(const struct pipeline *pipeline, const double *factors,
                          const double *threads, uint32_t *slowest)
{
    double longest_ns = 0;

    if (slowest)
        *slowest = NO_ID;
    for (uint32_t i = 0; i < pipeline->stages.count; i++) {
        if (!pipeline->stages.items[i].is_async)
            continue;
        struct section_times times = times_of(pipeline, i, factors, threads);
        double period_ns = times.feed_ns > times.own_ns ? times.feed_ns : times.own_ns;

        if (period_ns > longest_ns) {
            longest_ns = period_ns;
            if (slowest)
                *slowest = i;
        }
    }
    return longest_ns;
}

double pipeline_scaled_period_ns(const struct pipeline *pipeline, const double *factors,
                                 const double *threads, double scale)
{
    static const double NEAR = 0.9; /* of the slowest: either may be what holds the pipeline */
    double              before_ns = pipeline_period_ns(pipeline, NULL, NULL, NULL), longest_ns = 0;

    for (uint32_t i = 0; i < pipeline->stages.count; i++) {
        if (!pipeline->stages.items[i].is_async)
            continue;
        struct section_times before = times_of(pipeline, i, NULL, NULL);
        struct section_times after = times_of(pipeline, i, factors, threads);
        double feed_ns = after.feed_ns * (before.feed_ns >= NEAR * before_ns ? scale : 1);
        double own_ns = after.own_ns * (before.own_ns >= NEAR * before_ns ? scale : 1);

        if (feed_ns > longest_ns)
            longest_ns = feed_ns;
        if (own_ns > longest_ns)
            longest_ns = own_ns;
    }
    return longest_ns;
}
