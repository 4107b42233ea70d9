#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool CHECK_PRINTF(3, 0)
    set(struct err *err, enum err_code code, const char *format, va_list arguments)
{
    *err = (struct err) { .code = code };
    vsnprintf(err->text, sizeof err->text, format, arguments);
    return false;
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set(err, code, format, arguments);
    va_end(arguments);
    return false;
}

bool err_memory(struct err *err, const char *what)
{
    return err_set(err, ERR_LIMIT, "no memory left for %s", what);
}

bool err_set_at(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set(err, code, format, arguments);
    va_end(arguments);
    err->has_offset = true;
    err->offset = offset;
    return false;
}

bool err_in(struct err *err, const char *format, ...)
{
    char    outer[ERR_PATH_BYTES];
    char    inner[ERR_PATH_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(outer, sizeof outer, format, arguments);
    va_end(arguments);
    memcpy(inner, err->path, sizeof inner);
    int len = snprintf(err->path, sizeof err->path, "%s%s%s", outer, *inner ? "." : "", inner);

    if (len >= (int)sizeof err->path) /* too deep to show whole: keep both ends readable */
        memcpy(err->path + sizeof err->path - 4, "...", 4);
    return false;
}

bool err_source(struct err *err, const char *source)
{
    if (!*err->source)
        snprintf(err->source, sizeof err->source, "%s", source);
    return false;
}

bool err_advise(struct err *err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->advice, sizeof err->advice, format, arguments);
    va_end(arguments);
    return false;
}

int err_exit_code(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return 0;
    case ERR_USAGE:
        return 2;
    case ERR_INPUT:
    case ERR_FORMAT:
    case ERR_LIMIT:
    case ERR_OUTPUT:
        return 3;
    case ERR_INCONCLUSIVE:
        return 4;
    case ERR_SCRIPT:
        return 5;
    }
    return 3;
}

/* One byte of a message that may quote hostile input: control characters become \xNN. */
static size_t put(char *text, size_t bytes, size_t at, const char *s)
{
    for (; *s; s++) {
        unsigned char byte = (unsigned char)*s;

        if (byte >= 0x20 && byte != 0x7F) {
            if (at + 1 < bytes)
                text[at++] = *s;
        } else if (at + 4 < bytes) {
            at += (size_t)snprintf(text + at, bytes - at, "\\x%02X", byte);
        }
    }
    return at;
}

const char *err_format(const struct err *err, char *text, size_t bytes)
{
    size_t at = 0;
    char   place[64] = "";

    if (err->line)
        snprintf(place, sizeof place, ":%u:%u", err->line, err->column);
    else if (err->has_offset)
        snprintf(place, sizeof place, "%sbyte %llu", *err->source ? ": " : "",
                 (unsigned long long)err->offset);
    at = put(text, bytes, at, err->source);
    at = put(text, bytes, at, place);
    if (at)
        at = put(text, bytes, at, ": ");
    if (*err->path) {
        at = put(text, bytes, at, err->path);
        at = put(text, bytes, at, ": ");
    }
    at = put(text, bytes, at, err->text);
    if (*err->advice) {
        at = put(text, bytes, at, "; ");
        at = put(text, bytes, at, err->advice);
    }
    text[at] = '\0';
    return text;
}
