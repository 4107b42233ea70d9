#include "analyze/schedule/other_hardware.h"

#include "analyze/kernel/kernel_names.h"

#include <math.h>

/* What names do not tell is in 16 bits; floats that go through matrix units are computed as tf32.
 */
static enum dtype type_of(const struct kernel_name *name)
{
    if (name->dtype == DTYPE_UNKNOWN)
        return DTYPE_F16;
    return name->dtype == DTYPE_F32 && name->tensor_core == TENSOR_CORE_YES ? DTYPE_TF32
                                                                            : name->dtype;
}

/* A type that the hardware has no units for is computed in the next wider one that it has. */
static double peak(const struct hardware *hardware, enum dtype dtype)
{
    double rate = hardware_peak_flops_per_s(hardware, dtype);

    if (rate <= 0 && dtype == DTYPE_F4)
        rate = hardware->f8_flops_per_s;
    if (rate <= 0 && (dtype == DTYPE_F8 || dtype == DTYPE_F4 || dtype == DTYPE_I8))
        rate = hardware->f16_flops_per_s;
    return rate > 0 ? rate : hardware->f32_flops_per_s;
}

double other_hardware_factor(struct str kernel, const struct hardware *here,
                             const struct hardware *there)
{
    struct kernel_name name = kernel_name_parse(kernel);
    enum dtype         dtype = type_of(&name);
    double             memory = here->memory_bytes_per_s / there->memory_bytes_per_s;

    if (!(here->memory_bytes_per_s > 0) || !(there->memory_bytes_per_s > 0))
        return NAN;
    if (!kernel_is_product(name.category))
        return memory;
    return peak(there, dtype) > 0 ? fmax(memory, peak(here, dtype) / peak(there, dtype)) : NAN;
}
