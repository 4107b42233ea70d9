/* hardware_file: figures of an accelerator that the table does not have, from a few lines of TOML.
 */
#ifndef TFPROF_MODEL_HARDWARE_FILE_H
#define TFPROF_MODEL_HARDWARE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/hardware.h"

/* What a user names: words that a row of the table has, else a file with the figures
 * (docs/formats.md). The text is kept. NULL: err, ERR_USAGE where it is neither or the file is
 * wrong, with line and column. */
const struct hardware *hardware_named(const char *text, struct arena *arena, struct err *err);

#endif
