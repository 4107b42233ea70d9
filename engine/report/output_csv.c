/* output_csv: tables, and the findings as one. */
#include "base/csv.h"
#include "report/output.h"
#include "report/table_report.h"
#include "rules/advice.h"

#include <math.h>

static void add_field(struct text *text, const char *words)
{
    text_add_byte(text, ',');
    csv_text(text, str_from(words));
}

static void add_ns(struct text *text, const struct impact *impact, double ns)
{
    text_add_byte(text, ',');
    csv_number(text, impact->has_saving && !impact->resource ? ns : NAN);
}

static void advice_csv(const struct advice *advice, const struct study *study,
                       const struct output_options *options, struct text *text)
{
    (void)study;
    (void)options;
    text_add(text, STR("rank,rule,severity,title,low_ns,mid_ns,high_ns,share,method,confidence,"
                       "hidden_by,file,line,remedy,fingerprint\n"));
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];
        const struct impact  *impact = &finding->impact;
        bool                  has_place = finding->locations.count > 0;

        text_print(text, "%u", finding->rank);
        add_field(text, finding->rule);
        add_field(text, severity_name(finding->severity));
        add_field(text, finding->title);
        add_ns(text, impact, impact->low_ns);
        add_ns(text, impact, impact->mid_ns);
        add_ns(text, impact, impact->high_ns);
        add_ns(text, impact, impact->share);
        add_field(text, method_name(impact->method));
        add_field(text, impact->has_saving ? confidence_name(impact->confidence) : "");
        add_field(text, finding->hidden_by);
        add_field(text, has_place ? finding->locations.items[0].file : "");
        text_add_byte(text, ',');
        csv_number(text, has_place ? (double)finding->locations.items[0].line : (double)NAN);
        add_field(text, finding->remedy_text);
        add_field(text, finding->fingerprint);
        text_add_byte(text, '\n');
    }
}

const struct output output_csv = {
    .name = "csv",
    .summary = "comma-separated values, for spreadsheets",
    .advice = advice_csv,
    .table = table_csv,
};
