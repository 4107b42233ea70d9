/*
 * verdict: the parts of the step added up by class. With an accelerator waiting outranks computing:
 * a device that waits for a fifth of the step for input is held by input though it computes longer.
 * A CPU that waits does not compute, so there the class with most of the step leads. Two close
 * together make the step mixed. What computing and communicating are held by is said where facts
 * tell: memory, and ranks that come late.
 */
#include "rules/verdict.h"

#include "analyze/path/path.h"

#include <math.h>
#include <string.h>

enum class {
    CLASS_INPUT,
    CLASS_COMPILE,
    CLASS_HOST,
    CLASS_COMMUNICATION,
    CLASS_COPY,
    CLASS_IDLE,
    CLASS_COMPUTE,
    CLASS_UNKNOWN,
    CLASS_COUNT,
    CLASS_MEMORY = CLASS_COUNT, /* computing, told apart */
    CLASS_IMBALANCED            /* communicating, told apart */
};

/* From `limit` of the step on a class is the verdict, whatever computes beside it. */
static const struct {
    const char *name, *head, *what;
    double      limit;
} classes[] = {
    [CLASS_INPUT] = { "input-bound", "Input-bound", "waits for input", 0.20 },
    [CLASS_COMPILE] = { "compile-bound", "Compile-bound", "goes to compiling and tracing", 0.20 },
    [CLASS_HOST] = { "host-bound", "Host-bound", "goes to host code and launches", 0.25 },
    [CLASS_COMMUNICATION] = { "communication-bound", "Communication-bound", "waits for collectives",
                              0.15 },
    [CLASS_COPY] = { "copy-bound", "Copy-bound", "waits for copies", 0.15 },
    [CLASS_IDLE] = { "idle", "Idle", "is idle", 0.25 },
    [CLASS_COMPUTE] = { "compute-bound", "Compute-bound", "computes", 0.0 },
    [CLASS_UNKNOWN] = { "unknown", "Unknown", "is not explained by the profile", 0.50 },
    [CLASS_MEMORY] = { "memory-bound", "Memory-bound", "computes", 0.0 },
    [CLASS_IMBALANCED] = { "imbalanced", "Imbalanced", "waits for collectives", 0.15 },
};

static const double MIXED_MARGIN = 0.15;
/* With an accelerator: below this of what it computes, waiting for the host is no limit by itself;
 * and from this of the step on it is one where the schedule says so. */
static const double BESIDE_COMPUTE = 0.5, HELD_UP_SHARE = 0.15;
static const double MOST_ERROR = 0.05, MOST_UNKNOWN = 0.2;
static const double RECORDER_SHARE = 0.1; /* less is not worth a word */
static const double START_UP_SHARE = 0.1;
static const double MOST = 0.50, MUCH = 0.20;

static const int class_of_part[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = CLASS_##verdict,
#include "analyze/path/part.def"
};

const char *verdict_of_part(int part)
{
    return part < 0 || part >= PART_COUNT ? "unknown" : classes[class_of_part[part]].name;
}

static double part_share(const struct facts *facts, enum part part)
{
    double share = 0;

    facts_get(facts, part_share_fact(part), &share);
    return share;
}

/* The class with most of the step among those past their limits, `but` left out; -1: none. */
static int leading_class(const double *shares, double host_limit_share, int but)
{
    int best = -1;

    for (int i = 0; i < CLASS_COUNT; i++)
        if (i != CLASS_COMPUTE && i != but &&
            shares[i] >= (i == CLASS_HOST ? host_limit_share : classes[i].limit) &&
            (best < 0 || shares[i] > shares[best]))
            best = i;
    return best;
}

/* Without a step's time the share alone. */
static const char *amount(double share, double step_ns, struct arena *arena)
{
    struct text text = { .arena = arena };

    if (isnan(step_ns)) {
        unit_print(&text, share, UNIT_SHARE);
        return text.data;
    }
    unit_print(&text, share * step_ns, UNIT_NS);
    text_print(&text, " (");
    unit_print(&text, share, UNIT_SHARE);
    text_print(&text, ")");
    return text.data;
}

/* "each 8.15 ms step", or "the mean step of 31.0 ms" where they are uneven. */
static const char *step_words(const struct facts *facts, double ns, struct arena *arena)
{
    struct text text = { .arena = arena };
    double      is_uneven = 0;

    facts_get(facts, "step.is_uneven", &is_uneven);
    if (isnan(ns))
        return is_uneven > 0 ? "the mean step" : "each step";
    text_add(&text, is_uneven > 0 ? STR("the mean step of ") : STR("each "));
    unit_print(&text, ns, UNIT_NS);
    text_add(&text, is_uneven > 0 ? STR("") : STR(" step"));
    return text.data;
}

/* What is launched while a graph is captured does not run: a step that mostly captures tells
 * nothing of those that replay it. */
static bool is_mostly_captured(const struct facts *facts)
{
    double share;

    return facts_get(facts, "validity.capture_share", &share) && share > MOST;
}

static bool say_unknown(struct verdict *verdict, const struct facts *facts, struct arena *arena)
{
    const struct absence *absence = facts_why_absent(facts, "step.ns");
    const struct absence *parts = facts_why_absent(facts, "part.compute_ns");
    double                step_ns;

    verdict->class_name = "unknown";
    if (is_mostly_captured(facts))
        verdict->text = "Unknown: a graph is captured for most of the step, in which nothing runs.";
    else if (parts && facts_get(facts, "step.ns", &step_ns))
        verdict->text = arena_text(arena, "Unknown: %s.", parts->reason);
    else
        verdict->text = arena_text(arena, "Unknown: the profile shows no steps%s%s.",
                                   absence ? ": " : "", absence ? absence->reason : "");
    return verdict->text != NULL;
}

/* Where the whole recording stands for a step, what a program loads once is no step's. */
static const double *without_start_up(const struct facts *facts, double *shares)
{
    double share;

    if (facts_get(facts, "startup.share", &share))
        shares[CLASS_COMPILE] -= share;
    return shares;
}

/* Whether the host, not what it launched, is the longest chain through the steps: the event graph
 * says so where it explains them and they are several, since the host of one alone may run out of
 * it. */
static bool is_held_up_by_host(const struct facts *facts)
{
    double used = 0, error, unknown, host_ns, compute_ns;

    return facts_get(facts, "step.used", &used) && used >= 2 &&
           facts_get(facts, "replay.error", &error) && error <= MOST_ERROR &&
           facts_get(facts, "replay.unknown_share", &unknown) && unknown <= MOST_UNKNOWN &&
           facts_get(facts, "replay.host_bound_ns", &host_ns) &&
           facts_get(facts, "replay.device_bound_ns", &compute_ns) && host_ns > compute_ns;
}

/* How much of the step makes the host the verdict: with an accelerator the schedule has a word in
 * it. */
static double host_limit(const struct facts *facts, const double *shares)
{
    double idle;

    if (!facts_get(facts, "device.idle_share", &idle))
        return classes[CLASS_HOST].limit;
    if (is_held_up_by_host(facts))
        return HELD_UP_SHARE;
    return fmax(classes[CLASS_HOST].limit, BESIDE_COMPUTE * shares[CLASS_COMPUTE]);
}

static bool add_evidence(struct verdict *verdict, const double *shares, double step_ns,
                         struct arena *arena)
{
    for (int i = 0; i < CLASS_COUNT; i++) {
        struct evidence row = { .what = arena_text(arena, "time that %s", classes[i].what),
                                .value = shares[i] * step_ns,
                                .unit = UNIT_NS,
                                .share = shares[i] };
        if (shares[i] >= 0.01 && (!row.what || !vec_push(&verdict->evidence, arena, row)))
            return false;
    }
    return true;
}

static bool say_mixed(struct verdict *verdict, const double *shares, int first, int second,
                      const char *step, double step_ns, struct arena *arena)
{
    const char *most = amount(shares[first], step_ns, arena);
    const char *next = amount(shares[second], step_ns, arena);

    verdict->class_name = "mixed";
    verdict->share = shares[first];
    if (step && most && next)
        verdict->text = arena_text(arena, "Mixed: of %s %s %s and %s %s.", step, most,
                                   classes[first].what, next, classes[second].what);
    return verdict->text != NULL;
}

/* Verdicts that another fact tells apart from the class that leads by time. */
static const struct told_apart {
    enum class of, is;
    const char *fact, *head, *tail;
} told_apart[] = {
    { CLASS_COMPUTE, CLASS_MEMORY, "flops.memory_bound_share", "",
      " of that in ops that memory limits" },
    { CLASS_COMPUTE, CLASS_MEMORY, "serving.memory_bound_share", "",
      " of that in steps that read all weights for few tokens" },
    { CLASS_COMMUNICATION, CLASS_IMBALANCED, "comm.skew_share", "ranks begin them ",
      " of their time apart" },
};

/* NULL: nothing tells more of the class than its time. */
static const struct told_apart *tell_apart(const struct facts *facts, int class, double *share)
{
    for (size_t i = 0; i < ARRAY_COUNT(told_apart); i++)
        if ((int)told_apart[i].of == class && facts_get(facts, told_apart[i].fact, share) &&
            *share > MOST)
            return &told_apart[i];
    return NULL;
}

static bool say_told_apart(struct verdict *verdict, const struct told_apart *told,
                           double told_share, double share, const char *step, double step_ns,
                           struct arena *arena)
{
    const char *most = amount(share, step_ns, arena);
    struct text why = { .arena = arena };

    text_print(&why, "%s", told->head);
    unit_print(&why, told_share, UNIT_SHARE);
    verdict->class_name = classes[told->is].name;
    verdict->share = share;
    if (step && most && why.data)
        verdict->text = arena_text(arena, "%s: %s of %s %s, %s%s.", classes[told->is].head, most,
                                   step, classes[told->is].what, why.data, told->tail);
    return verdict->text != NULL;
}

/* The class with most of the step, `but` left out (-1: none). */
static int largest_class(const double *shares, int but)
{
    int best = -1;

    for (int i = 0; i < CLASS_COUNT; i++)
        if (i != but && (best < 0 || shares[i] > shares[best]))
            best = i;
    return best;
}

struct leaders {
    int first, second; /* second: of much of the step; -1: none */
};

/* The two are close together. */
static bool is_mixed(struct leaders leaders, const double *shares)
{
    return leaders.second >= 0 && shares[leaders.first] - shares[leaders.second] < MIXED_MARGIN;
}

/* A class past its limit holds an accelerator up. */
static struct leaders leaders_with_accelerator(const struct facts *facts, const double *shares)
{
    double         limit = host_limit(facts, shares);
    struct leaders leaders = { .first = leading_class(shares, limit, -1), .second = -1 };

    if (leaders.first < 0) /* nothing is past its limit */
        leaders.first = shares[CLASS_COMPUTE] >= MUCH ? CLASS_COMPUTE : largest_class(shares, -1);
    else if (leaders.first != CLASS_UNKNOWN)
        leaders.second = leading_class(shares, limit, leaders.first);
    /* What is below its limit, or well behind, runs beside the rest. */
    if (!is_mixed(leaders, shares))
        leaders.second = -1;
    return leaders;
}

static struct leaders leaders_of(const struct facts *facts, const double *shares)
{
    struct leaders leaders;
    double         accelerators;

    if (shares[CLASS_UNKNOWN] >= classes[CLASS_UNKNOWN].limit ||
        !facts_get(facts, "coverage.accelerators", &accelerators) || accelerators > 0)
        return leaders_with_accelerator(facts, shares);
    leaders.first = largest_class(shares, -1);
    leaders.second = largest_class(shares, leaders.first);
    if (shares[leaders.second] < MUCH)
        leaders.second = -1;
    return leaders;
}

static bool say_class(struct verdict *verdict, const struct facts *facts, const double *shares,
                      const char *step, double step_ns, struct arena *arena)
{
    struct leaders leaders = leaders_of(facts, shares);
    double         told_share = 0;
    int            first = leaders.first;

    if (is_mixed(leaders, shares))
        return say_mixed(verdict, shares, first, leaders.second, step, step_ns, arena);
    const struct told_apart *told = tell_apart(facts, first, &told_share);
    if (told)
        return say_told_apart(verdict, told, told_share, shares[first], step, step_ns, arena);
    const char *most = amount(shares[first], step_ns, arena);
    verdict->class_name = classes[first].name;
    verdict->share = shares[first];
    if (first != CLASS_COMPUTE && first != CLASS_UNKNOWN && shares[CLASS_COMPUTE] > shares[first]) {
        const char *computes = amount(shares[CLASS_COMPUTE], step_ns, arena);

        if (step && most && computes)
            verdict->text = arena_text(
                arena, "%s: %s of %s %s, which could hide behind the %s that it computes.",
                classes[first].head, most, step, classes[first].what, computes);
    } else if (leaders.second >= 0) {
        const char *next = amount(shares[leaders.second], step_ns, arena);

        if (step && most && next)
            verdict->text =
                arena_text(arena, "%s: %s of %s %s, and %s %s.", classes[first].head, most, step,
                           classes[first].what, next, classes[leaders.second].what);
    } else if (step && most)
        verdict->text = arena_text(arena, "%s: %s of %s %s.", classes[first].head, most, step,
                                   classes[first].what);
    return verdict->text != NULL;
}

/* What recording took of a host that an accelerator waits for is no part of the program's steps:
 * the rest becomes the shares of a step without it. What it took of the step; 0: too little to
 * tell. */
static double take_recorder_off(const struct facts *facts, double *shares, double step_ns)
{
    double without_ns, gone;

    if (!facts_get(facts, "replay.without_recorder_ns", &without_ns) || step_ns <= 0)
        return 0;
    gone = fmin(1 - without_ns / step_ns, shares[CLASS_HOST]);
    if (gone < RECORDER_SHARE)
        return 0;
    shares[CLASS_HOST] -= gone;
    for (int i = 0; i < CLASS_COUNT; i++)
        shares[i] /= 1 - gone;
    return gone;
}

/* Behind a verdict, whose shares are of what is left. */
static bool say_recorder(struct verdict *verdict, double ns, double step_ns, struct arena *arena)
{
    struct text text = { .arena = arena };

    text_print(&text, "%.*s, once about ", (int)strlen(verdict->text) - 1, verdict->text);
    unit_print(&text, ns, UNIT_NS);
    text_print(&text, " of ");
    unit_print(&text, step_ns, UNIT_NS);
    text_print(&text, " are left out that recording takes.");
    verdict->text = text.data;
    return text.data != NULL;
}

/* What the whole recording, taken for a step, holds of start-up, where the verdict is of less. */
static bool say_start_up(struct verdict *verdict, const struct facts *facts, double step_ns,
                         struct arena *arena)
{
    struct text text = { .arena = arena };
    double      share;

    if (!facts_get(facts, "startup.share", &share) || share < START_UP_SHARE)
        return true;
    text_print(&text, "%.*s, beside ", (int)strlen(verdict->text) - 1, verdict->text);
    unit_print(&text, share * step_ns, UNIT_NS);
    text_print(&text, " of start-up, which later steps do not pay.");
    verdict->text = text.data;
    return text.data != NULL;
}

bool verdict_make(struct verdict *verdict, const struct facts *facts, struct arena *arena,
                  struct err *err)
{
    double shares[CLASS_COUNT] = { 0 }, step_ns, total = 0, gone, told_ns;
    bool   is_done;

    *verdict = (struct verdict) { 0 };
    for (int part = 0; part < PART_COUNT; part++) {
        double share = part_share(facts, (enum part)part);
        shares[class_of_part[part]] += share;
        total += share;
    }
    if (!facts_get(facts, "step.ns", &step_ns) || total <= 0 || is_mostly_captured(facts))
        is_done = say_unknown(verdict, facts, arena);
    else {
        gone = take_recorder_off(facts, shares, step_ns);
        told_ns = gone > 0 ? NAN : step_ns;
        is_done = add_evidence(verdict, shares, step_ns, arena) &&
                  say_class(verdict, facts, without_start_up(facts, shares),
                            step_words(facts, told_ns, arena), told_ns, arena) &&
                  (gone <= 0 || say_recorder(verdict, gone * step_ns, step_ns, arena)) &&
                  say_start_up(verdict, facts, step_ns, arena);
    }
    return is_done || err_memory(err, "the advice");
}
