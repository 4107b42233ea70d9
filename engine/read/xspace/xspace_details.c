#include "read/xspace/xspace_details.h"

/* The number behind "name:" in a details text ("size:4096 dest:0"), or -1. */
static int64_t detail(struct str details, struct str name)
{
    size_t     at = str_search(details, name);
    struct str rest = str_slice(details, at + name.len, details.len);
    size_t     end = 0;
    int64_t    number;

    if (at >= details.len)
        return -1;
    while (end < rest.len && rest.data[end] >= '0' && rest.data[end] <= '9')
        end++;
    return str_to_int64(str_slice(rest, 0, end), &number) ? number : -1;
}

/* Text behind "name:" up to a blank; empty: there is none. */
static struct str detail_text(struct str details, struct str name)
{
    size_t     at = str_search(details, name);
    struct str rest = str_slice(details, at + name.len, details.len);

    return str_slice(rest, 0, str_find(rest, ' '));
}

/* In per cent; -1: not told, which ROCm writes as 0. */
static float detail_occupancy(struct str details)
{
    double percent;

    return str_to_double(detail_text(details, STR("occ_pct:")), &percent) && percent > 0 &&
                   percent <= 100
               ? (float)percent
               : -1;
}

static uint32_t detail_count(struct str details, struct str name)
{
    int64_t number = detail(details, name);

    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* "grid:4,64,1": three counts. */
static void detail_extent(struct str details, struct str name, uint32_t extent[3])
{
    size_t     at = str_search(details, name);
    struct str rest = str_slice(details, at + name.len, details.len);

    for (int i = 0; i < 3; i++) {
        size_t  end = 0;
        int64_t number = 1;

        while (end < rest.len && rest.data[end] >= '0' && rest.data[end] <= '9')
            end++;
        if (at >= details.len || !str_to_int64(str_slice(rest, 0, end), &number) ||
            number > UINT32_MAX)
            number = 1;
        extent[i] = (uint32_t)number;
        rest =
            str_slice(rest, end < rest.len && rest.data[end] == ',' ? end + 1 : rest.len, rest.len);
    }
}

bool xspace_kernel_config(struct str details, struct kernel_config *config)
{
    enum { MOST_REGISTERS = 512 }; /* a thread can have, of any device */

    if (!str_contains(details, STR("grid:")))
        return false;
    *config = (struct kernel_config) { .occupancy_pct = detail_occupancy(details) };
    config->registers = detail_count(details, STR("regs:"));
    if (config->registers > MOST_REGISTERS)
        config->registers = 0;
    config->static_shared_bytes = detail_count(details, STR("static_shared:"));
    if (config->static_shared_bytes == 0) /* as it was called before */
        config->static_shared_bytes = detail_count(details, STR(" shm:"));
    config->dynamic_shared_bytes = detail_count(details, STR("dynamic_shared:"));
    detail_extent(details, STR("grid:"), config->grid);
    detail_extent(details, STR("block:"), config->block);
    return true;
}

bool xspace_details_bytes(struct str details, int64_t *bytes)
{
    *bytes = detail(details, STR("size:"));
    if (*bytes < 0)
        *bytes = detail(details, STR("num_bytes:"));
    return *bytes >= 0;
}

bool xspace_details_kinds(struct str details, struct str *from, struct str *to)
{
    *from = detail_text(details, STR("kind_src:"));
    *to = detail_text(details, STR("kind_dst:"));
    return from->len && to->len;
}

enum side { SIDE_UNKNOWN, SIDE_HOST, SIDE_DEVICE, SIDES };

/* By CUPTI's kinds of memory: managed memory may be on either side. */
static enum side side_of(struct str memory)
{
    if (str_fits(memory, "pageable|pinned"))
        return SIDE_HOST;
    return str_fits(memory, "device|array|device_static") ? SIDE_DEVICE : SIDE_UNKNOWN;
}

enum copy_direction xspace_memories_direction(struct str kinds)
{
    static const enum copy_direction ways[SIDES][SIDES] = {
        [SIDE_HOST] = { [SIDE_HOST] = COPY_H2H, [SIDE_DEVICE] = COPY_H2D },
        [SIDE_DEVICE] = { [SIDE_HOST] = COPY_D2H, [SIDE_DEVICE] = COPY_D2D },
    };
    size_t arrow = str_find(kinds, ' ');

    if (!str_starts(str_slice(kinds, arrow, kinds.len), STR(" -> ")))
        return COPY_NONE;
    return ways[side_of(str_slice(kinds, 0, arrow))]
               [side_of(str_slice(kinds, arrow + 4, kinds.len))];
}
