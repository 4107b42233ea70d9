#include "read/xspace/xspace_planes.h"

#include "model/names.h"

#define DERIVED_FIRST (-559038737)      /* 0xDEADBEEF as int32 */
#define ABSOLUTE_NS 1000000000000000000 /* later than 2001: no time since a capture's start */
#define MOST_NS 9e18                    /* a double below it fits int64 */
#define MOST_UNITS 1000000              /* multiprocessors, versions */
#define MOST_MEMORY_BYTES ((int64_t)1 << 50)
#define MOST_BASE_NS ((int64_t)1 << 60) /* 36 years before or behind the capture's start */
enum { DERIVED_COUNT = 390 };

static bool is_device_plane(struct str name)
{
    return str_fits(name, "/device:*|#Chip*");
}

enum xline_class xspace_line_class(const struct timeline *timeline)
{
    switch (timeline->kind) {
    case TIMELINE_THREAD:
        return XLINE_CLASS_HOST;
    case TIMELINE_STREAM:
    case TIMELINE_OPS:
        return XLINE_CLASS_DEVICE;
    case TIMELINE_MODULES:
        return XLINE_CLASS_MODULES;
    case TIMELINE_STEPS:
        return XLINE_CLASS_STEPS;
    case TIMELINE_DERIVED:
    case TIMELINE_OTHER:
        break;
    }
    return XLINE_CLASS_OTHER;
}

static bool is_skipped_plane(struct str name)
{
    static const char names[] =
        "/host:metadata|Task Environment|Host CPUs|Syscalls|/host:tfstreamz|"
        "/host:__ScopeRangeCallStack__";

    return str_fits(name, names);
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

/* Unix times in ns are too large for a double to hold them exactly. */
static int64_t plane_integer(const struct xplane *plane, const char *name)
{
    double number;

    for (size_t i = 0; i < plane->stats.count; i++) {
        struct xstat stat = xstat_read(plane->stats.items[i]);

        if (!str_equal(xplane_stat_name(plane, stat.type_id), str_from(name)))
            continue;
        if (stat.field == XSTAT_UINT64 || stat.field == XSTAT_INT64)
            return (int64_t)stat.number;
    }
    number = plane_number(plane, name);
    return number > -MOST_NS && number < MOST_NS ? (int64_t)number : 0;
}

void xspace_environment(struct xhost *host, struct profile *profile)
{
    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];
        struct str           version = plane_text(plane, "jax_version");

        if (str_equal(plane->name, STR("Task Environment")))
            host->start_ns = plane_integer(plane, "profile_start_time");
        if (version.len) {
            profile->framework = profile_intern(profile, STR("jax"));
            profile->framework_version = profile_intern(profile, version);
        }
    }
}

const struct stat_info *xspace_stat_slow(const struct plane_tables *tables, uint64_t id)
{
    static const struct stat_info unknown = { .key = STAT_UNKNOWN };
    uint32_t                      index = id_map_get(&tables->plane->stat_type_of, id);

    return index == NO_ID ? &unknown : &tables->stats[index];
}

struct type_info xspace_type_slow(const struct plane_tables *tables, uint64_t id)
{
    uint32_t index = id_map_get(&tables->plane->event_type_of, id);

    return index == NO_ID ? (struct type_info) { .type = NO_TYPE } : tables->types[index];
}

static enum timeline_kind kind_of(const struct xplane *plane, const struct xline *line)
{
    static const struct {
        const char        *name;
        enum timeline_kind kind;
    } rows[] = {
        { "Steps", TIMELINE_STEPS },
        { "XLA Ops", TIMELINE_OPS },
        { "Sparse Core Ops", TIMELINE_OPS },
        { "Sparse Core Modules", TIMELINE_OTHER },
        { "Sparse Core Steps", TIMELINE_OTHER },
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
    if (str_starts(plane->name, STR("#Chip"))) /* its memory, its links: counters, no work */
        return TIMELINE_OTHER;
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

/* A size that a plane claims, in whole units; 0 where none has that many. */
static int64_t plane_size(const struct xplane *plane, const char *name, int64_t most)
{
    double number = plane_number(plane, name);

    return number >= 0 && number <= (double)most ? (int64_t)number : 0;
}

static bool is_core(struct str name)
{
    int64_t number;

    return str_fits(name, "/device:GPU:*|/device:TPU:*") &&
           str_to_int64(str_slice(name, str_find_last(name, ':') + 1, name.len), &number);
}

/* What stats of the plane say of the device. */
static void describe(const struct xplane *plane, struct profile *profile, struct device *device)
{
    struct str model = plane_text(plane, "gpu_device_name");
    double     hbm = plane_number(plane, "peak_hbm_bw_gigabytes_per_second") * 1e9;

    if (!model.len)
        model = plane_text(plane, "device_type_string");
    device->model = profile_intern(profile, model);
    device->compute_major = (uint32_t)plane_size(plane, "compute_cap_major", MOST_UNITS);
    device->compute_minor = (uint32_t)plane_size(plane, "compute_cap_minor", MOST_UNITS);
    device->sm_count = (uint32_t)plane_size(plane, "core_count", MOST_UNITS);
    device->is_amd = str_equal(plane_text(plane, "device_vendor"), STR("AMD"));
    device->clock_hz = plane_number(plane, "clock_rate") * 1e3;
    device->memory_bytes_per_s = hbm > 0 ? hbm : plane_number(plane, "memory_bandwidth");
    /* What is read and written goes by ports of its own. */
    device->on_chip_bytes_per_s = (plane_number(plane, "peak_vmem_rd_bw_gigabytes_per_second") +
                                   plane_number(plane, "peak_vmem_wr_bw_gigabytes_per_second")) *
                                  1e9;
    device->memory_bytes = plane_size(plane, "memory_size", MOST_MEMORY_BYTES);
    device->peak_flops_per_s = plane_number(plane, "peak_teraflops_per_second") * 1e12;
}

void xspace_describe(const struct xhost *host, struct profile *profile)
{
    for (size_t i = 0; i < profile->devices.count; i++) {
        struct device *device = &profile->devices.items[i];

        for (size_t n = 0; device->host == host->host && n < host->space.planes.count; n++) {
            const struct xplane *plane = &host->space.planes.items[n];

            if (plane->lines.count == 0 &&
                str_equal(plane->name, profile_str(profile, device->name)))
                describe(plane, profile, device);
        }
    }
}

/* The row of a plane's device; NO_ID: it is the host's. */
static uint32_t find_device(const struct xhost *host, const struct xplane *plane,
                            const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].host == host->host &&
            str_equal(profile_str(profile, profile->devices.items[i].name), plane->name))
            return i;
    return NO_ID;
}

/* Where a core is among its chips and hosts. */
static bool add_place(struct str details, struct property property, struct profile *profile)
{
    static const char *const names[] = { "hostname",      "device_ordinal", "core_num",
                                         "local_chip_id", "global_chip_id", "global_core_id",
                                         "is_sparse_core" };

    for (struct wire field = wire_start(details); wire_next(&field);) {
        bool is_text = field.type == WIRE_BYTES;

        if ((!is_text && field.type != WIRE_VARINT) || field.number == 0 ||
            field.number > ARRAY_COUNT(names))
            continue;
        property.name = profile_intern(profile, str_from(names[field.number - 1]));
        property.text = profile_intern(profile, is_text ? field.bytes : (struct str) { "", 0 });
        property.number = is_text ? 0 : (double)field.value;
        if (property.name == NO_ID || property.text == NO_ID ||
            !vec_push(&profile->properties, profile->arena, property))
            return false;
    }
    return true;
}

static bool add_properties(const struct xplane *plane, uint32_t host, uint32_t device,
                           struct profile *profile)
{
    for (size_t i = 0; i < plane->stats.count; i++) {
        struct xstat    stat = xstat_read(plane->stats.items[i]);
        struct property property = { .host = host, .device = device };

        if (stat.field == XSTAT_BYTES &&
            str_equal(xplane_stat_name(plane, stat.type_id), STR("core_details")) &&
            !add_place(stat.text, property, profile))
            return false;
        if (stat.field == XSTAT_BYTES || stat.field == 0)
            continue;
        property.name = profile_intern(profile, xplane_stat_name(plane, stat.type_id));
        property.text = profile_intern(profile, xstat_text(plane, &stat));
        property.number = xstat_number(&stat);
        if (property.name == NO_ID || property.text == NO_ID ||
            !vec_push(&profile->properties, profile->arena, property))
            return false;
    }
    return true;
}

/* What is written of events of a name once and for all, and no op holds. */
static bool add_fixed_stats(const struct xplane *plane, const struct xevent_type *type,
                            struct event_stat fixed, struct profile *profile)
{
    fixed.event = profile_intern(profile, type->name);
    for (struct wire field = wire_start(type->bytes); wire_next(&field);) {
        struct xstat stat;
        struct str   name;

        if (field.number != XEVENT_METADATA_STATS || field.type != WIRE_BYTES)
            continue;
        stat = xstat_read(field.bytes);
        name = xplane_stat_name(plane, stat.type_id);
        if (stat.field == 0 || stat.field == XSTAT_BYTES || name_is(name, NAMES_XSPACE_OF_OPS))
            continue;
        fixed.stat = profile_intern(profile, name);
        fixed.text = profile_intern(profile, xstat_text(plane, &stat));
        fixed.sum = fixed.least = fixed.most = xstat_number(&stat);
        if (fixed.event == NO_ID || fixed.stat == NO_ID || fixed.text == NO_ID ||
            !vec_push(&profile->event_stats, profile->arena, fixed))
            return false;
    }
    return true;
}

static bool add_all_fixed(const struct xplane *plane, uint32_t host, uint32_t device,
                          struct profile *profile)
{
    struct event_stat fixed = { .host = host, .device = device, .is_fixed = true, .count = 1 };

    for (size_t i = 0; device != NO_ID && i < plane->event_types.count; i++)
        if (!add_fixed_stats(plane, &plane->event_types.items[i], fixed, profile))
            return false;
    return true;
}

bool xspace_properties(const struct xhost *host, struct profile *profile)
{
    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];
        uint32_t             device = find_device(host, plane, profile);

        if (device == NO_ID && is_device_plane(plane->name))
            continue; /* it did nothing */
        if (!add_properties(plane, host->host, device, profile) ||
            !add_all_fixed(plane, host->host, device, profile))
            return false;
    }
    return true;
}

static uint32_t add_device(const struct xplane *plane, uint32_t host, struct profile *profile)
{
    struct device device = { .name = profile_intern(profile, plane->name),
                             .host = host,
                             .ordinal = -1,
                             .kind = DEVICE_OTHER };
    size_t        colon = str_find_last(plane->name, ':');
    int64_t       ordinal;

    if (str_to_int64(str_slice(plane->name, colon + 1, plane->name.len), &ordinal) &&
        ordinal >= 0 && ordinal <= INT32_MAX)
        device.ordinal = (int32_t)ordinal;
    if (str_starts(plane->name, STR("/device:GPU:")))
        device.kind = DEVICE_GPU;
    else if (str_starts(plane->name, STR("/device:TPU:")))
        device.kind = DEVICE_TPU;
    describe(plane, profile, &device);
    return vec_push(&profile->devices, profile->arena, device)
               ? (uint32_t)profile->devices.count - 1
               : NO_ID;
}

static struct stat_info stat_info_of(struct str name, struct profile *profile)
{
    unsigned         seen;
    bool             is_known;
    unsigned         key = xspace_stat(name, &seen, &is_known);
    struct stat_info info = { .name = profile_intern(profile, name),
                              .seen = (uint16_t)seen,
                              .key = is_known                             ? (uint8_t)key
                                     : name_is(name, NAMES_XSPACE_SUMMED) ? STAT_SUMMED
                                                                          : STAT_UNKNOWN,
                              .how = HOW_SPECIAL };

    if (key == STAT_IDLE_NS || key == STAT_MODULE_NAME || key == STAT_PROGRAM)
        return info;
    for (uint32_t flags = 0; flags <= TYPE_ITERATOR; flags++) {
        unsigned column = sink_key_for(key, flags);

        info.columns[flags] = column < STAT_KEY_COUNT ? (uint8_t)column : NO_COLUMN;
        if (column < STAT_KEY_COUNT)
            info.how = xspace_stat_is_name(column) ? HOW_NAME : HOW_NUMBER;
    }
    return info;
}

static struct type_info type_info_of(struct str name, uint32_t type)
{
    struct type_info info = { .type = type };

    if (str_starts(name, STR("Iterator::")))
        info.flags = TYPE_ITERATOR;
    else if (str_equal(name, STR("MemoryAllocation")))
        info.flags = TYPE_MEMORY;
    else if (str_equal(name, STR("MemoryDeallocation")))
        info.flags = TYPE_MEMORY | TYPE_RELEASE;
    else if (str_equal(name, STR("ExecutorState::ProcessAsync::Start")))
        info.flags = TYPE_KERNEL;
    return info;
}

/* Rows of a table by id, where no id is far above the count; 0: by index. */
static uint64_t id_count_of(uint64_t greatest, size_t count)
{
    return greatest < (uint64_t)count * 4 + 1024 ? greatest + 1 : 0;
}

static bool fill_stats(struct plane_tables *tables, struct profile *profile, struct arena *scratch)
{
    const struct xplane *plane = tables->plane;
    uint64_t             greatest = 0;
    size_t               count = plane->stat_types.count;

    for (size_t i = 0; i < count; i++)
        if ((uint64_t)plane->stat_types.items[i].id > greatest)
            greatest = (uint64_t)plane->stat_types.items[i].id;
    tables->stat_id_count = id_count_of(greatest, count);
    if (tables->stat_id_count)
        count = (size_t)tables->stat_id_count;
    tables->stats = arena_new_array(scratch, struct stat_info, count);
    for (size_t i = 0; tables->stats && i < count; i++)
        tables->stats[i] = (struct stat_info) { .key = STAT_UNKNOWN };
    for (size_t i = 0; tables->stats && i < plane->stat_types.count; i++) {
        const struct xstat_type *type = &plane->stat_types.items[i];
        struct stat_info         info = stat_info_of(type->name, profile);

        if (info.name == NO_ID)
            return false;
        tables->stats[tables->stat_id_count ? (size_t)type->id : i] = info;
    }
    return tables->stats != NULL;
}

static bool fill_types(struct plane_tables *tables, struct arena *scratch)
{
    const struct xplane *plane = tables->plane;
    uint64_t             greatest = 0;
    size_t               count = plane->event_types.count;

    for (size_t i = 0; i < count; i++)
        if ((uint64_t)plane->event_types.items[i].id > greatest)
            greatest = (uint64_t)plane->event_types.items[i].id;
    tables->type_id_count = id_count_of(greatest, count);
    if (tables->type_id_count)
        count = (size_t)tables->type_id_count;
    tables->types = arena_new_array(scratch, struct type_info, count);
    for (size_t i = 0; tables->types && i < count; i++)
        tables->types[i] = (struct type_info) { .type = NO_TYPE };
    for (size_t i = 0; tables->types && i < plane->event_types.count; i++) {
        const struct xevent_type *type = &plane->event_types.items[i];

        tables->types[tables->type_id_count ? (size_t)type->id : i] =
            type_info_of(type->name, tables->first_type + (uint32_t)i);
    }
    return tables->types != NULL;
}

static struct plane_tables *new_tables(const struct xplane *plane, struct xspace_tasks *tasks,
                                       struct profile *profile, struct arena *scratch)
{
    struct plane_tables *tables = arena_new(scratch, struct plane_tables);

    if (!tables || plane->event_types.count >= VARIANT_BIT - tasks->type_count)
        return NULL;
    *tables = (struct plane_tables) { .plane = plane, .first_type = tasks->type_count };
    if (!fill_stats(tables, profile, scratch) || !fill_types(tables, scratch))
        return NULL;
    tasks->type_count += (uint32_t)plane->event_types.count;
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

bool xspace_settle_line(struct line_task *task, struct profile *profile)
{
    const struct xline *line = &task->line;
    struct timeline    *timeline = &profile->timelines.items[task->timeline];
    struct str          name = line->display_name.len ? line->display_name : line->name;

    timeline->id = line->display_id ? line->display_id : line->id;
    timeline->kind = kind_of(task->tables->plane, line);
    timeline->name = profile_intern(profile, timeline->device == NO_ID ? thread_name(name) : name);
    task->base_ns = line_base(task->host, profile, line);
    if (task->base_ns > MOST_BASE_NS || task->base_ns < -MOST_BASE_NS) {
        task->base_ns = 0;
        profile_note(profile, NULL, 1,
                     "lines with a clock out of range begin at the capture's start");
    }
    return timeline->name != NO_ID;
}

static bool plan_line(const struct xhost *host, const struct plane_tables *tables, uint32_t device,
                      const struct xline *line, struct xspace_tasks *tasks, struct profile *profile,
                      struct arena *scratch)
{
    struct timeline  timeline = { .host = host->host, .device = device };
    struct line_task task = { .tables = tables,
                              .host = host,
                              .line = *line,
                              .file = &host->input->file,
                              .timeline = (uint32_t)profile->timelines.count };

    return vec_push(&profile->timelines, profile->arena, timeline) &&
           xspace_settle_line(&task, profile) && vec_push(&tasks->list, scratch, task);
}

/* "/device:TPU:0 SparseCore 1" is a unit of "/device:TPU:0". What is no core, as a chip's memory or
 * a plane that a plug-in adds, is one of the host's first core, where there is one. */
static void find_units(struct profile *profile, size_t first_device)
{
    for (size_t i = first_device; i < profile->devices.count; i++) {
        struct device *device = &profile->devices.items[i];
        struct str     name = profile_str(profile, device->name);
        struct str     head = str_slice(name, 0, str_find(name, ' '));

        for (size_t n = first_device; n < profile->devices.count && !is_core(name); n++) {
            struct str core = profile_str(profile, profile->devices.items[n].name);

            if (is_core(core) && (str_equal(core, head) ||
                                  (!device->unit_of && !str_starts(name, STR("/device:TPU:")))))
                device->unit_of = (uint32_t)n + 1;
        }
    }
}

bool xspace_plan(struct xhost *host, struct xspace_tasks *tasks, struct profile *profile,
                 struct arena *scratch)
{
    size_t first_device = profile->devices.count;

    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];
        struct plane_tables *tables;
        uint32_t             device = NO_ID;

        profile->idle_accelerators += plane->lines.count == 0 && plane->stats.count > 0 &&
                                      str_fits(plane->name, "/device:GPU:*|/device:TPU:*");
        if (plane->lines.count == 0 || is_skipped_plane(plane->name))
            continue;
        tables = new_tables(plane, tasks, profile, scratch);
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
    find_units(profile, first_device);
    return true;
}
