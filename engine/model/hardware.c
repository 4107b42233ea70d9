/* hardware: figures are the makers' dense peaks (no sparsity). */
#include "model/hardware.h"

#include "base/macros.h"

#include <math.h>
#include <stdio.h>

#define TERA 1e12
#define GIGA 1e9

#define HARDWARE(words, title, major, minor, units, gigabytes, f64, f32, tf32, f16, bf16, f8, f4,  \
                 i8, sparse, memory, link, source)                                                 \
    { words,      title,      major,       minor,         units,       gigabytes,                  \
      (f64)*TERA, (f32)*TERA, (tf32)*TERA, (f16)*TERA,    (bf16)*TERA, (f8)*TERA,                  \
      (f4)*TERA,  (i8)*TERA,  sparse,      (memory)*GIGA, (link)*GIGA, source },
static const struct hardware models[] = {
#include "model/hardware.def"
};

struct architecture { /* operations a cycle of a multiprocessor */
    bool        is_amd;
    uint32_t    major, minor;
    double      f64, f32, tf32, f16, bf16, f8, f4, i8, sparse;
    const char *source;
};
#define ARCHITECTURE(is_amd, major, minor, f64, f32, tf32, f16, bf16, f8, f4, i8, sparse, source)  \
    { is_amd, major, minor, f64, f32, tf32, f16, bf16, f8, f4, i8, sparse, source },
static const struct architecture architectures[] = {
#include "model/hardware.def"
};

static const struct multiprocessor multiprocessors[] = {
#define MULTIPROCESSOR(major, minor, threads, blocks, shared, own)                                 \
    { major, minor, threads, blocks, (shared) << 10, (own) << 10 },
#include "model/hardware.def"
};

static char small(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/* Whether a name has this word: letters and digits with others, or an end, on both sides. */
static bool has_word(struct str name, struct str word)
{
    for (size_t at = 0; at + word.len <= name.len; at++) {
        size_t len = 0;

        if (at > 0 && is_word_byte(small(name.data[at - 1])))
            continue;
        while (len < word.len && small(name.data[at + len]) == word.data[len])
            len++;
        if (len == word.len && (at + len == name.len || !is_word_byte(small(name.data[at + len]))))
            return true;
    }
    return false;
}

/* How many words a row has, when the name has all of them; 0: it lacks one. */
static int words_in(struct str name, struct str words)
{
    int count = 0;

    while (words.len) {
        if (!has_word(name, str_cut(&words, ' ')))
            return 0;
        count++;
    }
    return count;
}

/* Words that make another model of a name, or a part of a device: figures of the plain one are not
 * its own. */
static bool is_another(struct str name, struct str words)
{
    static const char *const marks[] = { "laptop", "mobile", "max", "ti", "super", "d", "mig" };

    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        if (has_word(name, str_from(marks[i])) && !has_word(words, str_from(marks[i])))
            return true;
    return false;
}

const struct hardware *hardware_find(struct str model)
{
    const struct hardware *best = NULL;
    int                    most = 0;

    for (size_t i = 0; i < ARRAY_COUNT(models); i++) {
        struct str words = str_from(models[i].words);
        int        count = words_in(model, words);

        if (count > most && !is_another(model, words)) {
            most = count;
            best = &models[i];
        }
    }
    return best;
}

/* Memory is told with what drivers keep of it or without. */
static const struct hardware *find_figures(const struct device *device)
{
    double gigabytes = (double)device->memory_bytes / GIGA;

    for (size_t i = 0; i < ARRAY_COUNT(models); i++)
        if (models[i].title && models[i].major == device->compute_major &&
            models[i].minor == device->compute_minor && models[i].unit_count == device->sm_count &&
            fabs(gigabytes - models[i].memory_gigabytes) < 0.03 * models[i].memory_gigabytes)
            return &models[i];
    return NULL;
}

static const struct architecture *find_architecture(const struct device *device)
{
    const struct architecture *best = NULL;

    for (size_t i = 0; i < ARRAY_COUNT(architectures); i++) {
        const struct architecture *row = &architectures[i];

        if (row->is_amd == device->is_amd && row->major == device->compute_major &&
            row->minor <= device->compute_minor)
            best = row;
    }
    return best;
}

/* The row of a device's name, or what the user said of such devices. */
static const struct hardware *find_device(const struct profile *profile,
                                          const struct device  *device)
{
    if (profile->said_hardware && device->model == profile->said_model)
        return profile->said_hardware;
    return hardware_find(profile_str(profile, device->model));
}

const struct hardware *hardware_of(const struct profile *profile, const struct device *device,
                                   struct hardware *made)
{
    const struct hardware     *known = find_device(profile, device);
    const struct architecture *rates;
    double                     cycles_per_s = device->clock_hz * device->sm_count;

    if (!known)
        known = find_figures(device);
    rates = known || !(cycles_per_s > 0 && cycles_per_s < 1e15) ? NULL : find_architecture(device);
    if (!rates)
        return known;
    *made = (struct hardware) { .f64_flops_per_s = rates->f64 * cycles_per_s,
                                .f32_flops_per_s = rates->f32 * cycles_per_s,
                                .tf32_flops_per_s = rates->tf32 * cycles_per_s,
                                .f16_flops_per_s = rates->f16 * cycles_per_s,
                                .bf16_flops_per_s = rates->bf16 * cycles_per_s,
                                .f8_flops_per_s = rates->f8 * cycles_per_s,
                                .f4_flops_per_s = rates->f4 * cycles_per_s,
                                .i8_ops_per_s = rates->i8 * cycles_per_s,
                                .sparse = rates->sparse,
                                .memory_bytes_per_s = device->memory_bytes_per_s,
                                .source = rates->source };
    return made;
}

/* GeForce and inference cards before Volta compute in 16 bits at a 64th of their rate, if at all;
 * P100 twice as fast as in 32. */
static enum dtype half_type_of(uint32_t major, uint32_t minor)
{
    if (major >= 8)
        return DTYPE_BF16;
    return major == 7 || (major == 6 && minor == 0) ? DTYPE_F16 : DTYPE_UNKNOWN;
}

enum dtype hardware_half_type(const struct profile *profile, const struct device *device)
{
    const struct hardware *known = find_device(profile, device);

    if (device->kind == DEVICE_TPU || device->is_amd)
        return DTYPE_BF16;
    if (device->compute_major > 0)
        return half_type_of(device->compute_major, device->compute_minor);
    if (!known)
        return DTYPE_UNKNOWN;
    if (known->bf16_flops_per_s <= 0 && known->tf32_flops_per_s <= 0)
        return known->f16_flops_per_s > 0 ? DTYPE_F16 : DTYPE_UNKNOWN;
    return DTYPE_BF16;
}

/* AMD's libraries name their kernels for the instruction set that they are for. */
static const struct {
    const char *mark, *title;
} instruction_sets[] = {
    { "ISA942", "AMD Instinct MI300X" }, { "gfx942", "AMD Instinct MI300X" },
    { "ISA950", "AMD Instinct MI355X" }, { "gfx950", "AMD Instinct MI355X" },
    { "ISA90a", "AMD Instinct MI210" },  { "gfx90a", "AMD Instinct MI210" },
    { "ISA908", "AMD Instinct MI100" },  { "gfx908", "AMD Instinct MI100" },
};

/* NULL: no kernel's name tells. */
static const char *assumed_title(const struct profile *profile)
{
    for (size_t i = 0; i < profile->activities.count; i++) {
        const struct activity *activity = &profile->activities.items[i];

        for (size_t j = 0; activity->kind == ACTIVITY_KERNEL && j < ARRAY_COUNT(instruction_sets);
             j++)
            if (str_contains(profile_str(profile, activity->name),
                             str_from(instruction_sets[j].mark)))
                return instruction_sets[j].title;
    }
    return NULL;
}

/* GPUs of which nothing is told are taken for the usual model of what their kernels are made for.
 */
static bool assume_models(struct profile *profile)
{
    const char *title = NULL;
    bool        is_asked = false;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct device *device = &profile->devices.items[i];
        char           text[256];
        int            len;

        if (device->kind != DEVICE_GPU || profile_str(profile, device->model).len ||
            device->sm_count > 0 || device->memory_bytes > 0)
            continue;
        if (!is_asked)
            title = assumed_title(profile);
        is_asked = true;
        if (!title)
            return true;
        len = snprintf(text, sizeof text, "%s, assumed from names of kernels", title);
        device->model = profile_intern(profile, (struct str) { text, (size_t)len });
        if (device->model == NO_ID)
            return false;
    }
    return true;
}

/* Devices of no recorded model, or of one that the table does not have, are what the user says. */
static bool take_model(struct profile *profile, const struct hardware *said, const char *name)
{
    char text[256];
    int  len = snprintf(text, sizeof text, "%.200s, as was said", name);

    profile->said_hardware = said;
    profile->said_model = profile_intern(profile, (struct str) { text, (size_t)len });
    for (size_t i = 0; i < profile->devices.count && profile->said_model != NO_ID; i++)
        if (profile->devices.items[i].kind != DEVICE_CPU &&
            !hardware_find(profile_str(profile, profile->devices.items[i].model)))
            profile->devices.items[i].model = profile->said_model;
    return profile->said_model != NO_ID;
}

bool hardware_settle(struct profile *profile, const struct hardware *said, const char *name)
{
    if (said ? !take_model(profile, said, name) : !assume_models(profile))
        return false;
    for (size_t i = 0; i < profile->devices.count; i++) {
        struct device         *device = &profile->devices.items[i];
        struct str             model = profile_str(profile, device->model);
        const struct hardware *known = find_device(profile, device);
        char                   text[256];
        int                    len;

        if (!known && (known = find_figures(device)) != NULL) {
            model = str_slice(model, 0, 100);
            len = model.len ? snprintf(text, sizeof text, "%.*s (%s, by its figures)",
                                       STR_ARG(model), known->title)
                            : snprintf(text, sizeof text, "%s, by its figures", known->title);
            device->model = profile_intern(profile, (struct str) { text, (size_t)len });
            if (device->model == NO_ID)
                return false;
        }
        device->is_amd = device->is_amd || has_word(model, STR("amd")) ||
                         (known && str_starts(str_from(known->source), STR("AMD")));
        if (known && device->kind == DEVICE_GPU)
            device->memory_bytes_per_s = known->memory_bytes_per_s;
    }
    return true;
}

double hardware_peak_flops_per_s(const struct hardware *hardware, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
        return hardware->f64_flops_per_s;
    case DTYPE_F16:
        return hardware->f16_flops_per_s;
    case DTYPE_BF16:
        return hardware->bf16_flops_per_s;
    case DTYPE_TF32:
        return hardware->tf32_flops_per_s;
    case DTYPE_F32:
        return hardware->f32_flops_per_s;
    case DTYPE_F8:
        return hardware->f8_flops_per_s;
    case DTYPE_F4:
        return hardware->f4_flops_per_s;
    case DTYPE_I8:
    case DTYPE_U8:
        return hardware->i8_ops_per_s;
    default:
        return 0;
    }
}

const struct multiprocessor *hardware_multiprocessor(const struct device *device)
{
    for (size_t i = 0; i < ARRAY_COUNT(multiprocessors) && !device->is_amd; i++)
        if (multiprocessors[i].major == device->compute_major &&
            multiprocessors[i].minor == device->compute_minor)
            return &multiprocessors[i];
    return NULL;
}
