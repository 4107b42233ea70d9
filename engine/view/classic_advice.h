/* classic_advice: what the original's `advise` says; our own advice is in rules/. */
#ifndef TFPROF_VIEW_CLASSIC_ADVICE_H
#define TFPROF_VIEW_CLASSIC_ADVICE_H

#include "base/option.h"
#include "view/view.h"

/* only: names of checkers; none: all. The call's options and columns are not looked at. */
/* is_proto: as AdviceProto. */
bool classic_advice(const struct view_call *call, const struct option_list *only, bool is_proto,
                    struct err *err);

#endif
