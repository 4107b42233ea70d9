/* place: walks the lines of a sketch and gives each a time. */
#include "synth/place.h"
#include "base/sort.h"

#include "synth/noise.h"

#include <math.h>

#define MAX_END_NS INT64_C(1000000000000000) /* 11 days: in picoseconds it still fits */
enum { MAX_EVENTS = 2000000, MAX_VISITS = 8000000, MAX_TRACKS = 256 };
static const double LEAST_FACTOR = 0.05; /* however noisy */

/* Lines that take time by themselves; steps and what stands around them only make room. */
static bool has_time(enum sketch_word word)
{
    return word >= WORD_OP && word != WORD_WAIT && word != WORD_ALLOC && word != WORD_FREE;
}

bool recording_can_change(const struct sketch_line *line)
{
    return line->word == WORD_ALLOC ? line->bytes > 0
                                    : has_time(line->word) && line->duration_ns > 0;
}

static double noisy(double share, double draw)
{
    double factor = 1 + share * draw;

    return factor < LEAST_FACTOR ? LEAST_FACTOR : factor;
}

static double noise_factor(struct making *making, const struct sketch_line *line, double share)
{
    uint64_t row = (uint64_t)(line - making->sketch->lines.items);
    uint64_t whose = row | (uint64_t)making->options->rank << 32;

    return share > 0 ? noisy(share, noise_draw(making->seed, whose, making->draws[row]++)) : 1;
}

int64_t place_duration(struct making *making, const struct sketch_line *line, double scale)
{
    const struct recording_change *change = &making->options->change;
    double share = line->noise_share >= 0 ? line->noise_share : making->sketch->noise_share;
    double duration_ns = line->duration_ns > 0 ? (double)line->duration_ns : 0;

    if (change->word == line->word && has_time(line->word))
        duration_ns *= change->factor;
    duration_ns *= scale * noise_factor(making, line, share);
    return duration_ns > 0 ? (int64_t)round(duration_ns) : 0;
}

uint32_t place_event(struct making *making, const struct recorded_event *event, struct err *err)
{
    struct recording *recording = making->recording;
    int64_t           end_ns = event->start_ns + event->duration_ns;

    if (recording->events.count >= MAX_EVENTS) {
        err_set(err, ERR_LIMIT, "the sketch makes more than %d events", MAX_EVENTS);
        return NO_EVENT;
    }
    if (end_ns > MAX_END_NS) {
        err_set(err, ERR_LIMIT, "the sketch lasts longer than 11 days");
        return NO_EVENT;
    }
    if (!vec_push(&recording->events, making->arena, *event)) {
        err_memory(err, "the recording");
        return NO_EVENT;
    }
    if (end_ns > recording->end_ns)
        recording->end_ns = end_ns;
    return (uint32_t)recording->events.count - 1;
}

uint32_t place_track(struct making *making, const struct recorded_track *track, struct err *err)
{
    struct recording *recording = making->recording;

    for (uint32_t i = 0; i < recording->tracks.count; i++) {
        const struct recorded_track *other = &recording->tracks.items[i];

        if (other->gpu == track->gpu && other->stream == track->stream &&
            str_equal(other->name, track->name))
            return i;
    }
    if (recording->tracks.count < MAX_TRACKS &&
        vec_push(&recording->tracks, making->arena, *track) &&
        vec_push(&making->track_ends_ns, making->arena, 0))
        return (uint32_t)recording->tracks.count - 1;
    err_set(err, ERR_LIMIT, "the sketch has more than %d threads and streams", MAX_TRACKS);
    return NO_EVENT;
}

bool place_at(const struct making *making, const struct sketch_line *line, struct place *place,
              struct err *err)
{
    bool    is_exact = making->sketch->noise_share <= 0 && making->options->change.factor == 1;
    int64_t at_ns = place->block_ns + (int64_t)round((double)line->at_ns * place->scale);

    if (line->at_ns < 0)
        return true;
    if (at_ns < place->now_ns && is_exact && place->scale == 1)
        return sketch_fail(err, line, "what stands above it is not done by then");
    if (at_ns > place->now_ns)
        place->now_ns = at_ns;
    return true;
}

static bool place_lines(struct making *making, uint32_t first, struct place *place,
                        struct err *err);

/* Something on a host thread that may hold other lines. */
static bool place_slice(struct making *making, const struct sketch_line *line, struct place *place,
                        struct err *err)
{
    struct recorded_event event = { .line = (uint32_t)(line - making->sketch->lines.items),
                                    .track = place->track,
                                    .owner = place->owner };
    struct place          inside;
    uint32_t              row;

    if (!place_at(making, line, place, err))
        return false;
    event.start_ns = place->now_ns;
    event.duration_ns = place_duration(making, line, place->scale);
    row = place_event(making, &event, err);
    if (row == NO_EVENT)
        return false;
    inside = *place;
    inside.block_ns = place->now_ns;
    if (line->word == WORD_OP)
        inside.owner = row;
    if (!place_lines(making, line->first_child, &inside, err))
        return false;
    if (inside.now_ns - event.start_ns > event.duration_ns)
        event.duration_ns = inside.now_ns - event.start_ns;
    making->recording->events.items[row].duration_ns = event.duration_ns;
    place->now_ns = event.start_ns + event.duration_ns;
    return true;
}

/* Lines of a thread or a stream that stand in a block of their own. */
static bool place_block(struct making *making, const struct sketch_line *line,
                        const struct place *step, struct err *err)
{
    struct recorded_track track = { .gpu = -1, .name = line->name };
    struct place          place = *step;
    int64_t              *end_ns;

    if (line->word == WORD_STREAM)
        track =
            (struct recorded_track) { .gpu = line->gpu < 0 ? 0 : line->gpu, .stream = line->count };
    place.track = place_track(making, &track, err);
    if (place.track == NO_EVENT)
        return false;
    place.now_ns = int64_most(step->block_ns, making->track_ends_ns.items[place.track]);
    if (line->at_ns >= 0)
        place.now_ns = int64_most(place.now_ns, step->block_ns + line->at_ns);
    if (!place_lines(making, line->first_child, &place, err))
        return false;
    end_ns = &making->track_ends_ns.items[place.track];
    *end_ns = int64_most(*end_ns, place.now_ns);
    return true;
}

/* What stands in a step but in no thread runs on the thread "main". */
static bool place_on_main(struct making *making, const struct sketch_line *line,
                          const struct place *step, struct err *err);

static bool place_wait(struct making *making, const struct sketch_line *line, struct place *place,
                       struct err *err)
{
    const struct recording *recording = making->recording;

    for (uint32_t i = 0; i < recording->tracks.count; i++)
        if (recording->tracks.items[i].gpu < 0 &&
            str_equal(recording->tracks.items[i].name, line->name)) {
            place->now_ns = int64_most(place->now_ns, making->track_ends_ns.items[i]);
            return true;
        }
    return sketch_fail(err, line, "no thread of this name has done anything yet");
}

static bool is_ours(const struct making *making, const struct sketch_line *line)
{
    int64_t rank = making->options->rank;

    return line->to < 0 ? rank == line->count : rank >= line->count && rank <= line->to;
}

static bool is_visit_left(struct making *making, struct err *err)
{
    return ++making->visits <= MAX_VISITS ||
           err_set(err, ERR_LIMIT, "the sketch repeats its lines too often");
}

static bool place_repeat(struct making *making, const struct sketch_line *line, int64_t count,
                         struct place *place, struct err *err)
{
    for (int64_t i = 0; i < count; i++)
        if (!is_visit_left(making, err) || !place_lines(making, line->first_child, place, err))
            return false;
    return true;
}

static bool place_once(struct making *making, const struct sketch_line *line, struct place *place,
                       struct err *err)
{
    switch (line->word) {
    case WORD_REPEAT:
        return place_repeat(making, line, line->count, place, err);
    case WORD_RANK:
    case WORD_HOST:
        return place_repeat(making, line, is_ours(making, line), place, err);
    case WORD_THREAD:
    case WORD_STREAM:
        return place_block(making, line, place, err);
    case WORD_GAP:
        place->now_ns += place_duration(making, line, place->scale);
        return true;
    case WORD_WAIT:
        return place_wait(making, line, place, err);
    case WORD_SYNC:
        return place_sync(making, line, place, err);
    case WORD_KERNEL:
    case WORD_COPY:
    case WORD_MEMSET:
    case WORD_COLLECTIVE:
        return place_work(making, line, place, err);
    case WORD_ALLOC:
    case WORD_FREE:
        return place_memory(making, line, place, err);
    default:
        return place_slice(making, line, place, err);
    }
}

static bool is_transparent(enum sketch_word word)
{
    return word == WORD_REPEAT || word == WORD_RANK || word == WORD_HOST || word == WORD_THREAD ||
           word == WORD_STREAM;
}

static bool place_line(struct making *making, const struct sketch_line *line, struct place *place,
                       struct err *err)
{
    for (uint32_t i = 0; i < line->repeat; i++) {
        bool is_placed;

        if (!is_visit_left(making, err))
            return false;
        is_placed = place->track == NO_EVENT && !is_transparent(line->word)
                        ? place_on_main(making, line, place, err)
                        : place_once(making, line, place, err);
        if (!is_placed)
            return false;
        if (place->now_ns > MAX_END_NS)
            return err_set(err, ERR_LIMIT, "the sketch lasts longer than 11 days");
    }
    return true;
}

static bool place_lines(struct making *making, uint32_t first, struct place *place, struct err *err)
{
    for (uint32_t row = first; row != NO_LINE; row = making->sketch->lines.items[row].next)
        if (!place_line(making, &making->sketch->lines.items[row], place, err))
            return false;
    return true;
}

static bool place_on_main(struct making *making, const struct sketch_line *line,
                          const struct place *step, struct err *err)
{
    struct place place = *step;
    int64_t     *end_ns = &making->track_ends_ns.items[making->main_track];

    place.track = making->main_track;
    place.now_ns = int64_most(step->block_ns, *end_ns);
    if (!place_once(making, line, &place, err))
        return false;
    end_ns = &making->track_ends_ns.items[making->main_track];
    *end_ns = int64_most(*end_ns, place.now_ns);
    return true;
}

/* A step, or time outside of steps: the two differ in the marker. */
static bool place_step(struct making *making, const struct sketch_line *line, struct err *err)
{
    int64_t               start_ns = making->track_ends_ns.items[making->main_track], *end_ns;
    bool                  is_marked = line->word == WORD_STEP && !(line->flags & FLAG_UNMARKED);
    struct recorded_event marker = { .line = (uint32_t)(line - making->sketch->lines.items),
                                     .track = making->main_track,
                                     .start_ns = start_ns,
                                     .number = making->recording->step_count,
                                     .owner = NO_EVENT,
                                     .role = ROLE_STEP };
    struct place          place = { .track = NO_EVENT, .block_ns = start_ns, .owner = NO_EVENT };
    uint32_t              row = NO_EVENT;

    place.scale = making->pace * noise_factor(making, line, line->noise_share);
    making->recording->step_count += line->word == WORD_STEP;
    if (is_marked && (row = place_event(making, &marker, err)) == NO_EVENT)
        return false;
    if (!place_lines(making, line->first_child, &place, err))
        return false;
    end_ns = &making->track_ends_ns.items[making->main_track];
    if (line->duration_ns > 0)
        *end_ns =
            int64_most(*end_ns, start_ns + (int64_t)round((double)line->duration_ns * place.scale));
    if (*end_ns > MAX_END_NS)
        return err_set(err, ERR_LIMIT, "the sketch lasts longer than 11 days");
    if (row != NO_EVENT)
        making->recording->events.items[row].duration_ns = *end_ns - start_ns;
    making->recording->end_ns = int64_most(making->recording->end_ns, *end_ns);
    return true;
}

/* Steps, and blocks around them, at the top. */
static bool place_top(struct making *making, uint32_t first, struct err *err)
{
    for (uint32_t row = first; row != NO_LINE; row = making->sketch->lines.items[row].next) {
        const struct sketch_line *line = &making->sketch->lines.items[row];
        bool                      is_rank = line->word == WORD_RANK || line->word == WORD_HOST;
        int64_t                   count = line->word == WORD_REPEAT ? line->count : line->repeat;

        if (is_rank)
            count = is_ours(making, line);
        for (int64_t i = 0; i < count; i++) {
            if (!is_visit_left(making, err))
                return false;
            if (line->word == WORD_STEP || line->word == WORD_OUTSIDE) {
                if (!place_step(making, line, err))
                    return false;
            } else if (is_rank || line->word == WORD_REPEAT) {
                if (!place_top(making, line->first_child, err))
                    return false;
            }
        }
    }
    return true;
}

bool recording_make(const struct sketch *sketch, const struct recording_options *options,
                    struct arena *arena, struct recording *recording, struct err *err)
{
    struct making making = { .recording = recording,
                             .sketch = sketch,
                             .options = options,
                             .arena = arena,
                             .seed = options->has_seed ? options->seed : sketch->seed };

    making.pace = noisy(sketch->pace_share, noise_draw(making.seed, NO_LINE, 0));
    *recording = (struct recording) { .sketch = sketch,
                                      .rank = options->rank,
                                      .rank_count = sketch->rank_count };
    making.draws = arena_new_array(arena, uint32_t, sketch->lines.count + 1);
    if (!making.draws || !intern_init(&making.block_names, arena))
        return err_memory(err, "the recording");
    making.main_track =
        place_track(&making, &(struct recorded_track) { .gpu = -1, .name = STR("main") }, err);
    if (making.main_track == NO_EVENT || !place_top(&making, sketch->first, err))
        return false;
    if (recording->events.count == 0)
        return err_set(err, ERR_USAGE, "the sketch describes no event");
    place_memory_totals(&making);
    return true;
}
