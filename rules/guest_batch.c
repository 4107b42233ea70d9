/* guest_batch: one child after the other, until all items have an answer. */
#include "rules/guest_batch.h"

#include "base/trace.h"
#include "rules/child.h"

/* Lua ends a rule at its limit of work; what lasts far longer is not Lua, or the machine is busy. A
 * pack may hold thousands of rules that take the time of one each, and no other pack pays for it.
 */
enum { WALL_FACTOR = 10, TOGETHER_FACTOR = 15 };

/* An empty message stands for an answer that does not fit. */
static void send(struct child_pipe *pipe, const struct guest_batch *batch, size_t item,
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
    const struct guest_batch *batch = context;

    for (size_t item = batch->from; item < batch->count; item++) {
        struct arena arena = { .budget_bytes = batch->limits->memory_bytes };

        send(pipe, batch, item, &arena);
        arena_free(&arena);
    }
}

static void fail_item(const struct guest_batch *batch, size_t item, struct str why)
{
    const char *message = arena_str(batch->arena, why).data;

    batch->fail(batch, item, message ? message : "failed");
}

static bool is_same_folder(const char *a, const char *b)
{
    struct str left = str_from(a), right = str_from(b);

    return str_equal(str_slice(left, 0, str_find_last(left, '/')),
                     str_slice(right, 0, str_find_last(right, '/')));
}

/* At the first item of a folder. */
static void allow_time(struct guest_batch *batch)
{
    const char *file = batch->from < batch->count ? batch->file(batch, batch->from) : NULL;

    if (!file || (batch->timed_file && is_same_folder(file, batch->timed_file)))
        return;
    batch->timed_file = file;
    batch->deadline_ns =
        trace_now_ns() +
        (batch->together_ns ? batch->together_ns : TOGETHER_FACTOR * batch->limits->cpu_ns);
}

/* Takes what one child sends, until it is done or of no more use. */
static void listen(struct guest_batch *batch, struct child *child)
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
        allow_time(batch);
        if (!is_good || trace_now_ns() > batch->deadline_ns)
            return;
    }
}

void guest_batch_run(struct guest_batch *batch)
{
    int64_t             cpu_ns = batch->limits->cpu_ns;
    struct child_limits limits = { batch->limits->memory_bytes,
                                   batch->item_ns ? batch->item_ns : WALL_FACTOR * cpu_ns };

    batch->is_filtered = true;
    while (batch->from < batch->count) {
        struct child child;
        struct err   err = { 0 };

        allow_time(batch);
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
