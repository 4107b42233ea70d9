/* Errors as values of tfprof.h, out of struct err. */
#include "lib/handle.h"

#include <stdlib.h>

enum { MESSAGE_BYTES = ERR_TEXT_BYTES * 2 + ERR_PATH_BYTES + ERR_SOURCE_BYTES + 64 };

struct tfprof_error {
    int  kind;
    char message[MESSAGE_BYTES];
};

_Static_assert((int)TFPROF_ERROR_USAGE == (int)ERR_USAGE, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_INPUT == (int)ERR_INPUT, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_FORMAT == (int)ERR_FORMAT, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_LIMIT == (int)ERR_LIMIT, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_OUTPUT == (int)ERR_OUTPUT, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_SCRIPT == (int)ERR_SCRIPT, "kinds are those of struct err");
_Static_assert((int)TFPROF_ERROR_INCONCLUSIVE == (int)ERR_INCONCLUSIVE,
               "kinds are those of struct err");

bool error_give(const struct err *err, tfprof_error **error)
{
    if (!error)
        return false;
    *error = calloc(1, sizeof **error);
    if (!*error)
        arena_out_of_memory(sizeof **error);
    (*error)->kind = (int)err->code;
    err_format(err, (*error)->message, MESSAGE_BYTES);
    return false;
}

int tfprof_error_kind(const tfprof_error *error)
{
    return error->kind;
}

const char *tfprof_error_message(const tfprof_error *error)
{
    return error->message;
}

void tfprof_error_free(tfprof_error *error)
{
    free(error);
}
