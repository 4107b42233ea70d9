/* finding_text: the block of lines of one finding. */
#include "report/finding_text.h"

#include "report/describe.h"
#include "rules/advice.h"

#include <math.h>
#include <stdio.h>

enum { INDENT = 3, FIX_INDENT = 9, MAX_LOCATIONS = 4, NAME_COLUMNS = 110 };

static const char *method_phrase(enum method method)
{
    switch (method) {
    case METHOD_REPLAY:
        return "by replay";
    case METHOD_EXPOSED:
        return "by time nothing else hides";
    case METHOD_ROOFLINE:
        return "by roofline";
    case METHOD_AMDAHL:
        return "by a stated speed-up";
    case METHOD_SHARE:
        return "by share of the step";
    case METHOD_NONE:
        break;
    }
    return NULL;
}

static void write_kind(struct layout *layout, const struct finding *finding)
{
    struct text line = { .arena = layout->arena };
    const char *method = finding->impact.has_saving ? method_phrase(finding->impact.method) : NULL;

    text_print(&line, "%s · %s", finding->rule, severity_name(finding->severity));
    if (finding->impact.has_saving)
        text_print(&line, " · %s confidence", confidence_name(finding->impact.confidence));
    if (method)
        text_print(&line, " · %s", method);
    layout_style(layout, STYLE_FAINT);
    layout_wrap(layout, INDENT, "", INDENT, text_str(&line));
    layout_end(layout);
}

static void add_part(struct text *line, const char *what, const char *text)
{
    if (!text)
        return;
    if (line->len > 0)
        text_add(line, STR(", "));
    text_print(line, "%s%.*s", what,
               STR_ARG(layout_shorten(line->arena, str_from(text), NAME_COLUMNS)));
}

static void add_number(struct text *line, const char *what, int64_t number)
{
    if (number < 0)
        return;
    if (line->len > 0)
        text_add(line, STR(", "));
    text_print(line, "%s%lld", what, (long long)number);
}

/* Pauses lie "before" or "behind" an op or "between" two, all else "in" a part of the program. */
static const char *scope_word(const char *scope)
{
    struct str text = scope ? str_from(scope) : STR("");

    return str_fits(text, "before *|behind *|between *") ? "" : "in ";
}

static void write_where(struct layout *layout, const struct finding *finding)
{
    const struct subject *subject = &finding->subject;
    struct text           line = { .arena = layout->arena };

    add_part(&line, "", subject->op);
    add_part(&line, "kernel ", subject->kernel);
    add_part(&line, scope_word(subject->scope), subject->scope);
    add_part(&line, "on ", subject->device);
    add_part(&line, "host ", subject->host);
    add_number(&line, "rank ", subject->rank);
    add_number(&line, "step ", subject->step);
    for (size_t i = 0; i < finding->locations.count && i < MAX_LOCATIONS; i++) {
        const struct location *location = &finding->locations.items[i];

        if (line.len > 0)
            text_add(&line, STR(", "));
        text_print(&line, "%s:%u", location->file, location->line);
        if (location->function)
            text_print(&line, " (%s)", location->function);
    }
    if (finding->locations.count > MAX_LOCATIONS)
        text_print(&line, " and %zu more places", finding->locations.count - MAX_LOCATIONS);
    if (line.len > 0)
        layout_wrap(layout, INDENT, "At", FIX_INDENT, text_str(&line));
}

void finding_text_evidence(struct layout *layout, const struct evidence *evidence)
{
    struct text line = { .arena = layout->arena };

    text_print(&line, "%.*s: ",
               STR_ARG(layout_shorten(line.arena, str_from(evidence->what), NAME_COLUMNS)));
    if (evidence->text)
        text_add(&line, layout_shorten(line.arena, str_from(evidence->text), NAME_COLUMNS));
    else if (isfinite(evidence->value))
        unit_print(&line, evidence->value, evidence->unit);
    else
        text_add(&line, STR("unknown"));
    if (isfinite(evidence->share) && evidence->share > 0) {
        text_add(&line, STR(" ("));
        unit_print(&line, evidence->share, UNIT_SHARE);
        text_add(&line, STR(" of the step)"));
    }
    layout_wrap(layout, INDENT, "-", INDENT + 2, text_str(&line));
}

static void write_fix(struct layout *layout, const struct finding *finding)
{
    const char *head = "Fix";
    unsigned    head_indent = INDENT;

    if (finding->remedy_text && *finding->remedy_text) {
        layout_wrap(layout, INDENT, head, FIX_INDENT, str_from(finding->remedy_text));
        head = "";
        head_indent = FIX_INDENT;
    }
    if (finding->remedy_code && *finding->remedy_code) {
        layout_verbatim(layout, head_indent, head, FIX_INDENT, str_from(finding->remedy_code));
        head = "";
        head_indent = FIX_INDENT;
    }
    if (finding->remedy_flags && *finding->remedy_flags)
        layout_verbatim(layout, head_indent, head, FIX_INDENT, str_from(finding->remedy_flags));
}

static void write_children(struct layout *layout, const struct finding *finding)
{
    struct text line = { .arena = layout->arena };

    for (size_t i = 0; i < finding->children.count; i++)
        add_part(&line, "", finding->children.items[i]);
    if (line.len > 0)
        layout_wrap(layout, INDENT, "With", FIX_INDENT, text_str(&line));
}

void finding_text(struct layout *layout, const struct finding *finding, uint32_t number,
                  size_t most_evidence)
{
    char head[16];

    snprintf(head, sizeof head, "%u.", number);
    layout_wrap_right(layout, head, INDENT, str_from(finding->title),
                      finding_saving(layout->arena, &finding->impact), STYLE_GOOD);
    write_kind(layout, finding);
    write_where(layout, finding);
    if (finding->condition && *finding->condition)
        layout_wrap(layout, INDENT, "Why", FIX_INDENT, str_from(finding->condition));
    for (size_t i = 0; i < finding->evidence.count && i < most_evidence; i++)
        finding_text_evidence(layout, &finding->evidence.items[i]);
    write_fix(layout, finding);
    write_children(layout, finding);
}

void finding_text_check(struct layout *layout, const struct finding *finding)
{
    struct text line = { .arena = layout->arena };

    text_add(&line, STR("tfprof whatif PROFILE"));
    for (size_t i = 0; i < finding->edits.count; i++)
        text_print(&line, " --edit '%s'", finding->edits.items[i]);
    if (finding->edits.count > 0)
        layout_verbatim(layout, INDENT, "Check", FIX_INDENT, text_str(&line));
    layout_line(layout);
}
