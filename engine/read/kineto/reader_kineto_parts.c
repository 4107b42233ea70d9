/*
 * The events of a file are cut into parts at places that look like the border of two events, and
 * threads take one part after the other. Whether a part began where an event begins shows once the
 * part before it has ended: parts are settled in turn, and one that began elsewhere (a text may
 * look like a border) is walked again from where it should have begun.
 */
#include "read/kineto/reader_kineto.h"

#include "base/parallel.h"

#include <pthread.h>
#include <string.h>

struct part {
    uint64_t    number;
    uint64_t    offset;             /* of begin in the unpacked file */
    const char *begin, *stop, *end; /* the next part's begin; the end of the text that is here */
    bool        is_last;
};
enum part_end {
    END_BORDER, /* in front of an event of the next part */
    END_ARRAY,  /* behind the closing bracket */
    END_CUT,    /* inside an event, or looking for one */
};

struct walk { /* what all threads share; guarded by lock from part to part */
    struct kineto_job    *job;
    struct kineto_window *window;
    pthread_mutex_t       lock;
    pthread_cond_t        changed;
    uint64_t              taken, settled; /* parts */
    bool                  is_out;         /* all text was taken */
    bool                  is_over;        /* the array has ended, or the text inside it */
    bool                  is_whole;
    struct json_scan      scan;   /* where it ended */
    uint64_t              offset; /* of that */
    const char           *next;   /* in a mapped file: where the next part begins */
    const char           *wanted; /* there: where the part to be settled next must begin */
    /* Of a stream. */
    struct text taken_ahead; /* text that was read, behind the last part */
    struct text left;        /* what a settled part left over, in front of the next one */
    uint64_t    ahead_offset;
};

struct walker { /* one thread */
    struct kineto *kineto;
    struct text    text; /* of a stream: the part's */
    struct text    joined;
};

static const char *behind_blanks(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ')
        at++;
    return at;
}

/* The event behind a brace that closes one, or NULL: "}, {" and a key. */
static const char *border_at(const char *brace, const char *end)
{
    const char *at = behind_blanks(brace + 1, end), *event;

    if (at == end || *at != ',')
        return NULL;
    event = behind_blanks(at + 1, end);
    if (event == end || *event != '{')
        return NULL;
    at = behind_blanks(event + 1, end);
    return at < end && *at == '"' ? event : NULL;
}

/* The first place in [at, end) that looks like an event behind another one; end without. */
static const char *find_border(const char *at, const char *end)
{
    const char *brace;

    while (at < end && (brace = memchr(at, '}', (size_t)(end - at)))) {
        const char *event = border_at(brace, end);

        if (event)
            return event;
        at = brace + 1;
    }
    return end;
}

/* The last one, or NULL. */
static const char *find_last_border(const char *begin, const char *end)
{
    const char *last = end;

    for (; end > begin; end--)
        if (end[-1] == '}') {
            const char *event = border_at(end - 1, last);

            if (event)
                return event;
        }
    return NULL;
}

/* Steps over text that is no event to the next border. In a part of a stream the border may be the
 * part's end. */
static bool next_border(struct json_scan *scan)
{
    const char *brace;

    while (scan->at < scan->end &&
           (brace = memchr(scan->at, '}', (size_t)(scan->end - scan->at)))) {
        const char *at = behind_blanks(brace + 1, scan->end);
        bool        has_comma = at < scan->end && *at == ',';

        at = has_comma ? behind_blanks(at + 1, scan->end) : at;
        scan->at = brace + 1;
        if ((at < scan->end && (*at == '{' || *at == ']')) || (at == scan->end && has_comma)) {
            scan->state = JSON_FINE;
            return true;
        }
    }
    return false;
}

/* Takes the events that begin in the part. scan->at: where it ended, or for END_CUT where what was
 * cut begins. */
static enum part_end walk_events(struct kineto *kineto, const struct part *part,
                                 struct json_scan *scan)
{
    struct kineto_event event;

    *scan = (struct json_scan) { .at = part->begin, .end = part->end };
    while (!kineto->is_full) {
        const char *mark = scan->at;

        if (!json_item(scan)) {
            if (scan->state == JSON_FINE)
                return END_ARRAY;
            scan->at = mark;
            return END_CUT;
        }
        if (scan->at >= part->stop)
            return END_BORDER;
        kineto_scan_event(kineto, scan, &event);
        if (scan->state == JSON_FINE) {
            kineto_add_event(kineto, &event);
        } else if (scan->state == JSON_CUT) {
            scan->at = mark;
            return END_CUT;
        } else {
            kineto->trouble[TROUBLE_SYNTAX]++;
            if (!next_border(scan))
                return END_CUT;
        }
    }
    return END_CUT;
}

/* A hole that a copy or a crash left may begin inside one text and end inside another: what was
 * between is then part of a name. */
static enum part_end walk_part(struct kineto *kineto, const struct part *part,
                               struct json_scan *scan)
{
    enum part_end end = walk_events(kineto, part, scan);

    if (scan->at > part->begin && memchr(part->begin, 0, (size_t)(scan->at - part->begin)))
        kineto->trouble[TROUBLE_ZEROS]++;
    return end;
}

/* More of a stream into the text; false at its end. */
static bool read_more(struct walk *walk, struct text *text)
{
    struct str run = file_stream_next(walk->window->stream);

    text_add(text, run);
    walk->job->is_full |= text->is_cut;
    return run.len > 0 && !text->is_cut;
}

/* Where to cut a stream's text: at the first border behind a part's size where it is far longer,
 * at the last one otherwise. NULL: nowhere. */
static const char *find_cut(const struct text *text, size_t part_bytes)
{
    const char *end = text->data + text->len, *border;

    if (text->len < part_bytes)
        return NULL;
    border = text->len / 2 > part_bytes ? find_border(text->data + part_bytes, end) : end;
    return border < end ? border : find_last_border(text->data, end);
}

/* The next part of a stream: what is ahead and as many runs as make a part with a border. */
static void take_stream(struct walk *walk, struct walker *walker, struct part *part)
{
    struct text *text = &walker->text;
    size_t       wanted = walk->job->part_bytes;
    const char  *cut = NULL;

    text->len = 0;
    text_add(text, text_str(&walk->taken_ahead));
    walk->taken_ahead.len = 0;
    part->offset = walk->ahead_offset;
    while (!cut && !walk->is_out) {
        while (text->len < wanted && !walk->is_out)
            walk->is_out = !read_more(walk, text);
        if (!walk->is_out)
            cut = find_cut(text, walk->job->part_bytes);
        walk->is_out |= text->len > LARGEST_VALUE_BYTES && !cut;
        wanted = text->len + walk->job->part_bytes;
    }
    part->begin = text_str(text).data;
    part->stop = part->end = cut ? cut : part->begin + text->len;
    part->is_last = walk->is_out;
    text_add(&walk->taken_ahead,
             (struct str) { part->end, (size_t)(part->begin + text->len - part->end) });
    walk->ahead_offset += (uint64_t)(part->end - part->begin);
}

static void take_mapped(struct walk *walk, struct part *part)
{
    const struct kineto_window *window = walk->window;
    size_t                      room;

    part->begin = walk->next;
    part->offset = (uint64_t)(part->begin - window->begin);
    part->stop = part->end = window->scan.end;
    room = (size_t)(part->end - part->begin);
    if (room > walk->job->part_bytes)
        part->stop = find_border(part->begin + walk->job->part_bytes, part->end);
    /* Its last event ends behind it, but seldom far. */
    if ((size_t)(part->end - part->stop) > walk->job->part_bytes)
        part->end = part->stop + walk->job->part_bytes;
    walk->next = part->stop;
    walk->is_out = part->is_last = part->stop == window->scan.end;
}

static bool take_part(struct walk *walk, struct walker *walker, struct part *part)
{
    bool is_there;

    pthread_mutex_lock(&walk->lock);
    is_there = !walk->is_out && !walk->is_over && !walk->job->is_full;
    if (is_there) {
        part->number = walk->taken++;
        if (walk->window->stream)
            take_stream(walk, walker, part);
        else
            take_mapped(walk, part);
    }
    pthread_mutex_unlock(&walk->lock);
    return is_there;
}

static void begin_part(const struct walk *walk, struct kineto *kineto)
{
    kineto_begin_stretch(kineto, walk->job->source->host);
}

/* Forgets what was made of a part. */
static void forget_part(struct walk *walk, struct walker *walker)
{
    if (!kineto_prepare(walker->kineto, walk->job))
        walk->job->is_full = true;
    begin_part(walk, walker->kineto);
}

/* A part that began elsewhere than the one before it ended. */
static enum part_end walk_again(struct walk *walk, struct walker *walker, struct part *part,
                                struct json_scan *scan)
{
    struct text  *joined = &walker->joined;
    enum part_end end;

    forget_part(walk, walker);
    if (walk->window->stream) {
        joined->len = 0;
        text_add(joined, text_str(&walk->left));
        text_add(joined, (struct str) { part->begin, (size_t)(part->end - part->begin) });
        walk->job->is_full |= joined->is_cut;
        part->offset -= walk->left.len;
        walk->left.len = 0;
        part->begin = text_str(joined).data;
        part->stop = part->end = part->begin + joined->len;
    } else {
        part->offset = (uint64_t)(walk->wanted - walk->window->begin);
        part->begin = walk->wanted;
        part->end = walk->window->scan.end;
    }
    end = walk_part(walker->kineto, part, scan);
    kineto_sort_stretch(walker->kineto);
    return end;
}

static void set_over(struct walk *walk, const struct part *part, const struct json_scan *scan,
                     bool is_whole)
{
    walk->is_over = true;
    walk->is_whole = is_whole;
    walk->scan = *scan;
    if (scan->state == JSON_CUT)
        walk->scan.at = scan->end;
    walk->offset = part->offset + (uint64_t)(walk->scan.at - part->begin);
    if (walk->window->stream && is_whole)
        text_add(&walk->left, (struct str) { scan->at, (size_t)(part->end - scan->at) });
}

/* What follows from how the part ended. */
static void settle_end(struct walk *walk, const struct part *part, enum part_end end,
                       const struct json_scan *scan)
{
    bool is_stream = walk->window->stream != NULL;

    walk->wanted = scan->at;
    if (end == END_ARRAY) {
        set_over(walk, part, scan, true);
    } else if (end == END_CUT && (!is_stream || part->is_last)) {
        set_over(walk, part, scan, false);
    } else if (end == END_CUT) {
        const char *at = scan->at;

        while (at < scan->end && ((unsigned char)*at <= ' ' || *at == ','))
            at++;
        text_add(&walk->left, (struct str) { at, (size_t)(scan->end - at) });
        if (walk->left.len > LARGEST_VALUE_BYTES)
            set_over(walk, part, scan, false);
    }
}

/* Whether the part was walked from where it had to be, and to its end. */
static bool is_settled(const struct walk *walk, const struct part *part, enum part_end end)
{
    if (walk->window->stream)
        return walk->left.len == 0;
    return walk->wanted == part->begin && (end != END_CUT || part->end == walk->window->scan.end);
}

/* With the lock held and all parts before settled. */
static void settle_part(struct walk *walk, struct walker *walker, struct part *part,
                        enum part_end end, struct json_scan *scan)
{
    bool is_stream = walk->window->stream != NULL;

    if (walk->is_over || walk->job->is_full) {
        if (is_stream && walk->is_whole) /* its text is the head's to read */
            text_add(&walk->left, (struct str) { part->begin, (size_t)(part->end - part->begin) });
        forget_part(walk, walker);
        return;
    }
    if (!is_stream && walk->wanted >= part->stop && !part->is_last) {
        forget_part(walk, walker); /* all of it belongs to what began before it */
        return;
    }
    if (!is_settled(walk, part, end))
        end = walk_again(walk, walker, part, scan);
    settle_end(walk, part, end, scan);
    kineto_merge_stretch(walk->job, walker->kineto);
}

static bool walk_next(struct walk *walk, struct walker *walker)
{
    struct kineto_window *window = walk->window;
    size_t                first = 0, stop = 0;
    struct json_scan      scan;
    struct part           part;
    enum part_end         end;

    if (!take_part(walk, walker, &part))
        return false;
    if (!window->stream) {
        first = (size_t)(part.begin - window->begin);
        stop = (size_t)(part.stop - window->begin);
        file_want(window->file, first, stop);
    }
    begin_part(walk, walker->kineto);
    end = walk_part(walker->kineto, &part, &scan);
    kineto_sort_stretch(walker->kineto);
    pthread_mutex_lock(&walk->lock);
    while (walk->settled != part.number)
        pthread_cond_wait(&walk->changed, &walk->lock);
    settle_part(walk, walker, &part, end, &scan);
    walk->settled++;
    pthread_cond_broadcast(&walk->changed);
    pthread_mutex_unlock(&walk->lock);
    kineto_pack_stretch(walker->kineto);
    if (!window->stream)
        file_drop(window->file, first, stop);
    return true;
}

struct walkers {
    struct walk   *walk;
    struct walker *list;
};

static void work_through(void *shared, size_t index)
{
    struct walkers *walkers = shared;

    while (walk_next(walkers->walk, &walkers->list[index]))
        continue;
}

/* The window goes on where the walk ended. */
static void set_window(const struct walk *walk, struct kineto_window *window)
{
    size_t len = walk->left.len + walk->taken_ahead.len;

    if (!window->stream) {
        window->scan.at = walk->scan.at;
        window->scan.state = walk->scan.state;
        window->scan.expected = walk->scan.expected;
        return;
    }
    window->offset = walk->offset;
    window->begin = "";
    if (walk->is_whole && len) {
        if (len > window->capacity) {
            window->data = arena_alloc(window->arena, len);
            window->capacity = window->data ? len : 0;
        }
        if (!window->data) {
            walk->job->is_full = true;
            return;
        }
        memcpy(window->data, text_str(&walk->left).data, walk->left.len);
        memcpy(window->data + walk->left.len, text_str(&walk->taken_ahead).data,
               walk->taken_ahead.len);
        window->begin = window->data;
    }
    window->scan = (struct json_scan) { .at = window->begin,
                                        .end = window->begin + (walk->is_whole ? len : 0),
                                        .state = walk->scan.state,
                                        .expected = walk->scan.expected };
}

static void start_walk(struct walk *walk, struct arena *texts)
{
    const struct kineto_window *window = walk->window;

    walk->next = walk->wanted = window->scan.at;
    walk->taken_ahead.arena = walk->left.arena = texts;
    walk->ahead_offset = window->offset + (uint64_t)(window->scan.at - window->begin);
    if (window->stream)
        text_add(&walk->taken_ahead,
                 (struct str) { window->scan.at, (size_t)(window->scan.end - window->scan.at) });
    pthread_mutex_init(&walk->lock, NULL);
    pthread_cond_init(&walk->changed, NULL);
}

bool kineto_walk_events(struct kineto_job *job, struct kineto_window *window)
{
    struct arena   texts = { .budget_bytes = job->scratch.budget_bytes };
    struct walk    walk = { .job = job, .window = window };
    struct walkers walkers = { .walk = &walk };
    size_t         room = (size_t)(window->scan.end - window->scan.at);
    size_t         count = window->stream ? job->thread_count : room / job->part_bytes + 1;

    count = count < job->thread_count ? count : job->thread_count;
    walkers.list = arena_new_array(&texts, struct walker, count);
    if (!walkers.list) {
        job->is_full = true;
        return false;
    }
    start_walk(&walk, &texts);
    for (size_t i = 0; i < count; i++)
        walkers.list[i] = (struct walker) { .kineto = &job->threads[i],
                                            .text.arena = &texts,
                                            .joined.arena = &texts };
    parallel_for(count, (unsigned)count, work_through, &walkers);
    for (size_t i = 0; i < count; i++)
        job->is_full |= job->threads[i].is_full;
    set_window(&walk, window);
    pthread_mutex_destroy(&walk.lock);
    pthread_cond_destroy(&walk.changed);
    arena_free(&texts);
    return walk.is_whole && !job->is_full;
}
