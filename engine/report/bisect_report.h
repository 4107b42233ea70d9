/* bisect_report: the revision that made a program slower, as text and JSON. */
#ifndef TFPROF_REPORT_BISECT_REPORT_H
#define TFPROF_REPORT_BISECT_REPORT_H

struct bisection;
struct output_options;
struct text;

void bisect_text(const struct bisection *bisection, const struct output_options *options,
                 struct text *text);
void bisect_json(const struct bisection *bisection, const struct output_options *options,
                 struct text *text);

#endif
