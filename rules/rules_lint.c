/* rules_lint: what a reviewer would say of rules that load. */
#include "rules/catalogue.h"

#include "base/file.h"
#include "base/macros.h"
#include "rules/rule.h"
#include "rules/script_line.h"

#include <string.h>

enum { LONGEST_TITLE = 72 };

struct linting {
    struct arena      *arena;
    struct text       *report;
    const struct rule *rule;
    struct str         script;
    uint32_t           count;
};

static void remark(struct linting *linting, size_t at, const char *message)
{
    linting->count++;
    script_line_print(linting->report, linting->rule->info.file, linting->script, at, message);
}

/* How often the word stands in the script, not as a part of a longer one. */
static size_t word_count(struct str script, struct str word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t            count = 0, from = 0, at;

    while ((at = str_search(str_slice(script, from, script.len), word)) < script.len - from) {
        size_t begin = from + at, end = begin + word.len;

        count += (begin == 0 || !strchr(letters, script.data[begin - 1])) &&
                 (end == script.len || !strchr(letters, script.data[end]));
        from = end;
    }
    return count;
}

static void lint_words(struct linting *linting)
{
    const struct rule_info *info = &linting->rule->info;
    size_t                  summary = strlen(info->summary);

    if (!info->doc || !str_trim(str_from(info->doc)).len)
        remark(linting, SIZE_MAX,
               "has no doc: say why it matters, how it is priced and when it keeps silent");
    if (summary == 0)
        remark(linting, 0, "begins with no comment that says in one sentence what it sees");
    else if (info->summary[summary - 1] != '.')
        remark(linting, 0, "the first comment is a sentence: end it with a full stop");
    if (strlen(info->title) > LONGEST_TITLE)
        remark(linting, script_find_quoted(linting->script, info->title),
               "the title is longer than 72 characters");
    else if (str_ends(str_from(info->title), STR(".")))
        remark(linting, script_find_quoted(linting->script, info->title),
               "a title has no full stop");
    if (info->needs.count == 0)
        remark(linting, SIZE_MAX, "needs nothing: name the facts and tables that it looks at");
}

static void lint_use(struct linting *linting)
{
    const struct rule_info *info = &linting->rule->info;

    for (size_t i = 0; i < info->params.count; i++) {
        const struct rule_param *param = &info->params.items[i];
        size_t                   at = script_find_key(linting->script, param->name);

        if (word_count(linting->script, str_from(param->name)) < 2)
            remark(linting, at, "this parameter is not used");
    }
    for (size_t i = 0; i < info->needs.count; i++) {
        struct str name = str_from(info->needs.items[i]);
        size_t     at = script_find_quoted(linting->script, name.data);

        if (at != SIZE_MAX && word_count(linting->script, name) < 2)
            remark(linting, at, "this need is not used");
    }
}

static void lint_lines(struct linting *linting)
{
    size_t start = 0;

    while (start < linting->script.len) {
        struct str rest = str_slice(linting->script, start, linting->script.len);
        struct str line = str_slice(rest, 0, str_find(rest, '\n'));

        if (line.len && (line.data[line.len - 1] == ' ' || line.data[line.len - 1] == '\t'))
            remark(linting, start + line.len - 1, "blanks end the line");
        start += line.len + 1;
    }
}

static void lint_rule(struct linting *linting)
{
    struct file file = { 0 };
    struct err  ignored = { 0 };

    if (file_open(&file, linting->rule->info.file, 0, &ignored))
        linting->script = file.bytes;
    if (linting->rule->error) {
        linting->count++;
        script_error_print(linting->report, linting->rule->info.file, linting->script,
                           linting->rule->error);
    } else {
        lint_words(linting);
        lint_use(linting);
        lint_lines(linting);
    }
    file_close(&file);
}

bool rules_lint(const char *directory, struct arena *arena, struct text *report,
                struct rules_linted *linted, struct err *err)
{
    struct rule_set    set = { 0 };
    struct option_list directories = { 0 };
    bool               is_done =
        (vec_push(&directories.values, arena, directory) || err_memory(err, "the rules")) &&
        rule_set_add_directories(&set, &directories, &rule_default_limits, arena, err);

    *linted = (struct rules_linted) { .is_unfiltered = set.is_unfiltered };
    for (size_t i = 0; i < set.rules.count && is_done; i++) {
        struct linting linting = { .arena = arena, .report = report, .rule = &set.rules.items[i] };

        lint_rule(&linting);
        linted->remark_count += linting.count;
    }
    rule_set_free(&set);
    return is_done;
}
