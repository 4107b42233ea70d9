/* lock_waits: the leading thread stands still again and again for as long as Python lets one thread
 * compute before it has to hand over the interpreter's lock, 5 ms (sys.getswitchinterval()):
 * another thread of the program runs Python without a pause, and whatever gives the lock away, as
 * most calls of a runtime do, waits so long to have it back. That thread need not be recorded; what
 * shows it is that many pauses are as long, at several places, and hardly any a little shorter or
 * longer. */
#include "analyze/excess/ledger.h"

static const int64_t SHORTEST_NS = 4850000, LONGEST_NS = 6000000; /* 5 ms, and being woken */
static const int64_t SHORTER_NS = 2400000, LONGER_NS = 7200000;   /* where there are hardly any */
static const double  TIMES_OTHERS = 4;  /* so many for each of the shorter and longer */
static const double  LEAST_SHARE = 0.1; /* of the steps */
static const double  MOST_AT_ONE = 0.6; /* of them behind one event, as a sleep of 5 ms is */
enum { FEWEST_WAITS = 12, FEWEST_PLACES = 3 };

/* Where a thread does nothing else that may take 5 ms. */
static const uint32_t STANDS = 1u << ACTIVITY_OTHER | 1u << ACTIVITY_STEP | 1u << ACTIVITY_PYTHON |
                               1u << ACTIVITY_DISPATCH | 1u << ACTIVITY_ANNOTATION |
                               1u << ACTIVITY_TRANSFER;

struct open { /* an event that has not ended where the thread is looked at */
    int64_t  end_ns;
    uint32_t activity;
    uint8_t  kind;
};
struct finder {
    struct ledger *ledger;
    VEC(struct open) stack;
    VEC(struct interval) waits; /* by start */
    uint32_t *waits_behind; /* by activity: waits that begin where such an event begins or ends */
    uint32_t  others;       /* pauses a little shorter or longer */
    int64_t   last_ns;
    uint32_t  last; /* activity of the event that began or ended there */
};

/* Pauses that leave room for enough such waits. */
static bool may_wait(const struct ledger *ledger)
{
    double   pauses_ns = 0;
    uint64_t room = 0;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_PAUSE || unit->end_ns - unit->start_ns < SHORTEST_NS)
            continue;
        pauses_ns += unit->left_ns;
        room += (uint64_t)((unit->end_ns - unit->start_ns) / SHORTEST_NS);
    }
    return room >= FEWEST_WAITS && pauses_ns >= LEAST_SHARE * ledger->total_ns;
}

/* The thread goes on at `at_ns`, where an event of this activity begins or ends. */
static bool go_on(struct finder *finder, int64_t at_ns, uint32_t activity)
{
    int64_t pause_ns = at_ns - finder->last_ns;
    bool    is_wait = pause_ns >= SHORTEST_NS && pause_ns <= LONGEST_NS;
    bool    stands =
        finder->stack.count == 0 || STANDS >> finder->stack.items[finder->stack.count - 1].kind & 1;

    if (stands && finder->last != NO_ID) {
        finder->others += !is_wait && pause_ns >= SHORTER_NS && pause_ns <= LONGER_NS;
        finder->waits_behind[finder->last] += is_wait;
        if (is_wait && !vec_push(&finder->waits, finder->ledger->scratch,
                                 (struct interval) { finder->last_ns, at_ns }))
            return false;
    }
    if (pause_ns >= 0) {
        finder->last_ns = at_ns;
        finder->last = activity;
    }
    return true;
}

static bool list_waits(struct finder *finder)
{
    const struct profile  *profile = finder->ledger->study->profile;
    const struct timeline *line = &profile->timelines.items[finder->ledger->path->leader];

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t    event = line->first_event + i;
        struct open open = { event_end_ns(profile, event), event_activity_id(profile, event),
                             (uint8_t)event_activity(profile, event)->kind };
        int64_t     start_ns = event_start_ns(profile, event);

        while (finder->stack.count &&
               finder->stack.items[finder->stack.count - 1].end_ns <= start_ns) {
            struct open ended = finder->stack.items[finder->stack.count - 1];

            if (!go_on(finder, ended.end_ns, ended.activity))
                return false;
            finder->stack.count--;
        }
        if (!go_on(finder, start_ns, open.activity) ||
            !vec_push(&finder->stack, finder->ledger->scratch, open))
            return false;
    }
    return true;
}

static bool are_of_lock(const struct finder *finder)
{
    size_t   activities = finder->ledger->study->profile->activities.count;
    uint32_t places = 0, most = 0;

    for (size_t a = 0; a < activities; a++) {
        places += finder->waits_behind[a] > 0;
        if (finder->waits_behind[a] > most)
            most = finder->waits_behind[a];
    }
    return finder->waits.count >= FEWEST_WAITS && places >= FEWEST_PLACES &&
           most <= MOST_AT_ONE * (double)finder->waits.count &&
           (double)finder->waits.count >= TIMES_OTHERS * finder->others;
}

/* What of a unit lies in the waits from row *next on, which are behind it with those before. */
static int64_t waited_ns(const struct finder *finder, const struct work_unit *unit, size_t *next)
{
    int64_t ns = 0;

    while (*next < finder->waits.count && finder->waits.items[*next].end_ns <= unit->start_ns)
        (*next)++;
    for (size_t w = *next; w < finder->waits.count; w++) {
        const struct interval *wait = &finder->waits.items[w];
        int64_t from_ns = wait->start_ns > unit->start_ns ? wait->start_ns : unit->start_ns;
        int64_t to_ns = wait->end_ns < unit->end_ns ? wait->end_ns : unit->end_ns;

        if (wait->start_ns >= unit->end_ns)
            break;
        ns += to_ns - from_ns;
    }
    return ns;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .last = NO_ID };
    uint32_t      cell = NO_ID;
    size_t        next = 0;
    bool          is_lock;

    if (ledger->path->leader == NO_ID || !may_wait(ledger))
        return true;
    finder.waits_behind =
        arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->activities.count + 1);
    if (!finder.waits_behind || !list_waits(&finder))
        return false;
    is_lock = are_of_lock(&finder);
    for (uint32_t u = 0; is_lock && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        int64_t           ns = waited_ns(&finder, unit, &next);

        if (unit->kind != UNIT_PAUSE || ns == 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%zu pauses of about 5 ms, %u a little shorter or longer",
                              finder.waits.count, finder.others))
            return false;
        ledger_claim(ledger, cell, unit, (double)ns / (double)(unit->end_ns - unit->start_ns));
    }
    return true;
}

const struct detector detector_lock_waits = { "lock-waits", CAUSE_PYTHON, GRADE_SIZES, find };
