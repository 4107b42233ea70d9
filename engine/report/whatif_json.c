#include "report/whatif_json.h"

#include "analyze/schedule/whatif.h"
#include "base/json_fields.h"
#include "report/info_json.h"

#include <math.h>

static void put_parts(struct json_writer *json, const struct whatif *whatif,
                      const struct whatif_result *result)
{
    put_text(json, "bottleneck", part_name(result->bottleneck));
    if (whatif->is_path)
        return;
    put_object(json, "parts_ms");
    for (int part = 0; part < PART_COUNT; part++)
        if (result->part_ns[part] > 0)
            put_ms(json, part_name((enum part)part), result->part_ns[part]);
    json_object_end(json);
}

static void put_result(struct json_writer *json, const struct whatif *whatif,
                       const struct whatif_result *result)
{
    double now_ns = whatif->now.step_ns;

    put_ms(json, "step_ms", result->step_ns);
    put_ms(json, "saved_ms", result->saved_ns);
    if (now_ns > 0)
        put_number(json, "share", result->saved_ns / now_ns);
    if (result->step_ns > 0)
        put_number(json, "speedup", now_ns / result->step_ns);
    put_parts(json, whatif, result);
}

static void put_points(struct json_writer *json, const struct whatif *whatif)
{
    struct sweep_shape shape = sweep_shape(whatif);

    put_text(json, "what", whatif->sweep);
    put_number(json, "selected", whatif->each[0].selected_count);
    put_ms(json, "selected_ms", whatif->each[0].selected_ns);
    put_number(json, "critical_share", shape.critical_share);
    if (!isnan(shape.knee))
        put_number(json, "knee", shape.knee);
    put_array(json, "points");
    for (size_t point = 0; point <= SWEEP_INTERVALS; point++) {
        json_object(json);
        put_number(json, "factor", sweep_factor(point));
        put_result(json, whatif, &whatif->each[point]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_ideals(struct json_writer *json, const struct whatif *whatif)
{
    double product = 1;

    put_array(json, "ideals");
    for (size_t i = 0; i < whatif->edits.count; i++) {
        product *= efficiency_factor(whatif, i);
        json_object(json);
        put_text(json, "name", efficiency_name(i));
        put_text(json, "edit", whatif->edits.items[i].text);
        put_number(json, "efficiency", efficiency_factor(whatif, i));
        put_result(json, whatif, &whatif->each[i]);
        json_object_end(json);
    }
    json_array_end(json);
    put_number(json, "efficiency", product);
    if (whatif->imbalance > 0)
        put_number(json, "imbalance", whatif->imbalance);
    put_array(json, "ranks");
    for (size_t i = 0; i < whatif->ranks.count; i++) {
        json_object(json);
        put_integer(json, "rank", whatif->ranks.items[i].rank);
        put_number(json, "contribution", whatif->ranks.items[i].contribution);
        put_number(json, "slowdown", whatif->ranks.items[i].slowdown);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_edits(struct json_writer *json, const struct whatif *whatif)
{
    put_array(json, "edits");
    for (size_t i = 0; i < whatif->edits.count; i++) {
        const struct whatif_result *result = &whatif->each[i];

        json_object(json);
        put_text(json, "edit", whatif->edits.items[i].text);
        put_number(json, "selected", result->selected_count);
        put_ms(json, "selected_ms", result->selected_ns);
        put_result(json, whatif, result);
        json_object_end(json);
    }
    json_array_end(json);
    put_object(json, "together");
    put_result(json, whatif, &whatif->together);
    json_object_end(json);
}

void whatif_json(const struct whatif *whatif, const struct study *study,
                 const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema",
             whatif->sweep           ? "tfprof.sweep/1"
             : whatif->is_efficiency ? "tfprof.efficiency/1"
                                     : "tfprof.whatif/1");
    json_key(&json, "profile");
    info_json_profile(&json, study->recording, false);
    put_ms(&json, "step_ms", whatif->now.step_ns);
    if (whatif->recording_ns > 0)
        put_ms(&json, "recording_ms", whatif->recording_ns);
    put_integer(&json, "steps", whatif->step_count);
    if (!whatif->is_path)
        put_number(&json, "replay_error", whatif->error);
    put_parts(&json, whatif, &whatif->now);
    if (whatif->sweep)
        put_points(&json, whatif);
    else if (whatif->is_efficiency)
        put_ideals(&json, whatif);
    else
        put_edits(&json, whatif);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
