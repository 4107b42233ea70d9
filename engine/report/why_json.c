#include "report/why_json.h"

#include "analyze/schedule/why.h"
#include "base/json_fields.h"
#include "report/efficiency.h"
#include "report/info_json.h"

static void put_cause(struct json_writer *json, const struct why_cause *cause)
{
    json_object(json);
    put_ms(json, "ms", cause->ns);
    if (cause->usual_ns >= 0)
        put_ms(json, "usual_ms", cause->usual_ns);
    put_text(json, "class", part_name(cause->class));
    put_text(json, "name", cause->name);
    put_text(json, "owner", cause->owner);
    put_text(json, "timeline", cause->place);
    put_integer(json, "count", cause->count);
    put_text(json, "file", cause->file);
    if (cause->file)
        put_integer(json, "line", cause->line);
    put_text(json, "function", cause->function);
    json_object_end(json);
}

static void put_late(struct json_writer *json, const struct why_late *late)
{
    json_object(json);
    put_integer(json, "step", late->step);
    put_integer(json, "rank", late->rank);
    put_text(json, "collective", late->name);
    put_ms(json, "late_ms", late->late_ns);
    put_number(json, "share", late->share);
    if (late->class_ns > 0) {
        put_text(json, "class", part_name(late->cause.class));
        put_ms(json, "class_ms", late->class_ns);
        json_key(json, "cause");
        put_cause(json, &late->cause);
    }
    json_object_end(json);
}

void why_json(const struct why *why, const struct study *study,
              const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.why/1");
    json_key(&json, "profile");
    info_json_profile(&json, study->recording, false);
    put_text(&json, "asked", why->what);
    put_text(&json, "subject", why->subject);
    put_integer(&json, "step", why->step);
    put_ms(&json, "start_ms", why->start_ns);
    put_ms(&json, "duration_ms", why->duration_ns);
    if (why->is_step)
        efficiency_json(&json, study);
    put_array(&json, "causes");
    for (size_t i = 0; i < why->causes.count; i++)
        put_cause(&json, &why->causes.items[i]);
    json_array_end(&json);
    put_text(&json, "began", why->began);
    if (why->late.count) {
        put_array(&json, "late");
        for (size_t i = 0; i < why->late.count; i++)
            put_late(&json, &why->late.items[i]);
        json_array_end(&json);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}
