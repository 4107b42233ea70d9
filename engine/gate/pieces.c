/*
 * pieces: what the change of the step is made of: what lies on its path, each said once. What went
 * and what came in its place are one piece: the same op with another kernel or element type, or
 * what the same line of the program now runs. Pieces, those that are too small to list among them,
 * sum to the change of the step.
 */
#include "base/sort.h"
#include "base/str.h"
#include "gate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL_SHARE = 0.005; /* of the step: smaller pieces go into the rest */

struct side { /* rows of the path, in the scale of the step as it is shown */
    const struct item_list *list;
    double                  scale;
    bool                   *is_taken; /* [row]: has its counterpart */
};

static bool side_start(struct side *side, const struct summary *summary, double step_ns,
                       struct arena *scratch)
{
    double part_ns[PART_COUNT], total_ns = 0;

    *side = (struct side) { .list = &summary->items[ITEM_PATH], .scale = 1 };
    side->is_taken = arena_new_array(scratch, bool, side->list->rows.count + 1);
    for (size_t i = 0; side->is_taken && i < side->list->rows.count; i++)
        side->is_taken[i] = false;
    /* Rows are of sampled steps: what they sum to beyond the whole step is their scale. */
    for (size_t i = 0; i < side->list->rows.count; i++)
        total_ns += side->list->rows.items[i].ns;
    if (summary_parts(summary, step_ns, 1, part_ns) && total_ns > step_ns)
        side->scale = step_ns / total_ns;
    return side->is_taken != NULL;
}

static double ns_of(const struct side *side, size_t row)
{
    return side->scale * side->list->rows.items[row].ns;
}

/* "gradient_tape/MatMul_3/MatMul:_MklMatMul" is an op and the kernel that TensorFlow chose. */
static struct str op_of(const struct item *item)
{
    struct str rest = str_from(item->name);
    size_t     colon = str_search(rest, STR(":"));

    return colon == rest.len ? rest : str_slice(rest, 0, colon);
}

static bool is_same(const struct item *a, const struct item *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->group, b->group) == 0 &&
           strcmp(a->file, b->file) == 0 && a->line == b->line;
}

static bool is_same_op(const struct item *a, const struct item *b)
{
    return strcmp(a->group, b->group) == 0 && a->name[0] && str_equal(op_of(a), op_of(b));
}

static bool is_same_place(const struct item *a, const struct item *b)
{
    return strcmp(a->group, b->group) == 0 && a->file[0] && a->line > 0 && a->line == b->line &&
           strcmp(a->file, b->file) == 0;
}

/* Element type of an op that a row is a call of; "" unknown. */
static const char *dtype_of(const struct summary *summary, const struct item *row)
{
    const struct item_list *ops = &summary->items[ITEM_OP];

    for (size_t i = 0; i < ops->rows.count; i++)
        if (str_equal(op_of(&ops->rows.items[i]), op_of(row)))
            return ops->rows.items[i].dtype;
    return "";
}

static const char *label(struct judging *judging, const struct summary *summary,
                         const struct item *row, bool has_dtype)
{
    const char *dtype = has_dtype ? dtype_of(summary, row) : "";
    const char *name = row->name[0] ? row->name : row->group;

    if (!row->name[0])
        return arena_text(judging->arena, "%s outside any recorded event", name);
    if (strcmp(row->trait, "step") == 0) /* the mark of the step around all others */
        return "Python between events";
    return dtype[0] ? arena_text(judging->arena, "%s %s", name, dtype) : name;
}

/* The element types of what was and what is, where both are known and differ. */
static bool is_retyped(struct judging *judging, const struct item *before, const struct item *after)
{
    const char *was = dtype_of(judging->before, before), *is = dtype_of(judging->after, after);

    return was[0] && is[0] && strcmp(was, is) != 0;
}

/* "MatMul:_MklMatMul float32 -> MatMul:MatMul float64"; one name where nothing was replaced. */
static const char *title_of(struct judging *judging, const struct item *before,
                            const struct item *after)
{
    bool        has_dtype = before && after && is_retyped(judging, before, after);
    const char *was = before ? label(judging, judging->before, before, has_dtype) : NULL;
    const char *is = after ? label(judging, judging->after, after, has_dtype) : NULL;

    if (was && is)
        return strcmp(was, is) == 0 ? is
                                    : arena_text(judging->arena, "%s \xe2\x86\x92 %s", was, is);
    return was ? arena_text(judging->arena, "gone: %s", was)
               : arena_text(judging->arena, "new: %s", is);
}

/* Numbers that are shown add up. */
static double round_ns(const struct judging *judging, double ns)
{
    double grain_ns = part_grain_ns(fmax(judging->result->before_ns, judging->result->after_ns));

    return round(ns / grain_ns) * grain_ns;
}

static bool add(struct judging *judging, const struct side *before, size_t was,
                const struct side *after, size_t is)
{
    const struct item *old = before ? &before->list->rows.items[was] : NULL;
    const struct item *new = after ? &after->list->rows.items[is] : NULL;
    struct piece piece = {
        .was = old ? old->name : NULL,
        .is = new ? new->name : NULL,
        .file = (new ? new : old)->file,
        .line = (new ? new : old)->line,
        .before_ns = old ? round_ns(judging, ns_of(before, was)) : 0,
        .after_ns = new ? round_ns(judging, ns_of(after, is)) : 0,
        .before_count = old ? old->count : 0,
        .after_count = new ? new->count : 0,
    };

    if (old)
        before->is_taken[was] = true;
    if (new)
        after->is_taken[is] = true;
    if (fabs(piece.after_ns - piece.before_ns) <
        SMALL_SHARE * fmax(judging->result->before_ns, judging->result->after_ns))
        return true;
    piece.title = title_of(judging, old, new);
    return piece.title && vec_push(&judging->result->pieces, judging->arena, piece);
}

/* Rows are by time, so that the dearest are matched first. */
static bool pair_up(struct judging *judging, const struct side *before, const struct side *after,
                    bool (*matches)(const struct item *, const struct item *))
{
    for (size_t is = 0; is < after->list->rows.count; is++)
        for (size_t was = 0; was < before->list->rows.count && !after->is_taken[is]; was++)
            if (!before->is_taken[was] &&
                matches(&before->list->rows.items[was], &after->list->rows.items[is]) &&
                !add(judging, before, was, after, is))
                return false;
    return true;
}

static bool add_rest(struct judging *judging, const struct side *before, const struct side *after)
{
    for (size_t is = 0; is < after->list->rows.count; is++)
        if (!after->is_taken[is] && !add(judging, NULL, 0, after, is))
            return false;
    for (size_t was = 0; was < before->list->rows.count; was++)
        if (!before->is_taken[was] && !add(judging, before, was, NULL, 0))
            return false;
    return true;
}

static int by_size(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    double              x = fabs(a->after_ns - a->before_ns), y = fabs(b->after_ns - b->before_ns);

    return IN_ORDER(COMPARE(y, x), strcmp(a->title, b->title));
}

bool judge_pieces(struct judging *judging)
{
    struct gate_result *result = judging->result;
    struct side         before, after;

    if (!result->has_step || judging->before->items[ITEM_PATH].rows.count == 0 ||
        judging->after->items[ITEM_PATH].rows.count == 0)
        return true;
    if (!side_start(&before, judging->before, result->before_ns, judging->scratch) ||
        !side_start(&after, judging->after, result->after_ns, judging->scratch) ||
        !pair_up(judging, &before, &after, is_same) ||
        !pair_up(judging, &before, &after, is_same_op) ||
        !pair_up(judging, &before, &after, is_same_place) || !add_rest(judging, &before, &after))
        return false;
    if (result->pieces.count > 0)
        qsort(result->pieces.items, result->pieces.count, sizeof *result->pieces.items, by_size);
    return true;
}
