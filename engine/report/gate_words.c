#include "report/gate_words.h"

#include <math.h>

const char *gate_words_subject(const struct gate_result *result, struct arena *arena)
{
    const char *line;

    if (!result->baseline)
        return result->profile;
    line =
        arena_text(arena, "%s against %s \xc2\xb7 %zu and %zu run%s \xc2\xb7 %zu and %zu steps",
                   result->profile, result->baseline, result->runs_after, result->runs_before,
                   result->runs_before == 1 ? "" : "s", result->steps_after, result->steps_before);
    return line ? line : result->profile;
}

const char *gate_words_unit(const struct gate_result *result)
{
    return result->is_per_batch ? "batch" : "step";
}

const char *gate_words_time(const struct gate_result *result, double ns, bool is_change,
                            struct arena *arena)
{
    double      grain_ns = part_grain_ns(fmax(result->before_ns, result->after_ns));
    int         decimals = (int)fmax(0, 6 - round(log10(grain_ns)));
    const char *text = arena_text(arena, is_change ? "%+.*f ms" : "%.*f ms", decimals, ns / 1e6);

    return text ? text : "";
}

struct part_change gate_words_total(const struct gate_result *result)
{
    struct part_change total = { .part = PART_COUNT };

    for (size_t i = 0; i < result->parts.count; i++) {
        total.before_ns += result->parts.items[i].before_ns;
        total.after_ns += result->parts.items[i].after_ns;
    }
    return total;
}

double gate_words_rest(const struct gate_result *result, size_t count)
{
    double rest_ns = result->after_ns - result->before_ns;

    for (size_t i = 0; i < count; i++)
        rest_ns -= result->pieces.items[i].after_ns - result->pieces.items[i].before_ns;
    return rest_ns;
}

const char *gate_words_place(const char *file, uint32_t line, struct arena *arena)
{
    const char *text = "";

    if (file[0])
        text = line > 0 ? arena_text(arena, "%s:%u", file, line) : arena_text(arena, "%s", file);
    return text ? text : "";
}
