/* select: which rules run, with which parameters. */
#include "rules/select.h"

#include "rules/names.h"
#include "rules/preset.h"

#include <string.h>

static bool has_word(const struct rule_info *info, const char *word)
{
    if (strcmp(info->id, word) == 0 || (info->pack && strcmp(info->pack, word) == 0) ||
        (info->category && strcmp(info->category, word) == 0))
        return true;
    for (size_t i = 0; i < info->tags.count; i++)
        if (strcmp(info->tags.items[i], word) == 0)
            return true;
    return false;
}

static bool refuse_word(const struct rule_set *set, const char *what, const char *word,
                        struct arena *arena, struct err *err)
{
    VEC(const char *) words = { 0 };

    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule_info *info = &set->rules.items[i].info;
        if (!vec_push(&words, arena, info->id) ||
            (info->category && !vec_push(&words, arena, info->category)))
            return err_memory(err, "the rules");
    }
    const char *nearest = option_nearest(word, words.items, words.count);
    if (nearest)
        return err_set(err, ERR_USAGE, "no %s is called '%s'; did you mean '%s'?", what, word,
                       nearest);
    err_set(err, ERR_USAGE, "no %s is called '%s'", what, word);
    return err_advise(err, "tfprof rules lists them");
}

/* Must be that of some rule. */
static bool check_word(const struct rule_set *set, const char *word, struct arena *arena,
                       struct err *err)
{
    for (size_t i = 0; i < set->rules.count; i++)
        if (has_word(&set->rules.items[i].info, word))
            return true;
    return refuse_word(set, "rule, category or tag", word, arena, err);
}

static bool check_words(const struct rule_set *set, const struct option_list *list,
                        struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < list->values.count; i++)
        if (!check_word(set, list->values.items[i], arena, err))
            return false;
    return true;
}

/* A preset does not have the rule; the user named it all the same. */
static bool is_left_out(const struct rule *rule, const struct option_list *only)
{
    for (size_t i = 0; i < only->values.count; i++)
        if (strcmp(rule->info.id, only->values.items[i]) == 0)
            return false;
    return rule->is_off && !rule->has_severity;
}

static bool is_listed(const struct rule_info *info, const struct option_list *list)
{
    for (size_t i = 0; i < list->values.count; i++)
        if (has_word(info, list->values.items[i]))
            return true;
    return false;
}

bool select_rules(struct rule_set *set, const struct option_list *only,
                  const struct option_list *skip, struct arena *arena, struct err *err)
{
    size_t kept = 0;

    if (!check_words(set, only, arena, err) || !check_words(set, skip, arena, err))
        return false;
    for (size_t i = 0; i < set->rules.count; i++) {
        struct rule *rule = &set->rules.items[i];
        if ((only->values.count > 0 && !is_listed(&rule->info, only)) ||
            is_listed(&rule->info, skip) || is_left_out(rule, only))
            rule_free(rule);
        else
            set->rules.items[kept++] = *rule;
    }
    set->rules.count = kept;
    return true;
}

struct rule *select_find(struct rule_set *set, const char *id, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < set->rules.count; i++)
        if (strcmp(set->rules.items[i].info.id, id) == 0)
            return &set->rules.items[i];
    refuse_word(set, "rule", id, arena, err);
    return NULL;
}

static struct rule_param *find_param(struct rule *rule, const char *name, struct arena *arena,
                                     struct err *err)
{
    struct rule_info *info = &rule->info;
    VEC(const char *) names = { 0 };

    for (size_t i = 0; i < info->params.count; i++) {
        if (strcmp(info->params.items[i].name, name) == 0)
            return &info->params.items[i];
        if (!vec_push(&names, arena, info->params.items[i].name))
            return NULL;
    }
    if (!vec_push(&names, arena, "severity"))
        return NULL;
    const char *nearest = option_nearest(name, names.items, names.count);
    if (nearest)
        err_set(err, ERR_USAGE, "rule %s has no parameter '%s'; did you mean '%s'?", info->id, name,
                nearest);
    else
        err_set(err, ERR_USAGE, "rule %s has no parameter '%s'", info->id, name);
    return NULL;
}

static bool set_param(const struct rule *rule, struct rule_param *param, const char *value,
                      struct err *err)
{
    double number = 0;

    param->is_set = true;
    switch (param->kind) {
    case RULE_PARAM_TEXT:
        param->text = value;
        return true;
    case RULE_PARAM_BOOL:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return err_set(err, ERR_USAGE, "%s.%s is true or false, not '%s'", rule->info.id,
                           param->name, value);
        param->number = strcmp(value, "true") == 0;
        return true;
    case RULE_PARAM_NUMBER:
        break;
    }
    if (!unit_scan(str_from(value), param->unit, &number))
        return err_set(err, ERR_USAGE, "%s.%s: '%s' is no number of the unit %s", rule->info.id,
                       param->name, value, unit_name(param->unit));
    if (!(number >= param->min && number <= param->max))
        return err_set(err, ERR_USAGE, "%s.%s: %s is not between %g and %g", rule->info.id,
                       param->name, value, param->min, param->max);
    param->number = number;
    return true;
}

static bool set_severity(struct rule *rule, const char *value, struct err *err)
{
    int severity = severity_from_name(value);

    if (severity < 0 && strcmp(value, "off") != 0)
        return err_set(err, ERR_USAGE, "%s.severity is info, warn, error, veto or off, not '%s'",
                       rule->info.id, value);
    rule->is_off = rule->info.is_off = severity < 0;
    rule->has_severity = severity >= 0;
    if (severity >= 0)
        rule->info.severity = (enum severity)severity;
    return true;
}

static bool set_key(struct rule_set *set, const struct rule_setting *setting, struct arena *arena,
                    struct err *err)
{
    struct rule *rule;

    if (!setting->key)
        return check_word(set, setting->rule, arena, err);
    rule = select_find(set, setting->rule, arena, err);
    if (!rule)
        return false;
    if (strcmp(setting->key, "severity") == 0)
        return set_severity(rule, setting->value, err);
    if (rule->error)
        return true; /* its parameters are not known */
    struct rule_param *param = find_param(rule, setting->key, arena, err);
    return param && set_param(rule, param, setting->value, err);
}

bool select_split(const char *text, struct arena *arena, struct rule_setting *setting,
                  struct err *err)
{
    struct str value = str_from(text), left = str_cut(&value, '=');
    size_t     dot = str_find_last(left, '.');

    setting->rule = arena_str(arena, str_slice(left, 0, dot)).data;
    setting->key = arena_str(arena, str_slice(left, dot + 1, left.len)).data;
    setting->value = arena_str(arena, value).data;
    if (!setting->rule || !setting->key || !setting->value)
        return err_memory(err, "the rules");
    return (dot < left.len && strchr(text, '=')) ||
           err_set(err, ERR_USAGE, "'%s' is not RULE.PARAM=VALUE", text);
}

static bool apply_setting(struct rule_set *set, const char *text, struct arena *arena,
                          struct err *err)
{
    struct rule_setting setting;

    return select_split(text, arena, &setting, err) && set_key(set, &setting, arena, err);
}

bool select_settings(struct rule_set *set, const struct advise_options *options,
                     struct arena *arena, struct err *err)
{
    if (!preset_apply(set, options->preset, err))
        return false;
    for (size_t i = 0; i < options->settings.count; i++) {
        const struct rule_setting *setting = &options->settings.items[i];

        if (set_key(set, setting, arena, err))
            continue;
        err->line = setting->line;
        err->column = setting->column;
        return err_source(err, setting->source);
    }
    for (size_t i = 0; i < options->set.values.count; i++)
        if (!apply_setting(set, options->set.values.items[i], arena, err))
            return false;
    return true;
}
