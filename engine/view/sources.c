#include "view/sources.h"

#include "base/file.h"
#include "base/intern.h"
#include "base/vec.h"

struct source_text {
    struct file file;
    VEC(uint32_t) lines; /* where each begins */
};
struct sources {
    const char   *folder;
    struct arena *arena;
    struct intern paths; /* an id's text is in files at id - 1 */
    VEC(struct source_text) files;
};

enum { SOURCE_BYTES_MAX = 64 << 20 };

struct sources *sources_open(const char *folder, struct arena *arena)
{
    struct sources *sources = arena_new(arena, struct sources);

    if (!sources || !intern_init(&sources->paths, arena))
        return NULL;
    sources->folder = folder;
    sources->arena = arena;
    return sources;
}

void sources_close(struct sources *sources)
{
    for (size_t i = 0; sources && i < sources->files.count; i++)
        file_close(&sources->files.items[i].file);
}

/* ".." would lead out of the folder. */
static bool is_safe(struct str path)
{
    return !str_contains(path, STR("../")) && !str_equal(path, STR(".."));
}

static bool open_end(const struct sources *sources, struct str end, struct file *file)
{
    char      *path = arena_text(sources->arena, "%s/%.*s", sources->folder, STR_ARG(end));
    struct err ignored = { 0 };

    return path && is_safe(end) && file_exists(path) && !file_is_directory(path) &&
           file_open(file, path, SOURCE_BYTES_MAX, &ignored);
}

static bool find_lines(const struct sources *sources, struct source_text *text)
{
    struct str bytes = text->file.bytes;
    uint32_t   at = 0;

    if (bytes.len > SOURCE_BYTES_MAX)
        return true;
    while (at < bytes.len) {
        if (!vec_push(&text->lines, sources->arena, at))
            return false;
        at += (uint32_t)str_find(str_slice(bytes, at, bytes.len), '\n') + 1;
    }
    return true;
}

static bool load(struct sources *sources, struct str path)
{
    struct source_text text = { 0 };
    struct str         end = path;
    bool               is_there = false;

    while (end.len && end.data[0] == '/')
        end = str_slice(end, 1, end.len);
    while (end.len && !is_there) {
        is_there = open_end(sources, end, &text.file);
        if (!is_there)
            end = str_slice(end, str_find(end, '/') + 1, end.len);
    }
    return (!is_there || find_lines(sources, &text)) &&
           vec_push(&sources->files, sources->arena, text);
}

struct str sources_line(struct sources *sources, struct str path, uint32_t line)
{
    uint32_t                  count = sources->paths.count, id = intern_add(&sources->paths, path);
    const struct source_text *text;
    struct str                rest;

    if (id == NO_ID || id == 0 || (id == count && !load(sources, path)) ||
        id > sources->files.count)
        return (struct str) { "", 0 };
    text = &sources->files.items[id - 1];
    if (line == 0 || line > text->lines.count)
        return (struct str) { "", 0 };
    rest = str_slice(text->file.bytes, text->lines.items[line - 1], text->file.bytes.len);
    return str_trim(str_slice(rest, 0, str_find(rest, '\n')));
}
