/*
 * write: recordings as bytes of the files that profilers write. What a dialect cannot hold is said
 * in notes, one sentence each, never dropped in silence. To add a dialect: a writer, a row in
 * write.c, and what it cannot hold in write_notes.c.
 */
#ifndef TFPROF_SYNTH_WRITE_H
#define TFPROF_SYNTH_WRITE_H

#include "base/text.h"
#include "synth/recording.h"

/* The format that a file's name asks for: .xplane.pb, .json, .json.gz, .profile; SKETCH_ANY:
 * none of them. */
enum sketch_format write_format_of(struct str path, bool *is_gzip);
/* "xspace", "kineto", "profile": the reader of such bytes. */
const char *write_format_name(enum sketch_format format);

/* Adds the file's bytes, and to `notes` a line for each thing that is left out. ERR_LIMIT. */
bool write_recording(const struct recording *recording, enum sketch_format format,
                     struct text *bytes, struct text *notes, struct err *err);

#endif
