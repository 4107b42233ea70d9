#include "ranks/rank_file.h"

#include "base/crc32c.h"
#include "base/wire_out.h"
#include "read/proto/wire.h"

#include <stdlib.h>

/* Fields of message RankFile, and of a record in it. */
enum { SCHEMA = 1, VERSION = 2, RANK = 3, DETAILS = 4, COUNT = 5 };
enum { CHECKSUM = 1, BODY = 2 };

static const struct str schema = STR_INIT("tfprof.ranks");

/* Field 1 of a file stands first. */
bool rank_file_is(struct str bytes)
{
    return bytes.len > 2 + schema.len && bytes.data[0] == (SCHEMA << 3 | WIRE_BYTES) &&
           bytes.data[1] == (char)schema.len &&
           str_equal(str_slice(bytes, 2, 2 + schema.len), schema);
}

static bool damaged(struct err *err, const struct wire *wire, struct str whole)
{
    err_set_at(err, ERR_FORMAT, wire_offset(wire, whole),
               "the summary is damaged: it ends early or holds other bytes than were written");
    return err_advise(err, "copy it again, or summarize the recording again");
}

/* Whose it is, which the first fields tell. */
static bool whose(struct rank_record *record)
{
    struct wire wire = wire_start(record->bytes);

    record->rank = -1;
    for (int i = 0; i < 3 && wire_next(&wire); i++) {
        if (wire.number == 1 && wire.type == WIRE_VARINT)
            record->rank = (int64_t)(wire.value >> 1) ^ -(int64_t)(wire.value & 1);
        if (wire.number == 2 && wire.type == WIRE_BYTES)
            record->host = wire.bytes;
        if (wire.number == 3 && wire.type == WIRE_VARINT)
            record->weight = (int64_t)(wire.value >> 1) ^ -(int64_t)(wire.value & 1);
    }
    return !wire.is_broken;
}

static bool add_record(struct rank_records *records, struct str bytes, enum rank_half half,
                       struct arena *arena, bool *is_full)
{
    struct rank_record record = { .half = half };
    uint64_t           sum = UINT64_MAX;
    struct wire        wire = wire_start(bytes);

    while (wire_next(&wire))
        if (wire.number == CHECKSUM && wire.type == WIRE_VARINT)
            sum = wire.value;
        else if (wire.number == BODY && wire.type == WIRE_BYTES)
            record.bytes = wire.bytes;
    if (wire.is_broken || sum != crc32c(0, record.bytes) || !whose(&record))
        return false;
    *is_full = !vec_push(&records->items, arena, record);
    return !*is_full;
}

bool rank_file_scan(struct str bytes, struct rank_records *records, struct arena *arena,
                    struct err *err)
{
    bool        is_full = false;
    uint64_t    wanted = 0;
    size_t      had = records->items.count;
    struct wire wire = wire_start(bytes);

    while (wire_next(&wire)) {
        if (wire.number == COUNT)
            wanted += wire.value;
        if (wire.number == VERSION && wire.value > RANK_FILE_VERSION) {
            err_set(err, ERR_FORMAT, "the summary is of format %llu, this tfprof reads %d",
                    (unsigned long long)wire.value, RANK_FILE_VERSION);
            return err_advise(err, "use the tfprof that wrote it or a newer one, or summarize the "
                                   "recording with this one");
        }
        if ((wire.number == RANK || wire.number == DETAILS) &&
            (wire.type != WIRE_BYTES ||
             !add_record(records, wire.bytes, wire.number == RANK ? RANK_WHAT : RANK_DETAILS, arena,
                         &is_full)))
            break;
    }
    if (is_full)
        return err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
    return (!wire.is_broken && wire.at == wire.end && wanted > 0 &&
            records->items.count - had == wanted) ||
           damaged(err, &wire, bytes);
}

bool rank_file_add(const struct rank_summary *summary, struct rank_records *records,
                   struct arena *arena, struct err *err)
{
    for (int half = RANK_WHAT; half <= RANK_DETAILS; half++) {
        struct text        text = { .arena = arena };
        struct rank_record record = { .rank = summary->rank,
                                      .host = summary->host,
                                      .weight = summary->weight,
                                      .half = (enum rank_half)half };

        rank_write(summary, record.half, &text);
        record.bytes = text_str(&text);
        if (!text_is_whole(&text) || !vec_push(&records->items, arena, record))
            return err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
    }
    return true;
}

/* Ranks that do not say which they are stand behind the others, by host. Of details the heaviest
 * come first. */
static int compare_records(const void *a, const void *b)
{
    const struct rank_record *left = a, *right = b;
    int                       hosts = str_compare(left->host, right->host);

    if (left->half != right->half)
        return left->half < right->half ? -1 : 1;
    if (left->half == RANK_DETAILS && left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    if (left->rank != right->rank)
        return (uint64_t)left->rank < (uint64_t)right->rank ? -1 : 1;
    return hosts ? hosts : str_compare(left->bytes, right->bytes);
}

void rank_records_settle(struct rank_records *records)
{
    size_t kept = 0;

    if (records->items.count > 1)
        qsort(records->items.items, records->items.count, sizeof *records->items.items,
              compare_records);
    for (size_t i = 0; i < records->items.count; i++) {
        const struct rank_record *record = &records->items.items[i], *last = record - 1;
        bool                      is_again =
            kept > 0 && (compare_records(&records->items.items[kept - 1], record) == 0 ||
                         (record->half == RANK_DETAILS && last->half == RANK_DETAILS));

        if (!is_again)
            records->items.items[kept++] = *record;
    }
    records->items.count = kept;
}

void rank_records_write(const struct rank_records *records, struct text *text)
{
    wire_out_bytes(text, SCHEMA, schema);
    wire_out_number(text, VERSION, RANK_FILE_VERSION);
    wire_out_number(text, COUNT, records->items.count);
    for (size_t i = 0; i < records->items.count; i++) {
        const struct rank_record *record = &records->items.items[i];
        uint64_t                  sum = crc32c(0, record->bytes);
        size_t bytes = 2 + wire_out_varint_bytes(sum) + wire_out_varint_bytes(record->bytes.len) +
                       record->bytes.len;

        wire_out_head(text, record->half == RANK_WHAT ? RANK : DETAILS, bytes);
        wire_out_number(text, CHECKSUM, sum);
        wire_out_bytes(text, BODY, record->bytes);
    }
}
