#include "read/kineto/reader_kineto.h"

#include "base/parallel.h"

#include <string.h>

enum { SCORED_BYTES = 64 << 10, PART_BYTES = 8 << 20 };

static uint64_t window_offset(const struct kineto_window *window)
{
    return window->offset + (uint64_t)(window->scan.at - window->begin);
}

/* More text behind a value that was cut: keeps what begins at `mark`, which moves. False at the end
 * of the stream. */
static bool window_more(struct kineto_window *window, const char *mark)
{
    struct json_scan *scan = &window->scan;
    size_t            kept = (size_t)(scan->end - mark), wanted;
    struct str        run;

    if (!window->stream || kept > LARGEST_VALUE_BYTES)
        return false;
    run = file_stream_next(window->stream);
    if (!run.len)
        return false;
    window->offset += (uint64_t)(mark - window->begin);
    if (kept)
        memmove(window->data, mark, kept);
    wanted = kept + run.len;
    if (wanted > window->capacity) {
        char *data = arena_grow(window->arena, window->data, window->capacity, wanted * 2);

        if (!data)
            return false;
        window->data = data;
        window->capacity = wanted * 2;
    }
    memcpy(window->data + kept, run.data, run.len);
    window->begin = window->data;
    *scan = (struct json_scan) { .at = window->data, .end = window->data + wanted };
    return true;
}

/* After trouble at a value that began at `mark`: true when it can be tried again. */
static bool try_again(struct kineto_window *window, const char *mark)
{
    return window->scan.state == JSON_CUT && window_more(window, mark);
}

static bool walk_object(struct kineto_job *job, struct kineto_window *window)
{
    struct json_scan *scan = &window->scan;
    struct str        key;

    json_open(scan, '{');
    for (;;) {
        const char *mark = scan->at;
        bool        has_member = json_member(scan, &key), is_array;

        if (!has_member && scan->state == JSON_FINE)
            return true;
        is_array = has_member && json_peek(scan) == '[';
        if (is_array && str_equal(key, STR("traceEvents"))) {
            scan->at++;
            if (!kineto_walk_events(job, window))
                return false;
            continue;
        }
        if (has_member)
            kineto_scan_head(job, key, scan);
        if (scan->state != JSON_FINE && !try_again(window, mark))
            return false;
    }
}

/* "rank3", "rank-70", "rank_0" in a file's name; -1 without. */
static int32_t rank_of_path(const char *path)
{
    struct str rest = str_from(path);
    size_t     at;

    rest = str_slice(rest, str_find_last(rest, '/') == rest.len ? 0 : str_find_last(rest, '/'),
                     rest.len);
    while ((at = str_search(rest, STR("rank"))) < rest.len) {
        uint32_t rank = 0;
        size_t   digits = 0;

        rest = str_slice(rest, at + 4, rest.len);
        at = rest.len && (rest.data[0] == '-' || rest.data[0] == '_');
        for (; at + digits < rest.len && digits < 7; digits++) {
            char byte = rest.data[at + digits];

            if (byte < '0' || byte > '9')
                break;
            rank = rank * 10 + (uint32_t)(byte - '0');
        }
        if (digits)
            return (int32_t)rank;
    }
    return -1;
}

static struct str base_name(const char *path)
{
    struct str name = str_from(path);
    size_t     slash = str_find_last(name, '/');

    return slash < name.len ? str_slice(name, slash + 1, name.len) : name;
}

static bool begin_source(struct kineto_job *job, const struct read_input *input)
{
    struct profile      *profile = job->profile;
    struct kineto_source source = {
        .host = (uint32_t)profile->hosts.count,
        .first_memory = (uint32_t)profile->memory_events.count,
        .least_ns = INT64_MAX,
        .most_ns = INT64_MIN,
        .first_flow_end = job->flow_ends.count,
        .first_stretch = job->stretches.count,
    };
    struct host host = { .rank = -1 };

    host.name = kineto_job_intern(job, input->host_name ? str_from(input->host_name)
                                                        : base_name(input->path));
    if (!vec_push(&profile->hosts, profile->arena, host) ||
        !vec_push(&job->sources, &job->scratch, source))
        return false;
    job->source = &job->sources.items[job->sources.count - 1];
    return true;
}

static void end_source(struct kineto_job *job, const struct read_input *input)
{
    struct profile *profile = job->profile;
    struct host    *host = &profile->hosts.items[job->source->host];

    if (host->rank < 0)
        host->rank = rank_of_path(input->path);
    if (input->source < profile->files.count) {
        profile->files.items[input->source].host = job->source->host;
        profile->files.items[input->source].rank = host->rank;
    }
}

static void note_trouble(struct kineto_job *job, const struct read_input *input, bool is_whole,
                         const struct kineto_window *window)
{
    /* torch.profiler itself writes negative durations now and then. */
    static const struct {
        const char *text;
        bool        is_damage;
    } troubles[TROUBLE_COUNT] = {
        [TROUBLE_TIME] = { "events without a usable time were left out", true },
        [TROUBLE_NEGATIVE] = { "events with a negative duration were left out", false },
        [TROUBLE_ZEROS] = { "zero bytes stand where text was: events may be missing", true },
        [TROUBLE_SYNTAX] = { "events that are no JSON were stepped over", true },
        [TROUBLE_PHASE] = { "events of kinds that torch.profiler does not write were left out",
                            false },
    };

    char damage[128];

    for (size_t i = 0; i < TROUBLE_COUNT; i++)
        if (job->source->trouble[i])
            (troubles[i].is_damage ? profile_damage : profile_note)(
                job->profile, input->path, job->source->trouble[i], "%s", troubles[i].text);
    if (window->stream && file_stream_damage(window->stream, damage, sizeof damage))
        profile_damage(job->profile, input->path, 1, "%s", damage);
    if (!is_whole)
        profile_damage(
            job->profile, input->path, 1,
            "the trace ends early, at byte %llu (%s was expected); what was whole is used",
            (unsigned long long)window_offset(window),
            window->scan.expected ? window->scan.expected : "more");
}

static bool open_window(struct kineto_window *window, struct kineto_job *job,
                        struct read_input *input, struct err *err)
{
    struct str bytes = input->file.bytes;

    *window = (struct kineto_window) { .file = &input->file, .arena = &job->scratch };
    if (!bytes.data) {
        window->stream = file_stream_open(input->path, err);
        if (!window->stream)
            return false;
        window_more(window, NULL);
        bytes = (struct str) { window->begin, (size_t)(window->scan.end - window->begin) };
    }
    window->begin = bytes.data;
    if (str_starts(bytes, STR("\xEF\xBB\xBF")))
        bytes = str_slice(bytes, 3, bytes.len);
    window->scan = (struct json_scan) { .at = bytes.data, .end = bytes.data + bytes.len };
    return true;
}

static bool read_source(struct kineto_job *job, struct read_input *input,
                        const struct read_options *options, struct err *err)
{
    struct kineto_window window;
    char                 first;
    bool                 is_whole;

    if (!begin_source(job, input))
        return err_set(err, ERR_LIMIT, "the memory budget is spent");
    if (!open_window(&window, job, input, err))
        return false;
    first = json_peek(&window.scan);
    if (first == '[') {
        window.scan.at++;
        is_whole = kineto_walk_events(job, &window);
    } else {
        is_whole = walk_object(job, &window);
    }
    note_trouble(job, input, is_whole, &window);
    end_source(job, input);
    file_stream_close(window.stream);
    if (job->is_full)
        return err_set_at(err, ERR_LIMIT, window_offset(&window),
                          "the trace needs more memory than the budget");
    if (!is_whole && options->is_strict)
        return err_set_at(err, ERR_FORMAT, window_offset(&window),
                          "the trace ends early: %s was "
                          "expected",
                          window.scan.expected ? window.scan.expected : "more");
    if (!job->source->event_count) {
        profile_note(job->profile, input->path, 1, "the trace holds no timed event");
        err_set_at(err, ERR_FORMAT, window_offset(&window), "the trace holds no timed event%s",
                   is_whole ? "" : ": it ends early");
        err_source(err, input->path);
    }
    return true;
}

static const struct host *find_rank(const struct profile *profile, int32_t rank)
{
    for (size_t i = 0; i < profile->hosts.count; i++)
        if (profile->hosts.items[i].rank == rank)
            return &profile->hosts.items[i];
    return NULL;
}

/* Ranks of one job know of equally many. */
static void note_mixed(struct profile *profile)
{
    for (size_t i = 0; i < profile->hosts.count; i++) {
        int32_t size = profile->hosts.items[i].world_size;

        if (size == 0 || size == profile->world_size)
            continue;
        profile_note(profile, NULL, 1,
                     "the files are of different jobs: one had %d ranks, another %d",
                     profile->world_size, size);
        return;
    }
}

/* Which ranks are here, when there are several files or the job had several ranks. */
static void note_ranks(struct profile *profile)
{
    int32_t missing = 0, first_missing = -1;

    for (size_t i = 0; i < profile->hosts.count; i++) {
        const struct host *host = &profile->hosts.items[i];

        if (host->rank < 0 && profile->hosts.count > 1)
            profile_note(profile, NULL, 1, "a file does not tell which rank it is");
        else if (host->rank >= 0 && find_rank(profile, host->rank) != host)
            profile_note(profile, NULL, 1, "rank %d is there more than once", host->rank);
    }
    for (int32_t rank = 0; rank < profile->world_size && rank < 65536; rank++) {
        if (find_rank(profile, rank))
            continue;
        first_missing = missing++ ? first_missing : rank;
    }
    note_mixed(profile);
    if (missing)
        profile_note(profile, NULL, 1, "%d of the job's %d ranks %s missing, rank %d first",
                     missing, profile->world_size, missing == 1 ? "is" : "are", first_missing);
}

static bool prepare_job(struct kineto_job *job, const struct read_options *options)
{
    job->scratch.budget_bytes = options->memory_budget_bytes;
    job->configs.arena = job->track_map.arena = &job->scratch;
    job->part_bytes = options->part_bytes ? options->part_bytes : PART_BYTES;
    job->thread_count = options->threads ? options->threads : parallel_cores();
    job->threads = arena_new_array(&job->scratch, struct kineto, job->thread_count);
    if (!job->threads || !intern_init(&job->keys, &job->scratch))
        return false;
    for (unsigned i = 0; i < job->thread_count; i++)
        if (!kineto_prepare(&job->threads[i], job))
            return false;
    for (unsigned i = 0; i < job->thread_count; i++)
        job->threads[i].is_capture = options->is_capture;
    job->profile->framework = profile_intern(job->profile, STR("pytorch"));
    return true;
}

static void free_job(struct kineto_job *job)
{
    for (unsigned i = 0; job->threads && i < job->thread_count; i++) {
        arena_free(&job->threads[i].scratch);
        arena_free(&job->threads[i].brief);
        arena_free(&job->threads[i].moulds.arena);
        arena_free(&job->threads[i].columns.arena);
    }
    arena_free(&job->scratch);
}

static bool has_events(const struct kineto_job *job)
{
    return job->runs.count > 0;
}

static size_t used_bytes(const struct kineto_job *job)
{
    size_t sum = job->scratch.used_bytes + job->profile->arena->used_bytes;

    for (unsigned i = 0; i < job->thread_count; i++)
        sum += job->threads[i].scratch.used_bytes + job->threads[i].columns.arena.used_bytes +
               job->threads[i].moulds.arena.used_bytes;
    return sum;
}

/* Whether one more rank like those before would leave no room to join and analyse them: half of the
 * budget. Ranks are left out whole: a rank without the end of its file would mislead. */
static bool is_budget_spent(const struct kineto_job *job, const struct read_options *options,
                            size_t done)
{
    size_t used = used_bytes(job);

    return done && options->memory_budget_bytes &&
           used + used / done > options->memory_budget_bytes / 2;
}

static void note_left_out(struct profile *profile, const struct read_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        profile_damage(profile, inputs[i].path, 1,
                       "is left out: with it the trace needs more memory than --memory allows");
}

/* What shows XSpace profiles writes traces too, without the categories of torch.profiler. */
static void set_framework(struct profile *profile)
{
    if (!profile->event_count || profile->unknown_stats < profile->event_count)
        return; /* some event has a category that is known */
    profile->framework = 0;
    for (size_t i = 0; i < profile->activities.count && !profile->framework; i++) {
        struct str name =
            framework_of_event(profile_str(profile, profile->activities.items[i].name));

        if (name.len)
            profile->framework = profile_intern(profile, name);
    }
    profile_note(profile, NULL, 1,
                 "no event has a category as torch.profiler writes them; of a profile of JAX or "
                 "TensorFlow give the .xplane.pb file beside it, which tells more");
}

static bool kineto_read(struct read_input *inputs, size_t count, const struct read_options *options,
                        struct profile *profile, struct err *err)
{
    struct kineto_job job = { .profile = profile };
    bool              is_fine = prepare_job(&job, options);

    if (!is_fine)
        err_set(err, ERR_LIMIT, "the memory budget is spent");
    for (size_t i = 0; i < count && is_fine; i++) {
        if (is_budget_spent(&job, options, i)) {
            note_left_out(profile, inputs + i, count - i);
            break;
        }
        is_fine = read_source(&job, &inputs[i], options, err) || err_source(err, inputs[i].path);
    }
    if (is_fine && !has_events(&job))
        is_fine = false; /* read_source said why */
    else if (is_fine && !kineto_finish(&job))
        is_fine = err_set(err, ERR_LIMIT, "the trace needs more memory than the budget");
    else if (is_fine)
        *err = (struct err) { 0 };
    if (is_fine) {
        note_ranks(profile);
        set_framework(profile);
    }
    free_job(&job);
    return is_fine;
}

static int kineto_score(struct str bytes, const char *path)
{
    struct str head = str_slice(bytes, 0, SCORED_BYTES);
    char       first;

    (void)path;
    if (str_starts(head, STR("\xEF\xBB\xBF")))
        head = str_slice(head, 3, head.len);
    head = str_trim(head);
    first = head.len ? head.data[0] : 0;
    if (first == '{' && (str_contains(head, STR("\"traceEvents\"")) ||
                         str_contains(head, STR("\"deviceProperties\""))))
        return 90;
    if (first == '{' && (str_contains(head, STR("\"schemaVersion\"")) ||
                         str_contains(head, STR("\"displayTimeUnit\""))))
        return 60;
    if (first == '[' && str_contains(head, STR("\"ph\"")))
        return 70;
    return 0;
}

const struct reader reader_kineto = {
    .name = "kineto",
    .summary = "traces of torch.profiler (Chrome trace JSON, .gz too)",
    .format = FORMAT_KINETO,
    .streams = true,
    .score = kineto_score,
    .read = kineto_read,
};
