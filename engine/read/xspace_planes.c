#include "read/xspace_planes.h"

#define DERIVED_FIRST (-559038737)      /* 0xDEADBEEF as int32 */
#define ABSOLUTE_NS 1000000000000000000 /* later than 2001: no time since a capture's start */
enum { DERIVED_COUNT = 390 };

static bool is_device_plane(struct str name)
{
    return str_starts(name, STR("/device:")) || str_starts(name, STR("#Chip"));
}

static bool is_skipped_plane(struct str name)
{
    static const char *const names[] = { "/host:metadata",  "Task Environment",
                                         "Host CPUs",       "Syscalls",
                                         "/host:tfstreamz", "/host:__ScopeRangeCallStack__" };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (str_equal(name, str_from(names[i])))
            return true;
    return false;
}

static struct str plane_text(const struct xplane *plane, const char *name)
{
    for (size_t i = 0; i < plane->stats.count; i++) {
        struct xstat stat = xstat_read(plane->stats.items[i]);

        if (str_equal(xplane_stat_name(plane, stat.type_id), str_from(name)))
            return xstat_text(plane, &stat);
    }
    return (struct str) { "", 0 };
}

static double plane_number(const struct xplane *plane, const char *name)
{
    for (size_t i = 0; i < plane->stats.count; i++) {
        struct xstat stat = xstat_read(plane->stats.items[i]);

        if (str_equal(xplane_stat_name(plane, stat.type_id), str_from(name)))
            return xstat_number(&stat);
    }
    return 0;
}

void xspace_environment(struct xhost *host, struct profile *profile)
{
    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];
        struct str           version = plane_text(plane, "jax_version");

        if (str_equal(plane->name, STR("Task Environment")))
            host->start_ns = (int64_t)plane_number(plane, "profile_start_time");
        if (version.len) {
            profile->framework = profile_intern(profile, STR("jax"));
            profile->framework_version = profile_intern(profile, version);
        }
    }
}

static enum timeline_kind kind_of(const struct xplane *plane, const struct xline *line)
{
    static const struct {
        const char        *name;
        enum timeline_kind kind;
    } rows[] = {
        { "Steps", TIMELINE_STEPS },
        { "XLA Ops", TIMELINE_OPS },
        { "XLA Modules", TIMELINE_MODULES },
        { "TensorFlow Name Scope", TIMELINE_DERIVED },
        { "TensorFlow Ops", TIMELINE_DERIVED },
        { "Framework Name Scope", TIMELINE_DERIVED },
        { "Framework Ops", TIMELINE_DERIVED },
        { "Source code", TIMELINE_DERIVED },
        { "Source", TIMELINE_DERIVED },
        { "Launch Stats", TIMELINE_DERIVED },
    };
    int32_t id = (int32_t)(uint32_t)(uint64_t)line->id;
    bool    is_derived = id >= DERIVED_FIRST && id < DERIVED_FIRST + DERIVED_COUNT;

    if (!is_device_plane(plane->name))
        return is_derived ? TIMELINE_DERIVED : TIMELINE_THREAD;
    if (is_derived && !str_equal(line->name, STR("Steps")))
        return TIMELINE_DERIVED;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (str_equal(line->name, str_from(rows[i].name)))
            return rows[i].kind;
    return str_starts(line->name, STR("Stream")) ? TIMELINE_STREAM : TIMELINE_OTHER;
}

/* "python/1234" -> "python". */
static struct str thread_name(struct str name)
{
    size_t  slash = str_find_last(name, '/');
    int64_t number;

    return slash < name.len && str_to_int64(str_slice(name, slash + 1, name.len), &number)
               ? str_slice(name, 0, slash)
               : name;
}

static uint32_t add_device(const struct xplane *plane, uint32_t host, struct profile *profile)
{
    struct device device = { .name = profile_intern(profile, plane->name),
                             .host = host,
                             .ordinal = -1,
                             .kind = DEVICE_OTHER };
    size_t        colon = str_find_last(plane->name, ':');
    struct str    model = plane_text(plane, "gpu_device_name");
    int64_t       ordinal;
    double        peak = plane_number(plane, "peak_teraflops_per_second") * 1e12;
    double        hbm = plane_number(plane, "peak_hbm_bw_gigabytes_per_second") * 1e9;

    if (str_to_int64(str_slice(plane->name, colon + 1, plane->name.len), &ordinal) &&
        ordinal >= 0 && ordinal <= INT32_MAX)
        device.ordinal = (int32_t)ordinal;
    if (str_starts(plane->name, STR("/device:GPU:")))
        device.kind = DEVICE_GPU;
    else if (str_starts(plane->name, STR("/device:TPU:")))
        device.kind = DEVICE_TPU;
    if (!model.len)
        model = plane_text(plane, "device_type_string");
    device.model = profile_intern(profile, model);
    device.compute_major = (uint32_t)plane_number(plane, "compute_cap_major");
    device.compute_minor = (uint32_t)plane_number(plane, "compute_cap_minor");
    device.sm_count = (uint32_t)plane_number(plane, "core_count");
    device.clock_hz = plane_number(plane, "clock_rate") * 1e3;
    device.memory_bytes_per_s = hbm > 0 ? hbm : plane_number(plane, "memory_bandwidth");
    device.memory_bytes = (int64_t)plane_number(plane, "memory_size");
    device.peak_flops_per_s = peak;
    return vec_push(&profile->devices, profile->arena, device)
               ? (uint32_t)profile->devices.count - 1
               : NO_ID;
}

static bool fill_tables(struct plane_tables *tables, struct profile *profile)
{
    const struct xplane *plane = tables->plane;

    for (size_t i = 0; i < plane->stat_types.count; i++) {
        struct str name = plane->stat_types.items[i].name;
        unsigned   seen;
        bool       is_known;
        unsigned   key = xspace_stat(name, &seen, &is_known);

        tables->stat_key[i] = is_known ? (uint8_t)key : UINT8_MAX;
        tables->stat_seen[i] = (uint16_t)seen;
        tables->stat_name[i] = profile_intern(profile, name);
        if (tables->stat_name[i] == NO_ID)
            return false;
    }
    for (size_t i = 0; i < plane->event_types.count; i++) {
        struct str name = plane->event_types.items[i].name;

        tables->is_iterator[i] = str_starts(name, STR("Iterator::"));
        tables->is_memory[i] =
            str_equal(name, STR("MemoryAllocation")) || str_equal(name, STR("MemoryDeallocation"));
    }
    return true;
}

static struct plane_tables *new_tables(const struct xhost *host, const struct xplane *plane,
                                       struct xspace_tasks *tasks, struct profile *profile,
                                       struct arena *scratch)
{
    struct plane_tables *tables = arena_new(scratch, struct plane_tables);
    size_t               stats = plane->stat_types.count, events = plane->event_types.count;

    if (!tables)
        return NULL;
    *tables = (struct plane_tables) {
        .plane = plane,
        .file = host->input->file.bytes,
        .stat_key = arena_new_array(scratch, uint8_t, stats),
        .stat_seen = arena_new_array(scratch, uint16_t, stats),
        .stat_name = arena_new_array(scratch, uint32_t, stats),
        .seen = arena_new_array(scratch, atomic_uint, events),
        .is_iterator = arena_new_array(scratch, bool, events),
        .is_memory = arena_new_array(scratch, bool, events),
        .first_type = tasks->type_count,
    };
    if (!tables->stat_key || !tables->stat_seen || !tables->stat_name || !tables->seen ||
        !tables->is_iterator || !tables->is_memory || !fill_tables(tables, profile))
        return NULL;
    tasks->type_count += (uint32_t)events;
    return tables;
}

/* When the line begins, on the profile's clock. */
static int64_t line_base(const struct xhost *host, const struct profile *profile,
                         const struct xline *line)
{
    int64_t base_ns = line->timestamp_ns;

    if (base_ns >= ABSOLUTE_NS)
        return base_ns - profile->origin_ns;
    if (base_ns < -ABSOLUTE_NS)
        return 0;
    return base_ns + host->shift_ns;
}

static bool plan_line(const struct xhost *host, const struct plane_tables *tables, uint32_t device,
                      const struct xline *line, struct xspace_tasks *tasks, struct profile *profile,
                      struct arena *scratch)
{
    struct str       name = line->display_name.len ? line->display_name : line->name;
    struct timeline  timeline = { .id = line->display_id ? line->display_id : line->id,
                                  .host = host->host,
                                  .device = device,
                                  .kind = kind_of(tables->plane, line) };
    struct line_task task = { .tables = tables,
                              .line = line,
                              .base_ns = line_base(host, profile, line),
                              .timeline = (uint32_t)profile->timelines.count,
                              .arena.budget_bytes = profile->arena->budget_bytes };

    timeline.name = profile_intern(profile, device == NO_ID ? thread_name(name) : name);
    return timeline.name != NO_ID && vec_push(&profile->timelines, profile->arena, timeline) &&
           vec_push(&tasks->list, scratch, task);
}

bool xspace_plan(struct xhost *host, struct xspace_tasks *tasks, struct profile *profile,
                 struct arena *scratch)
{
    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];
        struct plane_tables *tables;
        uint32_t             device = NO_ID;

        if (plane->lines.count == 0 || is_skipped_plane(plane->name))
            continue;
        tables = new_tables(host, plane, tasks, profile, scratch);
        if (!tables || !vec_push(&tasks->planes, scratch, tables))
            return false;
        if (is_device_plane(plane->name)) {
            device = add_device(plane, host->host, profile);
            if (device == NO_ID)
                return false;
        }
        for (size_t n = 0; n < plane->lines.count; n++)
            if (!plan_line(host, tables, device, &plane->lines.items[n], tasks, profile, scratch))
                return false;
    }
    return true;
}
