#include "report/diff_json.h"

#include "analyze/diff/diff.h"
#include "base/json_fields.h"
#include "report/describe.h"
#include "report/info_json.h"

static void put_times(struct json_writer *json, int64_t before_ns, int64_t after_ns)
{
    put_integer(json, "before_ns", before_ns);
    put_integer(json, "after_ns", after_ns);
    put_integer(json, "change_ns", after_ns - before_ns);
}

static void put_side(struct json_writer *json, const char *key, const struct diff *diff, int side)
{
    const struct study *study = diff->studies[side];
    struct step_range   range = study_step_range(study);

    put_object(json, key);
    json_key(json, "profile");
    info_json_profile(json, study->recording, false);
    put_integer(json, "steps", range.used);
    put_text(json, "steps_from", step_source_name(study->steps.source));
    if (diff->batches[side] > 0)
        put_number(json, "batches_per_step", diff->batches[side]);
    json_object_end(json);
}

static void put_parts(struct json_writer *json, const struct diff *diff)
{
    put_array(json, "parts");
    for (int part = 0; part < PART_COUNT; part++) {
        if (!diff->part_ns[part][0] && !diff->part_ns[part][1])
            continue;
        json_object(json);
        put_text(json, "part", part_name((enum part)part));
        put_times(json, diff->part_ns[part][0], diff->part_ns[part][1]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_row(struct json_writer *json, const struct diff_row *row)
{
    json_object(json);
    put_text(json, "part", part_name(row->part));
    json_key(json, "name");
    json_str(json, row->name);
    put_times(json, row->sides[0].ns, row->sides[1].ns);
    put_number(json, "before_runs", row->sides[0].runs);
    put_number(json, "after_runs", row->sides[1].runs);
    put_integer(json, "before_bytes", row->sides[0].bytes);
    put_integer(json, "after_bytes", row->sides[1].bytes);
    put_integer(json, "change_bytes", row->sides[1].bytes - row->sides[0].bytes);
    json_object_end(json);
}

void diff_json(const struct diff *diff, int64_t rows, const struct output_options *options,
               struct text *text)
{
    struct json_writer json = { .text = text };

    (void)rows, (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.diff/1");
    put_side(&json, "before", diff, 0);
    put_side(&json, "after", diff, 1);
    put_text(&json, "per", diff->is_per_batch ? "batch" : "step");
    put_object(&json, "step");
    put_times(&json, diff->step_ns[0], diff->step_ns[1]);
    json_object_end(&json);
    put_parts(&json, diff);
    put_bool(&json, "lists_sum_to_step", diff->has_paths);
    for (int by = 0; by < CHARGE_BY_COUNT; by++) {
        put_array(&json, charge_by_name((enum charge_by)by));
        for (size_t i = 0; i < diff->rows[by].count; i++)
            put_row(&json, &diff->rows[by].items[i]);
        json_array_end(&json);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}
