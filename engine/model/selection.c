#include "model/selection.h"

#include "model/classic.h"
#include "model/subset.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LISTED = 12 };

struct selection { /* rows that stay, and what number they get */
    struct profile *profile;
    struct arena   *scratch;
    bool           *keeps_host, *keeps_device;
    uint32_t       *host_of, *device_of;
};

/* "GPU 1" and "/device:GPU:1" are written with either. */
static char small(char byte)
{
    if (byte == ' ')
        return ':';
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool equal_loosely(struct str a, struct str b)
{
    for (size_t i = 0; a.len == b.len && i < a.len; i++)
        if (small(a.data[i]) != small(b.data[i]))
            return false;
    return a.len == b.len;
}

static bool is_number(struct str text)
{
    uint64_t number;

    return str_to_uint64(text, &number);
}

static bool is_called(struct str device, enum device_kind kind, struct str name)
{
    size_t at = device.len - name.len;

    if (name.len == 0 || name.len > device.len ||
        !equal_loosely(str_slice(device, at, device.len), name))
        return false;
    if (at == 0 || name.data[0] == '/')
        return true;
    return strchr("/: ", device.data[at - 1]) && !(is_number(name) && kind == DEVICE_CPU);
}

static bool selection_start(struct selection *selection, struct profile *profile,
                            struct arena *scratch)
{
    size_t hosts = profile->hosts.count, devices = profile->devices.count;

    *selection = (struct selection) {
        .profile = profile,
        .scratch = scratch,
        .keeps_host = arena_new_array(scratch, bool, hosts + 1),
        .keeps_device = arena_new_array(scratch, bool, devices + 1),
        .host_of = arena_new_array(scratch, uint32_t, hosts + 1),
        .device_of = arena_new_array(scratch, uint32_t, devices + 1),
    };
    if (!selection->keeps_host || !selection->keeps_device || !selection->host_of ||
        !selection->device_of)
        return false;
    memset(selection->keeps_host, true, hosts * sizeof(bool));
    memset(selection->keeps_device, true, devices * sizeof(bool));
    return true;
}

static uint32_t moved(const uint32_t *rows, size_t count, uint32_t row)
{
    return row < count ? rows[row] : row;
}

static void drop_rows(struct selection *selection)
{
    struct profile *profile = selection->profile;
    uint32_t        hosts = 0, devices = 0;

    for (size_t i = 0; i < profile->hosts.count; i++) {
        selection->host_of[i] = selection->keeps_host[i] ? hosts : NO_ID;
        if (selection->keeps_host[i])
            profile->hosts.items[hosts++] = profile->hosts.items[i];
    }
    for (size_t i = 0; i < profile->devices.count; i++) {
        struct device device = profile->devices.items[i];
        uint32_t      host = moved(selection->host_of, profile->hosts.count, device.host);

        selection->keeps_device[i] &= host != NO_ID || device.host == NO_ID;
        selection->device_of[i] = selection->keeps_device[i] ? devices : NO_ID;
        device.host = host;
        if (selection->keeps_device[i])
            profile->devices.items[devices++] = device;
    }
}

static uint32_t new_device(const struct selection *selection, uint32_t device)
{
    return moved(selection->device_of, selection->profile->devices.count, device);
}

static uint32_t new_host(const struct selection *selection, uint32_t host)
{
    return moved(selection->host_of, selection->profile->hosts.count, host);
}

/* Whether something of this host and device stays; their new rows. */
static bool stays(const struct selection *selection, uint32_t *host, uint32_t *device)
{
    uint32_t on_host = new_host(selection, *host), on_device = new_device(selection, *device);
    bool is_kept = (on_host != NO_ID || *host == NO_ID) && (on_device != NO_ID || *device == NO_ID);

    *host = on_host;
    *device = on_device;
    return is_kept;
}

/* Rows of both are beside each other. What was allocated in an event that is gone is gone. */
static void drop_memory(const struct selection *selection, const struct profile *whole,
                        struct profile *part)
{
    size_t kept = 0;

    for (size_t i = 0; i < part->memory_events.count; i++) {
        struct memory_event event = part->memory_events.items[i];
        uint32_t            device = new_device(selection, event.device);

        if ((device == NO_ID && event.device != NO_ID) ||
            (event.event == NO_ID && whole->memory_events.items[i].event != NO_ID))
            continue;
        event.device = device;
        part->memory_events.items[kept++] = event;
    }
    part->memory_events.count = kept;
}

static bool drop_timelines(struct selection *selection)
{
    struct profile *profile = selection->profile, whole = *profile, part;
    struct subset   subset;
    size_t          kept = 0;

    subset_start(&subset, &whole, &part, profile->arena, selection->scratch);
    for (size_t i = 0; i < whole.timelines.count; i++) {
        struct timeline line = whole.timelines.items[i];
        uint32_t        first = part.event_count;

        if (!stays(selection, &line.host, &line.device))
            continue;
        if (!subset_keep(&subset, line.first_event, line.event_count))
            return false;
        line.first_event = first;
        part.timelines.items[kept++] = line;
    }
    part.timelines.count = kept;
    if (!subset_finish(&subset))
        return false;
    drop_memory(selection, &whole, &part);
    *profile = part;
    return true;
}

static void drop_runs(const struct selection *selection)
{
    struct profile *profile = selection->profile;
    size_t          kept = 0;

    for (size_t i = 0; i < profile->op_runs.count; i++) {
        struct op_run run = profile->op_runs.items[i];
        uint32_t      device = new_device(selection, run.device);

        if (device == NO_ID && run.device != NO_ID)
            continue;
        run.device = device;
        profile->op_runs.items[kept++] = run;
    }
    profile->op_runs.count = kept;
    kept = 0;
    for (size_t i = 0; i < profile->op_memory.count; i++) {
        uint32_t op = profile->op_memory.items[i].op;
        uint32_t device = op < profile->ops.count ? profile->ops.items[op].device : NO_ID;

        if (device == NO_ID || new_device(selection, device) != NO_ID)
            profile->op_memory.items[kept++] = profile->op_memory.items[i];
    }
    profile->op_memory.count = kept;
    for (size_t i = 0; i < profile->ops.count; i++)
        profile->ops.items[i].device = new_device(selection, profile->ops.items[i].device);
}

static void drop_samples(const struct selection *selection)
{
    struct profile *profile = selection->profile;
    size_t          kept = 0;

    for (size_t i = 0; i < profile->counters.count; i++) {
        struct counter_sample sample = profile->counters.items[i];

        if (stays(selection, &sample.host, &sample.device))
            profile->counters.items[kept++] = sample;
    }
    profile->counters.count = kept;
    kept = 0;
    for (size_t i = 0; i < profile->files.count; i++) {
        struct source_file file = profile->files.items[i];
        uint32_t           host = new_host(selection, file.host);

        if (host == NO_ID && file.host != NO_ID)
            continue;
        file.host = host;
        profile->files.items[kept++] = file;
    }
    profile->files.count = kept;
}

/* New numbers are given when all rows that hold old ones have been seen. */
static bool selection_finish(struct selection *selection, struct err *err)
{
    struct profile *profile = selection->profile;
    size_t          hosts = 0, devices = 0;

    drop_rows(selection);
    for (size_t i = 0; i < profile->hosts.count; i++)
        hosts += selection->keeps_host[i];
    for (size_t i = 0; i < profile->devices.count; i++)
        devices += selection->keeps_device[i];
    if (!drop_timelines(selection))
        return err_set(err, ERR_LIMIT, "what is selected does not fit the memory limit");
    drop_runs(selection);
    drop_samples(selection);
    profile->hosts.count = hosts;
    profile->devices.count = devices;
    return true;
}

struct listing { /* "a, b, c and 3 others" */
    char   text[ERR_TEXT_BYTES / 2];
    size_t len, count;
};

static void list_name(struct listing *listing, struct str name, int32_t rank)
{
    size_t room = sizeof listing->text - listing->len;
    char   number[24] = "";
    int    len;

    if (++listing->count > MOST_LISTED)
        return;
    if (rank >= 0)
        snprintf(number, sizeof number, " (rank %d)", (int)rank);
    len = snprintf(listing->text + listing->len, room, "%s%.*s%s", listing->len ? ", " : "",
                   (int)(name.len > 60 ? 60 : name.len), name.data, number);
    if (len > 0 && (size_t)len < room)
        listing->len += (size_t)len;
    else
        listing->text[listing->len] = 0;
}

static bool refuse(const char *kind, const char *name, const struct listing *listing,
                   struct err *err)
{
    err_set(err, ERR_INPUT, "no %s '%.100s' is there", kind, name);
    if (listing->count == 0)
        return err_advise(err, "the recording names none");
    return err_advise(err, "there %s %s%s", listing->count > 1 ? "are" : "is", listing->text,
                      listing->count > MOST_LISTED ? " and others" : "");
}

static size_t choose_hosts(struct selection *selection, struct str name, struct listing *listing)
{
    const struct profile *profile = selection->profile;
    size_t                kept = 0;
    int64_t               rank;

    for (size_t i = 0; i < profile->hosts.count; i++) {
        const struct host *host = &profile->hosts.items[i];
        struct str         own = profile_str(profile, host->name);

        selection->keeps_host[i] =
            str_equal(own, name) || (str_to_int64(name, &rank) && rank >= 0 && rank == host->rank);
        kept += selection->keeps_host[i];
        list_name(listing, own, host->rank);
    }
    return kept;
}

/* Marks what is called so and lists what there is; how many it marks. */
typedef size_t choose_fn(struct selection *selection, struct str name, struct listing *listing);

/* Keeps what `choose` marks; where that is all of `count`, nothing has to go. */
static bool keep_chosen(struct profile *profile, const char *kind, const char *name, size_t count,
                        choose_fn *choose, struct err *err)
{
    struct arena     scratch = { .budget_bytes = profile->arena->budget_bytes };
    struct listing   listing = { 0 };
    struct selection selection;
    size_t           kept;
    bool             is_done;

    if (!selection_start(&selection, profile, &scratch)) {
        arena_free(&scratch);
        return err_set(err, ERR_LIMIT, "what is selected does not fit the memory limit");
    }
    kept = choose(&selection, str_from(name), &listing);
    if (kept == 0)
        is_done = refuse(kind, name, &listing, err);
    else
        is_done = kept == count || selection_finish(&selection, err);
    arena_free(&scratch);
    return is_done;
}

bool selection_host(struct profile *profile, const char *name, struct err *err)
{
    return keep_chosen(profile, "host", name, profile->hosts.count, choose_hosts, err);
}

static size_t choose_devices(struct selection *selection, struct str name, struct listing *listing)
{
    const struct profile *profile = selection->profile;
    size_t                kept = 0;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];
        struct str           own = profile_str(profile, device->name);

        selection->keeps_device[i] = is_called(own, device->kind, name);
        kept += selection->keeps_device[i];
        list_name(listing, own, -1);
    }
    return kept;
}

/* "/job:w/replica:0/task:0/device:GPU:0" -> "GPU:0". */
static struct str short_name(struct str name)
{
    size_t     slash = str_find_last(name, '/');
    struct str text = slash < name.len ? str_slice(name, slash + 1, name.len) : name;

    return str_starts(text, STR("device:")) ? str_slice(text, 7, text.len) : text;
}

static bool is_node_on(const struct classic *classic, size_t node, struct str name)
{
    struct str device = profile_str(classic->profile, classic->nodes.items[node].device);

    return is_called(device, str_contains(device, STR("cpu:")) ? DEVICE_CPU : DEVICE_OTHER, name);
}

/* Nodes that ran on another device have not run. Theirs are written otherwise than those of
 * profile->devices where programs have one process alone. */
static void drop_nodes(struct classic *classic, struct str name)
{
    bool is_whole = false;

    for (size_t i = 0; i < classic->nodes.count; i++)
        is_whole = is_whole || is_node_on(classic, i, name);
    if (!is_whole)
        name = short_name(name);
    for (size_t i = 0; i < classic->nodes.count; i++) {
        struct classic_node *node = &classic->nodes.items[i];

        if (node->device && !is_node_on(classic, i, name))
            node->exec_count = node->allocation_count = 0;
    }
}

bool selection_device(struct profile *profile, const char *name, struct err *err)
{
    if (!keep_chosen(profile, "device", name, profile->devices.count, choose_devices, err))
        return false;
    if (profile->classic)
        drop_nodes(profile->classic, str_from(name));
    return true;
}

bool selection_classic_steps(struct classic *classic, int64_t first, int64_t last)
{
    size_t kept = 0;

    for (size_t i = 0; i < classic->nodes.count; i++) {
        struct classic_node *node = &classic->nodes.items[i];

        while (node->exec_count && classic->execs.items[node->first_exec].step < first)
            node->first_exec++, node->exec_count--;
        while (node->exec_count &&
               classic->execs.items[node->first_exec + node->exec_count - 1].step > last)
            node->exec_count--;
    }
    for (size_t i = 0; i < classic->steps.count; i++)
        if (classic->steps.items[i] >= first && classic->steps.items[i] <= last)
            classic->steps.items[kept++] = classic->steps.items[i];
    if (kept)
        classic->steps.count = kept;
    return kept > 0;
}
