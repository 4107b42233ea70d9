#include "analyze/comm/comm_times.h"

#include "analyze/device/device_activity.h"

struct comm {
    const struct study           *study;
    const struct windows         *windows;
    const struct collective_list *list;
    struct arena                 *scratch;
};

static bool add_compute(const struct comm *comm, uint32_t device, struct intervals *hidden)
{
    const struct study *study = comm->study;

    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++) {
        const struct device_row *row = &study->devices->rows.items[i];

        for (size_t j = 0; j < row->compute.list.count; j++)
            if (study->profile->devices.items[row->device].host == comm->windows->host &&
                (device == NO_ID || device == row->device) &&
                !intervals_add(hidden, comm->scratch, row->compute.list.items[j].start_ns,
                               row->compute.list.items[j].end_ns))
                return false;
    }
    return true;
}

/* Time in collectives of one device, or on the host's threads: unions, so that streams and threads
 * do not count twice; and how much of it computing leaves uncovered. */
static bool add_times(const struct comm *comm, uint32_t device, double *ns, double *exposed_ns)
{
    struct intervals all = { 0 }, hidden = { 0 }, exposed;
    double count = device == NO_ID ? 1 : device_activity_count(comm->study, comm->windows);

    for (size_t i = 0; i < comm->list->items.count; i++) {
        const struct collective_instance *item = &comm->list->items.items[i];

        if (item->host == comm->windows->host && item->device == device &&
            !intervals_add(&all, comm->scratch, item->start_ns, item->end_ns))
            return false;
    }
    intervals_settle(&all);
    if (all.list.count == 0)
        return true;
    if (!add_compute(comm, device, &hidden))
        return false;
    intervals_settle(&hidden);
    if (!intervals_subtract(&all, &hidden, comm->scratch, &exposed))
        return false;
    *ns += (double)intervals_total_ns(&all) / count;
    *exposed_ns += (double)intervals_total_ns(&exposed) / count;
    return true;
}

bool comm_times_sum(const struct study *study, const struct windows *windows,
                    const struct collective_list *list, struct arena *scratch, double *ns,
                    double *exposed_ns)
{
    struct comm comm = { study, windows, list, scratch };

    *ns = *exposed_ns = 0;
    if (!add_times(&comm, NO_ID, ns, exposed_ns))
        return false;
    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++)
        if (!add_times(&comm, study->devices->rows.items[i].device, ns, exposed_ns))
            return false;
    return true;
}
