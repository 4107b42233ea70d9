/* rank_times: what a host's own recording tells of its steps, for looking at ranks side by side. */
#ifndef TFPROF_ANALYZE_RANK_TIMES_H
#define TFPROF_ANALYZE_RANK_TIMES_H

#include "analyze/step/window.h"

/* Median of the host's used steps; 0: it has none. */
double rank_step_ns(const struct study *study, uint32_t host, struct arena *scratch);
/* Outermost events of a kind on the host's threads, over all windows. */
double rank_kind_ns(const struct study *study, const struct windows *windows, uint32_t host,
                    enum activity_kind kind);
/* Computing over all windows: of the host's devices, else of its ops. */
double rank_compute_ns(const struct study *study, const struct windows *windows, uint32_t host);

#endif
