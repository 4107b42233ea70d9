#include "rules/trial.h"

#include <string.h>

const struct rule_trial *trial_find(const struct rule_trials *trials, const char *rule)
{
    for (size_t i = 0; trials && i < trials->list.count; i++)
        if (strcmp(trials->list.items[i].rule, rule) == 0)
            return &trials->list.items[i];
    return NULL;
}

bool trial_has_param(const struct rule_trial *trial, const char *param)
{
    for (size_t i = 0; trial && i < trial->params.count; i++)
        if (strcmp(trial->params.items[i], param) == 0)
            return true;
    return false;
}
