#include "model/hardware_file.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/option.h"
#include "base/toml.h"

#include <math.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };
static const double MOST = 1e9; /* of any figure: that of a whole data centre is below */

/* Keys with a number, and what one is worth in the units of struct hardware. */
static const struct {
    const char *key;
    size_t      offset;
    double      unit;
    bool        is_peak;
} figures[] = {
#define FIGURE(field) offsetof(struct hardware, field)
    { "fp64-tflops", FIGURE(f64_flops_per_s), 1e12, true },
    { "fp32-tflops", FIGURE(f32_flops_per_s), 1e12, true },
    { "tf32-tflops", FIGURE(tf32_flops_per_s), 1e12, true },
    { "fp16-tflops", FIGURE(f16_flops_per_s), 1e12, true },
    { "bf16-tflops", FIGURE(bf16_flops_per_s), 1e12, true },
    { "fp8-tflops", FIGURE(f8_flops_per_s), 1e12, true },
    { "fp4-tflops", FIGURE(f4_flops_per_s), 1e12, true },
    { "int8-tops", FIGURE(i8_ops_per_s), 1e12, true },
    { "sparse-factor", FIGURE(sparse), 1, false },
    { "memory-gb-per-s", FIGURE(memory_bytes_per_s), 1e9, false },
    { "link-gb-per-s", FIGURE(link_bytes_per_s), 1e9, false },
};
static const char *const texts[] = { "name", "source" };

static bool unknown(const struct toml_entry *entry, struct err *err)
{
    const char *known[ARRAY_COUNT(figures) + ARRAY_COUNT(texts)], *near;
    size_t      count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(figures); i++)
        known[count++] = figures[i].key;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        known[count++] = texts[i];
    near = option_nearest(entry->key, known, count);
    if (entry->table[0])
        (void)err_set(err, ERR_USAGE, "an accelerator has no tables, as [%s]", entry->table);
    else
        (void)err_set(err, ERR_USAGE, "an accelerator has no '%s'", entry->key);
    if (near && !entry->table[0])
        (void)err_advise(err, "did you mean %s?", near);
    return toml_fault(entry, err);
}

static bool take_text(struct hardware *hardware, const struct toml_entry *entry, struct err *err)
{
    if (entry->kind != TOML_TEXT || !entry->text[0]) {
        (void)err_set(err, ERR_USAGE, "%s takes a string", entry->key);
        return toml_fault(entry, err);
    }
    *(strcmp(entry->key, "name") == 0 ? &hardware->words : &hardware->source) = entry->text;
    return true;
}

static bool take_entry(struct hardware *hardware, const struct toml_entry *entry, struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(texts) && !entry->table[0]; i++)
        if (strcmp(texts[i], entry->key) == 0)
            return take_text(hardware, entry, err);
    for (size_t i = 0; i < ARRAY_COUNT(figures) && !entry->table[0]; i++) {
        if (strcmp(figures[i].key, entry->key) != 0)
            continue;
        if (entry->kind != TOML_NUMBER || !(entry->number > 0 && entry->number <= MOST)) {
            (void)err_set(err, ERR_USAGE, "%s takes a number above 0, at most 1e9", entry->key);
            return toml_fault(entry, err);
        }
        *(double *)(void *)((char *)hardware + figures[i].offset) = entry->number * figures[i].unit;
        return true;
    }
    return unknown(entry, err);
}

static bool is_whole(const struct hardware *hardware, struct err *err)
{
    double most = 0;

    for (size_t i = 0; i < ARRAY_COUNT(figures); i++)
        if (figures[i].is_peak)
            most = fmax(
                most, *(const double *)(const void *)((const char *)hardware + figures[i].offset));
    if (!hardware->words)
        return err_set(err, ERR_USAGE, "an accelerator needs a name = \"...\"");
    if (hardware->memory_bytes_per_s <= 0)
        return err_set(err, ERR_USAGE, "an accelerator needs its memory-gb-per-s");
    return most > 0 || err_set(err, ERR_USAGE, "an accelerator needs a peak, as bf16-tflops");
}

static bool parse(struct str bytes, struct arena *arena, struct hardware *hardware, struct err *err)
{
    struct toml toml = { 0 };

    if (bytes.len > MOST_FILE_BYTES)
        return err_set(err, ERR_USAGE, "more than 1 MiB are no figures of an accelerator");
    if (!toml_parse(bytes, arena, &toml, err))
        return false;
    for (size_t i = 0; i < toml.entries.count; i++)
        if (!take_entry(hardware, &toml.entries.items[i], err))
            return false;
    return is_whole(hardware, err);
}

const struct hardware *hardware_named(const char *text, struct arena *arena, struct err *err)
{
    const struct hardware *known = hardware_find(str_from(text));
    struct hardware       *made;
    struct file            file = { 0 };

    if (known)
        return known;
    if (!file_is_plain(text)) {
        (void)err_set(err, ERR_USAGE,
                      "'%s' is neither an accelerator whose figures are known nor a file", text);
        (void)err_advise(err, "a name as H200, or a file with figures: docs/formats.md");
        return NULL;
    }
    made = arena_new(arena, struct hardware);
    if (!made) {
        (void)err_memory(err, "the figures of an accelerator");
        return NULL;
    }
    *made = (struct hardware) { .source = arena_text(arena, "%s", text) };
    if (!file_open(&file, text, MOST_FILE_BYTES + 1, err))
        return NULL;
    if (!parse(file.bytes, arena, made, err)) {
        (void)err_source(err, text);
        made = NULL;
    }
    file_close(&file);
    return made;
}
