#include "analyze/pipeline.h"

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

        /* An asynchronous stage's own wait belongs to nobody; its copies are its consumer's. */
        if (stage->section == section)
            serial_ns += stage->self_ns * (factors ? factors[i] : 1) /
                         (threads && threads[i] > 1 ? threads[i] : 1);
    }
    return serial_ns;
}

double pipeline_period_ns(const struct pipeline *pipeline, const double *factors,
                          const double *threads, uint32_t *slowest)
{
    double longest_ns = 0;

    if (slowest)
        *slowest = NO_ID;
    for (uint32_t i = 0; i < pipeline->stages.count; i++) {
        const struct stage *stage = &pipeline->stages.items[i];

        if (!stage->is_async)
            continue;
        /* What feeds the stage is serial, or spread over its threads where it interleaves; its own
         * function runs on its threads beside that. */
        double feed_ns = pipeline_section_ns(pipeline, i, factors, threads);
        double own_ns = stage->cpu_ns * (factors ? factors[i] : 1) /
                        threads_of(pipeline, stage, threads ? threads[i] : 0);
        double period_ns = feed_ns > own_ns ? feed_ns : own_ns;

        if (period_ns > longest_ns) {
            longest_ns = period_ns;
            if (slowest)
                *slowest = i;
        }
    }
    return longest_ns;
}
