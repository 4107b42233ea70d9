/* pack: reads pack.toml. */
#include "rules/pack.h"

#include "base/file.h"
#include "base/option.h"
#include "base/toml.h"
#include "rules/rule.h"

#include <stdio.h>
#include <string.h>

struct manifest_values {
    const char *name, *version, *api, *requires_engine, *description;
};
static const struct manifest_key {
    const char    *key;
    enum toml_kind kind;
    size_t         offset;
    bool           is_needed;
} keys[] = {
    { "name", TOML_TEXT, offsetof(struct manifest_values, name), true },
    { "version", TOML_TEXT, offsetof(struct manifest_values, version), true },
    { "api", TOML_NUMBER, offsetof(struct manifest_values, api), true },
    { "requires_engine", TOML_TEXT, offsetof(struct manifest_values, requires_engine), false },
    { "description", TOML_TEXT, offsetof(struct manifest_values, description), false },
};

static bool fault(const struct toml_entry *entry, struct err *err)
{
    err->line = entry ? entry->line : 1;
    err->column = entry ? entry->column : 1;
    return false;
}

static bool unknown(const struct toml_entry *entry, struct err *err)
{
    const char *names[ARRAY_COUNT(keys)], *near;

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        names[i] = keys[i].key;
    if (entry->table[0])
        err_set(err, ERR_USAGE, "a pack's manifest has no table [%s]", entry->table);
    else
        err_set(err, ERR_USAGE, "a pack's manifest has no key '%s'", entry->key);
    near = entry->table[0] ? NULL : option_nearest(entry->key, names, ARRAY_COUNT(names));
    if (near)
        err_advise(err, "did you mean %s?", near);
    else
        err_advise(err, "it has name, version, api, requires_engine and description");
    return fault(entry, err);
}

static const struct toml_entry *entry_of(const struct toml *toml, const char *key)
{
    for (size_t i = 0; i < toml->entries.count; i++)
        if (!toml->entries.items[i].table[0] && strcmp(toml->entries.items[i].key, key) == 0)
            return &toml->entries.items[i];
    return NULL;
}

static bool take_entry(struct manifest_values *values, const struct toml_entry *entry,
                       struct err *err)
{
    for (size_t i = 0; !entry->table[0] && i < ARRAY_COUNT(keys); i++) {
        if (strcmp(keys[i].key, entry->key) != 0)
            continue;
        if (entry->kind != keys[i].kind) {
            err_set(err, ERR_USAGE, "%s takes a %s", entry->key,
                    keys[i].kind == TOML_TEXT ? "string" : "number");
            return fault(entry, err);
        }
        *(const char **)((char *)values + keys[i].offset) = entry->text;
        return true;
    }
    return unknown(entry, err);
}

static bool check_needed(const struct manifest_values *values, struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        const char *value = *(const char *const *)((const char *)values + keys[i].offset);

        if (value || !keys[i].is_needed)
            continue;
        err_set(err, ERR_USAGE, "a pack's manifest lacks %s", keys[i].key);
        err_advise(err, "as: name = \"acme\", version = \"1.0.0\", api = %d", RULE_API);
        return fault(NULL, err);
    }
    return true;
}

static bool is_pack_name(const char *name)
{
    size_t len = strspn(name ? name : "", "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && !name[len] && strcmp(name, "tfprof") != 0;
}

/* "1.2.0": three numbers, of which the last may be left out. */
static bool scan_version(const char *text, uint64_t parts[3])
{
    struct str rest = str_from(text);
    size_t     count = 0;

    memset(parts, 0, 3 * sizeof *parts);
    while (rest.len > 0 && count < 3)
        if (!str_to_uint64(str_cut(&rest, '.'), &parts[count++]))
            return false;
    return count >= 2 && rest.len == 0 && !str_ends(str_from(text), STR("."));
}

static bool is_older(const uint64_t ours[3], const uint64_t wanted[3])
{
    for (int i = 0; i < 3; i++)
        if (ours[i] != wanted[i])
            return ours[i] < wanted[i];
    return false;
}

static bool check_engine(const struct manifest_values *values, struct err *err)
{
    const char *wanted = values->requires_engine;
    uint64_t    ours[3], theirs[3];

    if (!wanted)
        return true;
    if (str_starts(str_from(wanted), STR(">=")))
        wanted += 2 + strspn(wanted + 2, " ");
    if (!scan_version(wanted, theirs) || !scan_version(TFPROF_VERSION, ours))
        return err_set(err, ERR_USAGE, "requires_engine takes a version as \">= 0.1.0\", not '%s'",
                       values->requires_engine);
    return !is_older(ours, theirs) ||
           err_set(err, ERR_USAGE, "the pack %s %s needs tfprof %s or newer; this is %s",
                   values->name, values->version, wanted, TFPROF_VERSION);
}

static bool check_name(const struct manifest_values *values, struct err *err)
{
    if (is_pack_name(values->name))
        return true;
    err_set(err, ERR_USAGE, "'%s' cannot be the name of a pack", values->name);
    return err_advise(err, "it has small letters, digits and dashes, and is not tfprof");
}

static bool check_version(const struct manifest_values *values, struct err *err)
{
    uint64_t parts[3];

    return scan_version(values->version, parts) ||
           err_set(err, ERR_USAGE, "version takes numbers as \"1.2.0\", not '%s'", values->version);
}

static bool check_api(const struct manifest_values *values, struct err *err)
{
    uint64_t api;

    if (!str_to_uint64(str_from(values->api), &api) || api == 0)
        return err_set(err, ERR_USAGE, "api takes a whole number from 1 on, not '%s'", values->api);
    return api <= RULE_API ||
           err_set(err, ERR_USAGE, "the pack %s %s needs rule API %s; this tfprof has API %d",
                   values->name, values->version, values->api, RULE_API);
}

static bool check_values(const struct toml *toml, const struct manifest_values *values,
                         struct err *err)
{
    static const struct {
        const char *key;
        bool (*check)(const struct manifest_values *values, struct err *err);
    } checks[] = {
        { "name", check_name },
        { "version", check_version },
        { "api", check_api },
        { "requires_engine", check_engine },
    };

    if (!check_needed(values, err))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(checks); i++)
        if (!checks[i].check(values, err))
            return fault(entry_of(toml, checks[i].key), err);
    return true;
}

static bool read_file(struct pack_manifest *manifest, struct arena *arena, struct err *err)
{
    struct file            file = { 0 };
    struct manifest_values values = { 0 };
    struct toml            toml;
    bool                   is_fine;

    if (!file_open(&file, manifest->file, 1 << 20, err))
        return false;
    is_fine = toml_parse(file.bytes, arena, &toml, err);
    for (size_t i = 0; is_fine && i < toml.entries.count; i++)
        is_fine = take_entry(&values, &toml.entries.items[i], err);
    is_fine = is_fine && check_values(&toml, &values, err);
    file_close(&file);
    manifest->name = values.name;
    manifest->version = values.version;
    manifest->description = values.description;
    return is_fine || err_source(err, manifest->file);
}

bool pack_read(const char *directory, struct arena *arena, struct pack_manifest *manifest,
               struct err *err)
{
    *manifest = (struct pack_manifest) { .file = arena_text(arena, "%s/pack.toml", directory) };
    if (!manifest->file)
        return err_memory(err, "the rules");
    if (!file_is_plain(manifest->file))
        return true;
    if (!file_is_inside(manifest->file, directory))
        return err_set(err, ERR_USAGE, "%s is a link that leads out of %s", manifest->file,
                       directory);
    return read_file(manifest, arena, err);
}
