#include "cli/project.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/pattern.h"
#include "base/toml.h"
#include "gate/budget.h"
#include "rules/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, MOST_FILE_BYTES = 16 << 20 };
static const char FILE_NAME[] = "tfprof.toml";

/* Keys of a table: strings and numbers fill a text, arrays fill a list. */
struct key_spec {
    const char *table, *key;
    size_t      offset; /* in struct project */
    bool        is_list;
    const char *choices;     /* "a|b|c", or NULL: any text */
    bool        names_rules; /* its items are of rules */
};
#define PROJECT(field) offsetof(struct project, field)
static const struct key_spec keys[] = {
    { "gate", "baseline", PROJECT(baseline), false, NULL, false },
    { "gate", "budgets", PROJECT(budgets), true, NULL, false },
    { "gate", "max-regression", PROJECT(max_regression), false, NULL, false },
    { "gate", "count-tolerance", PROJECT(count_tolerance), false, NULL, false },
    { "gate", "counts", PROJECT(counts), false, "strict|recommended|lenient", false },
    { "gate", "fail-on", PROJECT(fail_on), false, "info|warn|error|veto", false },
    { "gate", "inconclusive", PROJECT(inconclusive), false, "fail|warn|pass", false },
    { "gate", "damage", PROJECT(damage), false, "refuse|accept", false },
    { "rules", "paths", PROJECT(rule_directories), true, NULL, false },
    { "rules", "preset", PROJECT(preset), false, "recommended|strict|all", false },
    { "rules", "only", PROJECT(only), true, NULL, true },
    { "rules", "skip", PROJECT(skip), true, NULL, true },
    { "rules", "set", PROJECT(set), true, NULL, true },
};
static const char        SUPPRESS[] = "suppress";
static const char *const suppress_keys[] = { "rule", "fingerprint", "subject", "reason", "until" };
static const char        RULE_TABLE[] = "rule."; /* [rule.hot-op] */
static const char *const tables[] = { "gate", "rules", "rule.ID", SUPPRESS };

static bool unknown(const struct toml_entry *entry, struct arena *arena, struct err *err)
{
    VEC(const char *) known = { 0 };
    bool        has_table = false;
    const char *near;

    for (size_t i = 0; i < ARRAY_COUNT(tables); i++)
        has_table |= strcmp(tables[i], entry->table) == 0;
    for (size_t i = 0; i < (has_table ? 0 : ARRAY_COUNT(tables)); i++)
        if (!vec_push(&known, arena, tables[i]))
            return false;
    for (size_t i = 0; has_table && i < ARRAY_COUNT(keys); i++)
        if (strcmp(keys[i].table, entry->table) == 0 && !vec_push(&known, arena, keys[i].key))
            return false;
    /* A key before the first table belongs into the one that has it. */
    for (size_t i = 0; !entry->table[0] && i < ARRAY_COUNT(keys); i++)
        if (strcmp(keys[i].key, entry->key) == 0) {
            err_set(err, ERR_USAGE, "'%s' stands outside a table", entry->key);
            err_advise(err, "put it below [%s]", keys[i].table);
            return toml_fault(entry, err);
        }
    for (size_t i = 0; strcmp(entry->table, SUPPRESS) == 0 && i < ARRAY_COUNT(suppress_keys); i++)
        if (!vec_push(&known, arena, suppress_keys[i]))
            return false;
    if (has_table)
        err_set(err, ERR_USAGE, "[%s] has no key '%s'", entry->table, entry->key);
    else if (entry->table[0])
        err_set(err, ERR_USAGE, "there is no table [%s]", entry->table);
    else
        err_set(err, ERR_USAGE, "'%s' stands outside a table", entry->key);
    near = option_nearest(has_table || !entry->table[0] ? entry->key : entry->table, known.items,
                          known.count);
    if (near)
        err_advise(err, "did you mean %s?", near);
    return toml_fault(entry, err);
}

static bool is_choice(const char *choices, const char *word)
{
    struct str rest = str_from(choices);

    while (rest.len > 0)
        if (str_equal(str_cut(&rest, '|'), str_from(word)))
            return true;
    return false;
}

static bool take_text(const struct key_spec *spec, const struct toml_entry *entry,
                      struct project *project, struct err *err)
{
    const char **field = (const char **)((char *)project + spec->offset);

    if (entry->kind != TOML_TEXT && entry->kind != TOML_NUMBER) {
        err_set(err, ERR_USAGE, "%s takes a string", entry->key);
        return toml_fault(entry, err);
    }
    if (spec->choices && !is_choice(spec->choices, entry->text)) {
        err_set(err, ERR_USAGE, "%s takes %s, not '%s'", entry->key, spec->choices, entry->text);
        return toml_fault(entry, err);
    }
    *field = entry->text;
    return true;
}

/* Whether there are such rules and parameters is known when they are loaded; the error then names
 * the line here. */
static bool note_place(struct project *project, const struct key_spec *spec,
                       const struct toml_entry *entry, size_t item, struct arena *arena,
                       struct err *err)
{
    struct rule_setting setting = { .rule = entry->items.items[item],
                                    .source = project->path,
                                    .line = entry->line,
                                    .column = entry->column };

    if (spec->offset == PROJECT(set) &&
        !select_split(entry->items.items[item], arena, &setting, err))
        return toml_fault(entry, err);
    return vec_push(&project->settings, arena, setting) || err_memory(err, "the configuration");
}

static bool take_list(const struct key_spec *spec, const struct toml_entry *entry,
                      struct project *project, struct arena *arena, struct err *err)
{
    struct option_list *field = (struct option_list *)(void *)((char *)project + spec->offset);
    struct budget       budget;

    if (entry->kind != TOML_ARRAY) {
        err_set(err, ERR_USAGE, "%s takes an array of strings", entry->key);
        return toml_fault(entry, err);
    }
    for (size_t i = 0; i < entry->items.count; i++) {
        if (!vec_push(&field->values, arena, entry->items.items[i]))
            return err_memory(err, "the configuration");
        if (spec->names_rules && !note_place(project, spec, entry, i, arena, err))
            return false;
        if (spec->offset == PROJECT(budgets) &&
            !budget_parse(entry->items.items[i], arena, &budget, err))
            return toml_fault(entry, err);
    }
    return true;
}

/* Of a month, from 1. */
static unsigned days_of(uint64_t year, uint64_t month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool                       is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* The form is that of a date already. */
static bool is_day(const char *date)
{
    uint64_t   year, month, day;
    struct str text = str_from(date);

    return str_to_uint64(str_slice(text, 0, 4), &year) &&
           str_to_uint64(str_slice(text, 5, 7), &month) &&
           str_to_uint64(str_slice(text, 8, 10), &day) && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_of(year, month);
}

static bool take_suppress_key(struct suppression *suppression, const struct toml_entry *entry,
                              struct arena *arena, struct err *err)
{
    const char **const fields[] = { &suppression->rule, &suppression->fingerprint,
                                    &suppression->subject, &suppression->reason,
                                    &suppression->until };

    for (size_t i = 0; i < ARRAY_COUNT(suppress_keys); i++) {
        bool is_date = strcmp(suppress_keys[i], "until") == 0;

        if (strcmp(suppress_keys[i], entry->key) != 0)
            continue;
        if (entry->kind != (is_date ? TOML_DATE : TOML_TEXT)) {
            err_set(err, ERR_USAGE, "%s takes %s", entry->key,
                    is_date ? "a date as 2026-12-31, without quotes" : "a string");
            return toml_fault(entry, err);
        }
        if (is_date && !is_day(entry->text)) {
            err_set(err, ERR_USAGE, "%s is no day", entry->text);
            return toml_fault(entry, err);
        }
        *fields[i] = entry->text;
        return true;
    }
    return unknown(entry, arena, err);
}

/* The suppression that an entry belongs to, a new one for a new index. */
static bool take_suppression(struct project *project, const struct toml_entry *entry,
                             struct arena *arena, struct err *err)
{
    struct suppression fresh = { .line = entry->line };

    if (entry->index >= project->suppressions.list.count &&
        !vec_push(&project->suppressions.list, arena, fresh))
        return err_memory(err, "the configuration");
    return take_suppress_key(
        &project->suppressions.list.items[project->suppressions.list.count - 1], entry, arena, err);
}

/* A parameter of a rule or its severity; what rules there are is not known yet. */
static bool take_setting(struct project *project, const struct toml_entry *entry,
                         struct arena *arena, struct err *err)
{
    struct rule_setting setting = { .rule = entry->table + strlen(RULE_TABLE),
                                    .key = entry->key,
                                    .value = entry->text,
                                    .source = project->path,
                                    .line = entry->line,
                                    .column = entry->column };

    if (entry->kind == TOML_ARRAY || entry->kind == TOML_DATE) {
        err_set(err, ERR_USAGE, "%s takes a string, a number, true or false", entry->key);
        return toml_fault(entry, err);
    }
    return vec_push(&project->settings, arena, setting) || err_memory(err, "the configuration");
}

static bool take_entry(struct project *project, const struct toml_entry *entry, struct arena *arena,
                       struct err *err)
{
    if (strcmp(entry->table, SUPPRESS) == 0)
        return take_suppression(project, entry, arena, err);
    if (str_starts(str_from(entry->table), str_from(RULE_TABLE)))
        return take_setting(project, entry, arena, err);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (strcmp(keys[i].table, entry->table) != 0 || strcmp(keys[i].key, entry->key) != 0)
            continue;
        return keys[i].is_list ? take_list(&keys[i], entry, project, arena, err)
                               : take_text(&keys[i], entry, project, err);
    }
    return unknown(entry, arena, err);
}

/* Today, or the day of SOURCE_DATE_EPOCH, as "2026-12-31". */
static void today(char day[16])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    int64_t     seconds;
    time_t      now = time(NULL);
    struct tm   parts = { 0 };

    if (epoch && str_to_int64(str_from(epoch), &seconds))
        now = (time_t)seconds;
    gmtime_r(&now, &parts);
    strftime(day, 16, "%Y-%m-%d", &parts);
}

static bool check_subject(const struct suppression *suppression, struct err *err)
{
    struct pattern *pattern;

    if (!suppression->subject)
        return true;
    pattern = pattern_new(str_from(suppression->subject), PATTERN_SEARCH, false, err);
    pattern_free(pattern);
    return pattern != NULL;
}

/* As JSON shows it: 16 digits of base 16. */
static bool check_fingerprint(const char *fingerprint, struct err *err)
{
    return !fingerprint ||
           (strlen(fingerprint) == 16 && strspn(fingerprint, "0123456789abcdef") == 16) ||
           err_set(err, ERR_USAGE,
                   "'%s' is no fingerprint, which JSON shows as 16 letters and digits",
                   fingerprint);
}

static bool check_suppression(const struct suppression *suppression, struct err *err)
{
    if (!suppression->rule && !suppression->fingerprint)
        return err_set(err, ERR_USAGE, "a suppression needs a rule, or a fingerprint");
    if (!suppression->reason)
        return err_set(err, ERR_USAGE, "a suppression needs a reason");
    return check_fingerprint(suppression->fingerprint, err) && check_subject(suppression, err);
}

static bool check_suppressions(struct project *project, struct err *err)
{
    char day[16];

    today(day);
    for (size_t i = 0; i < project->suppressions.list.count; i++) {
        struct suppression *suppression = &project->suppressions.list.items[i];

        if (!check_suppression(suppression, err)) {
            err->line = suppression->line;
            err->column = 1;
            return false;
        }
        suppression->is_expired = suppression->until && strcmp(suppression->until, day) < 0;
    }
    return true;
}

/* In the working directory and above, up to the root of the repository. */
static bool find_file(char path[PATH_BYTES])
{
    char directory[PATH_BYTES - sizeof FILE_NAME - 1];

    snprintf(path, PATH_BYTES, "%s", FILE_NAME);
    if (file_exists(path))
        return true;
    if (!getcwd(directory, sizeof directory))
        return false;
    for (;;) {
        char *slash;

        snprintf(path, PATH_BYTES, "%s/%s", directory, FILE_NAME);
        if (file_exists(path))
            return true;
        snprintf(path, PATH_BYTES, "%s/.git", directory);
        slash = strrchr(directory, '/');
        if (file_exists(path) || !slash || slash == directory)
            return false;
        *slash = 0;
    }
}

static bool read_file(struct project *project, const char *path, struct arena *arena,
                      struct err *err)
{
    struct file file = { 0 };
    struct toml toml;
    bool        is_fine;

    project->path = arena_text(arena, "%s", path);
    if (!project->path)
        return err_memory(err, "the configuration");
    if (!file_open(&file, path, MOST_FILE_BYTES, err))
        return false;
    is_fine = toml_parse(file.bytes, arena, &toml, err);
    for (size_t i = 0; is_fine && i < toml.entries.count; i++)
        is_fine = take_entry(project, &toml.entries.items[i], arena, err);
    file_close(&file);
    return (is_fine && check_suppressions(project, err)) || err_source(err, path);
}

bool project_load(struct project *project, const char *path, struct arena *arena, struct err *err)
{
    char found[PATH_BYTES];

    *project = (struct project) { 0 };
    if (path && strcmp(path, "none") == 0)
        return true;
    if (!path && !find_file(found))
        return true;
    return read_file(project, path ? path : found, arena, err);
}

static bool append(struct option_list *to, const struct option_list *from, struct arena *arena)
{
    for (size_t i = 0; i < from->values.count; i++)
        if (!vec_push(&to->values, arena, from->values.items[i]))
            return false;
    return true;
}

/* Relative to where the configuration is, not to where the command runs. */
static bool append_paths(const struct project *project, struct option_list *to, struct arena *arena)
{
    const char *slash = project->path ? strrchr(project->path, '/') : NULL;
    int         len = slash ? (int)(slash - project->path) + 1 : 0;

    for (size_t i = 0; i < project->rule_directories.values.count; i++) {
        const char *path = project->rule_directories.values.items[i];

        if (path[0] != '/' && len > 0)
            path = arena_text(arena, "%.*s%s", len, project->path, path);
        if (!path || !vec_push(&to->values, arena, path))
            return false;
    }
    return true;
}

/* Those of the command line, behind the project's. */
static bool ignore(struct project *project, const struct option_list *fingerprints,
                   struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < fingerprints->values.count; i++) {
        struct suppression suppression = { .fingerprint = fingerprints->values.items[i],
                                           .reason = "--ignore" };

        if (!check_fingerprint(suppression.fingerprint, err))
            return false;
        if (!vec_push(&project->suppressions.list, arena, suppression))
            return err_memory(err, "the configuration");
    }
    return true;
}

bool project_apply(struct project *project, struct advise_options *options, struct arena *arena,
                   struct err *err)
{
    if (!ignore(project, &options->ignored, arena, err))
        return false;
    if (!append_paths(project, &options->rule_directories, arena) ||
        (options->only.values.count == 0 && !append(&options->only, &project->only, arena)) ||
        !append(&options->skip, &project->skip, arena))
        return err_memory(err, "the configuration");
    /* `set` of the command line comes after them. */
    memcpy(&options->settings, &project->settings, sizeof options->settings);
    if (!options->preset)
        options->preset = project->preset;
    options->suppressions = &project->suppressions;
    return true;
}

bool project_ready(struct project *project, const char *path, struct advise_options *options,
                   struct arena *arena, struct err *err)
{
    return project_load(project, path, arena, err) && project_apply(project, options, arena, err) &&
           advise_check(options, err);
}

bool project_load_into(const char *path, struct advise_options *options, struct arena *arena,
                       struct err *err)
{
    struct project *project = arena_new(arena, struct project);

    if (!project)
        return err_memory(err, "the configuration");
    return project_load(project, path, arena, err) && project_apply(project, options, arena, err);
}

static void warn_of(const struct project *project, const struct suppression *suppression,
                    struct text *text)
{
    char        more[ERR_TEXT_BYTES] = "takes nothing away";
    const char *nearest = suppression->nearest;

    if (suppression->is_expired)
        snprintf(more, sizeof more, "expired on %s", suppression->until);
    else if (!suppression->is_known)
        snprintf(more, sizeof more, "is about no rule there is%s%s%s",
                 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    else if (suppression->used_count > 0 || !suppression->has_looked)
        return;
    if (suppression->line > 0) /* what a person ignores everywhere need not be everywhere */
        text_print(text, "tfprof: %s:%u: the suppression of %s %s\n", project->path,
                   suppression->line,
                   suppression->rule ? suppression->rule : suppression->fingerprint, more);
}

void project_add_unfiltered(bool is_unfiltered, struct text *text)
{
    if (is_unfiltered)
        text_print(text,
                   "tfprof: rules of others ran without a filter of system calls: this system "
                   "has none\n");
}

void project_add_warnings(const struct project *project, const struct advice *advice,
                          struct text *text)
{
    for (size_t i = 0; i < project->suppressions.list.count; i++)
        warn_of(project, &project->suppressions.list.items[i], text);
    project_add_unfiltered(advice->has_guests && !advice->is_filtered, text);
}

void project_warn_unfiltered(bool is_unfiltered)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    project_add_unfiltered(is_unfiltered, &text);
    fprintf(stderr, "%s", text.data ? text.data : "");
    arena_free(&arena);
}
