#include "analyze/kernel/kernel_waves.h"

#include "base/macros.h"

#include <math.h>
#include <stddef.h>

/* What a multiprocessor holds: "Technical Specifications per Compute Capability" of the CUDA C++
 * Programming Guide. From CUDA 11 on a block keeps 1 KiB of shared memory for itself (8.0 and up).
 */
struct limits {
    uint32_t major, minor;
    uint32_t threads, blocks, shared_bytes, own_bytes;
};
enum { REGISTERS = 65536, WARP = 32, REGISTER_UNIT = 256, WARP_UNIT = 4, SHARED_UNIT = 256 };
static const struct limits limits[] = {
    { 5, 0, 2048, 32, 64 << 10, 0 },         { 5, 2, 2048, 32, 96 << 10, 0 },
    { 6, 0, 2048, 32, 64 << 10, 0 },         { 6, 1, 2048, 32, 96 << 10, 0 },
    { 7, 0, 2048, 32, 96 << 10, 0 },         { 7, 5, 1024, 16, 64 << 10, 0 },
    { 8, 0, 2048, 32, 164 << 10, 1 << 10 },  { 8, 6, 1536, 16, 100 << 10, 1 << 10 },
    { 8, 7, 1536, 16, 164 << 10, 1 << 10 },  { 8, 9, 1536, 24, 100 << 10, 1 << 10 },
    { 9, 0, 2048, 32, 228 << 10, 1 << 10 },  { 10, 0, 2048, 32, 228 << 10, 1 << 10 },
    { 12, 0, 1536, 24, 100 << 10, 1 << 10 },
};

static const struct limits *limits_of(const struct device *device)
{
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (limits[i].major == device->compute_major && limits[i].minor == device->compute_minor)
            return &limits[i];
    return NULL;
}

static double round_up(double value, double unit)
{
    return ceil(value / unit) * unit;
}

double kernel_resident_blocks(const struct device *device, const struct kernel_config *config)
{
    const struct limits *most = limits_of(device);
    double threads = (double)config->block[0] * config->block[1] * config->block[2], blocks;
    double warps = ceil(threads / WARP), shared_bytes;
    double warp_registers = round_up((double)config->registers * WARP, REGISTER_UNIT);

    if (!most || device->is_amd || device->sm_count == 0 || config->registers == 0 || threads < 1 ||
        config->registers > 255)
        return 0;
    blocks = floor(most->threads / (warps * WARP));
    blocks = fmin(blocks, most->blocks);
    blocks = fmin(blocks, floor(floor(REGISTERS / warp_registers / WARP_UNIT) * WARP_UNIT / warps));
    shared_bytes = round_up((double)config->static_shared_bytes + config->dynamic_shared_bytes +
                                most->own_bytes,
                            SHARED_UNIT);
    if (shared_bytes > 0)
        blocks = fmin(blocks, floor(most->shared_bytes / shared_bytes));
    return blocks < 1 ? 0 : blocks * device->sm_count;
}
