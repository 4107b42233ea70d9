#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool fill_linked(const struct library *library)
{
    if (library->symbol_count == 0 || !library->symbols[0].linked)
        return false;
    for (size_t i = 0; i < library->symbol_count; i++)
        memcpy(library->symbols[i].pointer, &library->symbols[i].linked,
               sizeof library->symbols[i].linked);
    return true;
}

#ifdef TFPROF_STATIC
static bool load_shared(struct library *library, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s, needed %s, cannot be loaded by a static program",
                   library->soname, library->purpose);
}
#else
static bool fill(const struct library *library, void *handle, struct err *err)
{
    for (size_t i = 0; i < library->symbol_count; i++) {
        const struct library_symbol *symbol = &library->symbols[i];
        void                        *found = dlsym(handle, symbol->name);

        if (!found)
            return err_set(err, ERR_INPUT, "%s, needed %s, has no %s", library->soname,
                           library->purpose, symbol->name);
        /* POSIX: pointers to functions and to objects are alike. */
        memcpy(symbol->pointer, &found, sizeof found);
    }
    return true;
}

static bool load_shared(struct library *library, struct err *err)
{
    void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        err_set(err, ERR_INPUT, "%s, needed %s, is not installed", library->soname,
                library->purpose);
        return err_advise(err, "install the package that has it");
    }
    if (fill(library, handle, err))
        return true;
    dlclose(handle);
    return false;
}
#endif

bool library_need(struct library *library, struct err *err)
{
    bool is_there;

    pthread_mutex_lock(&mutex);
    is_there = library->is_loaded || fill_linked(library) || load_shared(library, err);
    library->is_loaded = is_there;
    pthread_mutex_unlock(&mutex);
    return is_there;
}
