/* output_tap: the Test Anything Protocol, version 13: a line a check. */
#include "gate/gate.h"
#include "report/layout.h"
#include "report/output.h"

/* A description ends at "#" and at the line's end. */
static void add_description(struct text *text, const char *words)
{
    struct str clean = layout_clean(text->arena, str_from(words));

    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '#' || clean.data[i] == '\\')
            text_add_byte(text, '\\');
        text_add_byte(text, clean.data[i]);
    }
}

static void add_diagnostic(struct text *text, const char *words)
{
    if (!words || !words[0])
        return;
    text_add(text, STR("# "));
    text_add(text, layout_clean(text->arena, str_from(words)));
    text_add_byte(text, '\n');
}

static void gate_tap(const struct gate_result *result, const struct output_options *options,
                     struct text *text)
{
    (void)options;
    text_print(text, "TAP version 13\n1..%zu\n", result->checks.count);
    add_diagnostic(text, result->headline);
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];
        bool                is_fine = check->outcome < OUTCOME_INCONCLUSIVE;

        text_print(text, "%s %zu - ", is_fine ? "ok" : "not ok", i + 1);
        add_description(text, check->title);
        text_add_byte(text, '\n');
        if (check->outcome != OUTCOME_PASS)
            add_diagnostic(text, check->detail);
    }
    add_diagnostic(text, result->outcome == OUTCOME_PASS ? NULL : result->command);
}

const struct output output_tap = {
    .name = "tap",
    .summary = "Test Anything Protocol",
    .gate = gate_tap,
};
