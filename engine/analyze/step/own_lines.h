/*
 * own_lines: the lines of the user's own program around an event, as frames of Python tell.
 */
#ifndef TFPROF_ANALYZE_OWN_LINES_H
#define TFPROF_ANALYZE_OWN_LINES_H

#include "analyze/study.h"

/* Rows of profile->sources, NO_ID: none is known. is_user: by row of sources, as of
 * profile_user_sources. O(frames around an event), and twice that squared for two of them. */

/* The innermost line at or around the event. */
uint32_t own_line(const struct study *study, const bool *is_user, uint32_t event);
/* Where `event` parts from `other`: the outermost frame around the one that is not around the other;
 * the innermost around both where the program's own frames are the same. */
uint32_t own_line_apart(const struct study *study, const bool *is_user, uint32_t event,
                        uint32_t other);

#endif
