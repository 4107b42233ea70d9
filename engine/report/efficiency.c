#include "report/efficiency.h"

#include "analyze/schedule/whatif.h"

static bool factor(const struct study *study, struct arena *arena, const char *name, double *value)
{
    struct text fact = { .arena = arena };

    text_print(&fact, "efficiency.%s", name);
    return facts_get(&study->facts, text_str(&fact).data, value);
}

void efficiency_text(struct layout *layout, const struct study *study, const char *before)
{
    struct text line = { .arena = layout->arena };
    double      value;

    if (!factor(study, layout->arena, "all", &value))
        return;
    text_print(&line, "%sefficiency ", before);
    unit_print(&line, value, UNIT_SHARE);
    for (size_t i = 0; i < EFFICIENCY_IDEALS; i++) {
        if (!factor(study, layout->arena, efficiency_name(i), &value))
            continue;
        text_print(&line, " %s %s ", i ? "x" : "=", efficiency_name(i));
        unit_print(&line, value, UNIT_SHARE);
    }
    layout_wrap(layout, 2, "", 4, text_str(&line));
}

void efficiency_json(struct json_writer *json, const struct study *study)
{
    struct arena scratch = { 0 };
    double       value;

    if (factor(study, &scratch, "all", &value)) {
        json_key(json, "efficiency");
        json_object(json);
        put_number(json, "all", value);
        for (size_t i = 0; i < EFFICIENCY_IDEALS; i++)
            if (factor(study, &scratch, efficiency_name(i), &value))
                put_number(json, efficiency_name(i), value);
        json_object_end(json);
    }
    arena_free(&scratch);
}
