#include "report/verify_report.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "gate/verify.h"
#include "report/gate_words.h"
#include "report/layout.h"
#include "report/output.h"

#include <math.h>

enum { NAME_COLUMNS = 12, MOST_PIECES = 5 };

static const char *time_of(const struct verification *verification, double ns, bool is_change,
                           struct arena *arena)
{
    return gate_words_time(&verification->compared, ns, is_change, arena);
}

static void write_row(struct layout *layout, const char *name, const char *value)
{
    layout_wrap(layout, name[0] ? 2 : 2 + NAME_COLUMNS, name, 2 + NAME_COLUMNS,
                layout_words(layout, value));
}

/* "9.14 ms (8.01 to 10.2 ms)"; the interval where it is known. */
static const char *achieved_words(const struct verification *verification, struct arena *arena)
{
    const char *achieved = time_of(verification, verification->achieved_ns, false, arena);
    const char *words =
        isfinite(verification->achieved_low_ns)
            ? arena_text(arena, "%s, surely %s to %s", achieved,
                         time_of(verification, verification->achieved_low_ns, false, arena),
                         time_of(verification, verification->achieved_high_ns, false, arena))
            : achieved;

    return words ? words : "";
}

static const char *promised_words(const struct verification *verification, struct arena *arena)
{
    const char *words = arena_text(arena, "%s to %s, most likely %s",
                                   time_of(verification, verification->low_ns, false, arena),
                                   time_of(verification, verification->high_ns, false, arena),
                                   time_of(verification, verification->mid_ns, false, arena));

    return words ? words : "";
}

static const char *left_words(const struct verification *verification, struct arena *arena)
{
    const char *words;

    if (!verification->left)
        return "the rule does not find it any more";
    words = verification->left_ns > 0
                ? arena_text(arena, "%s by the same rule: %s",
                             time_of(verification, verification->left_ns, false, arena),
                             verification->left->title)
                : verification->left->title;
    return words ? words : "";
}

static const char *work_words(const struct gate_result *compared, struct arena *arena)
{
    for (size_t i = 0; i < compared->differences.count; i++) {
        const struct difference *difference = &compared->differences.items[i];
        const char              *words = arena_text(arena, "no: %s %s, was %s", difference->what,
                                                    difference->after, difference->before);

        if (difference->is_fatal)
            return words ? words : "no";
    }
    return compared->is_per_batch ? "yes, compared by the batch" : "yes, as far as is recorded";
}

static void write_pieces(struct layout *layout, const struct verification *verification)
{
    const struct gate_result *compared = &verification->compared;
    size_t shown = compared->pieces.count < MOST_PIECES ? compared->pieces.count : MOST_PIECES;

    for (size_t i = 0; i < shown; i++) {
        const struct piece *piece = &compared->pieces.items[i];
        struct text         line = { .arena = layout->arena };

        text_print(&line, "%s  %s",
                   time_of(verification, piece->after_ns - piece->before_ns, true, layout->arena),
                   piece->title);
        write_row(layout, i == 0 ? "changed" : "", text_str(&line).data);
    }
    if (shown > 0)
        write_row(layout, "",
                  arena_text(layout->arena, "%s  everything else",
                             time_of(verification, gate_words_rest(compared, shown), true,
                                     layout->arena)));
}

void verify_text(const struct verification *verification, const struct output_options *options,
                 struct text *text)
{
    const struct gate_result *compared = &verification->compared;
    struct layout             layout = layout_make(text, options->width, options->is_colored);

    layout_style(&layout, verification->kept == KEPT        ? STYLE_GOOD
                          : verification->kept == KEPT_LESS ? STYLE_BAD
                                                            : STYLE_DOUBTFUL);
    layout_wrap(&layout, 0, "", 0, layout_words(&layout, verification->headline));
    layout_end(&layout);
    layout_wrap(&layout, 0, "", 0,
                layout_words(&layout, gate_words_subject(compared, layout.arena)));
    layout_line(&layout);
    write_row(&layout, "claimed", verification->claimed->title);
    write_row(&layout, "same work", work_words(compared, layout.arena));
    write_row(&layout, "promised", promised_words(verification, layout.arena));
    if (compared->has_step) {
        struct text step = { .arena = layout.arena };

        text_print(&step, "%s, was %s",
                   time_of(verification, compared->after_ns, false, layout.arena),
                   time_of(verification, compared->before_ns, false, layout.arena));
        write_row(&layout, "achieved", achieved_words(verification, layout.arena));
        write_row(&layout, gate_words_unit(compared), text_str(&step).data);
        write_pieces(&layout, verification);
    }
    write_row(&layout, "left", left_words(verification, layout.arena));
    if (verification->why[0])
        write_row(&layout, "because", verification->why);
}

static void put_saving(struct json_writer *json, const char *key, double low_ns, double mid_ns,
                       double high_ns)
{
    put_object(json, key);
    put_ms(json, "low_ms", low_ns);
    put_ms(json, "mid_ms", mid_ns);
    put_ms(json, "high_ms", high_ns);
    json_object_end(json);
}

static bool is_same_work(const struct gate_result *compared)
{
    for (size_t i = 0; i < compared->differences.count; i++)
        if (compared->differences.items[i].is_fatal)
            return false;
    return true;
}

void verify_json(const struct verification *verification, const struct output_options *options,
                 struct text *text)
{
    const struct gate_result *compared = &verification->compared;
    struct json_writer        json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.verify/1");
    put_text(&json, "version", TFPROF_VERSION);
    put_text(&json, "outcome", kept_name(verification->kept));
    put_text(&json, "headline", verification->headline);
    put_text(&json, "why", verification->why[0] ? verification->why : NULL);
    put_text(&json, "before", compared->baseline);
    put_text(&json, "after", compared->profile);
    put_text(&json, "rule", verification->claimed->rule);
    put_text(&json, "title", verification->claimed->title);
    put_text(&json, "of", gate_words_unit(compared));
    put_bool(&json, "same_work", is_same_work(compared));
    put_saving(&json, "promised", verification->low_ns, verification->mid_ns,
               verification->high_ns);
    if (compared->has_step) {
        put_ms(&json, "before_ms", compared->before_ns);
        put_ms(&json, "after_ms", compared->after_ns);
        put_saving(&json, "achieved", verification->achieved_low_ns, verification->achieved_ns,
                   verification->achieved_high_ns);
    }
    put_bool(&json, "is_gone", !verification->left);
    put_ms(&json, "left_ms", verification->left_ns);
    json_object_end(&json);
    text_add_byte(text, '\n');
}

void verify_ledger(const struct verification *verification, struct text *text)
{
    const struct gate_result *compared = &verification->compared;
    const struct impact      *impact = &verification->claimed->impact;
    struct json_writer        json = { .text = text, .is_compact = true };
    double                    batches = compared->is_per_batch ? compared->batches_before : 1;

    json_object(&json);
    put_text(&json, "schema", "tfprof.ledger/1");
    put_text(&json, "version", TFPROF_VERSION);
    put_text(&json, "rule", verification->claimed->rule);
    put_text(&json, "framework", verification->before->identity.framework);
    put_text(&json, "method", method_name(impact->method));
    put_text(&json, "confidence", confidence_name(impact->confidence));
    put_text(&json, "outcome", kept_name(verification->kept));
    put_bool(&json, "same_work", is_same_work(compared));
    if (compared->has_step) {
        put_number(&json, "model_share", impact->model_ns / batches / compared->before_ns);
        put_number(&json, "promised_share", verification->mid_ns / compared->before_ns);
        put_number(&json, "achieved_share", verification->achieved_ns / compared->before_ns);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}
