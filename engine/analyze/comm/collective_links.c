#include "analyze/comm/collective_links.h"

#include "model/hardware.h"

#include <math.h>
#include <string.h>

double collective_link_rate(const struct profile *profile, uint32_t device)
{
    struct hardware        made;
    const struct hardware *known =
        device < profile->devices.count
            ? hardware_of(profile, &profile->devices.items[device], &made)
            : NULL;

    return known ? known->link_bytes_per_s : 0;
}

/* Devices of the machine that a host is. */
static double device_count(const struct profile *profile, uint32_t host)
{
    double count = 0;

    if (profile->hosts.items[host].device_count > 0)
        return profile->hosts.items[host].device_count;
    for (size_t i = 0; i < profile->devices.count && profile->format == FORMAT_XSPACE; i++)
        count += profile->devices.items[i].host == host && profile->devices.items[i].unit_of == 0 &&
                 profile->devices.items[i].kind != DEVICE_CPU;
    return count;
}

/* Whether ranks as "[0, 1, 2, 3]" are all of one machine, which holds `count` that follow each
 * other. */
static bool are_beside(struct str ranks, double count)
{
    double machine = -1;

    if (str_contains(ranks, STR(".."))) /* not all are named */
        return false;
    for (size_t at = 0; at < ranks.len; at++) {
        double rank = 0;

        if (ranks.data[at] < '0' || ranks.data[at] > '9')
            continue;
        for (; at < ranks.len && ranks.data[at] >= '0' && ranks.data[at] <= '9'; at++)
            rank = 10 * rank + (ranks.data[at] - '0');
        if (machine >= 0 && machine != floor(rank / count))
            return false;
        machine = floor(rank / count);
    }
    return machine >= 0;
}

/* A TPU's links reach all chips of its slice. */
static bool is_in_one_machine(const struct profile *profile, const struct collective_instance *item)
{
    const struct collective *collective;
    const struct host       *host = &profile->hosts.items[item->host];
    double                   count = device_count(profile, item->host);
    int64_t                  row;

    if (profile->devices.items[item->device].kind == DEVICE_TPU)
        return true;
    if (!profile_stat(profile, STAT_COLLECTIVE, item->event, &row) || row < 0 ||
        (uint64_t)row >= profile->collectives.count || count < 2)
        return false;
    collective = &profile->collectives.items[row];
    return (host->world_size > 1 && host->world_size <= count) ||
           are_beside(profile_str(profile, collective->group), count);
}

/* Whether a switch can add for the devices, so that each gives and gets its data once: NVIDIA's
 * from Hopper on. */
static bool adds_in_switch(const struct device *device)
{
    return !device->is_amd && device->kind == DEVICE_GPU &&
           (device->compute_major == 0 || device->compute_major >= 9);
}

double collective_link_ns(const struct profile *profile, const struct collective_instance *item)
{
    static const char *const types[] = { "all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                         "broadcast" };
    const char              *type = collective_type(profile, item->event);
    double rate = collective_link_rate(profile, item->device), size = 0, bytes, part;
    bool   is_known = false;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        is_known |= strcmp(types[i], type) == 0;
    if (!is_known || !(rate > 0) || !is_in_one_machine(profile, item))
        return NAN;
    bytes = collective_payload(profile, item->event, &size);
    part = collective_bus_factor(type, size);
    if (adds_in_switch(&profile->devices.items[item->device]))
        part = fmin(1, part);
    return bytes > 0 && part > 0 ? bytes * part / rate * 1e9 : NAN;
}
