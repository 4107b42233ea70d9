/*
 * output_text: advice for people. The verdict first, then where the step goes, then findings from
 * the one that saves most, then what fixing them together gives, then what could not be looked at.
 */
#include "report/bisect_report.h"
#include "report/output.h"

#include "analyze/study.h"
#include "base/macros.h"
#include "report/coverage_text.h"
#include "report/describe.h"
#include "report/diff_text.h"
#include "report/finding_text.h"
#include "report/gate_text.h"
#include "report/head_text.h"
#include "report/history_report.h"
#include "report/info_text.h"
#include "report/layout.h"
#include "report/rules_text.h"
#include "report/short_text.h"
#include "report/table_report.h"
#include "report/tool.h"
#include "report/verify_report.h"
#include "report/whatif_text.h"
#include "report/why_text.h"
#include "rules/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_NOTES = 5,
    WHOLE_FINDINGS = 4,
    WHOLE_UNPRICED = 2,
    PRICED_FINDINGS = 6,
    SOME_EVIDENCE = 3
};

static void write_notes(struct layout *layout, const struct profile *profile)
{
    size_t count = profile->notes.count, shown = count > MAX_NOTES ? MAX_NOTES : count;

    for (size_t i = 0; i < shown; i++) {
        layout_wrap(layout, 0, "Note:", 6, note_words(layout->arena, &profile->notes.items[i]));
    }
    if (shown < count)
        text_print(layout->text, "Note: %zu more: tfprof info\n", count - shown);
    if (count > 0)
        layout_line(layout);
}

static void write_verdict(struct layout *layout, const struct verdict *verdict)
{
    if (!verdict->text || !*verdict->text)
        return;
    layout_wrap_right(layout, "", 0, str_from(verdict->text), STR(""), STYLE_PLAIN);
    layout_line(layout);
}

enum { NAME_COLUMNS = 22, VALUE_COLUMNS = 9, SHARE_COLUMNS = 8, BAR_MAX_CELLS = 30 };

static void write_part(struct layout *layout, enum part part, double ns, double share)
{
    unsigned fixed = 2 + NAME_COLUMNS + VALUE_COLUMNS + SHARE_COLUMNS + 2;
    unsigned cells = layout->width > fixed ? layout->width - fixed : 0;

    text_add(layout->text, STR("  "));
    layout_pad(layout, str_from(part_title(part)), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, ns, UNIT_NS), VALUE_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, share, UNIT_SHARE), SHARE_COLUMNS);
    layout_bar(layout, share, cells < BAR_MAX_CELLS ? cells : BAR_MAX_CELLS);
    layout_line(layout);
}

/* Where a step works through several. */
static void write_batch(struct layout *layout, const struct study *study)
{
    double count, ns;

    if (!facts_get(&study->facts, "work.per_step", &count) || count < 2 ||
        !facts_get(&study->facts, "work.batch_ns", &ns))
        return;
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("a batch"), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, ns, UNIT_NS), VALUE_COLUMNS);
    text_print(layout->text, "   %.0f of them a step", count);
    layout_line(layout);
}

/* Where the step is the mean because a few are far longer: what those do. */
static void write_slow(struct layout *layout, const struct study *study)
{
    const struct facts *facts = &study->facts;
    struct text         about = { .arena = layout->arena };
    double              count, ns, name, more_ns;

    if (!study->steps.is_uneven || !facts_get(facts, "slow.count", &count) ||
        !facts_get(facts, "slow.ns", &ns) || !facts_get(facts, "slow.part", &name) ||
        !facts_get(facts, "slow.part_ns", &more_ns))
        return;
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("longest steps"), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, ns, UNIT_NS), VALUE_COLUMNS);
    text_print(&about, "   %.0f of %u; ", count, study->steps.used_count);
    unit_print(&about, more_ns, UNIT_NS);
    text_print(&about, " more %s",
               part_title(part_from_name(intern_str(facts->names, (uint32_t)name))));
    text_add(layout->text, text_str(&about));
    layout_line(layout);
}

/* Where the program marks no steps. */
static void write_meaning(struct layout *layout, const struct study *study)
{
    if (!study->steps.meaning.len)
        return;
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("a step is"), NAME_COLUMNS);
    layout_pad_left(layout, STR(""), VALUE_COLUMNS);
    text_add(layout->text, STR("   "));
    text_add(layout->text, study->steps.meaning);
    layout_line(layout);
}

/* With an accelerator the parts tell what it did. How much of that a faster one saves is another
 * thing where the device works beside a slower host: whether the two are far apart. A step alone
 * does not tell: where its host runs ahead, it runs out. Nor does a host that recording made slow,
 * for savings are of a step without that. */
static bool is_beside_host(const struct study *study, const double part_ns[PART_COUNT],
                           double *bound_ns)
{
    static const double FAR_SHARE = 0.1, MOST_ERROR = 0.05, MOST_UNKNOWN = 0.2, RECORDER = 0.1;
    double              error, unknown, without_ns;

    return study->path.has_device && study->steps.used_count >= 2 &&
           facts_get(&study->facts, "replay.error", &error) && error <= MOST_ERROR &&
           facts_get(&study->facts, "replay.unknown_share", &unknown) && unknown <= MOST_UNKNOWN &&
           facts_get(&study->facts, "replay.without_recorder_ns", &without_ns) &&
           without_ns >= (1 - RECORDER) * steps_ns(&study->steps) &&
           facts_get(&study->facts, "replay.device_bound_ns", bound_ns) &&
           part_ns[PART_COMPUTE] + part_ns[PART_COMMUNICATION] + part_ns[PART_COPY] - *bound_ns >
               FAR_SHARE * steps_ns(&study->steps);
}

static void write_bound(struct layout *layout, double ns)
{
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("a faster device"), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, ns, UNIT_NS), VALUE_COLUMNS);
    text_add(layout->text, STR("   is the most it saves: the host takes longer"));
    layout_line(layout);
}

static void write_composition(struct layout *layout, const struct study *study)
{
    const struct steps *steps = &study->steps;
    double              part_ns[PART_COUNT], bound_ns;
    struct text         about = { .arena = layout->arena };

    if (steps->used_count == 0 || steps_ns(steps) <= 0)
        return;
    text_add(layout->text, STR("  "));
    layout_pad(layout, STR("step"), NAME_COLUMNS);
    layout_pad_left(layout, layout_value(layout->arena, steps_ns(steps), UNIT_NS), VALUE_COLUMNS);
    if (steps->used_count > 1) {
        text_print(&about, "   %s of %u, ±", steps->is_uneven ? "mean" : "median",
                   steps->used_count);
        unit_print(&about, steps->cov * steps->mean_ns, UNIT_NS);
    }
    if (steps->is_uneven) {
        text_add(&about, STR("; median "));
        unit_print(&about, steps->median_ns, UNIT_NS);
    }
    text_add(layout->text, text_str(&about));
    layout_line(layout);
    write_meaning(layout, study);
    write_batch(layout, study);
    if (study_composition(study, part_ns)) {
        for (int part = 0; part < PART_COUNT; part++) {
            double share = part_ns[part] / steps_ns(steps);

            if (share >= 0.0005)
                write_part(layout, (enum part)part, part_ns[part], share);
        }
        if (is_beside_host(study, part_ns, &bound_ns))
            write_bound(layout, bound_ns);
    }
    write_slow(layout, study);
    layout_line(layout);
}

static bool has_sure_price(const struct finding *finding)
{
    return finding_is_priced(finding) && finding->impact.method != METHOD_SHARE;
}

/* Behind the first ones facts are a line each, and the last prices; others tell less. So advice
 * fits two screens. */
static bool is_brief(const struct finding *finding, uint32_t number)
{
    if (finding_is_priced(finding))
        return number > PRICED_FINDINGS;
    return number > WHOLE_FINDINGS && finding->severity == SEVERITY_INFO;
}

static void write_brief(struct layout *layout, const struct advice *advice, double min_share)
{
    uint32_t shown = 0;
    bool     is_headed = false;

    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];
        char                  head[16];
        struct text           line = { .arena = layout->arena };

        if (!finding_is_shown(finding, min_share) || !is_brief(finding, ++shown))
            continue;
        if (!is_headed)
            layout_wrap(layout, 0, "", 0, STR("And:"));
        is_headed = true;
        snprintf(head, sizeof head, "%u.", shown);
        text_print(&line, "%s (%s)", finding->title, finding->rule);
        if (finding->impact.has_saving)
            text_print(&line, ": %.*s", STR_ARG(finding_saving(line.arena, &finding->impact)));
        layout_wrap(layout, 0, head, 4, text_str(&line));
    }
    if (is_headed)
        layout_line(layout);
}

/* Whether nothing at or behind row `from` has a sure price. */
static bool is_rest_unpriced(const struct advice *advice, size_t from, double min_share)
{
    for (size_t i = from; i < advice->findings.count; i++)
        if (finding_is_shown(&advice->findings.items[i], min_share) &&
            has_sure_price(&advice->findings.items[i]))
            return false;
    return true;
}

static void write_findings(struct layout *layout, const struct advice *advice, double min_share)
{
    uint32_t    shown = 0;
    size_t      small = 0;
    bool        is_unpriced_headed = false, is_whole;
    struct text line = { .arena = layout->arena };

    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (!finding_is_shown(finding, min_share)) {
            small += !finding->hidden_by;
            continue;
        }
        if (is_brief(finding, ++shown))
            continue;
        if (shown > 1 && !is_unpriced_headed && is_rest_unpriced(advice, i, min_share)) {
            layout_wrap(layout, 0, "", 0, STR("Without a sure price:"));
            layout_line(layout);
            is_unpriced_headed = true;
        }
        is_unpriced_headed |= shown == 1 && !has_sure_price(finding);
        is_whole = shown <= (finding_is_priced(finding) ? WHOLE_FINDINGS : WHOLE_UNPRICED);
        finding_text(layout, finding, shown, is_whole ? SIZE_MAX : SOME_EVIDENCE);
        layout_line(layout);
    }
    write_brief(layout, advice, min_share);
    if (shown + small == 0)
        return;
    if (shown > 0)
        text_add(&line, STR("tfprof explain RULE PROFILE shows more of each."));
    if (small > 0) {
        text_print(&line, "%s%zu finding%s worth less than ", shown > 0 ? " " : "", small,
                   small == 1 ? "" : "s");
        unit_print(&line, min_share, UNIT_SHARE);
        text_add(&line, STR(" of the step not shown: --min-impact 0"));
    }
    layout_wrap(layout, 0, "", 0, text_str(&line));
    layout_line(layout);
}

/* "1", "1 and 2", "1 to 3", or "1, 2 and 4" when what cannot be fixed lies between: as they are
 * numbered above. */
static void add_fixed_numbers(struct text *line, const struct advice *advice, uint32_t count,
                              double min_share)
{
    uint32_t *numbers = arena_new_array(line->arena, uint32_t, advice->findings.count + 1);
    uint32_t  fixed = 0, named = 0, shown = 0;

    for (size_t i = 0; numbers && i < advice->findings.count && fixed < count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        shown += finding_is_shown(finding, min_share);
        if (!finding_is_fixable(finding))
            continue;
        fixed++;
        if (finding_is_shown(finding, min_share))
            numbers[named++] = shown;
    }
    if (named > 2 && numbers[named - 1] == named) {
        text_print(line, "1 to %u", named);
        return;
    }
    for (uint32_t i = 0; i < named; i++)
        text_print(line, "%s%u", i == 0 ? "" : i + 1 == named ? " and " : ", ", numbers[i]);
}

/* What fixing all shown findings gives: of the priced prefixes the last that ends in a shown one.
 */
static const struct together *shown_together(const struct advice *advice, double min_share)
{
    const struct together *shown = NULL;
    uint32_t               fixable = 0, last_shown = 0;

    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (!finding_is_fixable(finding))
            continue;
        fixable++;
        if (!finding_is_small(finding, min_share))
            last_shown = fixable;
    }
    for (size_t i = 0; i < advice->together.count; i++) {
        if (advice->together.items[i].count <= last_shown)
            shown = &advice->together.items[i];
    }
    return shown;
}

static void write_together(struct layout *layout, const struct advice *advice,
                           const struct study *study, double min_share)
{
    const struct together *last = shown_together(advice, min_share);
    struct text            line = { .arena = layout->arena };

    if (!last)
        return;
    text_add(&line, STR("Fixing "));
    add_fixed_numbers(&line, advice, last->count, min_share);
    text_add(&line, last->count > 1 ? STR(" together: ") : STR(": "));
    unit_print(&line, steps_ns(&study->steps), UNIT_NS);
    text_add(&line, STR(" → "));
    unit_print(&line, last->step_ns, UNIT_NS);
    text_print(&line, " a step (%.2f times as fast)", last->speedup);
    if (last->then_class && strcmp(last->then_class, "unknown") != 0)
        text_print(&line, "; then the step is %s", last->then_class);
    text_add_byte(&line, '.');
    layout_wrap(layout, 0, "", 0, text_str(&line));
    layout_line(layout);
}

static void advice_text(const struct advice *advice, const struct study *study,
                        const struct output_options *options, struct text *text)
{
    struct layout layout = layout_make(text, options->width, options->is_colored);

    head_text(&layout, study);
    write_notes(&layout, study->profile);
    write_verdict(&layout, &advice->verdict);
    write_composition(&layout, study);
    short_text(&layout, advice, options->min_share);
    write_findings(&layout, advice, options->min_share);
    write_together(&layout, advice, study, options->min_share);
    coverage_text(&layout, advice, options->is_complete);
}

const struct output output_text = {
    .name = "text",
    .summary = "for people",
    .advice = advice_text,
    .info = info_text,
    .table = table_text,
    .tool = tool_text,
    .whatif = whatif_text,
    .why = why_text,
    .diff = diff_text,
    .rules = rules_text,
    .explain = explain_text,
    .gate = gate_text,
    .history = history_text,
    .verify = verify_text,
    .bisect = bisect_text,
};
