#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

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

static bool fill_linked(const struct library *library)
{
    if (library->symbol_count == 0 || !library->symbols[0].linked)
        return false;
    for (size_t i = 0; i < library->symbol_count; i++)
        memcpy(library->symbols[i].pointer, &library->symbols[i].linked,
               sizeof library->symbols[i].linked);
    return true;
}

/* With the mutex held. */
static bool load(struct library *library, struct err *err)
{
    void *handle;

    library->is_loaded = fill_linked(library);
    if (library->is_loaded)
        return true;
    handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        err_set(err, ERR_INPUT, "%s, needed %s, is not installed", library->soname,
                library->purpose);
        return err_advise(err, "install the package that has it");
    }
    library->is_loaded = fill(library, handle, err);
    if (!library->is_loaded)
        dlclose(handle);
    return library->is_loaded;
}

bool library_need(struct library *library, struct err *err)
{
    bool is_there;

    pthread_mutex_lock(&mutex);
    is_there = library->is_loaded || load(library, err);
    pthread_mutex_unlock(&mutex);
    return is_there;
}
