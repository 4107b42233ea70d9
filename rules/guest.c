#include "rules/guest.h"

#include "rules/guest_batch.h"
#include "rules/guest_code.h"

static void load_one(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    struct rule rule, *wanted = (struct rule *)batch->context + item;
    struct err  err = { 0 };

    if (!rule_load(&rule, wanted->info.file, wanted->script, batch->limits, coder->out.arena, &err))
        rule.error = err.text;
    code_rule(coder, &rule);
    rule_free(&rule);
}

static bool take_loaded(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    struct rule *rule = (struct rule *)batch->context + item;
    const char  *file = rule->info.file;
    struct str   script = rule->script;

    *rule = (struct rule) { .is_apart = true, .script = script, .info = { .file = file } };
    code_rule(coder, rule);
    rule->info.file = file;
    if (rule->error)
        rule->info = (struct rule_info) { .id = file, .title = "", .file = file };
    return coder_is_done(coder) && (rule->error || rule_id_fits(rule->info.id, file));
}

static const char *file_loaded(const struct guest_batch *batch, size_t item)
{
    return ((const struct rule *)batch->context)[item].info.file;
}

static void fail_loading(const struct guest_batch *batch, size_t item, const char *message)
{
    struct rule *rule = (struct rule *)batch->context + item;
    const char  *file = rule->info.file;

    rule->info = (struct rule_info) { .id = file, .title = "", .file = file };
    rule->error = rule_message(rule, message, batch->arena);
}

bool guest_load(struct rule *rules, size_t count, const struct rule_limits *limits,
                struct arena *arena)
{
    struct guest_batch batch = { .count = count,
                                 .limits = limits,
                                 .arena = arena,
                                 .work = load_one,
                                 .take = take_loaded,
                                 .fail = fail_loading,
                                 .file = file_loaded,
                                 .context = rules };

    guest_batch_run(&batch);
    return batch.is_filtered;
}

/* The rules that can look, at work. */
struct running {
    struct guest_runs      *guests;
    const struct rule_view *view;
    size_t                 *items; /* which of the rules */
};

static const struct rule *rule_at(const struct guest_batch *batch, size_t item)
{
    const struct running *running = batch->context;

    return running->guests->rules[running->items[item]];
}

static struct rule_run *run_at(const struct guest_batch *batch, size_t item)
{
    const struct running *running = batch->context;

    return &running->guests->runs[running->items[item]];
}

static void run_one(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    const struct running *running = batch->context;
    const struct rule    *rule = rule_at(batch, item);
    struct arena         *arena = coder->out.arena;
    struct rule_run       run = { .outcome = RULE_FAILED };
    struct rule           loaded;
    struct err            err = { 0 };

    if (!rule_load(&loaded, rule->info.file, rule->script, batch->limits, arena, &err)) {
        run.reason = err.text;
    } else if (loaded.error) {
        run.reason = loaded.error;
    } else {
        loaded.info = rule->info; /* with the parameters that were set */
        if (!rule_run(&loaded, running->view, arena, &run, &err))
            run = (struct rule_run) { .outcome = RULE_FAILED, .reason = err.text };
    }
    code_run(coder, rule, &run);
    rule_free(&loaded);
}

static bool take_run(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    struct rule_run *run = run_at(batch, item);

    *run = (struct rule_run) { .outcome = RULE_QUIET };
    code_run(coder, rule_at(batch, item), run);
    return coder_is_done(coder);
}

static const char *file_run(const struct guest_batch *batch, size_t item)
{
    return rule_at(batch, item)->info.file;
}

static void fail_run(const struct guest_batch *batch, size_t item, const char *message)
{
    const struct rule *rule = rule_at(batch, item);

    *run_at(batch, item) =
        (struct rule_run) { .outcome = RULE_FAILED,
                            .reason = rule_message(rule, message, batch->arena) };
}

bool guest_run(struct guest_runs *guests, const struct rule_view *view,
               const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    struct running running = { guests, view, arena_new_array(arena, size_t, guests->count + 1) };
    struct guest_batch batch = { .limits = limits,
                                 .arena = arena,
                                 .work = run_one,
                                 .take = take_run,
                                 .fail = fail_run,
                                 .file = file_run,
                                 .context = &running };

    if (!running.items)
        return err_memory(err, "the advice");
    for (size_t i = 0; i < guests->count; i++) {
        bool can_look = false;

        if (!rule_can_look(guests->rules[i], view, arena, &guests->runs[i], &can_look, err))
            return false;
        if (can_look)
            running.items[batch.count++] = i;
    }
    guest_batch_run(&batch);
    guests->is_filtered = batch.is_filtered;
    return true;
}
