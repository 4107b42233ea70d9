/* whatif_scan: the words of the user's edits. */
#include "analyze/schedule/other_hardware.h"
#include "analyze/schedule/whatif.h"
#include "analyze/schedule/whatif_select.h"
#include "base/option.h"
#include "model/hardware_file.h"

#include <math.h>

/* The words that a target can be, each behind a comma. */
static const char listed_targets[] =
#define TARGET(id, word, bearers) ", " word
#include "analyze/schedule/whatif_targets.def"
    ;

static int find_target(struct str name)
{
    for (int i = 0; i < TARGET_COUNT; i++)
        if (str_equal(name, str_from(whatif_targets[i])))
            return i;
    return -1;
}

/* "kernel:gemm" or "sync": what, and which names. */
static bool scan_target(struct whatif_edit *edit, struct str text, struct arena *arena,
                        struct err *err)
{
    struct str  name = str_slice(text, 0, str_find(text, ':'));
    struct str  pattern = str_slice(text, name.len + 1, text.len);
    const char *nearest;

    edit->target = find_target(name);
    if (edit->target < 0) {
        struct str word = arena_str(arena, name);

        nearest = option_nearest(word.data ? word.data : "", whatif_targets, TARGET_COUNT);
        (void)err_set(err, ERR_USAGE, "%s: '%.*s' is nothing that can be selected", edit->text,
                      STR_ARG(name));
        if (nearest)
            return err_advise(err, "did you mean '%s'?", nearest);
        return err_advise(err, "one of %s", listed_targets + 2);
    }
    if (name.len == text.len)
        return true;
    if (!pattern.len)
        return err_set(err, ERR_USAGE, "%s: no name behind '%.*s:'", edit->text, STR_ARG(name));
    edit->pattern = arena_str(arena, pattern).data;
    return edit->pattern || err_memory(err, "an edit");
}

static bool scan_number(struct whatif_edit *edit, struct str text, const char *example,
                        struct err *err)
{
    if (str_to_double(text, &edit->factor) && isfinite(edit->factor) && edit->factor >= 0 &&
        edit->factor <= 1e6)
        return true;
    (void)err_set(err, ERR_USAGE, "%s: '%.*s' is no factor", edit->text, STR_ARG(text));
    return err_advise(err, "as in %s", example);
}

/* "kernel:gemm=0.5": names may hold "=", numbers not. */
static bool scan_factor(struct whatif_edit *edit, struct str text, struct arena *arena,
                        struct err *err)
{
    size_t equals = str_find_last(text, '=');

    if (equals == text.len) {
        (void)err_set(err, ERR_USAGE, "%s: no factor", edit->text);
        return err_advise(err, "as in %s=0.5", edit->text);
    }
    return scan_number(edit, str_slice(text, equals + 1, text.len), "kernel:gemm=0.5", err) &&
           scan_target(edit, str_slice(text, 0, equals), arena, err);
}

static bool scan_workers(struct whatif_edit *edit, struct str text, struct arena *arena,
                         struct err *err)
{
    if (!scan_factor(edit, text, arena, err))
        return false;
    return edit->factor >= 1 || err_set(err, ERR_USAGE, "%s: fewer than one worker", edit->text);
}

/* "x2" */
static bool scan_network(struct whatif_edit *edit, struct str text, struct arena *arena,
                         struct err *err)
{
    struct str number = str_starts(text, STR("x")) ? str_slice(text, 1, text.len) : text;

    (void)arena;
    edit->target = TARGET_COMM;
    if (!scan_number(edit, number, "--network x2", err))
        return false;
    return edit->factor > 0 ||
           err_set(err, ERR_USAGE, "%s: a network without speed is no network", edit->text);
}

/* "3=median" */
static bool scan_rank(struct whatif_edit *edit, struct str text, struct arena *arena,
                      struct err *err)
{
    struct str number = str_slice(text, 0, str_find(text, '='));
    struct str rest = str_slice(text, number.len, text.len);
    int64_t    rank;

    (void)arena;
    if (str_to_int64(number, &rank) && rank >= 0 && rank <= INT32_MAX &&
        str_equal(rest, STR("=median"))) {
        edit->rank = (int32_t)rank;
        return true;
    }
    (void)err_set(err, ERR_USAGE, "%s: not a rank and what becomes of it", edit->text);
    return err_advise(err, "as in --rank 3=median");
}

static bool scan_input(struct whatif_edit *edit, struct str text, struct arena *arena,
                       struct err *err)
{
    (void)text, (void)arena, (void)err;
    edit->target = TARGET_INPUT;
    return true;
}

/* "H200": any name that a row of hardware.def knows, or a file. */
static bool scan_hardware(struct whatif_edit *edit, struct str text, struct arena *arena,
                          struct err *err)
{
    edit->target = TARGET_KERNEL;
    edit->hardware = hardware_named(text.data, arena, err);
    return edit->hardware != NULL;
}

static bool scan_nothing(struct whatif_edit *edit, struct str text, struct arena *arena,
                         struct err *err)
{
    (void)edit, (void)text, (void)arena, (void)err;
    return true;
}

bool whatif_edit_scan(struct whatif_edit *edit, enum whatif_kind kind, const char *text,
                      struct arena *arena, struct err *err)
{
    static const struct {
        const char *name;
        bool (*scan)(struct whatif_edit *edit, struct str text, struct arena *arena,
                     struct err *err);
    } kinds[WHATIF_COUNT] = {
#define WHATIF(id, name, option, argument, scan, apply, help) { name, scan_##scan },
#include "analyze/schedule/whatif.def"
    };

    *edit = (struct whatif_edit) { .kind = kind, .target = -1, .factor = 1, .rank = -1 };
    edit->text = arena_text(arena, text ? "--%s %s" : "--%s", kinds[kind].name, text);
    if (!edit->text)
        return err_memory(err, "an edit");
    return kinds[kind].scan(edit, str_from(text ? text : ""), arena, err);
}
