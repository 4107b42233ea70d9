#include "read/kineto/reader_kineto.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Far more than a job has; a file that names more is broken. */
enum { MAX_DEVICES = 1 << 14 };

uint32_t kineto_job_intern(struct kineto_job *job, struct str raw)
{
    uint32_t id = profile_intern(job->profile, json_unescape(&job->scratch, raw));

    job->is_full |= id == NO_ID;
    return id == NO_ID ? 0 : id;
}

uint32_t kineto_device(struct profile *profile, uint32_t host, int64_t ordinal)
{
    struct device device = { .kind = DEVICE_GPU, .host = host };
    uint64_t      key = (uint64_t)host << 32 | (uint32_t)ordinal;
    uint32_t      row;
    char          name[48];
    int           len;

    if (ordinal < INT32_MIN || ordinal > INT32_MAX)
        return NO_ID;
    row = id_map_get(&profile->device_rows, key);
    if (row != NO_ID || profile->devices.count >= MAX_DEVICES)
        return row;
    len = snprintf(name, sizeof name, "GPU %d", (int)ordinal);
    device.ordinal = (int32_t)ordinal;
    device.name = profile_intern(profile, (struct str) { name, (size_t)len });
    row = (uint32_t)profile->devices.count;
    if (device.name == NO_ID || !vec_push(&profile->devices, profile->arena, device))
        return NO_ID;
    profile->device_rows.arena = profile->arena;
    return id_map_put(&profile->device_rows, key, row) ? row : NO_ID;
}

bool kineto_name_device(struct profile *profile, uint32_t row, struct str backend)
{
    struct device *device = row == NO_ID ? NULL : &profile->devices.items[row];
    char           name[48];
    size_t         len = 0;
    uint32_t       id;

    if (!device || backend.len == 0 || backend.len > 16 || device->kind != DEVICE_GPU)
        return true;
    for (; len < backend.len; len++)
        name[len] = (char)toupper((unsigned char)backend.data[len]);
    len += (size_t)snprintf(name + len, sizeof name - len, " %d", (int)device->ordinal);
    id = profile_intern(profile, (struct str) { name, len });
    if (id == NO_ID)
        return false;
    device->kind = DEVICE_OTHER;
    device->name = id;
    return true;
}

static bool is_described(const struct device *device)
{
    return device->model || device->memory_bytes || device->sm_count;
}

static bool is_alike(const struct device *a, const struct device *b)
{
    return a->model == b->model && a->memory_bytes == b->memory_bytes &&
           a->sm_count == b->sm_count && a->compute_major == b->compute_major &&
           a->compute_minor == b->compute_minor;
}

void kineto_share_properties(struct profile *profile)
{
    for (uint32_t host = 0; host < profile->hosts.count; host++) {
        const struct device *sample = NULL;
        bool                 is_one = true;

        for (size_t i = 0; i < profile->devices.count; i++) {
            const struct device *device = &profile->devices.items[i];

            if (device->host != host || !is_described(device))
                continue;
            is_one = is_one && (!sample || is_alike(sample, device));
            sample = device;
        }
        for (size_t i = 0; sample && is_one && i < profile->devices.count; i++) {
            struct device *device = &profile->devices.items[i];

            if (device->host != host || is_described(device))
                continue;
            device->model = sample->model;
            device->memory_bytes = sample->memory_bytes;
            device->sm_count = sample->sm_count;
            device->compute_major = sample->compute_major;
            device->compute_minor = sample->compute_minor;
        }
    }
}

struct device_fields {
    struct str name;
    int64_t    id, memory_bytes, major, minor, sm_count;
};

static void scan_device(struct json_scan *scan, struct device_fields *fields)
{
    static const struct {
        struct str key;
        size_t     offset;
    } numbers[] = {
        { STR_INIT("id"), offsetof(struct device_fields, id) },
        { STR_INIT("totalGlobalMem"), offsetof(struct device_fields, memory_bytes) },
        { STR_INIT("computeMajor"), offsetof(struct device_fields, major) },
        { STR_INIT("computeMinor"), offsetof(struct device_fields, minor) },
        { STR_INIT("numSms"), offsetof(struct device_fields, sm_count) },
    };
    struct str key, value;

    if (!json_open(scan, '{'))
        return;
    while (json_member(scan, &key)) {
        value = json_scalar(scan);
        if (str_equal(key, STR("name")))
            fields->name = value;
        for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
            int64_t number;

            if (str_equal(key, numbers[i].key) && str_to_int64(value, &number) && number >= 0)
                memcpy((char *)fields + numbers[i].offset, &number, sizeof number);
        }
    }
}

static uint32_t add_device(struct kineto_job *job, const struct device_fields *fields)
{
    uint32_t row =
        fields->id < 0 ? NO_ID : kineto_device(job->profile, job->source->host, fields->id);
    struct device *device;

    if (row == NO_ID)
        return NO_ID;
    device = &job->profile->devices.items[row];
    device->model = kineto_job_intern(job, fields->name);
    device->memory_bytes = fields->memory_bytes;
    device->compute_major = (uint32_t)(fields->major & 0xFFFF);
    device->compute_minor = (uint32_t)(fields->minor & 0xFFFF);
    device->sm_count = (uint32_t)(fields->sm_count & 0xFFFFFF);
    return row;
}

/* All that is written of the device, from the scan before it. */
static void add_properties(struct kineto_job *job, struct json_scan scan, uint32_t device)
{
    struct profile *profile = job->profile;
    struct str      key, value;

    if (device == NO_ID || !json_open(&scan, '{'))
        return;
    while (json_member(&scan, &key)) {
        struct property property = { .host = job->source->host, .device = device };

        value = json_scalar(&scan);
        property.name = kineto_job_intern(job, key);
        if (!str_to_double(value, &property.number))
            property.text = kineto_job_intern(job, value);
        job->is_full |= !vec_push(&profile->properties, profile->arena, property);
    }
}

static void scan_devices(struct kineto_job *job, struct json_scan *scan)
{
    if (json_peek(scan) != '[') {
        json_skip(scan);
        return;
    }
    json_open(scan, '[');
    while (json_item(scan)) {
        struct device_fields   fields = { .id = -1 };
        const struct json_scan before = *scan;

        if (json_peek(scan) != '{') {
            json_skip(scan);
            continue;
        }
        scan_device(scan, &fields);
        job->profile->hosts.items[job->source->host].device_count++;
        if (scan->state == JSON_FINE)
            add_properties(job, before, add_device(job, &fields));
    }
}

static void scan_distributed(struct kineto_job *job, struct json_scan *scan)
{
    struct profile *profile = job->profile;
    struct host    *host = &profile->hosts.items[job->source->host];
    struct str      key, value;
    int64_t         number;

    if (json_peek(scan) != '{') {
        json_skip(scan);
        return;
    }
    json_open(scan, '{');
    while (json_member(scan, &key)) {
        value = json_scalar(scan);
        if (!str_to_int64(value, &number) || number < 0 || number > INT32_MAX)
            continue;
        if (str_equal(key, STR("rank")))
            host->rank = (int32_t)number;
        else if (str_equal(key, STR("world_size")))
            host->world_size = (int32_t)number;
    }
    if (host->world_size > profile->world_size)
        profile->world_size = host->world_size;
}

/* Kineto writes 0/1, older versions true/false. */
static bool is_yes(struct str value)
{
    return str_equal(value, STR("1")) || str_equal(value, STR("true"));
}

bool kineto_scan_head(struct kineto_job *job, struct str key, struct json_scan *scan)
{
    struct profile *profile = job->profile;
    struct str      value;

    if (str_equal(key, STR("deviceProperties"))) {
        scan_devices(job, scan);
        return true;
    }
    if (str_equal(key, STR("distributedInfo"))) {
        scan_distributed(job, scan);
        return true;
    }
    value = json_value(scan);
    if (value.len >= 2 && value.data[0] == '"')
        value = str_slice(value, 1, value.len - 1);
    if (scan->state != JSON_FINE)
        return false;
    if (str_equal(key, STR("baseTimeNanoseconds")))
        job->source->has_base = str_to_int64(value, &job->source->base_ns);
    else if (str_equal(key, STR("host_name")))
        profile->hosts.items[job->source->host].name = kineto_job_intern(job, value);
    else if (str_equal(key, STR("record_shapes")))
        profile->has_shapes |= is_yes(value);
    else if (str_equal(key, STR("with_stack")))
        profile->has_stacks |= is_yes(value);
    else if (str_equal(key, STR("pytorch_version")) || str_equal(key, STR("torch_version")))
        profile->framework_version = kineto_job_intern(job, value);
    else
        return false;
    return true;
}
