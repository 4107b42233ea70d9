/* XSpace: what the TensorFlow, JAX and PyTorch/XLA profilers write, one .xplane.pb file a host. */
#include "read/hlo/hlo.h"
#include "read/kineto/kineto_names.h"
#include "read/xspace/xspace_collectives.h"
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_meta.h"
#include "read/xspace/xspace_planes.h"

static int score(struct str bytes, const char *path)
{
    struct wire whole = wire_start(bytes);
    struct wire plane;

    (void)path;
    if (!wire_next(&whole)) /* cut inside the first plane: look into what is there */
        return bytes.len > 4 && (uint8_t)bytes.data[0] == 0x0A &&
                       str_search(str_slice(bytes, 0, 64), STR("/host:")) < 64
                   ? 40
                   : 0;
    if (whole.number != XSPACE_PLANES || whole.type != WIRE_BYTES)
        return 0;
    plane = wire_start(whole.bytes);
    for (int i = 0; i < 4 && wire_next(&plane); i++) {
        bool is_bytes = plane.number >= XPLANE_NAME && plane.number <= XPLANE_STATS;

        if (plane.number > XPLANE_STATS || is_bytes != (plane.type == WIRE_BYTES))
            return 0;
        if (plane.number == XPLANE_NAME && plane.bytes.len && (uint8_t)plane.bytes.data[0] < ' ')
            return 0; /* a message, no name */
        if (plane.number == XPLANE_NAME)
            return str_fits(plane.bytes, "/*|Task Environment") ? 95 : 50;
    }
    return plane.is_broken ? 0 : 30;
}

/* What the profiler itself wrote down. */
static void note_words(const struct xhost *host, struct profile *profile)
{
    enum { MOST_NOTED = 16 };
    const struct xspace *space = &host->space;
    const char          *path = host->input->path;

    for (size_t i = 0; i < space->errors.count && i < MOST_NOTED; i++)
        profile_note(profile, path, 1, "the profiler reports an error: %.*s",
                     STR_ARG(space->errors.items[i]));
    for (size_t i = 0; i < space->warnings.count && i < MOST_NOTED; i++)
        profile_note(profile, path, 1, "the profiler warns: %.*s",
                     STR_ARG(space->warnings.items[i]));
    if (space->errors.count && !profile->capture_error)
        profile->capture_error = profile_intern(profile, space->errors.items[0]);
    if (profile->capture_error == NO_ID)
        profile->capture_error = 0;
}

static bool start_host(struct xhost *host, struct read_input *input, struct profile *profile,
                       struct arena *scratch, struct err *err)
{
    struct host row = { .rank = -1 };
    struct str  name = str_from(input->host_name);

    host->input = input;
    if (!xspace_index(input->file.bytes, scratch, &host->space, err))
        return err_source(err, input->path);
    if (!name.len && host->space.hostnames.count)
        name = host->space.hostnames.items[0];
    row.name = profile_intern(profile, name.len ? name : STR("host"));
    host->host = (uint32_t)profile->hosts.count;
    if (row.name == NO_ID || !vec_push(&profile->hosts, profile->arena, row))
        return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    if (input->source < profile->files.count)
        profile->files.items[input->source].host = host->host;
    xspace_environment(host, profile);
    if (host->space.unknown_fields)
        profile_add_unknown(profile, UNKNOWN_FIELD, profile_intern(profile, STR("of XSpace")),
                            host->space.unknown_fields);
    note_words(host, profile);
    if (host->space.is_cut)
        profile_damage(profile, input->path, 1,
                       "the file is cut or damaged at byte %llu; what is whole before it is used",
                       (unsigned long long)host->space.cut_offset);
    return true;
}

/* One clock for all hosts: the first capture's start is time 0. */
static void set_clock(struct xhost *hosts, size_t count, struct profile *profile)
{
    for (size_t i = 0; i < count; i++)
        if (hosts[i].start_ns > 0 &&
            (profile->origin_ns == 0 || hosts[i].start_ns < profile->origin_ns))
            profile->origin_ns = hosts[i].start_ns;
    for (size_t i = 0; profile->origin_ns == 0 && i < count; i++)
        for (size_t p = 0; p < hosts[i].space.planes.count; p++)
            for (size_t n = 0; n < hosts[i].space.planes.items[p].lines.count; n++) {
                int64_t at = hosts[i].space.planes.items[p].lines.items[n].timestamp_ns;

                if (at > 1000000000000000000 &&
                    (profile->origin_ns == 0 || at < profile->origin_ns))
                    profile->origin_ns = at;
            }
    for (size_t i = 0; i < count; i++)
        hosts[i].shift_ns = hosts[i].start_ns > 0 ? hosts[i].start_ns - profile->origin_ns : 0;
}

/* What only activities and stats tell: framework, cores, what was recorded. */
static void set_capture(struct profile *profile)
{
    const struct stat_column *budget = &profile->stats[STAT_CPU_BUDGET];

    for (size_t i = 0; i < profile->activities.count; i++) {
        struct str name = profile_str(profile, profile->activities.items[i].name);

        if (profile->activities.items[i].source != NO_ID)
            profile->has_python_frames = true;
        if (profile->framework)
            continue;
        if (framework_of_event(name).len)
            profile->framework = profile_intern(profile, framework_of_event(name));
    }
    for (size_t i = 0; i < profile->timelines.count && stat_count(budget); i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        struct host           *host = &profile->hosts.items[timeline->host];

        for (size_t n = 0; n < stat_count(budget) && !host->core_count; n++)
            if (stat_event(budget, n) >= timeline->first_event &&
                stat_event(budget, n) < timeline->first_event + timeline->event_count &&
                stat_value(budget, n) > 0 && stat_value(budget, n) < 1 << 20)
                host->core_count = (uint32_t)stat_value(budget, n);
    }
}

/* Programs by their number: metadata and runs on devices are called "jit_f(12)". */
static bool name_programs(const struct xhost *host, struct xspace_tasks *tasks,
                          struct profile *profile)
{
    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];

        for (size_t n = 0; n < plane->event_types.count; n++) {
            struct str module;
            uint64_t   number;
            uint32_t   name;

            if (str_starts(plane->name, STR("/host:CPU")) ||
                !xspace_program(plane->event_types.items[n].name, &module, &number))
                continue;
            name = profile_intern(profile, module);
            if (name == NO_ID || !id_map_put(&tasks->programs, number, name))
                return false;
        }
    }
    return true;
}

/* Other stats beside a program hold what it was compiled to, kernel by kernel. */
static bool is_program(const struct xplane *plane, const struct xstat *stat)
{
    struct str name = xplane_stat_name(plane, stat->type_id);

    return stat->field == XSTAT_BYTES && (!name.len || str_fits(name, "*hlo*|*Hlo*|*HLO*"));
}

/* A metadata entry of /host:metadata: HloProto in a stat. *is_whole: all of it could be read. */
static bool add_program(const struct xplane *plane, const struct xevent_type *entry,
                        struct xspace_tasks *tasks, struct profile *profile, struct arena *scratch,
                        bool *is_whole)
{
    struct wire field = wire_start(entry->bytes);

    while (wire_next(&field)) {
        struct xstat stat = { 0 };

        if (field.number == XEVENT_METADATA_STATS && field.type == WIRE_BYTES)
            stat = xstat_read(field.bytes);
        if (!is_program(plane, &stat))
            continue;
        *is_whole = *is_whole && hlo_is_whole(stat.text);
        if (!hlo_add(stat.text, entry->name, profile, scratch, &tasks->ops, &tasks->edges))
            return false;
    }
    *is_whole = *is_whole && !field.is_broken;
    return true;
}

static bool add_programs(const struct xhost *host, struct xspace_tasks *tasks,
                         struct profile *profile, struct arena *scratch)
{
    uint64_t damaged = 0;

    for (size_t i = 0; i < host->space.planes.count; i++) {
        const struct xplane *plane = &host->space.planes.items[i];

        if (!str_equal(plane->name, STR("/host:metadata")))
            continue;
        for (size_t n = 0; n < plane->event_types.count; n++) {
            bool is_whole = true;

            if (!add_program(plane, &plane->event_types.items[n], tasks, profile, scratch,
                             &is_whole))
                return false;
            damaged += !is_whole;
        }
    }
    return damaged == 0 ||
           profile_damage(profile, host->input->path, damaged,
                          "a program's HLO is damaged; its ops may lack shapes, types and flops");
}

/* One graph for all programs; ops of no program stand alone in it. */
static bool build_graph(const struct xspace_tasks *tasks, struct profile *profile, struct err *err)
{
    if (tasks->edges.list.count == 0)
        return true;
    for (size_t i = 0; i < profile->ops.count; i++)
        profile->ops.items[i].graph_node = (uint32_t)i;
    profile->graph = op_graph_new(profile->arena, (uint32_t)profile->ops.count,
                                  tasks->edges.list.items, tasks->edges.list.count, err);
    return profile->graph != NULL;
}

static bool holds_anything(const struct profile *profile)
{
    return profile->event_count || profile->ops.count;
}

/* Of the first file, when no file holds anything. */
static bool says_cut(const struct xhost *host, struct err *err)
{
    err_set_at(err, ERR_FORMAT, host->space.cut_offset,
               "is cut or damaged, and nothing whole is before that");
    err_source(err, host->input->path);
    return err_advise(err, "copy the file again, or record again");
}

static bool read_hosts(struct read_input *inputs, size_t count, const struct read_options *options,
                       struct profile *profile, struct xspace_tasks *tasks, struct arena *scratch,
                       struct err *err)
{
    struct xhost *hosts = arena_new_array(scratch, struct xhost, count);
    size_t        used = 0;

    if (!hosts)
        return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    for (size_t i = 0; i < count; i++) {
        struct err inner = { 0 };

        if (start_host(&hosts[used], &inputs[i], profile, scratch, &inner)) {
            used++;
            continue;
        }
        if (count == 1 || options->is_strict || inner.code == ERR_LIMIT) {
            *err = inner;
            return false;
        }
        profile_damage(profile, inputs[i].path, 1, "is left out: %s", inner.text);
    }
    if (used == 0)
        return err_set(err, ERR_FORMAT, "none of the %zu files holds a plane of an XSpace", count);
    set_clock(hosts, used, profile);
    for (size_t i = 0; i < used; i++)
        if (!xspace_plan(&hosts[i], tasks, profile, scratch) ||
            !name_programs(&hosts[i], tasks, profile) ||
            !add_programs(&hosts[i], tasks, profile, scratch))
            return err_set(err, ERR_LIMIT, "its metadata do not fit into the memory budget");
    if (!profile_mark_packaged(profile, scratch))
        return err_set(err, ERR_LIMIT, "its metadata do not fit into the memory budget");
    if (!xspace_decode(tasks, options, profile, scratch, err) || !build_graph(tasks, profile, err))
        return false;
    for (size_t i = 0; i < used; i++) {
        xspace_describe(&hosts[i], profile);
        if (!xspace_properties(&hosts[i], profile))
            return err_set(err, ERR_LIMIT, "its metadata do not fit into the memory budget");
    }
    return holds_anything(profile) || !hosts[0].space.is_cut || says_cut(&hosts[0], err);
}

static bool read_xspace(struct read_input *inputs, size_t count, const struct read_options *options,
                        struct profile *profile, struct err *err)
{
    struct arena        scratch = { .budget_bytes = profile->arena->budget_bytes };
    struct xspace_tasks tasks = { .ops.arena = &scratch, .programs.arena = &scratch };
    bool                ok;

    profile->format = FORMAT_XSPACE;
    ok = read_hosts(inputs, count, options, profile, &tasks, &scratch, err);
    arena_free(&scratch);
    if (!ok)
        return false;
    set_capture(profile);
    return xspace_collectives(profile) ||
           err_set(err, ERR_LIMIT, "its collectives do not fit into the memory budget");
}

const struct reader reader_xspace = {
    .name = "xspace",
    .summary = "XSpace (*.xplane.pb) of the TensorFlow, JAX and PyTorch/XLA profilers",
    .format = FORMAT_XSPACE,
    .score = score,
    .read = read_xspace,
};
