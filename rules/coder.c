#include "rules/coder.h"

#include <math.h>
#include <string.h>

enum { MOST_TEXT_BYTES = 64 << 10 };
static const uint32_t NO_TEXT = UINT32_MAX;

/* Bytes of this machine: both ends are the same process' two halves. */
static void code_bytes(struct coder *coder, void *bytes, size_t count)
{
    if (!coder->is_reading) {
        text_add(&coder->out, (struct str) { bytes, count });
        coder->is_bad |= coder->out.is_cut;
        return;
    }
    if (coder->is_bad || coder->in.len < count) {
        coder->is_bad = true;
        memset(bytes, 0, count);
        return;
    }
    memcpy(bytes, coder->in.data, count);
    coder->in = str_slice(coder->in, count, coder->in.len);
}

void code_int64(struct coder *coder, int64_t *value, int64_t min, int64_t max)
{
    code_bytes(coder, value, sizeof *value);
    if (*value < min || *value > max) {
        coder->is_bad = true;
        *value = min;
    }
}

void code_uint32(struct coder *coder, uint32_t *value)
{
    code_bytes(coder, value, sizeof *value);
}

void code_number(struct coder *coder, double *value, enum coder_number kind)
{
    bool is_good;

    code_bytes(coder, value, sizeof *value);
    is_good =
        kind == CODER_ANY || isfinite(*value) || (kind == CODER_FINITE_OR_NAN && isnan(*value));
    if (!is_good) {
        coder->is_bad = true;
        *value = 0;
    }
}

static void read_text(struct coder *coder, const char **text, uint32_t len)
{
    struct str copy = { 0 };

    if (len <= MOST_TEXT_BYTES && len <= coder->in.len && !memchr(coder->in.data, 0, len))
        copy = arena_str(coder->arena, str_slice(coder->in, 0, len));
    if (!copy.data) {
        coder->is_bad = true;
        return;
    }
    coder->in = str_slice(coder->in, len, coder->in.len);
    *text = copy.data;
}

void code_text(struct coder *coder, const char **text, bool is_needed)
{
    uint32_t len = 0;

    if (!coder->is_reading && *text)
        len = strlen(*text) <= MOST_TEXT_BYTES ? (uint32_t)strlen(*text) : MOST_TEXT_BYTES;
    else if (!coder->is_reading)
        len = NO_TEXT;
    code_uint32(coder, &len);
    if (!coder->is_reading) {
        if (len != NO_TEXT)
            text_add(&coder->out, (struct str) { *text, len });
        return;
    }
    *text = NULL;
    if (len != NO_TEXT && !coder->is_bad)
        read_text(coder, text, len);
    if (is_needed && !*text) {
        coder->is_bad = true;
        *text = "";
    }
}

unsigned code_choice(struct coder *coder, unsigned value, unsigned max)
{
    uint32_t number = value;

    code_uint32(coder, &number);
    if (number <= max)
        return number;
    coder->is_bad = true;
    return 0;
}

size_t code_count(struct coder *coder, size_t count, size_t max)
{
    uint32_t number = (uint32_t)(count < max ? count : max);

    code_uint32(coder, &number);
    if (number <= max && !coder->is_bad)
        return number;
    coder->is_bad = true;
    return 0;
}

bool coder_is_done(const struct coder *coder)
{
    return !coder->is_bad && (!coder->is_reading || coder->in.len == 0);
}
