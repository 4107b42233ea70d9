#include "analyze/kernel/kernel_waves.h"

#include "model/hardware.h"

#include <math.h>
#include <stddef.h>

/* The same on all of NVIDIA's: "Technical Specifications per Compute Capability" of the CUDA C++
 * Programming Guide. */
enum { REGISTERS = 65536, WARP = 32, REGISTER_UNIT = 256, WARP_UNIT = 4, SHARED_UNIT = 256 };

static double round_up(double value, double unit)
{
    return ceil(value / unit) * unit;
}

double kernel_resident_blocks(const struct device *device, const struct kernel_config *config)
{
    const struct multiprocessor *most = hardware_multiprocessor(device);
    double threads = (double)config->block[0] * config->block[1] * config->block[2], blocks;
    double warps = ceil(threads / WARP), shared_bytes;
    double warp_registers = round_up((double)config->registers * WARP, REGISTER_UNIT);

    if (!most || device->sm_count == 0 || config->registers == 0 || threads < 1 ||
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
