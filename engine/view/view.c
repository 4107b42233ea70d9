/* The frame of every view's report. */
#include "view/view.h"

#include "base/macros.h"

#include <inttypes.h>
#include <string.h>

const struct view *const views[] = {
#define VIEW(name) &view_##name,
#include "view/views.def"
#undef VIEW
};
const size_t view_count = ARRAY_COUNT(views);

const struct view *view_find(const char *name)
{
    for (size_t i = 0; i < view_count; i++)
        if (strcmp(views[i]->name, name) == 0)
            return views[i];
    return NULL;
}

static bool has_step(const struct view_call *call)
{
    const struct classic *classic = call->classic;
    int64_t               step = call->options->step;

    if (step < 0 || classic_has_step(classic, step))
        return true;
    text_print(call->complaints, "Options -step=%" PRId64 " not found.\nAvailable steps: ", step);
    for (size_t i = 0; i < classic->steps.count; i++)
        text_print(call->complaints, "%" PRId64 " ", classic->steps.items[i]);
    text_add(call->complaints, STR("\n"));
    return false;
}

static void print_head(const struct view *view, const struct view_call *call)
{
    struct text *text = call->text;

    if (call->classic->misses_streams)
        text_add(text, STR("\n\nFound accelerator operation but misses accelerator stream "
                           "stats!\n\nIt's likely a gpu tracing issue rather than tf-profiler "
                           "issue.\nIf you found your operation missing accelerator time, consider "
                           "to post to discuss@tensorflow.org!\n\n"));
    /* The original explains the graph by the words for scopes. */
    text_print(text, "\nDoc:\n%s\n",
               call->options->is_compat && view == &view_graph ? view_scope.doc : view->doc);
    attributes_explain(call->options->selected, text);
    text_add(text, STR("\n\nProfile:\nnode name | "));
    for (size_t i = 0; i < call->columns.count; i++)
        text_print(text, "%s%s", i ? " | " : "", call->columns.items[i].title);
    text_add(text, STR("\n"));
}

bool view_report(const struct view *view, struct view_call *call, struct err *err)
{
    if (view->needs_code && !call->classic->has_code) {
        text_add(call->complaints, STR("No code trace information\n"));
        return true;
    }
    if (!has_step(call))
        return true;
    call->columns = columns_of(call->options->selected, view->layout);
    print_head(view, call);
    return view->show(call, err);
}
