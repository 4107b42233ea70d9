/* hardware: figures are the makers' dense peaks (no sparsity). */
#include "analyze/hardware.h"

#include "base/macros.h"

#define TERA 1e12
#define GIGA 1e9

/* Specific before general: the first row whose part is in the name wins. */
static const struct hardware models[] = {
    { "v100", 125 * TERA, 0, 15.7 * TERA, 0, 900 * GIGA },
    { "tesla t4", 65 * TERA, 0, 8.1 * TERA, 0, 320 * GIGA },
    { "a100-sxm4-80gb", 312 * TERA, 156 * TERA, 19.5 * TERA, 0, 2039 * GIGA },
    { "a100-sxm-80gb", 312 * TERA, 156 * TERA, 19.5 * TERA, 0, 2039 * GIGA },
    { "a100 80gb", 312 * TERA, 156 * TERA, 19.5 * TERA, 0, 2039 * GIGA },
    { "a100", 312 * TERA, 156 * TERA, 19.5 * TERA, 0, 1555 * GIGA },
    { "nvidia a10", 125 * TERA, 62.5 * TERA, 31.2 * TERA, 0, 600 * GIGA },
    { "l40s", 181 * TERA, 91 * TERA, 91.6 * TERA, 362 * TERA, 864 * GIGA },
    { "nvidia l4", 121 * TERA, 60 * TERA, 30 * TERA, 242 * TERA, 300 * GIGA },
    { "rtx 4090", 165 * TERA, 83 * TERA, 82.6 * TERA, 330 * TERA, 1008 * GIGA },
    { "h100 pcie", 757 * TERA, 378 * TERA, 51 * TERA, 1513 * TERA, 2000 * GIGA },
    { "h100", 989 * TERA, 495 * TERA, 67 * TERA, 1979 * TERA, 3350 * GIGA },
    { "h200", 989 * TERA, 495 * TERA, 67 * TERA, 1979 * TERA, 4800 * GIGA },
    { "h20", 148 * TERA, 74 * TERA, 44 * TERA, 296 * TERA, 4000 * GIGA },
    { "b200", 2250 * TERA, 1125 * TERA, 75 * TERA, 4500 * TERA, 8000 * GIGA },
    { "mi250", 383 * TERA, 0, 47.9 * TERA, 0, 3277 * GIGA },
    { "mi300x", 1307 * TERA, 654 * TERA, 163 * TERA, 2615 * TERA, 5300 * GIGA },
    { "tpu v3", 123 * TERA, 0, 0, 0, 900 * GIGA },
    { "tpu v4", 275 * TERA, 0, 0, 0, 1228 * GIGA },
    { "tpu v5 lite", 197 * TERA, 0, 0, 0, 819 * GIGA },
    { "tpu v5e", 197 * TERA, 0, 0, 0, 819 * GIGA },
    { "tpu v5p", 459 * TERA, 0, 0, 0, 2765 * GIGA },
    { "tpu v5", 459 * TERA, 0, 0, 0, 2765 * GIGA },
    { "tpu v6", 918 * TERA, 0, 0, 0, 1640 * GIGA },
};

const struct hardware *hardware_find(struct str model)
{
    enum { LONGEST_MODEL = 128 };
    char       text[LONGEST_MODEL];
    struct str small = { text, model.len < LONGEST_MODEL ? model.len : LONGEST_MODEL };

    for (size_t i = 0; i < small.len; i++)
        text[i] = model.data[i] >= 'A' && model.data[i] <= 'Z' ? (char)(model.data[i] - 'A' + 'a')
                                                               : model.data[i];
    for (size_t i = 0; i < ARRAY_COUNT(models); i++)
        if (str_contains(small, str_from(models[i].part)))
            return &models[i];
    return NULL;
}

double hardware_peak_flops_per_s(const struct hardware *hardware, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F16:
    case DTYPE_BF16:
        return hardware->f16_flops_per_s;
    case DTYPE_TF32:
        return hardware->tf32_flops_per_s;
    case DTYPE_F32:
        return hardware->f32_flops_per_s;
    case DTYPE_F8:
        return hardware->f8_flops_per_s;
    case DTYPE_UNKNOWN:
    case DTYPE_F64:
    case DTYPE_C64:
    case DTYPE_C128:
    case DTYPE_I64:
    case DTYPE_I32:
    case DTYPE_I16:
    case DTYPE_I8:
    case DTYPE_I4:
    case DTYPE_U64:
    case DTYPE_U32:
    case DTYPE_U16:
    case DTYPE_U8:
    case DTYPE_BOOL:
    case DTYPE_STRING:
    case DTYPE_OTHER:
    case DTYPE_COUNT:
        break;
    }
    return 0;
}
