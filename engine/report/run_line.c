#include "report/run_line.h"

#include "analyze/study.h"
#include "base/json_fields.h"
#include "report/layout.h"
#include "report/short_text.h"
#include "rules/advice.h"

#include <math.h>

enum { STEP_COLUMNS = 9, VERDICT_COLUMNS = 20, SHARE_COLUMNS = 8 };

static const char *copy(struct arena *arena, struct str s)
{
    return arena_text(arena, "%.*s", STR_ARG(s));
}

static const struct finding *first_fix(const struct advice *advice, double min_share)
{
    for (size_t i = 0; i < advice->findings.count; i++)
        if (short_text_has(&advice->findings.items[i], min_share))
            return &advice->findings.items[i];
    return NULL;
}

static bool fill_finding(struct run_line *line, const struct finding *finding, struct arena *arena)
{
    line->rule = copy(arena, str_from(finding->rule));
    line->title = copy(arena, layout_clean(arena, str_from(finding->title)));
    line->fix = copy(arena, short_text_fix(arena, finding));
    line->place = copy(arena, short_text_place(arena, finding));
    line->saving_ns = finding->impact.mid_ns;
    line->saving_share = finding->impact.share;
    return line->rule && line->title && line->fix && line->place;
}

bool run_line_fill(struct run_line *line, const struct advice *advice, const struct study *study,
                   double min_share, struct arena *arena)
{
    const struct finding *finding = first_fix(advice, min_share);

    line->steps = study->steps.used_count;
    line->step_ns = line->steps > 0 ? steps_ns(&study->steps) : NAN;
    line->hosts = (uint32_t)study->recording->hosts.count;
    line->finding_count = advice->found_count;
    line->verdict = copy(arena, str_from(advice->verdict.class_name));
    line->verdict_share = advice->verdict.share;
    return line->verdict && (!finding || fill_finding(line, finding, arena));
}

static void write_fix(const struct run_line *line, struct layout *layout)
{
    if (!line->rule) {
        layout_pad_left(layout, STR("-"), SHARE_COLUMNS);
        text_add(layout->text, STR("  nothing with a sure price"));
        return;
    }
    layout_pad_left(layout, layout_value(layout->arena, line->saving_share, UNIT_SHARE),
                    SHARE_COLUMNS);
    text_print(layout->text, "  %s%s%s", line->fix, *line->place ? ", " : "", line->place);
}

void run_line_text(const struct run_line *line, unsigned name_columns, struct text *text)
{
    struct layout layout = { .text = text, .arena = text->arena };
    struct str    step = isfinite(line->step_ns) ? layout_value(text->arena, line->step_ns, UNIT_NS)
                                                 : STR("no step");

    layout_pad(&layout, layout_clean(text->arena, str_from(line->name)), name_columns);
    text_add(text, STR("  "));
    if (line->error) {
        text_add(text, STR("cannot be read: "));
        text_add(text, layout_clean(text->arena, str_from(line->error)));
    } else {
        layout_pad_left(&layout, step, STEP_COLUMNS);
        text_add(text, STR("  "));
        layout_pad(&layout, str_from(line->verdict), VERDICT_COLUMNS);
        write_fix(line, &layout);
    }
    text_add_byte(text, '\n');
}

static void json_share(struct json_writer *json, const char *key, double value)
{
    json_key(json, key);
    if (isfinite(value))
        json_number(json, value);
    else
        json_null(json);
}

static void json_finding(struct json_writer *json, const struct run_line *line)
{
    json_key(json, "finding");
    if (!line->rule) {
        json_null(json);
        return;
    }
    json_object(json);
    put_text(json, "rule", line->rule);
    put_text(json, "title", line->title);
    put_text(json, "fix", line->fix);
    put_text(json, "place", line->place);
    json_share(json, "saving_ms", unit_to_json(line->saving_ns, UNIT_NS));
    json_share(json, "saving_share", line->saving_share);
    json_object_end(json);
}

void run_line_json(const struct run_line *line, struct text *text)
{
    struct json_writer json = { .text = text, .is_compact = true };

    json_object(&json);
    put_text(&json, "run", line->name);
    if (line->error) {
        put_text(&json, "error", line->error);
    } else {
        json_share(&json, "step_ms",
                   isfinite(line->step_ns) ? unit_to_json(line->step_ns, UNIT_NS) : NAN);
        put_integer(&json, "steps", line->steps);
        put_integer(&json, "hosts", line->hosts);
        put_text(&json, "verdict", line->verdict);
        json_share(&json, "verdict_share", line->verdict_share);
        put_integer(&json, "findings", line->finding_count);
        json_finding(&json, line);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}

static void add_gauge(struct text *text, const struct run_line *line, const char *name,
                      const char *help, double value)
{
    if (!isfinite(value))
        return;
    text_print(text, "# TYPE tfprof_%s gauge\n# HELP tfprof_%s %s.\ntfprof_%s{run=\"", name, name,
               help, name);
    for (const char *at = line->name; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_add_byte(text, '\\');
        text_add_byte(text, *at == '\n' ? ' ' : *at);
    }
    text_print(text, "\"} %.9g\n", value);
}

void run_line_metrics(const struct run_line *line, struct text *text)
{
    add_gauge(text, line, "step_seconds", "Length of a step", line->step_ns / 1e9);
    add_gauge(text, line, "steps", "Steps that count", line->steps);
    add_gauge(text, line, "findings", "Findings of the advice", line->finding_count);
    add_gauge(text, line, "verdict_share", "Share of the step that the verdict is of",
              line->verdict_share);
    add_gauge(text, line, "saving_ratio", "Share of the step that the first fix saves",
              line->rule ? line->saving_share : 0);
    text_add(text, STR("# EOF\n"));
}
