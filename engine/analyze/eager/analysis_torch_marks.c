/*
 * torch marks: calls of a PyTorch program that give a setting or a habit away by what is around
 * them: memory filled although it was asked for empty and scatters done by sorting (deterministic
 * algorithms), tensors made on the CPU, and worked on there, right before they are copied,
 * gradients of slices, each as large as what the slice is of, and values read for the gradient
 * scaler. Times are those of the device's work where there is a
 * device, else the calls'.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "model/names.h"

enum mark { MARK_NONE, MARK_FILL, MARK_SORT, MARK_CREATED, MARK_SLICE, MARK_COUNT };
enum mark_fact {
    FILL_COUNT,
    FILL_NS,
    SORT_COUNT,
    SORT_NS,
    CREATED_COUNT,
    CREATED_NS,
    SLICE_COUNT,
    SLICE_NS,
    SCALER_READS
};
static const struct fact_spec produces[] = {
    [FILL_COUNT] = { "torch.filled_count", UNIT_COUNT,
                     "tensors a step that were asked for empty and filled all the same" },
    [FILL_NS] = { "torch.filled_ns", UNIT_NS, "time of that a step" },
    [SORT_COUNT] = { "torch.sorted_scatters", UNIT_COUNT,
                     "scatters and index additions a step that run as sorted writes" },
    [SORT_NS] = { "torch.sorted_ns", UNIT_NS, "time of that a step" },
    [CREATED_COUNT] = { "torch.created_on_cpu", UNIT_COUNT,
                        "tensors a step that are made on the CPU and copied at once" },
    [CREATED_NS] = { "torch.created_ns", UNIT_NS, "making and copying them, a step" },
    [SLICE_COUNT] = { "torch.sliced_gradients", UNIT_COUNT,
                      "backward nodes of slices a step: each writes a gradient of the whole" },
    [SLICE_NS] = { "torch.sliced_gradients_ns", UNIT_NS,
                   "time of that a step, adding them up included" },
    [SCALER_READS] = { "torch.scaler_reads", UNIT_COUNT,
                       "values a step that are read right behind a check of scaled gradients" },
};

struct inside {    /* of what a call is */
    uint32_t name; /* of the innermost op at or around it; 0: it is in none */
    uint8_t  mark;
};
struct marking {
    struct study  *study;
    struct windows windows;
    struct arena  *scratch;
    struct inside *inside; /* by event of a thread */
    double         values[ARRAY_COUNT(produces)];
    bool           has_device;
};

static bool is_creation(struct str name)
{
    return name_is(name, NAMES_ATEN_CREATION);
}

/* What an op means from the op around it. */
static enum mark mark_inside(struct str name, struct str outer)
{
    if (str_equal(name, STR("aten::fill_")) && str_fits(outer, "aten::empty*|aten::resize_"))
        return MARK_FILL;
    if (name_is(name, NAMES_ATEN_INDEX_PUT) && name_is(outer, NAMES_ATEN_SCATTER))
        return MARK_SORT;
    return MARK_NONE;
}

struct outermost {      /* ops before, on the same thread */
    int64_t made_ns;    /* of those since the last launch that made something, and worked on it */
    bool    is_made;    /* something */
    bool    is_checked; /* scaled gradients were checked, and nothing was read since */
};

/* An op that is in no other: what came before it decides. */
static enum mark mark_behind(struct marking *marking, struct outermost *before, struct str name,
                             int64_t duration_ns)
{
    enum mark mark = MARK_NONE;

    if (str_equal(name, STR("aten::to")) && before->is_made && marking->has_device) {
        mark = MARK_CREATED;
        marking->values[CREATED_NS] += (double)before->made_ns;
        before->is_made = false;
        before->made_ns = 0;
    } else if (before->is_made || is_creation(name)) {
        before->is_made = true;
        before->made_ns += duration_ns;
    }
    if (str_equal(name, STR("aten::_amp_foreach_non_finite_check_and_unscale_")))
        before->is_checked = true;
    else if (before->is_checked && str_equal(name, STR("aten::item"))) {
        marking->values[SCALER_READS]++;
        before->is_checked = false;
    }
    return mark;
}

static void count_mark(struct marking *marking, enum mark mark, int64_t duration_ns)
{
    static const int8_t counts[MARK_COUNT] = { -1, FILL_COUNT, SORT_COUNT, -1, SLICE_COUNT };

    if (counts[mark] < 0)
        return;
    marking->values[counts[mark]]++;
    if (!marking->has_device)
        marking->values[counts[mark] + 1] += (double)duration_ns;
}

/* The engine's turn for a slice holds the gradient's making and its addition to what came before.
 */
static bool is_slice_node(const struct profile *profile, const struct activity *activity)
{
    return activity->kind == ACTIVITY_EXECUTOR &&
           str_fits(profile_str(profile, activity->name),
                    "autograd::engine::evaluate_function: SelectBackward*|"
                    "autograd::engine::evaluate_function: SliceBackward*");
}

static void walk(struct marking *marking, const struct timeline *timeline)
{
    const struct profile *profile = marking->study->profile;
    struct outermost      before = { 0 };

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t               event = timeline->first_event + j;
        uint32_t               around = marking->study->around[event];
        const struct activity *activity = event_activity(profile, event);
        int64_t                duration_ns = event_duration_ns(profile, event);
        struct inside         *inside = &marking->inside[event];

        if (activity->kind == ACTIVITY_LAUNCH) /* what is made is made on the device */
            before.is_made = false, before.made_ns = 0;
        if (around != NO_ID)
            *inside = marking->inside[around];
        if (is_slice_node(profile, activity) &&
            windows_find(&marking->windows, event_start_ns(profile, event)) != SIZE_MAX) {
            count_mark(marking, MARK_SLICE, duration_ns);
            inside->mark = MARK_SLICE;
        }
        if (activity->kind == ACTIVITY_OP &&
            windows_find(&marking->windows, event_start_ns(profile, event)) != SIZE_MAX) {
            struct str name = profile_str(profile, activity->name);
            enum mark  mark = inside->name ? mark_inside(name, profile_str(profile, inside->name))
                                           : mark_behind(marking, &before, name, duration_ns);

            if (mark != MARK_NONE && inside->mark == MARK_NONE) {
                count_mark(marking, mark, duration_ns);
                inside->mark = (uint8_t)mark;
            }
            inside->name = activity->name;
        }
    }
}

/* The device's work that was launched inside marked ops. A tensor counts as created where it was
 * copied: `to` alone may change nothing. */
static void add_device_work(struct marking *marking)
{
    const struct profile *profile = marking->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t j = 0; timeline->kind == TIMELINE_STREAM && j < timeline->event_count; j++) {
            uint32_t               event = timeline->first_event + j;
            uint32_t               launch = marking->study->devices->launch_of[event];
            const struct activity *activity = event_activity(profile, event);
            double                 ns = (double)event_duration_ns(profile, event);

            if (launch == NO_ID)
                continue;
            switch ((enum mark)marking->inside[launch].mark) {
            case MARK_FILL:
                marking->values[FILL_NS] += ns;
                break;
            case MARK_SORT:
                marking->values[SORT_NS] += ns;
                break;
            case MARK_SLICE:
                marking->values[SLICE_NS] += ns;
                break;
            case MARK_CREATED:
                if (activity->kind == ACTIVITY_MEMCPY && activity->copy == COPY_H2D) {
                    marking->values[CREATED_COUNT]++;
                    marking->values[CREATED_NS] += ns;
                }
                break;
            case MARK_NONE:
            case MARK_COUNT:
                break;
            }
        }
    }
}

static bool examine(struct marking *marking)
{
    struct study         *study = marking->study;
    const struct profile *profile = study->profile;
    bool                  is_set = true;

    marking->inside =
        arena_new_array(marking->scratch, struct inside, (size_t)profile->event_count + 1);
    marking->has_device = study->devices && study->devices->launch_of;
    if (!marking->inside || !windows_make_called(study, marking->scratch, &marking->windows))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD &&
            profile->timelines.items[i].host == marking->windows.host)
            walk(marking, &profile->timelines.items[i]);
    if (marking->has_device)
        add_device_work(marking);
    if (marking->values[CREATED_COUNT] <= 0)
        marking->values[CREATED_NS] = 0;
    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        is_set = is_set && facts_set(&study->facts, &produces[i],
                                     marking->values[i] / (double)marking->windows.count);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    const struct profile *profile = study->profile;
    struct arena          scratch = { 0 };
    struct marking        marking = { .study = study, .scratch = &scratch };
    bool                  is_done = true;

    if (str_equal(profile_str(profile, profile->framework), STR("pytorch")) &&
        profile->event_count > 0)
        is_done = examine(&marking);
    else
        for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
            is_done = is_done && facts_absent(&study->facts, produces[i].name, NULL,
                                              "the recording has no timeline of PyTorch ops");
    arena_free(&scratch);
    return is_done || emit_limit("calls that give settings away", err);
}

const struct analysis analysis_torch_marks = {
    .name = "torch_marks",
    .summary = "calls of a PyTorch program that give a setting or a habit away",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
