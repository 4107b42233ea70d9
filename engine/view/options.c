#include "view/options.h"

#include "base/macros.h"
#include "view/options_steps.h"
#include "view/statistics.h"

#include <limits.h>
#include <stdio.h>

enum { LONGEST_WORD = 64 };

/* Item `at` without quotes around it. Lists are split at commas before; of the original only the
 * quotes around the whole of one are taken off. */
static struct str unquote(const struct option_list *list, size_t at, bool is_compat)
{
    struct str text = str_from(list->values.items[at]);

    while (text.len && (!is_compat || at == 0) && (text.data[0] == '\'' || text.data[0] == '"'))
        text = str_slice(text, 1, text.len);
    while (text.len && (!is_compat || at + 1 == list->values.count) &&
           (text.data[text.len - 1] == '\'' || text.data[text.len - 1] == '"'))
        text.len--;
    return text;
}

/* Of the original a pattern that is none takes nothing. */
static bool refuse(const char *option, const char *word, const struct err *bad,
                   const struct view_values *values, struct text *complaints, struct err *err)
{
    char line[ERR_TEXT_BYTES];

    if (!values->is_compat || bad->code != ERR_USAGE) {
        *err = *bad;
        return err_in(err, "-%s", option);
    }
    text_print(complaints, "'%s' takes nothing: %s\n", word, err_format(bad, line, sizeof line));
    return true;
}

static bool compile(const char *option, const struct option_list *list,
                    const struct view_values *values, struct arena *arena,
                    struct view_patterns *patterns, struct text *complaints, struct err *err)
{
    for (size_t i = 0; i < list->values.count; i++) {
        struct str      text = unquote(list, i, values->is_compat);
        struct err      bad = { 0 };
        struct pattern *pattern;

        if (!text.len)
            continue;
        patterns->is_asked = true;
        patterns->is_everything = list->values.count == 1 && str_equal(text, STR(".*"));
        pattern = pattern_new(text, PATTERN_WHOLE, false, &bad);
        if (!pattern && !refuse(option, list->values.items[i], &bad, values, complaints, err))
            return false;
        if (pattern && !vec_push(&patterns->items, arena, pattern)) {
            pattern_free(pattern);
            return err_set(err, ERR_LIMIT, "the options do not fit the memory limit");
        }
    }
    return true;
}

static bool compile_all(const struct view_values *values, struct arena *arena,
                        struct view_options *options, struct text *complaints, struct err *err)
{
    const struct {
        const char               *option;
        const struct option_list *list;
        struct view_patterns     *patterns;
    } rows[] = {
        { "account_type_regexes", &values->account, &options->account },
        { "start_name_regexes", &values->start, &options->start },
        { "trim_name_regexes", &values->trim, &options->trim },
        { "show_name_regexes", &values->show, &options->show },
        { "hide_name_regexes", &values->hide, &options->hide },
        { "device_regexes", &values->devices, &options->devices },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (!compile(rows[i].option, rows[i].list, values, arena, rows[i].patterns, complaints,
                     err))
            return false;
    return true;
}

bool view_patterns_match(const struct view_patterns *patterns, struct str text)
{
    if (patterns->is_everything)
        return true;
    for (size_t i = 0; i < patterns->items.count; i++)
        if (pattern_matches(patterns->items.items[i], text) == PATTERN_YES)
            return true;
    return false;
}

static bool unknown_attribute(struct str name, struct err *err)
{
    const char *names[ATTRIBUTE_COUNT], *nearest;
    char        word[LONGEST_WORD];

    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
        names[i] = attribute_name((enum attribute)i);
    snprintf(word, sizeof word, "%.*s", STR_ARG(name));
    nearest = option_nearest(word, names, ATTRIBUTE_COUNT);
    err_set(err, ERR_USAGE, "-select has no '%.*s'", STR_ARG(name));
    if (nearest)
        return err_advise(err, "did you mean '%s'?", nearest);
    return err_advise(err, "it has bytes, peak_bytes, residual_bytes, output_bytes, micros, "
                           "accelerator_micros, cpu_micros, params, float_ops, occurrence, "
                           "num_hidden_ops, tensor_value, device, op_types and input_shapes");
}

static bool select_attributes(const struct option_list *list, bool is_compat, unsigned *selected,
                              struct text *complaints, struct err *err)
{
    for (size_t i = 0; i < list->values.count; i++) {
        struct str     name = unquote(list, i, is_compat);
        enum attribute attribute;

        if (!name.len)
            continue;
        if (is_compat && str_equal(name, STR("num_hidden_ops"))) { /* of old scripts */
            text_add(complaints, STR("Unknown select: num_hidden_ops\n"));
            continue;
        }
        if (!attribute_find(name, &attribute))
            return unknown_attribute(name, err);
        *selected |= 1u << attribute;
    }
    return true;
}

static struct view_numbers mins_of(const struct view_values *values)
{
    struct view_numbers mins = { .values = {
                                     [VALUE_RUNS] = values->min_occurrence,
                                     [VALUE_EXEC_MICROS] = values->min_micros,
                                     [VALUE_ACCELERATOR_MICROS] = values->min_accelerator_micros,
                                     [VALUE_CPU_MICROS] = values->min_cpu_micros,
                                     [VALUE_REQUESTED_BYTES] = values->min_bytes,
                                     [VALUE_PEAK_BYTES] = values->min_peak_bytes,
                                     [VALUE_RESIDUAL_BYTES] = values->min_residual_bytes,
                                     [VALUE_OUTPUT_BYTES] = values->min_output_bytes,
                                     [VALUE_PARAMETERS] = values->min_params,
                                     [VALUE_FLOAT_OPS] = values->min_float_ops,
                                     [VALUE_DEFINITIONS] = INT64_MIN,
                                 } };

    return mins;
}

/* What the original had once: -viz, -dump_to_file. */
static void take_old_options(const struct view_values *values, struct view_options *options,
                             struct text *complaints)
{
    if (values->is_viz)
        text_add(complaints, STR("Visualizing feature disabled...\n"));
    if (!values->dump_to_file || !*values->dump_to_file)
        return;
    text_print(complaints,
               "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>\n"
               "-output %s is overwritten with -output file:outfile=%s\n",
               values->output ? values->output : "", values->dump_to_file);
    options->output = (struct view_output) { .kind = OUTPUT_FILE, .outfile = values->dump_to_file };
}

static void take_format(const struct view_values *values, struct view_options *options)
{
    static const struct {
        struct str       name;
        enum view_format format;
    } formats[] = {
        { STR_INIT("json"), VIEW_JSON },
        { STR_INIT("csv"), VIEW_CSV },
        { STR_INIT("proto"), VIEW_PROTO },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_equal(str_from(values->format), formats[i].name))
            options->format = formats[i].format;
}

static bool take_own_types(const struct view_values *values, const struct classic *classic,
                           struct arena *arena, struct view_options *options,
                           struct text *complaints, struct err *err)
{
    const char *path = values->own_types;

    if (!path || !*path)
        return true;
    if (!own_types_read(path, arena, &options->own_types, err))
        return false;
    if (classic)
        own_types_tell_unused(&options->own_types, path, classic, complaints);
    return true;
}

bool view_options_check(const struct view_values *values, const struct classic *classic,
                        struct arena *arena, struct view_options *options, struct text *complaints,
                        struct err *err)
{
    enum attribute  attribute;
    enum view_value value;

    *options = (struct view_options) {
        .max_depth = values->max_depth,
        .step = -1,
        .statistics = statistics_of(&values->statistics),
        .mins = mins_of(values),
        .order_by = ORDER_BY_NAME,
        .is_displayed_only = values->is_displayed_only,
        .is_compat = values->is_compat,
        .max_rows = values->max_rows,
        .source = values->source,
        .has_line_text = values->has_line_text,
    };
    if (values->max_depth > INT32_MAX || values->max_depth < INT32_MIN)
        return err_set(err, ERR_USAGE, "-max_depth is at most %d, not %lld", INT32_MAX,
                       (long long)values->max_depth);
    if (values->order_by && attribute_find(str_from(values->order_by), &attribute) &&
        attribute_is_number(attribute, &value))
        options->order_by = (int)value;
    if (!view_output_scan(values->output, arena, &options->output, err))
        return false;
    take_old_options(values, options, complaints);
    if (!view_options_steps(values, classic, arena, options, err))
        return false;
    take_format(values, options);
    if (select_attributes(&values->select, values->is_compat, &options->selected, complaints,
                          err) &&
        compile_all(values, arena, options, complaints, err) &&
        take_own_types(values, classic, arena, options, complaints, err))
        return true;
    view_options_free(options);
    return false;
}

int view_options_largest_first(const struct view_options *options)
{
    static const uint8_t first[] = { ATTRIBUTE_MICROS, ATTRIBUTE_ACCELERATOR_MICROS,
                                     ATTRIBUTE_CPU_MICROS };
    enum view_value      value;

    for (size_t i = 0; i < sizeof first; i++)
        if ((options->selected >> first[i] & 1) &&
            attribute_is_number((enum attribute)first[i], &value))
            return (int)value;
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        if ((options->selected >> i & 1) && attribute_is_number((enum attribute)i, &value))
            return (int)value;
    return ORDER_BY_NAME;
}

enum { PATTERN_OPTIONS = 6 };

static void list_patterns(const struct view_options  *options,
                          const struct view_patterns *lists[PATTERN_OPTIONS])
{
    lists[0] = &options->account;
    lists[1] = &options->start;
    lists[2] = &options->trim;
    lists[3] = &options->show;
    lists[4] = &options->hide;
    lists[5] = &options->devices;
}

bool view_options_settled(const struct view_options *options, struct err *err)
{
    const struct view_patterns *lists[PATTERN_OPTIONS];

    list_patterns(options, lists);
    for (size_t n = 0; n < PATTERN_OPTIONS; n++)
        for (size_t i = 0; i < lists[n]->items.count; i++)
            if (!pattern_settled(lists[n]->items.items[i], err))
                return false;
    return own_types_settled(&options->own_types, err);
}

void view_options_free(struct view_options *options)
{
    const struct view_patterns *lists[PATTERN_OPTIONS];

    list_patterns(options, lists);
    for (size_t n = 0; n < PATTERN_OPTIONS; n++)
        for (size_t i = 0; i < lists[n]->items.count; i++)
            pattern_free(lists[n]->items.items[i]);
    own_types_free(&options->own_types);
    *options = (struct view_options) { 0 };
}
