/* text_in_step: a step that trains cleans, splits and looks up text, or decodes files: what it
 * makes of one example is the same in every epoch, and belongs into the input pipeline, made once.
 * With the ops of the same layer around it. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "base/macros.h"

struct finder {
    struct ledger *ledger;
    VEC(struct str) layers; /* "model/text_vectorization/": of ops on text */
    uint8_t *on_text;   /* by name of the profile: 1 + whether ops of that type are; 0 unknown */
    uint32_t text_unit; /* with most time; NO_ID none */
    bool     trains;
};

/* Ops whose operands are texts or the bytes of files. */
static bool takes_text(struct str type)
{
    static const char types[] =
        "String*|StaticRegex*|RegexReplace*|Unicode*|Substr*|LookupTableFind*|Wordpiece*|"
        "Sentencepiece*|DecodeJpeg*|DecodePng*|DecodeImage*|DecodeWav*|"
        "DecodeAndCropJpeg*|ParseExample*|DecodeCSV*";

    return str_fits(type, types);
}

static bool is_on_text(const struct finder *finder, const struct work_unit *unit)
{
    uint8_t *known = &finder->on_text[unit->type];

    if (!*known)
        *known = (uint8_t)(takes_text(unit_type(finder->ledger, unit)) + 1);
    return *known == 2;
}

static struct str name_of(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct profile *profile = ledger->study->profile;

    return unit->op == NO_ID ? (struct str) { 0 }
                             : profile_str(profile, profile->ops.items[unit->op].name);
}

/* Layers have a name below the model's: an op right below the function has no layer. Keras looks up
 * in a scope of its own in the layer, of which the encoding of what was found is no part. */
static bool add_layer(struct finder *finder, struct str name)
{
    size_t     slash = str_find_last(name, '/');
    struct str layer = str_slice(name, 0, slash < name.len ? slash : 0);

    if (str_ends(layer, STR("_Lookup"))) {
        slash = str_find_last(layer, '/');
        layer = str_slice(layer, 0, slash < layer.len ? slash : 0);
    }
    if (layer.len > 0)
        layer = str_slice(name, 0, layer.len + 1);

    for (size_t i = 0; i < finder->layers.count; i++)
        if (str_equal(finder->layers.items[i], layer))
            return true;
    return layer.len == 0 || vec_push(&finder->layers, finder->ledger->scratch, layer);
}

static bool look(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP)
            continue;
        finder->trains = finder->trains || graph_name_is_gradient(name_of(ledger, unit));
        if (!is_on_text(finder, unit))
            continue;
        if (!add_layer(finder, name_of(ledger, unit)))
            return false;
        if (finder->text_unit == NO_ID || unit->ns > ledger->units.items[finder->text_unit].ns)
            finder->text_unit = u;
    }
    return true;
}

static bool belongs(const struct finder *finder, const struct work_unit *unit)
{
    struct str name = name_of(finder->ledger, unit);

    if (unit->kind != UNIT_OP || graph_name_is_gradient(name))
        return false;
    if (is_on_text(finder, unit))
        return true;
    for (size_t i = 0; i < finder->layers.count; i++)
        if (str_starts(name, finder->layers.items[i]))
            return true;
    return false;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .text_unit = NO_ID };
    uint32_t      cell;

    if (ledger->is_torch || ledger->study->profile->format == FORMAT_KINETO)
        return true;
    finder.on_text =
        arena_new_array(ledger->scratch, uint8_t, ledger->study->profile->names.count + 1);
    if (!finder.on_text || !look(&finder))
        return false;
    if (!finder.trains || finder.text_unit == NO_ID)
        return true;
    cell = ledger_cell(ledger, self, &ledger->units.items[finder.text_unit]);
    if (cell == NO_ID ||
        !ledger_tell(ledger, cell, "%.*s and the ops of its layer, in a step that trains",
                     STR_ARG(unit_type(ledger, &ledger->units.items[finder.text_unit]))))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (belongs(&finder, &ledger->units.items[u]))
            ledger_claim(ledger, cell, &ledger->units.items[u], 1);
    return true;
}

const struct detector detector_text_in_step = { "text-in-step", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
