/* First line: pattern list; the rest: subject. A pattern compiles or says why; every match ends. */
#include "fuzz.h"

#include "base/pattern.h"

#include <stdlib.h>

enum { MAX_SPANS = 4 };

static void check_search(struct str text, struct str subject)
{
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(text, PATTERN_SEARCH, false, &err);
    size_t          spans[2 * MAX_SPANS], count;

    if (!pattern)
        return;
    if (pattern_find(pattern, subject, 0, spans, MAX_SPANS, &count) == PATTERN_YES)
        for (size_t i = 0; i < count; i++)
            if (spans[2 * i] != SIZE_MAX &&
                (spans[2 * i] > subject.len || spans[2 * i + 1] > subject.len))
                abort();
    pattern_free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str      subject = { (const char *)bytes, len < 4096 ? len : 4096 };
    struct str      text = str_cut(&subject, '\n');
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(text, PATTERN_WHOLE, true, &err);

    if ((pattern != NULL) != (err.code == ERR_NONE))
        abort();
    if (!pattern && err.has_offset && err.offset > text.len)
        abort();
    if (pattern)
        pattern_matches(pattern, subject);
    pattern_free(pattern);
    check_search(text, subject);
    return 0;
}
