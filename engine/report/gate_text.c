#include "report/gate_text.h"

#include "gate/gate.h"
#include "report/gate_words.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PIECES = 8,
    CHANGE_COLUMNS = 14,
    MOST_CHANGES = 12,
    MOST_ADVICE = 5,
    NAME_COLUMNS = 22,
    TIME_COLUMNS = 14
};

static const char *mark(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return "pass";
    case OUTCOME_WARN:
        return "warn";
    case OUTCOME_INCONCLUSIVE:
        return "????";
    case OUTCOME_FAIL:
        break;
    }
    return "FAIL";
}

static enum style style_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return STYLE_GOOD;
    case OUTCOME_WARN:
    case OUTCOME_INCONCLUSIVE:
        return STYLE_DOUBTFUL;
    case OUTCOME_FAIL:
        break;
    }
    return STYLE_BAD;
}

static void write_check(struct layout *layout, const struct check *check)
{
    const char *place = gate_words_place(check->file, check->line, layout->arena);

    layout_wrap(layout, 2, mark(check->outcome), 8, layout_words(layout, check->title));
    if (place[0])
        layout_wrap(layout, 8, "", 8, layout_words(layout, place));
    if (check->detail[0] && check->outcome != OUTCOME_PASS)
        layout_wrap(layout, 8, "", 8, layout_words(layout, check->detail));
}

static void write_checks(struct layout *layout, const struct gate_result *result, bool is_complete)
{
    size_t passed = 0;

    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];

        passed += check->outcome == OUTCOME_PASS;
        if (check->outcome != OUTCOME_PASS || check->kind != CHECK_COUNT || is_complete)
            write_check(layout, check);
    }
    if (passed > 0 && !is_complete) {
        size_t counts = 0;

        for (size_t i = 0; i < result->checks.count; i++)
            counts += result->checks.items[i].outcome == OUTCOME_PASS &&
                      result->checks.items[i].kind == CHECK_COUNT;
        if (counts > 0)
            text_print(layout->text, "  pass  %zu exact count%s a %s\n", counts,
                       counts == 1 ? "" : "s", gate_words_unit(result));
    }
    layout_line(layout);
}

static void write_differences(struct layout *layout, const struct gate_result *result)
{
    for (size_t i = 0; i < result->differences.count; i++) {
        const struct difference *difference = &result->differences.items[i];
        struct text              line = { .arena = layout->arena };

        text_print(&line, "%s: %s, was %s", difference->what, difference->after,
                   difference->before);
        layout_wrap(layout, 0, difference->is_fatal ? "Differs:" : "Note:", 9,
                    layout_words(layout, text_str(&line).data));
    }
    if (result->differences.count > 0)
        layout_line(layout);
}

static void write_row(struct layout *layout, const struct gate_result *result, const char *name,
                      const struct part_change *part)
{
    text_add(layout->text, STR("  "));
    layout_pad(layout, str_from(name), NAME_COLUMNS);
    layout_pad_left(layout,
                    str_from(gate_words_time(result, part->before_ns, false, layout->arena)),
                    TIME_COLUMNS);
    layout_pad_left(layout, str_from(gate_words_time(result, part->after_ns, false, layout->arena)),
                    TIME_COLUMNS);
    layout_pad_left(
        layout,
        str_from(gate_words_time(result, part->after_ns - part->before_ns, true, layout->arena)),
        TIME_COLUMNS);
    layout_line(layout);
}

static void write_parts(struct layout *layout, const struct gate_result *result)
{
    struct part_change total = gate_words_total(result);

    if (result->parts.count == 0)
        return;
    layout_pad(layout, result->is_per_batch ? STR("A batch in parts") : STR("The step in parts"),
               NAME_COLUMNS + 2);
    layout_pad_left(layout, STR("before"), TIME_COLUMNS);
    layout_pad_left(layout, STR("now"), TIME_COLUMNS);
    layout_pad_left(layout, STR("change"), TIME_COLUMNS);
    layout_line(layout);
    for (size_t i = 0; i < result->parts.count; i++)
        write_row(layout, result, part_name(result->parts.items[i].part), &result->parts.items[i]);
    write_row(layout, result, gate_words_unit(result), &total);
    layout_line(layout);
}

static void write_piece(struct layout *layout, const struct gate_result *result, double change_ns,
                        const char *title, const char *place)
{
    const char *time = gate_words_time(result, change_ns, true, layout->arena);
    const char *head = arena_text(layout->arena, "%*s", CHANGE_COLUMNS, time);
    struct text line = { .arena = layout->arena };

    text_print(&line, "%s%s%s", title, place[0] ? "  " : "", place);
    layout_wrap(layout, 0, head ? head : "", CHANGE_COLUMNS + 2,
                layout_words(layout, text_str(&line).data));
}

/* Each said once; with the rest they are the change of the step. */
static void write_pieces(struct layout *layout, const struct gate_result *result)
{
    size_t shown = result->pieces.count < MOST_PIECES ? result->pieces.count : MOST_PIECES;

    if (shown == 0)
        return;
    text_print(layout->text, "What the change of the %s is made of\n", gate_words_unit(result));
    for (size_t i = 0; i < shown; i++) {
        const struct piece *piece = &result->pieces.items[i];

        write_piece(layout, result, piece->after_ns - piece->before_ns, piece->title,
                    gate_words_place(piece->file, piece->line, layout->arena));
    }
    write_piece(layout, result, gate_words_rest(result, shown), "everything else", "");
    layout_line(layout);
}

static void write_changes(struct layout *layout, const struct gate_result *result)
{
    size_t shown = result->changes.count < MOST_CHANGES ? result->changes.count : MOST_CHANGES;

    if (shown == 0)
        return;
    text_add(layout->text, result->pieces.count > 0 ? STR("Beside that\n") : STR("What changed\n"));
    for (size_t i = 0; i < shown; i++) {
        const struct change *change = &result->changes.items[i];
        const char          *place = gate_words_place(change->file, change->line, layout->arena);
        struct text          line = { .arena = layout->arena };

        text_print(&line, "%s%s%s", change->title, place[0] ? "  " : "", place);
        if (change->rule)
            text_print(&line, "  [%s]", change->rule);
        layout_wrap(layout, 2, "-", 4, layout_words(layout, text_str(&line).data));
        if (change->rule && change->remedy[0])
            layout_wrap(layout, 4, "Fix:", 9, str_from(change->remedy));
    }
    if (shown < result->changes.count)
        text_print(layout->text, "  %zu more: --format json\n", result->changes.count - shown);
    layout_line(layout);
}

static void write_advice(struct layout *layout, const struct gate_result *result)
{
    size_t shown = result->added.count < MOST_ADVICE ? result->added.count : MOST_ADVICE;

    if (shown > 0)
        text_add(layout->text, STR("Advice that is new\n"));
    for (size_t i = 0; i < shown; i++) {
        const struct finding *finding = result->added.items[i];
        struct text           line = { .arena = layout->arena };

        text_print(&line, "%s  [%s]", finding->title, finding->rule);
        layout_wrap(layout, 2, "-", 4, layout_words(layout, text_str(&line).data));
        if (finding->remedy_text)
            layout_wrap(layout, 4, "Fix:", 9, layout_words(layout, finding->remedy_text));
    }
    if (shown < result->added.count)
        text_print(layout->text, "  %zu more: tfprof advise\n", result->added.count - shown);
    if (shown > 0)
        layout_line(layout);
    for (size_t i = 0; i < result->fixed.count; i++)
        layout_wrap(layout, 0, "Gone:", 6, layout_words(layout, result->fixed.items[i]->title));
    if (result->fixed.count > 0)
        layout_line(layout);
}

void gate_text(const struct gate_result *result, const struct output_options *options,
               struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);
    bool          is_explained = result->outcome != OUTCOME_PASS || options->is_complete;

    layout_style(&layout, style_of(result->outcome));
    layout_wrap(&layout, 0, "", 0, layout_words(&layout, result->headline));
    layout_end(&layout);
    layout_wrap(&layout, 0, "", 0, layout_words(&layout, gate_words_subject(result, layout.arena)));
    layout_line(&layout);
    write_checks(&layout, result, options->is_complete);
    write_differences(&layout, result);
    if (!is_explained)
        return;
    write_parts(&layout, result);
    write_pieces(&layout, result);
    write_changes(&layout, result);
    write_advice(&layout, result);
    layout_wrap(&layout, 0, "See it here:", 13, layout_words(&layout, result->command));
}
