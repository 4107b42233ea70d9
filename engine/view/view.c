/* The frame of every view's report. */
#include "view/view.h"

#include "base/file.h"
#include "base/macros.h"
#include "view/folded.h"
#include "view/pprof.h"
#include "view/rows.h"
#include "view/sources.h"
#include "view/tree.h"

#include <inttypes.h>
#include <string.h>

const struct view *const views[] = {
#define VIEW(name) &view_##name,
#include "view/views.def"
#undef VIEW
};

const struct view *view_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(views); i++)
        if (strcmp(views[i]->name, name) == 0)
            return views[i];
    return NULL;
}

bool view_row_fits(const struct view_call *call, uint64_t at)
{
    return call->options->max_rows == 0 || at < (uint64_t)call->options->max_rows;
}

void view_rows_end(const struct view_call *call, uint64_t count)
{
    if (count && !view_row_fits(call, count - 1))
        text_print(call->text, "... %" PRIu64 " more rows (-max_rows 0 shows all)\n",
                   count - (uint64_t)call->options->max_rows);
}

/* Names come from the profile, and go to terminals and logs. JSON and protobuf have their own way.
 */
static void clean(const struct view_call *call)
{
    if (call->options->format == VIEW_TEXT || call->options->format == VIEW_CSV)
        text_clean_lines(call->text, 0);
    text_clean_lines(call->complaints, 0);
}

bool view_row_end(const struct view_call *call, struct err *err)
{
    enum { WRITTEN_AT_ONCE = 1 << 18 };

    if (!call->is_streamed || call->text->len < WRITTEN_AT_ONCE)
        return true;
    clean(call);
    if (!file_write("-", text_str(call->text), err))
        return false;
    call->text->len = 0;
    return true;
}

/* What the text of a report shows, sorts by and is limited by. */
static unsigned wanted_by_text(const struct view_call *call)
{
    const struct view_options *options = call->options;
    unsigned                   wanted = 0;

    if (options->is_compat) /* which hides whatever is negative */
        return VALUES_ALL;
    for (size_t i = 0; i < call->columns.count; i++) {
        wanted |= 1u << call->columns.items[i].value;
        if (call->columns.items[i].kind == COLUMN_OCCURRENCE)
            wanted |= 1u << VALUE_DEFINITIONS;
    }
    if (options->order_by != ORDER_BY_NAME)
        wanted |= 1u << options->order_by;
    for (unsigned i = 0; i < VIEW_VALUE_COUNT; i++)
        if (options->mins.values[i] > 0)
            wanted |= 1u << i;
    return wanted;
}

static bool has_step(const struct view_call *call, int64_t step)
{
    const struct classic *classic = call->classic;

    if (step < 0 || classic_has_step(classic, step))
        return true;
    text_print(call->complaints, "Options -step=%" PRId64 " not found.\nAvailable steps: ", step);
    for (size_t i = 0; i < classic->steps.count; i++)
        text_print(call->complaints, "%" PRId64 " ", classic->steps.items[i]);
    text_add(call->complaints, STR("\n"));
    return false;
}

static bool has_steps(const struct view_call *call)
{
    for (size_t i = 0; i < call->options->steps.count; i++)
        if (!has_step(call, call->options->steps.items[i]))
            return false;
    return has_step(call, call->options->step);
}

static void print_head(const struct view *view, const struct view_call *call)
{
    struct text *text = call->text;
    bool is_told = !call->options->is_compat || call->classic->profile->format != FORMAT_PROFILE;

    /* The original forgets it in profiles that it writes. */
    if (call->classic->misses_streams && is_told)
        text_add(text, STR("\n\nFound accelerator operation but misses accelerator stream "
                           "stats!\n\nIt's likely a gpu tracing issue rather than tf-profiler "
                           "issue.\nIf you found your operation missing accelerator time, consider "
                           "to post to discuss@tensorflow.org!\n\n"));
    /* The original explains the graph by the words for scopes. */
    if (!call->is_unexplained) {
        text_print(text, "\nDoc:\n%s\n",
                   call->options->is_compat && view == &view_graph ? view_scope.doc : view->doc);
        attributes_explain(call->options->selected, call->options->is_compat, text);
        text_add(text, STR("\n\nProfile:\n"));
    }
    text_add(text, STR("node name | "));
    for (size_t i = 0; i < call->columns.count; i++)
        text_print(text, "%s%s", i ? " | " : "", call->columns.items[i].title);
    text_add(text, STR("\n"));
}

static void print_stars(struct text *text)
{
    text_fill(text, '*', 54);
    text_add_byte(text, '\n');
}

/* "t_3", as the original; "t_3.json" for "t.json", which it makes "t.json_3". */
static char *timeline_path(const struct view_call *call, int64_t step)
{
    struct str name = str_from(call->options->output.outfile), end = STR(".json");

    if (call->options->is_compat || !str_ends(name, end) || name.len == end.len)
        end.len = 0;
    name.len -= end.len;
    return arena_text(call->arena, "%.*s_%" PRId64 "%.*s", STR_ARG(name), step, STR_ARG(end));
}

static bool write_timeline(const struct view *view, const struct view_call *call, int64_t step,
                           struct err *err)
{
    struct view_options options = *call->options;
    struct view_call    at_step = *call;
    struct text         json = { .arena = call->arena };
    char               *path = timeline_path(call, step);

    options.step = step;
    at_step.options = &options;
    if (!view->timeline(&at_step, &json, err) || !view_options_settled(&options, err))
        return false;
    if (!path || json.is_cut)
        return err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
    if (!file_write(path, text_str(&json), err))
        return false;
    text_add_byte(call->text, '\n');
    print_stars(call->text);
    text_print(call->text,
               "Timeline file is written to %s.\n"
               "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n",
               path);
    print_stars(call->text);
    return true;
}

static bool write_timelines(const struct view *view, struct view_call *call, struct err *err)
{
    const int64_t *steps;
    size_t         count;

    if (!view->timeline) {
        text_print(call->complaints,
                   "%s view doesn't support timeline yet. Consider graph/scope/code view.\n",
                   view->name);
        call->refusal = ERR_USAGE;
        return true;
    }
    if (view->is_of_step && !call->classic->times.count && !call->options->is_compat) {
        text_print(
            call->complaints,
            "The timeline of the %s view shows single runs of a TensorFlow session, and none "
            "were recorded.\n-output timeline of the scope view shows how times add up.\n",
            view->name);
        call->refusal = ERR_INPUT;
        return true;
    }
    if (call->options->step >= 0 || (!view->is_of_step && !call->options->steps.count))
        return write_timeline(view, call, call->options->step, err);
    steps = call->options->steps.count ? call->options->steps.items : call->classic->steps.items;
    count = call->options->steps.count ? call->options->steps.count : call->classic->steps.count;
    for (size_t i = 0; i < count; i++)
        if (!write_timeline(view, call, steps[i], err))
            return false;
    return true;
}

/* Calls as stacks: for pprof, or folded. */
static bool write_stacks(const struct view *view, struct view_call *call, struct err *err)
{
    struct text packed = { .arena = call->arena };
    const char *path = call->options->output.outfile;
    bool        is_made = false, is_folded = call->options->output.kind == OUTPUT_FOLDED;
    struct tree tree;

    if (!view->stacks || (call->options->is_compat && !view->needs_code)) {
        text_add(call->complaints, call->options->is_compat
                                       ? STR("Only 'code' view supports pprof output now.\n")
                                       : STR("Stacks are those of the views scope and code.\n"));
        call->refusal = ERR_USAGE;
        return true;
    }
    if (!view->stacks(call, &tree) ||
        !(is_folded ? folded_of_tree : pprof_of_tree)(&tree, call, &packed, &is_made))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    if (!view_options_settled(call->options, err))
        return false;
    if (!is_made) {
        call->refusal = ERR_USAGE;
        return true;
    }
    if (packed.is_cut)
        return err_set(err, ERR_LIMIT, "the profile does not fit the memory limit");
    if (!file_write(path, text_str(&packed), err))
        return false;
    if (is_folded)
        text_print(call->text, "Folded stacks are written to %s.\n", path);
    else
        text_print(call->text, "\nRun pprof -png --nodecount=100 --sample_index=1 <%s>\n", path);
    return true;
}

static bool print_report(const struct view *view, const struct view_call *call, struct err *err)
{
    const struct view_options *options = call->options;
    struct view_call           with_sources;
    bool                       is_done;

    if (options->format == VIEW_PROTO)
        return rows_proto(view, call, err);
    if (options->format != VIEW_TEXT || options->statistics || options->steps.count || call->other)
        return rows_report(view, call, err);
    print_head(view, call);
    with_sources = *call;
    with_sources.wanted = wanted_by_text(call);
    if (options->source)
        with_sources.sources = sources_open(options->source, call->arena);
    is_done = view->show(&with_sources, err);
    sources_close(with_sources.sources);
    return is_done;
}

/* False: complaints say why. */
static bool can_report(const struct view *view, struct view_call *call)
{
    if (view->needs_code && call->classic->lines)
        call->classic = call->classic->lines;
    if (view->needs_code && call->other && call->other->lines)
        call->other = call->other->lines;
    if (view->needs_code && !call->classic->has_code) {
        text_add(call->complaints, STR("No code trace information\n"));
        if (!call->options->is_compat)
            text_add(call->complaints,
                     STR("Lines are in op logs and profiles of TensorFlow's profiler, in "
                         "recordings of PyTorch made with_stack=True, and in those of JAX.\n"));
        call->refusal = ERR_INPUT;
        return false;
    }
    if (has_steps(call))
        return true;
    call->refusal = ERR_USAGE;
    return false;
}

static bool report(const struct view *view, struct view_call *call, struct err *err)
{
    struct text *shown = call->text, written = { .arena = call->arena };
    bool         is_done;

    switch (call->options->output.kind) {
    case OUTPUT_STDOUT:
        return print_report(view, call, err);
    case OUTPUT_FILE:
        call->text = &written;
        call->is_streamed = false;
        is_done = print_report(view, call, err) && view_options_settled(call->options, err);
        clean(call);
        is_done = is_done && file_write(call->options->output.outfile, text_str(&written), err);
        call->text = shown;
        return is_done;
    case OUTPUT_TIMELINE:
        return write_timelines(view, call, err);
    case OUTPUT_PPROF:
    case OUTPUT_FOLDED:
        return write_stacks(view, call, err);
    case OUTPUT_NONE:
        return true;
    }
    return true;
}

/* What holds no more than one number a cell; NULL: all that was asked for holds them. */
static const char *single_output(const struct view_options *options, bool is_by_step)
{
    switch (options->output.kind) {
    case OUTPUT_PPROF:
        return "-output pprof";
    case OUTPUT_FOLDED:
        return "-output folded";
    case OUTPUT_TIMELINE:
        return is_by_step ? NULL : "-output timeline";
    case OUTPUT_STDOUT:
    case OUTPUT_FILE:
        return options->format == VIEW_PROTO ? "--format proto" : NULL;
    case OUTPUT_NONE:
        break;
    }
    return NULL;
}

/* Several numbers a cell are for text, CSV and JSON. */
static bool can_combine(const struct view_call *call, struct err *err)
{
    const struct view_options *options = call->options;
    const char                *several = options->statistics    ? "--stats"
                                         : call->other          ? "--against"
                                         : options->steps.count ? "-step of several steps"
                                                                : NULL;
    const char                *single;

    if (!several || options->output.kind == OUTPUT_NONE)
        return true;
    if (call->other && (options->statistics || options->steps.count))
        return err_set(err, ERR_USAGE, "--against has no place beside %s",
                       options->statistics ? "--stats" : "-step of several steps");
    single = single_output(options, !options->statistics && !call->other);
    if (single)
        return err_set(err, ERR_USAGE, "%s has no place beside %s", several, single);
    return true;
}

bool view_report(const struct view *view, struct view_call *call, struct err *err)
{
    bool is_done = true;

    if (!can_combine(call, err))
        return false;
    if (can_report(view, call)) {
        call->columns = columns_of(call->options->selected, view->layout);
        is_done = report(view, call, err) && view_options_settled(call->options, err);
    }
    clean(call);
    return is_done;
}
