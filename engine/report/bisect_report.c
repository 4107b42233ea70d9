#include "report/bisect_report.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "gate/bisect.h"
#include "report/gate_words.h"
#include "report/layout.h"
#include "report/output.h"

static void add_change(struct text *line, const struct bisection *bisection)
{
    const struct bisect *bisect = &bisection->bisect;

    text_print(line, "%s ", bisection->metric);
    unit_print(line, bisect->bad, bisection->unit);
    text_add(line, STR(", was "));
    unit_print(line, bisect->good, bisection->unit);
    if (bisect->good > 0)
        text_print(line, " (%+.1f %%)", 100 * (bisect->bad / bisect->good - 1));
}

static void write_head(struct layout *layout, const struct bisection *bisection)
{
    const struct revision *revisions = bisection->revisions;
    struct text            line = { .arena = layout->arena };

    if (bisection->is_found)
        text_print(&line, "%s is the first: %s", revisions[bisection->found].id,
                   revisions[bisection->found].title);
    else if (bisection->first == bisection->last)
        text_print(&line, "Not found: %s", bisection->why);
    else
        text_print(&line, "One of %s to %s: %s", revisions[bisection->first].id,
                   revisions[bisection->last].id, bisection->why);
    layout_style(layout, bisection->is_found ? STYLE_GOOD : STYLE_DOUBTFUL);
    layout_wrap(layout, 0, "", 0, layout_clean(layout->arena, text_str(&line)));
    layout_end(layout);
    line = (struct text) { .arena = layout->arena };
    add_change(&line, bisection);
    text_print(&line, " · %zu %s of %zu revisions", bisection->bisect.runs.count,
               bisection->bisect.runs.count == 1 ? "run" : "runs", bisection->bisect.last + 1);
    layout_wrap(layout, 0, "", 0, text_str(&line));
    layout_line(layout);
}

/* "  3f2c1ab  2 runs     10.2 ms  98.1 %  Use float64 in the loss" */
static void write_revision(struct layout *layout, const struct bisection *bisection, size_t at)
{
    const struct bisect   *bisect = &bisection->bisect;
    const struct revision *revision = &bisection->revisions[at];
    size_t                 runs = bisect_runs(bisect, at);
    struct text            value = { .arena = layout->arena }, chance = { .arena = layout->arena };

    if (runs > 0)
        unit_print(&value, bisect_mean(bisect, at), bisection->unit);
    else
        text_add(&value, bisect->is_skipped[at] ? STR("passed over") : STR("-"));
    if (at > 0)
        unit_print(&chance, bisect->chance[at], UNIT_SHARE);
    text_add(layout->text, STR("  "));
    layout_pad(layout, str_from(revision->id), 12);
    layout_pad_left(layout, str_from(arena_text(layout->arena, "%zu", runs)), 4);
    layout_pad_left(layout, text_str(&value), 14);
    layout_pad_left(layout, text_str(&chance), 10);
    text_add(layout->text, STR("  "));
    text_add(
        layout->text,
        layout_clean(layout->arena, layout_shorten(layout->arena, str_from(revision->title), 40)));
    layout_line(layout);
}

static void write_revisions(struct layout *layout, const struct bisection *bisection)
{
    const struct bisect *bisect = &bisection->bisect;

    text_add(layout->text, STR("  revision    runs          mean    chance"));
    layout_line(layout);
    for (size_t at = 0; at <= bisect->last; at++)
        if (bisect_runs(bisect, at) > 0 || bisect->is_skipped[at] ||
            (at >= bisection->first && at <= bisection->last))
            write_revision(layout, bisection, at);
}

static void write_pieces(struct layout *layout, const struct bisection *bisection)
{
    enum { MOST_PIECES = 5 };
    const struct gate_result *compared = bisection->compared;

    if (!compared || compared->pieces.count == 0)
        return;
    layout_line(layout);
    layout_wrap(layout, 0, "", 0,
                str_from(arena_text(layout->arena, "What changed from %s to %s:",
                                    bisection->revisions[bisection->before].id,
                                    bisection->revisions[bisection->after].id)));
    for (size_t i = 0; i < compared->pieces.count && i < MOST_PIECES; i++) {
        const struct piece *piece = &compared->pieces.items[i];
        struct text         line = { .arena = layout->arena };

        text_print(
            &line, "%s  %s",
            gate_words_time(compared, piece->after_ns - piece->before_ns, true, layout->arena),
            piece->title);
        layout_wrap(layout, 2, "", 4, layout_clean(layout->arena, text_str(&line)));
    }
}

void bisect_text(const struct bisection *bisection, const struct output_options *options,
                 struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    write_head(&layout, bisection);
    write_revisions(&layout, bisection);
    write_pieces(&layout, bisection);
}

static void put_revision(struct json_writer *json, const struct bisection *bisection, size_t at)
{
    const struct bisect *bisect = &bisection->bisect;

    json_object(json);
    put_text(json, "id", bisection->revisions[at].id);
    put_text(json, "title", bisection->revisions[at].title);
    put_bool(json, "is_passed_over", bisect->is_skipped[at]);
    put_array(json, "values");
    for (size_t i = 0; i < bisect->runs.count; i++)
        if (bisect->runs.items[i].revision == at)
            json_number(json, bisect->runs.items[i].value);
    json_array_end(json);
    put_number(json, "chance", bisect->chance[at]);
    json_object_end(json);
}

static void put_pieces(struct json_writer *json, const struct gate_result *compared)
{
    put_array(json, "changed");
    for (size_t i = 0; compared && i < compared->pieces.count; i++) {
        const struct piece *piece = &compared->pieces.items[i];

        json_object(json);
        put_text(json, "title", piece->title);
        put_ms(json, "before_ms", piece->before_ns);
        put_ms(json, "after_ms", piece->after_ns);
        json_object_end(json);
    }
    json_array_end(json);
}

void bisect_json(const struct bisection *bisection, const struct output_options *options,
                 struct text *text)
{
    const struct revision *revisions = bisection->revisions;
    struct json_writer     json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.bisect/1");
    put_text(&json, "version", TFPROF_VERSION);
    put_text(&json, "outcome", bisection->is_found ? "found" : "unsure");
    put_text(&json, "revision", bisection->is_found ? revisions[bisection->found].id : NULL);
    put_text(&json, "first", revisions[bisection->first].id);
    put_text(&json, "last", revisions[bisection->last].id);
    put_text(&json, "why", bisection->why[0] ? bisection->why : NULL);
    put_text(&json, "metric", bisection->metric);
    put_text(&json, "unit", unit_name(bisection->unit));
    put_number(&json, "good", bisection->bisect.good);
    put_number(&json, "bad", bisection->bisect.bad);
    put_number(&json, "spread", bisection->bisect.spread);
    put_array(&json, "revisions");
    for (size_t at = 0; at <= bisection->bisect.last; at++)
        put_revision(&json, bisection, at);
    json_array_end(&json);
    put_pieces(&json, bisection->compared);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
