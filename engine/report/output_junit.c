/* output_junit: JUnit XML: a test case a check. Inconclusive is an error, failed a failure. */
#include "gate/gate.h"
#include "report/layout.h"
#include "report/output.h"

#include <string.h>

static void add_xml(struct text *text, const char *words)
{
    text_add_xml(text, layout_clean(text->arena, str_from(words)));
}

static void add_case(struct text *text, const struct check *check)
{
    const char *element = check->outcome == OUTCOME_FAIL           ? "failure"
                          : check->outcome == OUTCOME_INCONCLUSIVE ? "error"
                                                                   : NULL;

    text_add(text, STR("    <testcase classname=\"tfprof.gate\" name=\""));
    add_xml(text, check->id);
    text_add(text, STR("\" time=\"0\""));
    if (!element) {
        text_add(text, STR("/>\n"));
        return;
    }
    text_print(text, ">\n      <%s type=\"", element);
    add_xml(text, check->rule);
    text_add(text, STR("\" message=\""));
    add_xml(text, check->title);
    text_add(text, STR("\">"));
    add_xml(text, check->detail);
    text_print(text, "</%s>\n    </testcase>\n", element);
}

static void gate_junit(const struct gate_result *result, const struct output_options *options,
                       struct text *text)
{
    size_t failures = gate_count(result, OUTCOME_FAIL);
    size_t errors = gate_count(result, OUTCOME_INCONCLUSIVE);

    (void)options;
    text_add(text, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"));
    text_print(text,
               "  <testsuite name=\"tfprof gate\" tests=\"%zu\" failures=\"%zu\" "
               "errors=\"%zu\" skipped=\"0\" time=\"0\">\n",
               result->checks.count, failures, errors);
    for (size_t i = 0; i < result->checks.count; i++)
        add_case(text, &result->checks.items[i]);
    text_add(text, STR("    <system-out>"));
    add_xml(text, result->headline);
    text_add(text, STR("</system-out>\n  </testsuite>\n</testsuites>\n"));
}

const struct output output_junit = {
    .name = "junit",
    .summary = "JUnit XML, a test case a check",
    .gate = gate_junit,
};
