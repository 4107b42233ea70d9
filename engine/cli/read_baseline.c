#include "cli/read_baseline.h"

#include "base/file.h"

enum { MOST_BYTES = 64 << 20 }; /* unpacked */

bool read_baseline(struct summary *baseline, const char *path, struct arena *arena, struct err *err)
{
    struct file file = { 0 };
    bool        is_read;

    if (file_is_directory(path)) {
        err_set(err, ERR_INPUT, "is a directory");
        err_advise(err, "a baseline is a file that tfprof baseline PROFILE... -o FILE writes");
        return err_source(err, path);
    }
    if (!file_open(&file, path, MOST_BYTES, err))
        return false;
    is_read = summary_read(baseline, file.bytes, path, arena, err);
    file_close(&file);
    return is_read || err_source(err, path);
}

bool is_baseline(const char *path)
{
    enum { HEAD_BYTES = 200 };
    struct file file = { 0 };
    struct err  err = { 0 };
    bool        is_one;

    if (file_is_directory(path) || !file_open(&file, path, MOST_BYTES, &err))
        return false;
    is_one = str_contains(str_slice(file.bytes, 0, HEAD_BYTES), STR("\"tfprof.baseline/"));
    file_close(&file);
    return is_one;
}
