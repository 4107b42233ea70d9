/* output_html: the advice as a page without a timeline, of which `tfprof report` writes the whole
 * one, and the result of a gate. */
#include "report/output.h"
#include "report/page/page.h"

enum { TABLE_ROWS = 200 };

static void advice_html(const struct advice *advice, const struct study *study,
                        const struct output_options *options, struct text *text)
{
    struct page_options shape = { .most_rows = TABLE_ROWS };
    struct err          err = { 0 };

    (void)options;
    if (!page_write(advice, study, &shape, text, &err))
        text->is_cut = true;
}

static void gate_html(const struct gate_result *result, const struct output_options *options,
                      struct text *text)
{
    (void)options;
    page_write_gate(result, text);
}

const struct output output_html = {
    .name = "html",
    .summary = "a page for a browser",
    .advice = advice_html,
    .gate = gate_html,
};
