#include "rules/preset.h"

#include <math.h>
#include <string.h>

/* A rule is in its own preset and in all below it here. */
static const struct preset {
    const char *name;
    double      share_factor; /* of min_share where it has no value for strict */
    bool        is_strict;    /* takes the strict value of parameters; priced infos are warnings */
} presets[] = {
    [PRESET_RECOMMENDED] = { "recommended", 1, false },
    [PRESET_STRICT] = { "strict", 0.5, true },
    [PRESET_ALL] = { "all", 0.1, true },
};

const char *preset_name(enum rule_preset preset)
{
    return presets[preset].name;
}

int preset_from_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(presets); i++)
        if (strcmp(presets[i].name, name) == 0)
            return (int)i;
    return -1;
}

static const char *const names[] = { "recommended", "strict", "all" };

/* By custom the least share of the step that is worth a finding; other shares tell how sure a rule
 * must be. */
static bool is_threshold(const struct rule_param *param)
{
    return param->kind == RULE_PARAM_NUMBER && param->unit == UNIT_SHARE &&
           strcmp(param->name, "min_share") == 0;
}

static void tighten(struct rule_param *param, const struct preset *preset)
{
    double own = param->number;

    if (preset->is_strict && !isnan(param->strict))
        param->number = param->strict;
    else if (is_threshold(param))
        param->number = fmax(param->number * preset->share_factor, param->min);
    param->is_set = param->number != own;
}

bool preset_apply(struct rule_set *set, const char *name, struct err *err)
{
    int chosen = name ? preset_from_name(name) : PRESET_RECOMMENDED;

    if (chosen < 0) {
        const char *near = option_nearest(name, names, ARRAY_COUNT(names));

        err_set(err, ERR_USAGE, "preset takes recommended, strict or all, not '%s'", name);
        return near ? err_advise(err, "did you mean %s?", near) : false;
    }
    for (size_t i = 0; i < set->rules.count; i++) {
        struct rule *rule = &set->rules.items[i];

        rule->is_off = (int)rule->info.preset > chosen;
        for (size_t j = 0; chosen != PRESET_RECOMMENDED && j < rule->info.params.count; j++)
            tighten(&rule->info.params.items[j], &presets[chosen]);
    }
    return true;
}

bool preset_raises(const char *name)
{
    int chosen = name ? preset_from_name(name) : PRESET_RECOMMENDED;

    return chosen >= 0 && presets[chosen].is_strict;
}
