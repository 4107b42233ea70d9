/* user_source: which frames are the user's own, by where their files lie. */
#include "base/macros.h"
#include "model/names.h"
#include "model/profile.h"

#include <string.h>

/* Anywhere in a path. */
/* Profilers of Python cut paths at the folder that packages are installed in. */
/* Modules of Python that are one file. */
static bool is_library(struct str file)
{
    size_t slash = str_find(file, '/');

    if (file.len == 0 || file.data[0] == '<')
        return true;
    if (name_is(file, NAMES_PACKAGE_FOLDER))
        return true;
    if (slash < file.len)
        return slash > 0 && name_is(str_slice(file, 0, slash), NAMES_PACKAGE);
    return str_ends(file, STR(".py")) &&
           name_is(str_slice(file, 0, file.len - 3), NAMES_PYTHON_MODULE);
}

bool profile_is_user_source(const struct profile *profile, uint32_t source)
{
    return source < profile->sources.count && !profile->sources.items[source].is_packaged &&
           !is_library(profile_str(profile, profile->sources.items[source].file));
}

uint32_t profile_user_source(const struct profile *profile, uint32_t source)
{
    /* No stack is deeper than there are frames, whatever the file says of callers. */
    for (uint32_t frame = source, depth = 0;
         frame < profile->sources.count && depth < profile->sources.count;
         frame = profile->sources.items[frame].caller, depth++)
        if (profile_is_user_source(profile, frame))
            return frame;
    return source;
}

/* Adds the file's name without its folders. */
static bool add_file(const struct profile *profile, const bool *is_user, struct intern *names,
                     uint32_t source)
{
    struct str file;
    size_t     slash;

    if (source >= profile->sources.count || !is_user[source])
        return true;
    file = profile_str(profile, profile->sources.items[source].file);
    slash = str_find_last(file, '/');
    return intern_add(names, slash < file.len ? str_slice(file, slash + 1, file.len) : file) !=
           NO_ID;
}

bool *profile_user_sources(const struct profile *profile, struct arena *arena)
{
    bool          by_ops = profile->format == FORMAT_XSPACE;
    bool         *is_user = arena_new_array(arena, bool, profile->sources.count + 1);
    struct intern names;

    if (!is_user || !intern_init(&names, arena))
        return NULL;
    for (uint32_t s = 0; s < profile->sources.count; s++)
        is_user[s] = profile_is_user_source(profile, s);
    for (size_t op = 0; op < profile->ops.count && by_ops; op++)
        if (!add_file(profile, is_user, &names, profile->ops.items[op].source))
            return NULL;
    for (uint32_t s = 0; s < profile->sources.count && by_ops; s++) {
        struct str file = profile_str(profile, profile->sources.items[s].file);

        if (is_user[s] && str_find(file, '/') == file.len)
            is_user[s] = intern_find(&names, file) != NO_ID;
    }
    return is_user;
}

bool profile_mark_packaged(struct profile *profile, struct arena *scratch)
{
    struct intern outermost;

    if (!intern_init(&outermost, scratch))
        return false;
    for (size_t i = 0; i < profile->sources.count; i++)
        if (profile->sources.items[i].caller == NO_ID &&
            intern_add(&outermost, profile_str(profile, profile->sources.items[i].file)) == NO_ID)
            return false;
    for (size_t i = 0; i < profile->sources.count; i++) {
        struct str file = profile_str(profile, profile->sources.items[i].file);

        profile->sources.items[i].is_packaged =
            str_find(file, '/') == file.len && intern_find(&outermost, file) == NO_ID;
    }
    return true;
}
