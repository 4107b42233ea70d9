#include "rules/guest.h"

#include "base/trace.h"
#include "rules/child.h"
#include "rules/guest_code.h"

#include <string.h>

/* Lua ends a rule at its limit; what lasts longer is not Lua. A pack may hold thousands of rules
 * that take the time of one each. */
enum { WALL_FACTOR = 3, TOGETHER_FACTOR = 15 };

/* Items that a child works through in order, a message each. */
struct batch {
    size_t                    count, from;
    const struct rule_limits *limits;
    struct arena             *arena;
    void (*work)(const struct batch *batch, size_t item, struct coder *coder); /* in the child */
    bool (*take)(const struct batch *batch, size_t item, struct coder *coder); /* in the parent */
    void (*fail)(const struct batch *batch, size_t item, const char *message);
    bool                    is_filtered;
    int64_t                 deadline_ns; /* of all items together */
    struct rule            *loaded;      /* of guest_load */
    struct guest_runs      *guests;      /* of guest_run */
    const size_t           *items;       /* of guest_run: which rules */
    const struct rule_view *view;
};

/* An empty message stands for an answer that does not fit. */
static void send(struct child_pipe *pipe, const struct batch *batch, size_t item,
                 struct arena *arena)
{
    struct coder coder = { .out.arena = arena };

    text_add(&coder.out, STR(""));
    batch->work(batch, item, &coder);
    child_send(pipe, coder.is_bad || coder.out.len > CHILD_MESSAGE_BYTES ? STR("")
                                                                         : text_str(&coder.out));
}

static void work_through(void *context, struct child_pipe *pipe)
{
    const struct batch *batch = context;

    for (size_t item = batch->from; item < batch->count; item++) {
        struct arena arena = { .budget_bytes = batch->limits->memory_bytes };

        send(pipe, batch, item, &arena);
        arena_free(&arena);
    }
}

static void fail_item(const struct batch *batch, size_t item, struct str why)
{
    const char *message = arena_str(batch->arena, why).data;

    batch->fail(batch, item, message ? message : "failed");
}

/* Takes what one child sends, until it is done or of no more use. */
static void listen(struct batch *batch, struct child *child)
{
    while (batch->from < batch->count) {
        struct arena     scratch = { 0 };
        struct coder     coder = { .is_reading = true, .arena = batch->arena };
        enum child_event event = child_next(child, &scratch, &coder.in);
        size_t           item = batch->from++;
        bool             is_good = event == CHILD_MESSAGE;

        if (event == CHILD_DEAD)
            fail_item(batch, item, coder.in);
        else if (!is_good)
            fail_item(batch, item, STR("its process ended early"));
        else if (coder.in.len == 0)
            fail_item(batch, item, STR("answers with more than fits"));
        else if (!batch->take(batch, item, &coder)) {
            fail_item(batch, item, STR("its process sent nonsense and was ended"));
            is_good = false;
        }
        batch->is_filtered &= !child->has_begun || child->has_filter;
        arena_free(&scratch);
        if (!is_good || trace_now_ns() > batch->deadline_ns)
            return;
    }
}

static void run_batch(struct batch *batch)
{
    struct child_limits limits = { batch->limits->memory_bytes,
                                   WALL_FACTOR * batch->limits->wall_ns };

    batch->is_filtered = true;
    batch->deadline_ns = trace_now_ns() + TOGETHER_FACTOR * batch->limits->wall_ns;
    while (batch->from < batch->count) {
        struct child child;
        struct err   err = { 0 };

        if (trace_now_ns() > batch->deadline_ns) {
            fail_item(batch, batch->from++, STR("the rules before it took too long together"));
            continue;
        }
        if (child_start(&child, &limits, work_through, batch, &err))
            listen(batch, &child);
        else
            fail_item(batch, batch->from++, str_from(err.text));
        child_end(&child);
    }
}

static void load_one(const struct batch *batch, size_t item, struct coder *coder)
{
    struct rule rule, *wanted = &batch->loaded[item];
    struct err  err = { 0 };

    if (!rule_load(&rule, wanted->info.file, wanted->script, batch->limits, coder->out.arena, &err))
        rule.error = err.text;
    code_rule(coder, &rule);
    rule_free(&rule);
}

static bool take_loaded(const struct batch *batch, size_t item, struct coder *coder)
{
    struct rule *rule = &batch->loaded[item];
    const char  *file = rule->info.file;
    struct str   script = rule->script;

    *rule = (struct rule) { .is_apart = true, .script = script, .info = { .file = file } };
    code_rule(coder, rule);
    rule->info.file = file;
    if (rule->error)
        rule->info = (struct rule_info) { .id = file, .title = "", .file = file };
    return coder_is_done(coder) && (rule->error || rule_id_fits(rule->info.id, file));
}

static void fail_loading(const struct batch *batch, size_t item, const char *message)
{
    struct rule *rule = &batch->loaded[item];
    const char  *file = rule->info.file;

    rule->info = (struct rule_info) { .id = file, .title = "", .file = file };
    rule->error = rule_message(rule, message, batch->arena);
}

void guest_load(struct rule *rules, size_t count, const struct rule_limits *limits,
                struct arena *arena)
{
    struct batch batch = { .count = count,
                           .limits = limits,
                           .arena = arena,
                           .work = load_one,
                           .take = take_loaded,
                           .fail = fail_loading,
                           .loaded = rules };

    run_batch(&batch);
}

static void run_one(const struct batch *batch, size_t item, struct coder *coder)
{
    const struct rule *rule = batch->guests->rules[batch->items[item]];
    struct arena      *arena = coder->out.arena;
    struct rule_run    run = { .outcome = RULE_FAILED };
    struct rule        loaded;
    struct err         err = { 0 };

    if (!rule_load(&loaded, rule->info.file, rule->script, batch->limits, arena, &err)) {
        run.reason = err.text;
    } else if (loaded.error) {
        run.reason = loaded.error;
    } else {
        loaded.info = rule->info; /* with the parameters that were set */
        if (!rule_run(&loaded, batch->view, arena, &run, &err))
            run = (struct rule_run) { .outcome = RULE_FAILED, .reason = err.text };
    }
    code_run(coder, rule, &run);
    rule_free(&loaded);
}

static bool take_run(const struct batch *batch, size_t item, struct coder *coder)
{
    struct rule_run *run = &batch->guests->runs[batch->items[item]];

    *run = (struct rule_run) { .outcome = RULE_QUIET };
    code_run(coder, batch->guests->rules[batch->items[item]], run);
    return coder_is_done(coder);
}

static void fail_run(const struct batch *batch, size_t item, const char *message)
{
    const struct rule *rule = batch->guests->rules[batch->items[item]];

    batch->guests->runs[batch->items[item]] =
        (struct rule_run) { .outcome = RULE_FAILED,
                            .reason = rule_message(rule, message, batch->arena) };
}

bool guest_run(struct guest_runs *guests, const struct rule_view *view,
               const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    struct batch batch = { .limits = limits,
                           .arena = arena,
                           .work = run_one,
                           .take = take_run,
                           .fail = fail_run,
                           .guests = guests,
                           .view = view };
    size_t      *items = arena_new_array(arena, size_t, guests->count + 1);

    if (!items)
        return err_set(err, ERR_LIMIT, "no memory left for the advice");
    for (size_t i = 0; i < guests->count; i++) {
        bool can_look = false;

        if (!rule_can_look(guests->rules[i], view, arena, &guests->runs[i], &can_look, err))
            return false;
        if (can_look)
            items[batch.count++] = i;
    }
    batch.items = items;
    run_batch(&batch);
    guests->is_filtered = batch.is_filtered;
    return true;
}
