/* rank_code: a rank's summary as the fields of a protobuf message, and back, by one table of both.
 */
#include "base/macros.h"
#include "base/wire_out.h"
#include "ranks/rank_summary.h"
#include "read/proto/wire.h"

#include <math.h>

enum field_kind { TEXT, NUMBER, REAL, TEXTS, NUMBERS, DELTAS, REALS };
struct field {
    uint32_t        number;
    enum field_kind kind;
    enum rank_half  half;
    size_t          offset;
};
static const struct field fields[] = {
#define RANK_FIELD(number, kind, member)                                                           \
    { number, kind, RANK_WHAT, offsetof(struct rank_summary, member) },
#define DETAIL_FIELD(number, kind, member)                                                         \
    { number, kind, RANK_DETAILS, offsetof(struct rank_summary, member) },
#include "ranks/rank_fields.def"
#undef RANK_FIELD
#undef DETAIL_FIELD
};
enum { WEIGHT_FIELD = 3, DOUBLE_TYPE = 1, MOST_DEVICES = 4096 };
/* 73 years in nanoseconds: three such times add up without running over. */
static const int64_t LARGEST_NUMBER = INT64_C(1) << 61;

/* Beyond it whole numbers are not exact, and do not fit with a bit beside them. */
static const double LARGEST_WHOLE = 4503599627370496.0;

int64_t rank_cell(double value)
{
    float    single = (float)value;
    uint32_t bits;

    if (fabs(value) <= LARGEST_WHOLE && trunc(value) >= value && trunc(value) <= value)
        return (int64_t)value * 2;
    memcpy(&bits, &single, sizeof bits);
    return (int64_t)bits * 2 + 1;
}

double rank_cell_value(int64_t cell)
{
    uint32_t bits = (uint32_t)((uint64_t)cell >> 1);
    int64_t  whole = cell / 2;
    float    single;

    if (cell % 2 == 0)
        return (double)whole;
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

static uint64_t zigzag(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

static void write_numbers(struct text *text, uint32_t number, const struct numbers *numbers,
                          bool is_delta)
{
    int64_t before = 0;
    size_t  bytes = 0;

    for (size_t i = 0; i < numbers->count; i++) {
        bytes += wire_out_varint_bytes(
            zigzag((int64_t)((uint64_t)numbers->items[i] - (uint64_t)(is_delta ? before : 0))));
        before = numbers->items[i];
    }
    wire_out_head(text, number, bytes);
    before = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        wire_out_varint(text, zigzag((int64_t)((uint64_t)numbers->items[i] -
                                               (uint64_t)(is_delta ? before : 0))));
        before = numbers->items[i];
    }
}

static void write_field(struct text *text, const struct field *field, const void *member)
{
    const struct numbers *numbers = member;
    const struct reals   *reals = member;
    const struct names   *names = member;

    switch (field->kind) {
    case TEXT:
        wire_out_bytes(text, field->number, *(const struct str *)member);
        return;
    case NUMBER:
        wire_out_number(text, field->number, zigzag(*(const int64_t *)member));
        return;
    case REAL:
        wire_out_varint(text, field->number << 3 | DOUBLE_TYPE);
        text_add(text, (struct str) { member, sizeof(double) });
        return;
    case TEXTS:
        for (size_t i = 0; i < names->count; i++)
            wire_out_bytes(text, field->number, names->items[i]);
        return;
    case NUMBERS:
    case DELTAS:
        if (numbers->count)
            write_numbers(text, field->number, numbers, field->kind == DELTAS);
        return;
    case REALS:
        if (reals->count)
            wire_out_bytes(
                text, field->number,
                (struct str) { (const char *)reals->items, reals->count * sizeof *reals->items });
        return;
    }
}

/* Details stand alone: they say whose they are. */
void rank_write(const struct rank_summary *summary, enum rank_half half, struct text *text)
{
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        const struct field *field = &fields[i];

        if (field->half == half || field->number <= WEIGHT_FIELD)
            write_field(text, field, (const char *)summary + field->offset);
    }
}

static bool is_sane(int64_t number)
{
    return number >= -LARGEST_NUMBER && number <= LARGEST_NUMBER;
}

static bool read_numbers(struct numbers *numbers, const struct wire *wire, bool is_delta,
                         struct arena *arena, bool *is_full)
{
    struct str rest = wire_numbers(wire);
    uint64_t   coded;
    int64_t    before = numbers->count && is_delta ? numbers->items[numbers->count - 1] : 0;

    while (rest.len) {
        if (!wire_take(&rest, &coded))
            return false;
        before = (int64_t)((uint64_t)unzigzag(coded) + (uint64_t)(is_delta ? before : 0));
        if (!is_sane(before))
            return false;
        *is_full = !vec_push(numbers, arena, before);
        if (*is_full)
            return false;
    }
    return true;
}

static bool read_reals(struct reals *reals, struct str bytes, struct arena *arena, bool *is_full)
{
    size_t count = bytes.len / sizeof(double);

    *is_full = !vec_reserve(reals, arena, count);
    if (*is_full || bytes.len % sizeof(double) != 0)
        return false;
    if (count)
        memcpy(reals->items + reals->count, bytes.data, bytes.len);
    reals->count += count;
    return true;
}

static bool read_field(const struct field *field, const struct wire *wire, void *member,
                       struct arena *arena, bool *is_full)
{
    static const enum wire_type types[] = { [TEXT] = WIRE_BYTES,
                                            [NUMBER] = WIRE_VARINT,
                                            [REAL] = WIRE_64,
                                            [TEXTS] = WIRE_BYTES,
                                            [REALS] = WIRE_BYTES };

    if (field->kind == NUMBERS || field->kind == DELTAS)
        return read_numbers(member, wire, field->kind == DELTAS, arena, is_full);
    if (wire->type != types[field->kind])
        return false;
    switch (field->kind) {
    case TEXT:
        *(struct str *)member = wire->bytes;
        return true;
    case NUMBER:
        *(int64_t *)member = unzigzag(wire->value);
        return is_sane(*(int64_t *)member);
    case REAL:
        memcpy(member, &wire->value, sizeof(double));
        return true;
    case TEXTS:
        *is_full = !vec_push((struct names *)member, arena, wire->bytes);
        return !*is_full;
    case NUMBERS:
    case DELTAS:
    case REALS:
        break;
    }
    return read_reals(member, wire->bytes, arena, is_full);
}

static bool is_one_of(int64_t value, int64_t count)
{
    return value >= 0 && value < count;
}

/* What counts or chooses is no number of a damaged file. */
static bool are_known(const struct rank_summary *summary)
{
    return is_one_of(summary->device_count, MOST_DEVICES) &&
           is_one_of(summary->device_kind, DEVICE_OTHER + 1) &&
           is_one_of(summary->format, FORMAT_KINETO + 1) &&
           is_one_of(summary->step_source, STEPS_WHOLE_TRACE + 1) && summary->rank >= -1 &&
           summary->rank <= INT32_MAX && summary->world_size >= -1 &&
           summary->world_size <= INT32_MAX;
}

/* Columns of one subject are as long as each other, and name rows that are there. */
static bool is_sound(const struct rank_summary *summary)
{
    const struct {
        const struct numbers *column;
        size_t                count; /* of rows */
    } same[] = {
        { &summary->step_start, summary->step_number.count },
        { &summary->step_length, summary->step_number.count },
        { &summary->part_ns, summary->part_name.count * summary->part_step.count },
        { &summary->group_type, summary->group_name.count },
        { &summary->group_size, summary->group_name.count },
        { &summary->group_numbered, summary->group_name.count },
        { &summary->meeting_sequence, summary->meeting_group.count },
        { &summary->meeting_start, summary->meeting_group.count },
        { &summary->meeting_length, summary->meeting_group.count },
        { &summary->meeting_bytes, summary->meeting_group.count },
        { &summary->family_part, summary->family_name.count },
        { &summary->family_count, summary->family_name.count },
        { &summary->family_ns, summary->family_name.count },
        { &summary->bucket_log2, summary->bucket_family.count },
        { &summary->bucket_count, summary->bucket_family.count },
        { &summary->fact_text, summary->fact_name.count },
        { &summary->table_rows, summary->table_name.count },
        { &summary->column_name, summary->column_table.count },
        { &summary->absent_reason, summary->absent_name.count },
        { &summary->absent_capture, summary->absent_name.count },
    };

    for (size_t i = 0; i < ARRAY_COUNT(same); i++)
        if (same[i].column->count != same[i].count)
            return false;
    for (size_t i = 0; i < summary->meeting_group.count; i++)
        if (summary->meeting_group.items[i] < 0 ||
            (uint64_t)summary->meeting_group.items[i] >= summary->group_name.count)
            return false;
    for (size_t i = 0; i < summary->part_step.count; i++)
        if (summary->part_step.items[i] < 0 ||
            (uint64_t)summary->part_step.items[i] >= summary->step_number.count)
            return false;
    return are_known(summary) && summary->fact_value.count == summary->fact_name.count;
}

/* Fields mostly come in the order of the table: looks on from the last one. NULL: of a later
 * version that only adds. */
static const struct field *field_of(uint32_t number, size_t *at)
{
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        size_t row = (*at + i) % ARRAY_COUNT(fields);

        if (fields[row].number == number) {
            *at = row;
            return &fields[row];
        }
    }
    return NULL;
}

bool rank_read(struct rank_summary *summary, struct str bytes, struct arena *arena, struct err *err)
{
    bool        is_full = false, is_good = true;
    size_t      at = 0;
    struct wire wire = wire_start(bytes);

    *summary = (struct rank_summary) { .rank = -1 };
    while (is_good && wire_next(&wire)) {
        const struct field *field = field_of(wire.number, &at);

        is_good =
            !field || read_field(field, &wire, (char *)summary + field->offset, arena, &is_full);
    }
    if (is_full)
        return err_set(err, ERR_LIMIT, "the summaries do not fit the memory limit");
    if (!is_good || wire.is_broken || !is_sound(summary))
        return err_set(err, ERR_FORMAT, "the summary of a rank is damaged");
    return true;
}

struct str rank_name(const struct names *names, int64_t row)
{
    return row >= 0 && (uint64_t)row < names->count ? names->items[row] : (struct str) { "", 0 };
}
