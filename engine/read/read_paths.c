#include "read/read_paths.h"

#include <string.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
}

static char *join(struct arena *arena, const char *folder, const char *name)
{
    size_t len = strlen(folder);

    return arena_text(arena, "%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/", name);
}

static bool add_file(struct arena *arena, const char *folder, const char *name, const char *run,
                     struct read_paths *paths, struct err *err)
{
    struct str       suffix = STR(".xplane.pb"), text = str_from(name);
    struct read_path item = { .path = join(arena, folder, name), .run = NULL };

    if (run && !(item.run = arena_text(arena, "%s", run)))
        return no_memory(err);
    if (str_ends(text, suffix))
        item.host_name = arena_text(arena, "%.*s", (int)(text.len - suffix.len), name);
    return (item.path && vec_push(&paths->list, arena, item)) || no_memory(err);
}

/* The files right in a folder; only XSpace files where there are any, so that the trace.json.gz
 * which a profiler writes beside them is no second input. */
static bool add_folder(struct arena *arena, const char *folder, const char *run,
                       struct read_paths *paths, struct err *err)
{
    char **names;
    size_t count, xplanes = 0;

    if (!file_list(folder, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        xplanes += str_ends(str_from(names[i]), STR(".xplane.pb"));
    for (size_t i = 0; i < count; i++) {
        char *path = join(arena, folder, names[i]);

        if (!path)
            return no_memory(err);
        if (names[i][0] == '.' || file_is_directory(path) ||
            (xplanes && !str_ends(str_from(names[i]), STR(".xplane.pb"))))
            continue;
        if (!add_file(arena, folder, names[i], run, paths, err))
            return false;
    }
    return true;
}

/* Runs are named by their time, so the last by name is the newest. */
static bool add_runs(struct arena *arena, const char *folder, const char *run, bool is_every_run,
                     struct read_paths *paths, struct err *err)
{
    char **names;
    size_t count, chosen = SIZE_MAX, runs = 0;

    if (!file_list(folder, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        char *path = join(arena, folder, names[i]);

        if (!path)
            return no_memory(err);
        if (!file_is_directory(path))
            continue;
        runs++;
        if (is_every_run && !add_folder(arena, path, names[i], paths, err))
            return false;
        if (!run || strcmp(run, names[i]) == 0)
            chosen = i;
    }
    if (is_every_run)
        return true;
    if (chosen == SIZE_MAX) {
        err_set(err, ERR_INPUT, "has no run %s", run ? run : "at all");
        return err_advise(err, "--list shows the runs there are") || err_source(err, folder);
    }
    paths->other_run_count = runs - 1;
    return add_folder(arena, join(arena, folder, names[chosen]), names[chosen], paths, err);
}

/* Folders below the log directory that hold plugins/profile ("train", "validation"). */
static const char *find_plugin(struct arena *arena, const char *folder)
{
    struct err ignored = { 0 };
    char     **names;
    char      *path = join(arena, folder, "plugins/profile");
    size_t     count;

    if (path && file_is_directory(path))
        return path;
    if (!file_list(folder, arena, &names, &count, &ignored))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        char *inner = join(arena, folder, names[i]);

        path = inner ? join(arena, inner, "plugins/profile") : NULL;
        if (path && file_is_directory(path))
            return path;
    }
    return NULL;
}

bool read_paths_find(const char *path, const char *run, bool is_every_run, struct arena *arena,
                     struct read_paths *paths, struct err *err)
{
    struct read_path item = { .path = arena_text(arena, "%s", path) };
    const char      *plugin;
    size_t           before = paths->list.count;

    if (strcmp(path, "-") == 0 || !file_is_directory(path)) {
        const char *slash = strrchr(path, '/');
        struct str  name = str_from(slash ? slash + 1 : path), suffix = STR(".xplane.pb");

        if (str_ends(name, suffix) && name.len > suffix.len)
            item.host_name = arena_text(arena, "%.*s", (int)(name.len - suffix.len), name.data);
        return (item.path && vec_push(&paths->list, arena, item)) || no_memory(err);
    }
    plugin = find_plugin(arena, path);
    if (plugin)
        return add_runs(arena, plugin, run, is_every_run, paths, err);
    if (!add_folder(arena, path, NULL, paths, err))
        return false;
    if (paths->list.count == before) {
        err_set(err, ERR_INPUT, "holds no file to read");
        err_advise(err, "name a profile, or a log directory with plugins/profile/RUN in it");
        return err_source(err, path);
    }
    return true;
}
