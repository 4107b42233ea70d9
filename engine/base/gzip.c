#include "base/gzip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TFPROF_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

enum { PIECE_BYTES = 1 << 30 }; /* the libraries count in 32 bits */

enum place {
    BETWEEN_MEMBERS,
    IN_MEMBER,
    DAMAGED,
};

struct gzip {
    enum place place;
    bool       has_member;  /* at least one was complete */
    uint64_t   input_bytes; /* used so far */
    char       damage[128];
#ifdef TFPROF_ISAL
    struct inflate_state state;
#else
    z_stream state;
#endif
};

bool gzip_is_magic(struct str bytes)
{
    return bytes.len >= 3 && memcmp(bytes.data, "\x1f\x8b\x08", 3) == 0;
}

#ifdef TFPROF_ISAL

static bool start(struct gzip *gzip)
{
    isal_inflate_init(&gzip->state);
    gzip->state.crc_flag = ISAL_GZIP;
    return true;
}

static void restart(struct gzip *gzip)
{
    isal_inflate_reset(&gzip->state);
    gzip->state.crc_flag = ISAL_GZIP;
}

static void stop(struct gzip *gzip)
{
    (void)gzip;
}

/* NULL, or what is wrong; *is_done at the end of a member. */
static const char *step(struct gzip *gzip, bool *is_done)
{
    int result = isal_inflate(&gzip->state);

    *is_done = result == ISAL_DECOMP_OK && gzip->state.block_state == ISAL_BLOCK_FINISH;
    if (result >= ISAL_DECOMP_OK)
        return NULL;
    return result == ISAL_INCORRECT_CHECKSUM ? "gzip checksum is wrong" : "gzip data is broken";
}

#else

static bool start(struct gzip *gzip)
{
    return inflateInit2(&gzip->state, 15 + 16) == Z_OK;
}

static void restart(struct gzip *gzip)
{
    inflateReset(&gzip->state);
}

static void stop(struct gzip *gzip)
{
    inflateEnd(&gzip->state);
}

static const char *step(struct gzip *gzip, bool *is_done)
{
    int result = inflate(&gzip->state, Z_NO_FLUSH);

    *is_done = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR)
        return NULL;
    return gzip->state.msg && strstr(gzip->state.msg, "check") ? "gzip checksum is wrong"
                                                               : "gzip data is broken";
}

#endif

struct gzip *gzip_new(void)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);

    if (gzip && start(gzip))
        return gzip;
    free(gzip);
    return NULL;
}

void gzip_free(struct gzip *gzip)
{
    if (!gzip)
        return;
    stop(gzip);
    free(gzip);
}

static void set_damage(struct gzip *gzip, const char *what)
{
    gzip->place = DAMAGED;
    snprintf(gzip->damage, sizeof gzip->damage, "%s at byte %llu", what,
             (unsigned long long)gzip->input_bytes);
}

/* Between members: the next one begins, or zero padding goes on, or foreign bytes follow. */
static void enter_member(struct gzip *gzip, struct str *input)
{
    while (gzip->has_member && input->len && input->data[0] == 0) {
        *input = str_slice(*input, 1, input->len);
        gzip->input_bytes++;
    }
    if (input->len == 0)
        return;
    if (input->data[0] != '\x1f') {
        set_damage(gzip,
                   gzip->has_member ? "other bytes follow the gzip data" : "gzip data is broken");
        return;
    }
    if (gzip->has_member)
        restart(gzip);
    gzip->place = IN_MEMBER;
}

size_t gzip_inflate(struct gzip *gzip, struct str *input, char *out, size_t room)
{
    size_t total = 0;

    for (;;) {
        if (gzip->place == BETWEEN_MEMBERS)
            enter_member(gzip, input);
        if (gzip->place != IN_MEMBER || total == room)
            return total;
        size_t piece = input->len < PIECE_BYTES ? input->len : PIECE_BYTES;
        size_t space = room - total < PIECE_BYTES ? room - total : PIECE_BYTES;
        bool   is_done;

        /* Both libraries take a pointer to bytes that they do not write. */
        gzip->state.next_in = (uint8_t *)(uintptr_t)input->data;
        gzip->state.avail_in = (uint32_t)piece;
        gzip->state.next_out = (uint8_t *)out + total;
        gzip->state.avail_out = (uint32_t)space;
        const char *wrong = step(gzip, &is_done);
        size_t      used = piece - gzip->state.avail_in;
        size_t      made = space - gzip->state.avail_out;

        *input = str_slice(*input, used, input->len);
        gzip->input_bytes += used;
        total += made;
        if (wrong) {
            set_damage(gzip, wrong);
            return total;
        }
        if (is_done) {
            gzip->place = BETWEEN_MEMBERS;
            gzip->has_member = true;
        } else if (used == 0 && made == 0) {
            return total;
        }
    }
}

const char *gzip_damage(struct gzip *gzip, bool is_end)
{
    if (is_end &&
        (gzip->place == IN_MEMBER || (gzip->place == BETWEEN_MEMBERS && !gzip->has_member)))
        set_damage(gzip, "gzip data ends early");
    return gzip->place == DAMAGED ? gzip->damage : NULL;
}
