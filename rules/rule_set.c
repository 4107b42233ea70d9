/* rule_set: loads the rules that are compiled in and those of directories, and orders them by id.
 */
#include "rules/rule.h"

#include "base/file.h"
#include "base/sort.h"
#include "rules/builtin.h"
#include "rules/guest.h"
#include "rules/sandbox.h"
#include "rules/script_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The id a file should have, for those that did not get as far as saying it. */
static const char *stem_of(const char *file, struct arena *arena)
{
    struct str name = str_from(file);
    size_t     slash = str_find_last(name, '/');

    if (slash < name.len)
        name = str_slice(name, slash + 1, name.len);
    if (str_ends(name, STR(".lua")))
        name.len -= 4;
    return arena_str(arena, name).data;
}

/* Takes the loaded rule over, also where it fails. */
static bool add_rule(struct rule_set *set, struct rule *rule, const char *pack, struct arena *arena,
                     struct err *err)
{
    rule->info.pack = pack;
    if (rule->error)
        rule->info.id = stem_of(rule->info.file, arena);
    if (!rule->info.id || !vec_push(&set->rules, arena, *rule)) {
        rule_free(rule);
        return err_memory(err, "the rules");
    }
    return true;
}

static uint32_t line_of(struct str script, size_t at)
{
    uint32_t line = 1;

    for (size_t i = 0; i < at && i < script.len; i++)
        line += script.data[i] == '\n';
    return line;
}

/* What a pack's manifest says is before the slash of its rules' ids. */
static void check_pack(struct rule *rule, struct str script, const char *pack, struct arena *arena)
{
    struct str id = str_from(rule->info.id), name = str_from(pack);

    if (rule->error || (str_starts(id, name) && id.len > name.len && id.data[name.len] == '/'))
        return;
    id = str_slice(id, str_find(id, '/') < id.len ? str_find(id, '/') + 1 : 0, id.len);
    rule->error =
        arena_text(arena, "%s:%u: id is '%s'; in the pack %s it is '%s/%.*s'", rule->info.file,
                   line_of(script, script_find_quoted(script, rule->info.id)), rule->info.id, pack,
                   pack, STR_ARG(id));
    if (!rule->error)
        rule->error = "not enough memory";
}

/* A folder at work. */
struct adding {
    struct rule_set          *set;
    const char               *directory, *pack;
    const char               *only; /* this file of it; NULL: all */
    struct pack_manifest      manifest;
    const struct rule_limits *limits;
    VEC(struct rule) loading; /* with file and script */
};

/* Its script in the arena: a process to come has no files. */
static bool add_file(struct adding *adding, const char *path, struct arena *arena, struct err *err)
{
    struct file file = { 0 };
    struct rule rule = { .info.file = path, .is_apart = true };
    bool        is_added;

    /* What does not load is quoted, and may be a secret of whoever looks. */
    if (!file_is_inside(path, adding->directory))
        return err_set(err, ERR_USAGE, "%s is a link that leads out of %s", path,
                       adding->directory);
    if (!file_open(&file, path, adding->limits->memory_bytes, err))
        return false;
    rule.script = arena_str(arena, file.bytes);
    is_added = (rule.script.data && vec_push(&adding->loading, arena, rule)) ||
               err_memory(err, "the rules");
    file_close(&file);
    return is_added;
}

static bool add_files(struct adding *adding, struct arena *arena, struct err *err)
{
    char **names;
    size_t count;

    if (!file_list(adding->directory, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_text(arena, "%s/%s", adding->directory, names[i]);

        if (!path)
            return err_memory(err, "the rules");
        if (adding->only ? strcmp(names[i], adding->only) != 0
                         : !str_ends(str_from(path), STR(".lua")) || !file_is_plain(path))
            continue;
        if (!add_file(adding, path, arena, err))
            return false;
    }
    return true;
}

/* A rule of a pack that does not load is called as it should be, too. */
static bool name_broken(const struct adding *adding, struct arena *arena, struct err *err)
{
    struct rule *rule = &adding->set->rules.items[adding->set->rules.count - 1];

    if (rule->error && adding->manifest.name)
        rule->info.id = arena_text(arena, "%s/%s", adding->manifest.name, rule->info.id);
    return rule->info.id || err_memory(err, "the rules");
}

/* Takes the loaded rules into the set. */
static bool add_loaded(struct adding *adding, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < adding->loading.count; i++) {
        struct rule *rule = &adding->loading.items[i];
        struct str   script = rule->script;

        if (adding->manifest.name)
            check_pack(rule, script, adding->pack, arena);
        if (!add_rule(adding->set, rule, adding->pack, arena, err) ||
            !name_broken(adding, arena, err))
            return false;
    }
    return true;
}

/* A pack of one name comes from one folder. */
static bool add_manifest(struct rule_set *set, const struct pack_manifest *manifest,
                         struct arena *arena, struct err *err)
{
    for (size_t i = 0; manifest->name && i < set->manifests.count; i++) {
        const struct pack_manifest *other = &set->manifests.items[i];

        if (strcmp(other->name, manifest->name) == 0)
            return err_set(err, ERR_USAGE, "two packs are called '%s': %s and %s", manifest->name,
                           other->file, manifest->file);
    }
    return !manifest->name || vec_push(&set->manifests, arena, *manifest) ||
           err_memory(err, "the rules");
}

/* One file of rules stands for its folder, of which it alone is taken. */
static bool take_file(struct adding *adding, struct arena *arena, struct err *err)
{
    const char *path = adding->directory, *slash = strrchr(path, '/');

    if (!str_ends(str_from(path), STR(".lua")) || !file_is_plain(path))
        return err_set(err, ERR_USAGE, "%s is no directory of rules, and no rule", path);
    adding->only = slash ? slash + 1 : path;
    adding->directory =
        slash ? arena_text(arena, "%.*s", slash > path ? (int)(slash - path) : 1, path) : ".";
    return adding->directory || err_memory(err, "the rules");
}

static bool add_directory(struct adding *adding, struct arena *arena, struct err *err)
{
    struct pack row = { .name = adding->pack, .version = "0" };

    if (!file_is_directory(adding->directory) && !take_file(adding, arena, err))
        return false;
    if (!pack_read(adding->directory, arena, &adding->manifest, err) ||
        !add_manifest(adding->set, &adding->manifest, arena, err) || !add_files(adding, arena, err))
        return false;
    if (adding->manifest.name) {
        adding->pack = row.name = adding->manifest.name;
        row.version = adding->manifest.version;
    }
    if (!guest_load(adding->loading.items, adding->loading.count, adding->limits, arena))
        adding->set->is_unfiltered = true;
    row.rule_count = (uint32_t)adding->loading.count;
    return add_loaded(adding, arena, err) &&
           (vec_push(&adding->set->packs, arena, row) || err_memory(err, "the rules"));
}

bool rule_set_add_directory(struct rule_set *set, const char *directory, const char *pack,
                            const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    struct adding adding = { .set = set, .directory = directory, .pack = pack, .limits = limits };

    return add_directory(&adding, arena, err);
}

static int compare_rules(const void *a, const void *b)
{
    const struct rule *x = a, *y = b;

    return IN_ORDER(strcmp(x->info.id, y->info.id), strcmp(x->info.file, y->info.file));
}

/* Two rules of one id cannot be told apart by --skip or a suppression. */
static bool refuse_twins(const struct rule_set *set, struct err *err)
{
    for (size_t i = 1; i < set->rules.count; i++) {
        const struct rule_info *a = &set->rules.items[i - 1].info, *b = &set->rules.items[i].info;
        if (strcmp(a->id, b->id) == 0)
            return err_set(err, ERR_USAGE, "two rules are called '%s': %s and %s", a->id, a->file,
                           b->file);
    }
    return true;
}

static bool add_builtin(struct rule_set *set, const struct rule_limits *limits, struct arena *arena,
                        struct err *err)
{
    struct pack ours = { "tfprof", TFPROF_VERSION, (uint32_t)builtin_rule_count };

    set->shared = sandbox_new(limits, arena, err);
    if (!set->shared)
        return false;
    for (size_t i = 0; i < builtin_rule_count; i++) {
        struct rule rule;

        if (!rule_take_builtin(&rule, &builtin_rules[i], set->shared, arena, err) ||
            !add_rule(set, &rule, ours.name, arena, err))
            return false;
    }
    return vec_push(&set->packs, arena, ours) || err_memory(err, "the rules");
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The command line may name what the project names too. */
static bool is_repeated(const struct option_list *directories, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same_folder(directories->values.items[i], directories->values.items[at]))
            return true;
    return false;
}

bool rule_set_add_directories(struct rule_set *set, const struct option_list *directories,
                              const struct rule_limits *limits, struct arena *arena,
                              struct err *err)
{
    for (size_t i = 0; directories && i < directories->values.count; i++) {
        const char   *directory = directories->values.items[i];
        struct adding adding = {
            .set = set, .directory = directory, .pack = directory, .limits = limits
        };

        if (!is_repeated(directories, i) && !add_directory(&adding, arena, err))
            return false;
    }
    return true;
}

bool rule_set_load(struct rule_set *set, const struct option_list *directories,
                   const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    *set = (struct rule_set) { 0 };
    if (!add_builtin(set, limits, arena, err) ||
        !rule_set_add_directories(set, directories, limits, arena, err))
        return false;
    if (set->rules.count > 0)
        qsort(set->rules.items, set->rules.count, sizeof *set->rules.items, compare_rules);
    return refuse_twins(set, err);
}

void rule_set_free(struct rule_set *set)
{
    for (size_t i = 0; i < set->rules.count; i++)
        rule_free(&set->rules.items[i]);
    sandbox_free(set->shared);
    *set = (struct rule_set) { 0 };
}
