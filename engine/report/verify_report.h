/* verify_report: what became of a promised saving, as text, JSON and a line of a ledger. */
#ifndef TFPROF_REPORT_VERIFY_REPORT_H
#define TFPROF_REPORT_VERIFY_REPORT_H

struct output_options;
struct text;
struct verification;

void verify_text(const struct verification *verification, const struct output_options *options,
                 struct text *text);
void verify_json(const struct verification *verification, const struct output_options *options,
                 struct text *text);
/* One line of JSON; shares are of the step before (docs/gate.md). */
void verify_ledger(const struct verification *verification, struct text *text);

#endif
