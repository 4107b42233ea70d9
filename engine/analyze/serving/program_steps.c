#include "analyze/serving/program_steps.h"

#include "analyze/device/device_activity.h"
#include "analyze/step/runs.h"
#include "base/macros.h"
#include "model/names.h"

#include <math.h>

/* Whether a matrix has these two lengths, in either order; the other one's length is `common`. */
static bool has_side(const struct tensor *tensor, int64_t side, int64_t *common)
{
    if (tensor->rank != 2 || (tensor->dims[0] != side && tensor->dims[1] != side))
        return false;
    *common = tensor->dims[tensor->dims[0] == side];
    return true;
}

double program_product_rows(const struct profile *profile, const struct op *op)
{
    const struct tensor *tensors = profile->tensors.items + op->first_input;
    const struct tensor *result = profile->tensors.items + op->first_output;
    int64_t              common, other;

    if (!op->program || op->input_count < 2 || op->output_count < 1 || result->rank != 2)
        return 0;
    return has_side(&tensors[0], result->dims[0], &common) &&
                   has_side(&tensors[1], result->dims[1], &other) && common == other
               ? (double)result->dims[0]
               : 0;
}

/* As recorded; a line of programs puts the program's identity behind it, "jit_decode_step(1219)".
 */
static uint32_t name_of(const struct study *study, const struct run *run)
{
    int64_t name;

    return profile_stat(study->profile, STAT_MODULE_NAME, run->event, &name)
               ? (uint32_t)name
               : event_activity(study->profile, run->event)->name;
}

const char *program_phase(struct str name)
{
    return !name_is(name, NAMES_JAX_PROGRAM)      ? NULL
           : name_is(name, NAMES_PREFILL_PROGRAM) ? "prefill"
           : name_is(name, NAMES_DECODE_PROGRAM)  ? "decode"
                                                  : NULL;
}

bool program_is_server(struct str name)
{
    return name_is(name, NAMES_JAX_PROGRAM) &&
           (name_is(name, NAMES_PREFILL_PROGRAM) || name_is(name, NAMES_DECODE_STEP_PROGRAM));
}

/* Pictures are decoded, too, and texts generated in one run: names of decoding tell a server only
 * where they speak of a step, or a program beside them reads prompts. */
static bool is_server(const struct profile *profile)
{
    for (size_t i = 0; i < profile->activities.count; i++)
        if (program_is_server(profile_str(profile, profile->activities.items[i].name)))
            return true;
    return false;
}

/* NaN: no accelerator was recorded. */
static double busy_ns(const struct study *study, const struct run *run)
{
    const struct device_row *row = NULL;

    if (study->devices && run->device != NO_ID)
        row = device_activity_row(study->devices, run->device);
    else if (study->devices)
        row = device_activity_leading(study);
    return row ? (double)intervals_overlap_ns(&row->busy, run->start_ns, run->end_ns) : NAN;
}

bool program_steps_find(const struct study *study, struct arena *arena, struct engine_steps *steps)
{
    struct runs runs = { 0 };
    int64_t     reached_ns = INT64_MIN, other_ns = 0;

    if (!is_server(study->profile))
        return true;
    if (!runs_find(study->profile, arena, &runs) ||
        (!runs.list.count && !runs_dispatched(study->profile, arena, &runs)))
        return false;
    steps->are_programs = true;
    for (size_t i = 0; i < runs.list.count; i++) {
        const struct run  *run = &runs.list.items[i];
        uint32_t           name = name_of(study, run);
        const char        *phase = program_phase(profile_str(study->profile, name));
        struct engine_step step = { .start_ns = run->start_ns,
                                    .end_ns = run->end_ns,
                                    .first_ns = run->start_ns,
                                    .last_ns = run->end_ns,
                                    .name = name,
                                    .timeline = NO_ID,
                                    .mark = { -1, -1, -1, -1, .guess = phase },
                                    .kernels = NAN,
                                    .graph_kernels = NAN };

        if (run->host != study->steps.host)
            continue;
        if (!phase && run->end_ns > reached_ns)
            other_ns += run->end_ns - (run->start_ns > reached_ns ? run->start_ns : reached_ns);
        if (run->end_ns > reached_ns)
            reached_ns = run->end_ns;
        if (!phase)
            continue;
        step.kernel_ns = busy_ns(study, run);
        step.other_ns = (double)other_ns;
        other_ns = 0;
        if (!vec_push(&steps->list, arena, step))
            return false;
    }
    return true;
}
