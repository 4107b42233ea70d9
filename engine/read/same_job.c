#include "read/same_job.h"

enum {
    LEAST_KINDS = 5,  /* different ops and kernels: with fewer only that they have none in common */
    LEAST_SHARE = 60, /* in per cent of those of the smaller file: ranks of a job have nearly all,
                         programs of one framework up to half */
    MOST_HOSTS = 64,  /* that are compared with the first */
};

static struct str folder_of(const char *path)
{
    struct str text = str_from(path);
    size_t     slash = str_find_last(text, '/');

    return str_slice(text, 0, slash < text.len ? slash : 0);
}

/* Ranks of PyTorch tell which they are; hosts of TensorFlow and JAX lie in the folder of one run.
 */
static bool is_told(const struct profile *profile)
{
    if (profile->format == FORMAT_KINETO)
        for (size_t i = 0; i < profile->hosts.count; i++)
            if (profile->hosts.items[i].rank < 0)
                return false;
    if (profile->format == FORMAT_XSPACE)
        for (size_t i = 1; i < profile->files.count; i++)
            if (!str_equal(folder_of(profile->files.items[i].name),
                           folder_of(profile->files.items[0].name)))
                return false;
    return true;
}

static bool is_program(uint8_t kind)
{
    return kind == ACTIVITY_OP || kind == ACTIVITY_KERNEL || kind == ACTIVITY_COLLECTIVE;
}

/* By activity: a bit for each of the first hosts that ran it. */
static uint64_t *hosts_by_activity(const struct profile *profile, struct arena *scratch)
{
    uint64_t *hosts = arena_new_array(scratch, uint64_t, profile->activities.count + 1);

    for (size_t t = 0; hosts && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->host < MOST_HOSTS && i < line->event_count; i++)
            hosts[event_activity_id(profile, line->first_event + i)] |= UINT64_C(1) << line->host;
    }
    return hosts;
}

static bool is_strange(const struct profile *profile, const uint64_t *hosts, uint32_t host)
{
    size_t first = 0, other = 0, both = 0, least;

    for (size_t i = 0; i < profile->activities.count; i++) {
        bool is_first = is_program(profile->activities.items[i].kind) && (hosts[i] & 1);
        bool is_other = is_program(profile->activities.items[i].kind) && (hosts[i] >> host & 1);

        first += is_first;
        other += is_other;
        both += is_first && is_other;
    }
    least = first < other ? first : other;
    return both == 0 ? least > 1 : least >= LEAST_KINDS && both * 100 < least * LEAST_SHARE;
}

static const char *file_of(const struct profile *profile, uint32_t host)
{
    for (size_t i = 0; i < profile->files.count; i++)
        if (profile->files.items[i].host == host)
            return profile->files.items[i].name;
    return "a file";
}

bool same_job_check(const struct profile *profile, struct err *err)
{
    struct arena scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint64_t    *hosts;
    bool         is_same = true;

    if (profile->hosts.count < 2 || is_told(profile))
        return true;
    hosts = hosts_by_activity(profile, &scratch);
    if (!hosts)
        is_same = err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    for (uint32_t host = 1; is_same && host < profile->hosts.count && host < MOST_HOSTS; host++)
        if (is_strange(profile, hosts, host)) {
            is_same = err_set(err, ERR_USAGE, "%.150s and %.150s are of different programs",
                              file_of(profile, 0), file_of(profile, host));
            err_advise(err,
                       "they share too few ops; look at one, or compare them with 'tfprof diff'");
        }
    arena_free(&scratch);
    return is_same;
}
