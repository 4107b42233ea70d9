#include "read/read_paths.h"
#include "base/sort.h"
#include "read/windows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIME_FIELDS = 6, TIME_BYTES = 32 };

struct run { /* of a log directory */
    char *path, *name;
    char  time[TIME_BYTES]; /* "2026_11_21_11_55_52": sorts as times do */
    char *folder; /* below the log directory, which holds its plugins/profile; "" itself */
    char *title;  /* as --list shows it */
};
struct runs {
    VEC(struct run) list; /* of one folder after the other, oldest first */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
}

static char *join(struct arena *arena, const char *folder, const char *name)
{
    size_t len = strlen(folder);

    return arena_text(arena, "%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/", name);
}

static bool leave_out(struct read_paths *paths, struct arena *arena, char *what)
{
    return what && vec_push(&paths->left_out, arena, what);
}

/* "h0.xplane.pb" and "h0.xplane.pb.gz" -> "h0"; empty: another file. */
static struct str xplane_host(const char *name)
{
    static const struct str ends[] = { STR_INIT(".xplane.pb"), STR_INIT(".xplane.pb.gz") };
    struct str              text = str_from(name);

    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        if (str_ends(text, ends[i]))
            return str_slice(text, 0, text.len - ends[i].len);
    return (struct str) { "", 0 };
}

static bool add_file(struct arena *arena, const char *folder, const char *name, const char *run,
                     struct read_paths *paths, struct err *err)
{
    struct str       host = xplane_host(name);
    struct read_path item = { .path = join(arena, folder, name), .run = NULL };

    if (run && !(item.run = arena_text(arena, "%s", run)))
        return no_memory(err);
    if (host.len)
        item.host_name = arena_text(arena, "%.*s", STR_ARG(host));
    return (item.path && vec_push(&paths->list, arena, item)) || no_memory(err);
}

/* The same host's recording once more, packed: names are in order, so that it follows. */
static bool is_second(const char *name, const struct read_paths *paths, size_t before)
{
    const struct read_path *last =
        paths->list.count > before ? &paths->list.items[paths->list.count - 1] : NULL;

    return last && last->host_name && str_equal(str_from(last->host_name), xplane_host(name));
}

/* The plain files right in a folder; only XSpace files where there are any, so that trace.json.gz,
 * which a profiler writes beside them is no second input. */
static bool add_folder(struct arena *arena, const char *folder, const char *run,
                       struct read_paths *paths, struct err *err)
{
    char **names;
    size_t count, xplanes = 0, before = paths->list.count, end = 0, chosen = 0;

    if (!file_list(folder, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        xplanes += names[i][0] != '.' && xplane_host(names[i]).len > 0;
    for (size_t i = 0; i < count; i++) {
        char *path = join(arena, folder, names[i]);

        if (!path)
            return no_memory(err);
        if (i >= end)
            chosen = window_choose(folder, names, count, i, arena, &end);
        if (names[i][0] == '.' || !file_is_plain(path) ||
            (xplanes && xplane_host(names[i]).len == 0))
            continue;
        if (xplanes && is_second(names[i], paths, before)) {
            if (!leave_out(paths, arena, arena_text(arena, "%s", names[i])))
                return no_memory(err);
        } else if (i != chosen) {
            if (!leave_out(
                    paths, arena,
                    arena_text(arena, "%s (of the same process as %s)", names[i], names[chosen])))
                return no_memory(err);
        } else if (!add_file(arena, folder, names[i], run, paths, err)) {
            return false;
        }
    }
    return true;
}

/* A name that begins with year, month, day, hour, minute and second, as profilers call runs. */
static bool time_in_name(const char *name, char time[TIME_BYTES])
{
    static const int digits[TIME_FIELDS] = { 4, 2, 2, 2, 2, 2 };
    size_t           at = 0;

    for (int field = 0; field < TIME_FIELDS; field++) {
        if (field > 0 && name[at++] == '\0')
            return false;
        for (int i = 0; i < digits[field]; i++)
            if (name[at] < '0' || name[at++] > '9')
                return false;
    }
    for (size_t i = 0; i < at; i++)
        time[i] = name[i] >= '0' && name[i] <= '9' ? name[i] : '_';
    time[at] = '\0';
    return true;
}

/* When a run was recorded: by its name, else when its folder was last written into. */
static void set_time(struct run *run)
{
    time_t    changed;
    struct tm parts;

    if (time_in_name(run->name, run->time))
        return;
    changed = (time_t)file_changed_s(run->path);
    if (!localtime_r(&changed, &parts) ||
        strftime(run->time, sizeof run->time, "%Y_%m_%d_%H_%M_%S", &parts) == 0)
        run->time[0] = '\0';
}

static int by_time(const void *a, const void *b)
{
    const struct run *left = a, *right = b;

    return IN_ORDER(strcmp(left->time, right->time), strcmp(left->name, right->name));
}

/* The runs in plugins/profile of a folder below the log directory, or ("") of itself. */
static bool add_runs(struct runs *runs, const char *path, const char *folder, struct arena *arena,
                     struct err *err)
{
    char  *inner = *folder ? join(arena, path, folder) : arena_text(arena, "%s", path);
    char  *plugin = inner ? join(arena, inner, "plugins/profile") : NULL;
    char **names;
    size_t count, before = runs->list.count;

    if (!plugin)
        return no_memory(err);
    if (!file_is_directory(plugin))
        return true;
    if (!file_list(plugin, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct run run = { .path = join(arena, plugin, names[i]),
                           .name = names[i],
                           .folder = arena_text(arena, "%s", folder) };

        if (!run.path || !run.folder)
            return no_memory(err);
        if (names[i][0] == '.' || !file_is_directory(run.path))
            continue;
        set_time(&run);
        if (!vec_push(&runs->list, arena, run))
            return no_memory(err);
    }
    if (runs->list.count > before)
        qsort(runs->list.items + before, runs->list.count - before, sizeof *runs->list.items,
              by_time);
    return true;
}

/* All runs below a log directory: its own, and of folders in it ("train", "validation"). */
static bool find_runs(struct runs *runs, const char *path, struct arena *arena, struct err *err)
{
    char **names;
    size_t count;
    bool   is_one = true;

    if (!file_list(path, arena, &names, &count, err) || !add_runs(runs, path, "", arena, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (names[i][0] != '.' && !add_runs(runs, path, names[i], arena, err))
            return false;
    for (size_t i = 1; i < runs->list.count; i++)
        is_one = is_one && strcmp(runs->list.items[i].folder, runs->list.items[0].folder) == 0;
    for (size_t i = 0; i < runs->list.count; i++) {
        struct run *run = &runs->list.items[i];

        run->title = is_one || !*run->folder ? run->name : join(arena, run->folder, run->name);
        if (!run->title)
            return no_memory(err);
    }
    return true;
}

static bool is_wanted(const struct run *run, const char *name)
{
    return strcmp(run->title, name) == 0 || strcmp(run->name, name) == 0;
}

/* The newest is the last; of those of the first folder. One without files was never written. */
static bool choose_run(const struct runs *runs, const char *name, struct arena *arena,
                       struct read_paths *paths, size_t *chosen, struct err *err)
{
    size_t before = paths->list.count;

    *chosen = runs->list.count;
    for (size_t i = runs->list.count; i > 0; i--) {
        const struct run *run = &runs->list.items[i - 1];

        if (name ? !is_wanted(run, name) : strcmp(run->folder, runs->list.items[0].folder) != 0)
            continue;
        if (!add_folder(arena, run->path, run->title, paths, err))
            return false;
        *chosen = i - 1;
        if (paths->list.count > before)
            break;
    }
    return true;
}

static bool is_first_of_folder(const struct runs *runs, size_t row)
{
    return row == 0 || strcmp(runs->list.items[row - 1].folder, runs->list.items[row].folder) != 0;
}

/* Runs of the same folder by name, other folders as a whole. */
static bool leave_out_runs(const struct runs *runs, size_t chosen, struct arena *arena,
                           struct read_paths *paths, struct err *err)
{
    const struct run *at = &runs->list.items[chosen];

    paths->has_choice = runs->list.count > 1;
    paths->chosen = arena_text(arena, "%s", at->title);
    if (!paths->chosen)
        return no_memory(err);
    for (size_t i = 0; i < runs->list.count; i++) {
        const struct run *run = &runs->list.items[i];
        char             *what;

        if (strcmp(run->folder, at->folder) == 0)
            what = i == chosen ? NULL
                               : arena_text(arena, "%s (%s run)", run->name,
                                            i < chosen ? "an older" : "a newer");
        else
            what = is_first_of_folder(runs, i)
                       ? arena_text(arena, "%s/", *run->folder ? run->folder : "plugins")
                       : NULL;
        if (what && !leave_out(paths, arena, what))
            return no_memory(err);
    }
    return true;
}

static bool add_log_directory(const struct runs *runs, const char *path,
                              const struct read_paths_how *how, struct arena *arena,
                              struct read_paths *paths, struct err *err)
{
    size_t before = paths->list.count, chosen;

    for (size_t i = 0; how->is_every_run && i < runs->list.count; i++)
        if (!add_folder(arena, runs->list.items[i].path, runs->list.items[i].title, paths, err))
            return false;
    if (how->is_every_run)
        return true;
    if (!choose_run(runs, how->run, arena, paths, &chosen, err))
        return false;
    if (chosen == runs->list.count) {
        err_set(err, ERR_INPUT, "has no run %s", how->run);
        err_advise(err, "--list shows the runs there are");
        return err_source(err, path);
    }
    if (paths->list.count == before) {
        err_set(err, ERR_INPUT, "holds no file to read");
        err_advise(err, "the profiler was probably stopped before it wrote; record again");
        return err_source(err, runs->list.items[chosen].path);
    }
    return leave_out_runs(runs, chosen, arena, paths, err);
}

static bool holds_recording(const struct read_paths *paths, size_t first,
                            const struct read_paths_how *how)
{
    for (size_t i = first; i < paths->list.count; i++)
        if (paths->list.items[i].host_name || how->is_recording(paths->list.items[i].path))
            return true;
    return false;
}

/* Recordings lie deeper in folders of jobs, but nobody means all of a disk. */
enum { MOST_DEPTH = 4, MOST_FOLDERS = 2000 };

struct below { /* what lies below a folder that holds no recording itself */
    const struct read_paths_how *how;
    const char                  *path;
    size_t                       seen;
    VEC(char *) places; /* folders that hold a recording, or runs; below path */
};

static bool look_at(struct below *below, char *place, int depth, struct arena *arena,
                    struct err *err);

static bool look_into(struct below *below, const char *place, int depth, struct arena *arena,
                      struct err *err)
{
    char *folder = *place ? join(arena, below->path, place) : arena_text(arena, "%s", below->path);
    struct err closed = { 0 };
    char     **names;
    size_t     count;

    if (!folder)
        return no_memory(err);
    if (!file_list(folder, arena, &names, &count, &closed))
        return true; /* it is not for us to read */
    for (size_t i = 0; i < count; i++) {
        char *inner = *place ? join(arena, place, names[i]) : names[i];

        if (!inner)
            return no_memory(err);
        if (names[i][0] != '.' && !look_at(below, inner, depth, arena, err))
            return false;
    }
    return true;
}

static bool look_at(struct below *below, char *place, int depth, struct arena *arena,
                    struct err *err)
{
    struct read_paths inner = { 0 };
    struct runs       runs = { 0 };
    struct err        closed = { 0 };
    char             *folder = join(arena, below->path, place);

    if (!folder)
        return no_memory(err);
    if (!file_is_directory(folder) || below->seen++ >= MOST_FOLDERS)
        return true;
    if (!add_runs(&runs, folder, "", arena, &closed) ||
        (!runs.list.count && !add_folder(arena, folder, NULL, &inner, &closed)))
        return closed.code == ERR_INPUT || no_memory(err); /* it is not for us to read */
    if (runs.list.count || holds_recording(&inner, 0, below->how))
        return vec_push(&below->places, arena, place) || no_memory(err);
    return depth == MOST_DEPTH || look_into(below, place, depth + 1, arena, err);
}

static bool refuse_several(char *const *folders, size_t count, const char *path, struct err *err)
{
    err_set(err, ERR_INPUT, "holds no recording itself, but %zu folders that do", count);
    err_advise(err, "name one of %s, %s%s", folders[0], folders[1], count > 2 ? " …" : "");
    return err_source(err, path);
}

static bool add_directory(const char *path, const struct read_paths_how *how, struct arena *arena,
                          struct read_paths *paths, struct err *err);

/* Where a folder holds no recording, but one of those below it does, that one stands for it. */
static bool look_below(const char *path, const struct read_paths_how *how, struct arena *arena,
                       size_t before, struct read_paths *paths, struct err *err)
{
    struct below below = { .how = how, .path = path };

    if (!look_into(&below, "", 1, arena, err))
        return false;
    if (below.places.count == 0)
        return true;
    if (below.places.count > 1 && !how->is_every_run)
        return refuse_several(below.places.items, below.places.count, path, err);
    paths->list.count = before;
    for (size_t i = 0; i < below.places.count; i++) {
        char  *folder = join(arena, path, below.places.items[i]);
        size_t first = paths->list.count;

        if (!folder)
            return no_memory(err);
        if (!add_directory(folder, how, arena, paths, err))
            return false;
        for (size_t n = first; how->is_every_run && n < paths->list.count; n++)
            if (!paths->list.items[n].run)
                paths->list.items[n].run = below.places.items[i];
    }
    return true;
}

static bool has_folders(const char *path, struct arena *arena)
{
    struct err ignored = { 0 };
    char     **names;
    size_t     count;

    if (!file_list(path, arena, &names, &count, &ignored))
        return false;
    for (size_t i = 0; i < count; i++) {
        char *folder = names[i][0] == '.' ? NULL : join(arena, path, names[i]);

        if (folder && file_is_directory(folder))
            return true;
    }
    return false;
}

static bool add_directory(const char *path, const struct read_paths_how *how, struct arena *arena,
                          struct read_paths *paths, struct err *err)
{
    struct runs runs = { 0 };
    size_t      before = paths->list.count;

    if (!find_runs(&runs, path, arena, err))
        return false;
    if (runs.list.count) {
        paths->has_runs = true;
        return add_log_directory(&runs, path, how, arena, paths, err);
    }
    if (!add_folder(arena, path, NULL, paths, err))
        return false;
    if (has_folders(path, arena) && !holds_recording(paths, before, how) &&
        !look_below(path, how, arena, before, paths, err))
        return false;
    if (paths->list.count == before) {
        err_set(err, ERR_INPUT, "holds no file to read");
        err_advise(err, "name a profile, or a log directory with plugins/profile/RUN in it");
        return err_source(err, path);
    }
    return true;
}

bool read_paths_find(const char *path, const struct read_paths_how *how, struct arena *arena,
                     struct read_paths *paths, struct err *err)
{
    struct read_path item = { .path = arena_text(arena, "%s", path) };
    const char      *slash = strrchr(path, '/');
    struct str       host = xplane_host(slash ? slash + 1 : path);

    if (strcmp(path, "-") != 0 && file_is_directory(path))
        return add_directory(path, how, arena, paths, err);
    if (host.len)
        item.host_name = arena_text(arena, "%.*s", STR_ARG(host));
    return (item.path && vec_push(&paths->list, arena, item)) || no_memory(err);
}
