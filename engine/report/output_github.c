/* output_github: workflow commands, which GitHub Actions shows as annotations. It shows ten of a
 * level a step, so only what failed or could not be told is written, and one notice. */
#include "gate/gate.h"
#include "report/describe.h"
#include "report/layout.h"
#include "report/output.h"
#include "rules/advice.h"

#include <string.h>

/* Values end at a newline; in properties ":" and "," end them too. Logs are shown with their
 * colours, which are not a rule's to choose. */
static void add_escaped(struct text *text, const char *words, bool is_property)
{
    for (; *words; words++) {
        if (strchr("%\r\n", *words) || (is_property && strchr(":,", *words)))
            text_print(text, "%%%02X", (unsigned char)*words);
        else
            text_add_clean(text, (struct str) { words, 1 });
    }
}

static const char *level_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return "notice";
    case OUTCOME_WARN:
        return "warning";
    case OUTCOME_INCONCLUSIVE:
    case OUTCOME_FAIL:
        break;
    }
    return "error";
}

static void add_command(struct text *text, const char *level, const char *title, const char *file,
                        uint32_t line, const char *message)
{
    text_print(text, "::%s ", level);
    if (file[0]) {
        text_add(text, STR("file="));
        add_escaped(text, file, true);
        text_print(text, ",line=%u,", line > 0 ? line : 1);
    }
    text_add(text, STR("title="));
    add_escaped(text, title, true);
    text_add(text, STR("::"));
    add_escaped(text, message, false);
    text_add_byte(text, '\n');
}

static void gate_github(const struct gate_result *result, const struct output_options *options,
                        struct text *text)
{
    (void)options;
    add_command(text, level_of(result->outcome), "tfprof gate", "", 0, result->headline);
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];
        const char         *message = check->title;

        if (check->outcome == OUTCOME_PASS)
            continue;
        if (check->detail[0])
            message = arena_text(text->arena, "%s\n%s", check->title, check->detail);
        add_command(text, level_of(check->outcome), check->rule, check->file, check->line,
                    message ? message : check->title);
    }
    for (size_t i = 0; result->outcome != OUTCOME_PASS && i < result->changes.count; i++) {
        const struct change *change = &result->changes.items[i];

        if (change->rule)
            add_command(text, level_of(OUTCOME_WARN), change->rule, change->file, change->line,
                        change->title);
    }
}

static const char *level_of_severity(enum severity severity)
{
    return severity == SEVERITY_INFO ? "notice" : severity == SEVERITY_WARN ? "warning" : "error";
}

static void advice_github(const struct advice *advice, const struct study *study,
                          const struct output_options *options, struct text *text)
{
    (void)study;
    (void)options;
    add_command(text, "notice", "tfprof advise", "", 0, advice->verdict.text);
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];
        bool                  has_place = finding->locations.count > 0;
        const char           *message = finding_message(finding, text->arena);

        if (finding->hidden_by)
            continue;
        if (finding->remedy_text)
            message = arena_text(text->arena, "%s\n%s", message ? message : finding->title,
                                 finding->remedy_text);
        add_command(text, level_of_severity(finding->severity), finding->rule,
                    has_place ? finding->locations.items[0].file : "",
                    has_place ? finding->locations.items[0].line : 0,
                    message ? message : finding->title);
    }
}

const struct output output_github = {
    .name = "github",
    .summary = "workflow commands for GitHub Actions",
    .advice = advice_github,
    .gate = gate_github,
};
