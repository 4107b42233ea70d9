#include "report/head_text.h"

#include "analyze/study.h"
#include "report/describe.h"

static void add_item(struct text *line, const char *format, ...) CHECK_PRINTF(2, 3);

static void add_item(struct text *line, const char *format, ...)
{
    va_list arguments;

    if (line->len > 0)
        text_add(line, STR(" · "));
    va_start(arguments, format);
    text_vprint(line, format, arguments);
    va_end(arguments);
}

/* "GPU"; of other kinds the name before the number, "NPU" of "NPU 0". */
static struct str kind_word(enum device_kind kind, struct str name)
{
    size_t end = str_find(name, ' ');

    if (kind == DEVICE_GPU)
        return STR("GPU");
    if (kind == DEVICE_TPU)
        return STR("TPU");
    return end > 0 && end < name.len ? str_slice(name, 0, end) : STR("device");
}

static void add_devices(struct text *line, const struct profile *profile)
{
    size_t           accelerators = 0;
    enum device_kind kind = DEVICE_OTHER;
    struct str       model = { 0 }, name = { 0 };

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];

        if (device->kind == DEVICE_CPU || device->unit_of)
            continue;
        if (accelerators++ == 0) {
            kind = device->kind;
            model = profile_str(profile, device->model);
            name = profile_str(profile, device->name);
        }
    }
    if (accelerators == 0)
        add_item(line, "CPU only");
    else if (model.len > 0)
        add_item(line, "%zu x %.*s", accelerators, STR_ARG(model));
    else
        add_item(line, "%zu %.*s%s", accelerators, STR_ARG(kind_word(kind, name)),
                 accelerators == 1 ? "" : "s");
}

static void add_steps(struct text *line, const struct study *study)
{
    struct step_range range = study_step_range(study);

    if (range.used == 0)
        add_item(line, "no step could be used");
    else if (study->steps.source == STEPS_WHOLE_TRACE)
        add_item(line, "no steps marked: the whole trace");
    else if (range.used == 1)
        add_item(line, "step %lld", (long long)range.first);
    else if (range.last <= range.first) /* a program that counts from 0 again */
        add_item(line, "%u steps", range.used);
    else
        add_item(line, "steps %lld…%lld", (long long)range.first, (long long)range.last);
    if (range.used > 0 && study->steps.source == STEPS_INFERRED)
        text_add(line, STR(" (inferred)"));
    if (range.left_out > 0)
        text_print(line, " (%u step%s left out)", range.left_out, range.left_out == 1 ? "" : "s");
}

/* Recordings of PyTorch are of a process each, several of which share a machine. */
static const char *hosts_word(const struct profile *profile)
{
    bool are_ranks = profile->format == FORMAT_KINETO;

    for (size_t i = 0; i < profile->hosts.count; i++)
        are_ranks = are_ranks && profile->hosts.items[i].rank >= 0;
    if (profile->hosts.count == 1)
        return "host";
    return are_ranks ? "ranks" : "hosts";
}

void head_text(struct layout *layout, const struct study *study)
{
    const struct profile *profile = study->profile;
    struct text           line = { .arena = layout->arena };

    if (profile->name && *profile->name)
        add_item(&line, "%s", profile->name);
    add_item(&line, "%s", format_title(profile->format));
    if (profile_str(profile, profile->framework).len > 0)
        add_item(&line, "%.*s", STR_ARG(profile_str(profile, profile->framework)));
    add_item(&line, "%zu %s", profile->hosts.count, hosts_word(profile));
    add_devices(&line, profile);
    add_steps(&line, study);
    layout_wrap(layout, 0, "", 0, text_str(&line));
    layout_line(layout);
}
