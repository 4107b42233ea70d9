/*
 * Most events have the text of one before them but for a few numbers: their times and ids. A mould
 * is such a text with gaps for these numbers. Moulds of one beginning share it: they are a tree of
 * pieces, each a text and the number behind it, found by the event's name. An event that fits one
 * is not taken apart again, and what its texts led to (its track, its activity) is known.
 */
#include "read/kineto/reader_kineto.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    SLACK_BYTES = 32, /* behind a piece: may be read, and is there behind each that is kept */
    MOST_CUTS = 32,
    MOST_TEXT_BYTES = 4096, /* of an event */
    MOST_PIECES = 48 << 10,
    MOST_KEPT_BYTES = 8 << 20,
    MOST_SIBLINGS = 16,
    MOULD_SLOTS = 1 << 14,
    MOULD_WAYS = 8, /* slots that a name may be in */
    MET_BITS = 1 << 16,
};

/* Numbers that differ from event to event, of those that mean something. The others stay in the
 * text: they say where the event belongs and what it is. */
static const uint64_t gap_fields =
    UINT64_C(1) << FIELD_START | UINT64_C(1) << FIELD_DURATION | UINT64_C(1) << FIELD_ID |
    UINT64_C(1) << FIELD_EXTERNAL | UINT64_C(1) << FIELD_SEQUENCE |
    UINT64_C(1) << FIELD_CORRELATION | UINT64_C(1) << FIELD_BYTES | UINT64_C(1) << FIELD_ADDRESS |
    UINT64_C(1) << FIELD_ALLOCATED | UINT64_C(1) << FIELD_RESERVED |
    UINT64_C(1) << FIELD_COLLECTIVE_SEQUENCE | UINT64_C(1) << FIELD_WAIT_CORRELATION;

static bool starts_number(char byte)
{
    return byte == '-' || (byte >= '0' && byte <= '9');
}

/* SLACK_BYTES can be read behind both. */
static ALWAYS_INLINE bool is_same(const char *at, const char *text, size_t len)
{
#ifdef __SSE2__
    size_t   done = 0;
    unsigned differ;

    do {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(at + done));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(text + done));

        differ = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) ^ 0xFFFF;
        done += 16;
    } while (!differ && done < len);
    return done < len ? !differ : !(differ << (done - len) & 0xFFFF);
#else
    return memcmp(at, text, len) == 0;
#endif
}

static bool ends_number(char byte)
{
    return (unsigned char)byte <= ' ' || byte == ',' || (byte | 0x20) == '}';
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The digits that eight bytes begin with: how many, and their number. */
static ALWAYS_INLINE unsigned take_digits(const char *at, uint64_t *number)
{
    const uint64_t every = UINT64_C(0x0101010101010101), pairs = UINT64_C(0x000000FF000000FF);
    uint64_t       word, others;
    unsigned       count;

    memcpy(&word, at, sizeof word);
    word ^= '0' * every;
    others = ((word + 0x76 * every) | word) & 0x80 * every; /* the top bit: no digit */
    count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (!count) {
        *number = 0;
        return 0;
    }
    word <<= 64 - 8 * count; /* as if zeros stood before them */
    word = word * 10 + (word >> 8);
    *number = ((word & pairs) * (100 + (UINT64_C(1000000) << 32)) +
               (word >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >>
              32;
    *number &= UINT32_MAX;
    return count;
}
#else
static unsigned take_digits(const char *at, uint64_t *number)
{
    unsigned count = 0;

    for (*number = 0; count < 8 && at[count] >= '0' && at[count] <= '9'; count++)
        *number = *number * 10 + (uint64_t)(at[count] - '0');
    return count;
}
#endif

static const uint32_t powers_of_ten[9] = { 1,      10,      100,      1000,     10000,
                                           100000, 1000000, 10000000, 100000000 };

/* A number as most are: up to 15 digits, for times up to three more behind a point. In ns then, as
 * the trace has them in us. Its end, or NULL: the careful way has to look at it. */
static ALWAYS_INLINE const char *take_number(const char *at, bool is_time, int64_t *number)
{
    uint64_t more, sum;
    unsigned count = take_digits(at, &sum), places = 0;

    if (!count)
        return NULL;
    at += count;
    if (count == 8) {
        count = take_digits(at, &more);
        if (count == 8)
            return NULL;
        sum = sum * powers_of_ten[count] + more;
        at += count;
    }
    if (is_time) {
        sum *= 1000;
        if (*at == '.') {
            places = take_digits(++at, &more);
            if (places == 0 || places > 3)
                return NULL;
            sum += more * powers_of_ten[3 - places];
            at += places;
        }
    }
    *number = (int64_t)sum;
    return ends_number(*at) ? at : NULL;
}

/* Any number's end, by what ends it; NULL where something else is in it: a quote or a bracket may
 * change what the text behind it is. */
static const char *number_end(const char *at, const char *end)
{
    while (at < end && (starts_number(*at) || *at == '.' || *at == '+' || (*at | 0x20) == 'e'))
        at++;
    return at < end && ends_number(*at) ? at : NULL;
}

/* The number in a gap; NULL: none is there. */
static ALWAYS_INLINE const char *fill_gap(const char *at, const char *end, enum kineto_field field,
                                          struct kineto_event *event)
{
    bool        is_time = field == FIELD_START || field == FIELD_DURATION;
    const char *behind;
    int64_t     number;

    if ((size_t)(end - at) < SLACK_BYTES || !starts_number(*at))
        return NULL;
    behind = take_number(at, is_time, &number);
    if (behind) {
        event->numbers[field] = number;
        event->has_number |= UINT64_C(1) << field;
    } else {
        behind = number_end(at, end);
        if (!behind)
            return NULL;
    }
    event->fields[field] = (struct str) { at, (size_t)(behind - at) };
    return behind;
}

/* Which piece of a list the text at `at` begins with; it becomes the list's first. 0: none. */
static ALWAYS_INLINE uint32_t find_piece(struct kineto_moulds *moulds, uint32_t *first,
                                         const char *at, const char *end)
{
    uint32_t *link = first, row;

    for (row = *link; row; link = &moulds->pieces.items[row].sibling, row = *link) {
        struct mould_piece *piece = &moulds->pieces.items[row];

        if ((size_t)(end - at) < piece->len + (size_t)SLACK_BYTES ||
            !is_same(at, piece->text, piece->len))
            continue;
        if (link != first) {
            *link = piece->sibling;
            piece->sibling = *first;
            *first = row;
        }
        return row;
    }
    return 0;
}

/* Where the pieces of the name at `at` are listed; NULL: nowhere yet. */
static ALWAYS_INLINE uint32_t *named_pieces(struct kineto_moulds *moulds, uint32_t root,
                                            struct str name, bool is_wanted)
{
    uint64_t hash = str_hash(name) + root;
    uint32_t tag = (uint32_t)(hash >> 32) | 1;

    for (uint32_t i = 0; i < MOULD_WAYS; i++) {
        struct mould_slot *slot = &moulds->slots[(hash + i) % MOULD_SLOTS];

        if (slot->tag == tag)
            return &slot->first;
        if (slot->tag)
            continue;
        if (!is_wanted)
            return NULL;
        slot->tag = tag;
        return &slot->first;
    }
    return NULL;
}

/* The list of pieces that go on behind a root's text, where *at is. */
static ALWAYS_INLINE uint32_t *behind_root(struct kineto_moulds *moulds, uint32_t root,
                                           const char *at, const char *end)
{
    const char *name;

    if (moulds->pieces.items[root].field != FIELD_NAME)
        return &moulds->pieces.items[root].child;
    name = json_find_quote(at, end);
    return named_pieces(moulds, root, (struct str) { at, (size_t)(name - at) }, false);
}

static void set_texts(const struct kineto_moulds *moulds, struct kineto_event *event)
{
    const struct kineto_known *known = event->known;

    event->present = known->present;
    event->class = (enum kineto_class)known->class;
    event->new_args = known->new_arg_count ? moulds->new_args.items + known->first_new_arg : NULL;
    event->new_arg_count = known->new_arg_count;
    for (uint32_t i = 0; i < known->text_count; i++) {
        const struct mould_text *text = &moulds->texts.items[known->first_text + i];

        event->fields[text->field] = text->text;
    }
}

bool kineto_fit_event(struct kineto_moulds *moulds, struct json_scan *scan,
                      struct kineto_event *event)
{
    const char *at = scan->at, *end = scan->end;
    uint32_t    root = find_piece(moulds, &moulds->first_root, at, end), row;
    uint32_t   *first;

    if (!root)
        return false;
    at += moulds->pieces.items[root].len;
    if (moulds->pieces.items[root].field != FIELD_NAME) {
        at = fill_gap(at, end, moulds->pieces.items[root].field, event);
        if (!at)
            return false;
    }
    first = behind_root(moulds, root, at, end);
    while (first && (row = find_piece(moulds, first, at, end))) {
        struct mould_piece *piece = &moulds->pieces.items[row];

        at += piece->len;
        if (piece->is_last) {
            event->known = &moulds->knowns.items[piece->child];
            set_texts(moulds, event);
            scan->at = at;
            return true;
        }
        at = fill_gap(at, end, piece->field, event);
        if (!at)
            break;
        first = &piece->child;
    }
    return false;
}

/* An event's text in pieces: each up to a number, the last one up to the event's end. */
struct cut {
    const char       *at;
    size_t            len;
    enum kineto_field field; /* of the number behind it; FIELD_NAME: of the name */
    uint32_t          row;   /* of pieces */
};
struct cutting {
    const struct kineto_event *event;
    const char                *next; /* where the next piece begins */
    struct cut                 cuts[MOST_CUTS];
    size_t                     count;
    bool                       is_too_long;
};

static void cut_before(struct cutting *cutting, const char *at, size_t len, enum kineto_field field)
{
    if (cutting->count == MOST_CUTS) {
        cutting->is_too_long = true;
        return;
    }
    cutting->cuts[cutting->count++] =
        (struct cut) { .at = cutting->next, .len = (size_t)(at - cutting->next), .field = field };
    cutting->next = at + len;
}

static enum kineto_field field_at(const struct kineto_event *event, const char *at)
{
    for (uint64_t left = event->present; left; left &= left - 1) {
        int field = __builtin_ctzll(left);

        if (event->fields[field].data == at)
            return (enum kineto_field)field;
    }
    return FIELD_NONE;
}

/* Cuts an object and its args at their numbers. */
static void cut_object(struct cutting *cutting, struct json_scan *scan, bool is_event)
{
    struct str key;

    if (!json_open(scan, '{'))
        return;
    while (json_member(scan, &key)) {
        char              byte = json_peek(scan);
        const char       *at = scan->at;
        enum kineto_field field;

        if (is_event && byte == '{' && str_equal(key, STR("args"))) {
            cut_object(cutting, scan, false);
            continue;
        }
        json_skip(scan);
        if (is_event && byte == '"' && !cutting->count && str_equal(key, STR("name")))
            cut_before(cutting, at + 1, 0, FIELD_NAME);
        if (!starts_number(byte))
            continue;
        field = field_at(cutting->event, at);
        if (field == FIELD_NONE || gap_fields >> field & 1)
            cut_before(cutting, at, (size_t)(scan->at - at), field);
    }
}

/* A piece of a list, added where it is not there; 0: there are too many. */
static uint32_t need_piece(struct kineto_moulds *moulds, uint32_t *first, const struct cut *cut,
                           bool is_last)
{
    struct mould_piece piece = { .len = (uint32_t)cut->len,
                                 .field = (uint8_t)cut->field,
                                 .is_last = is_last,
                                 .sibling = *first };
    uint32_t           count = 0, added = (uint32_t)moulds->pieces.count;
    char              *copy;

    for (uint32_t row = *first; row; row = moulds->pieces.items[row].sibling, count++) {
        const struct mould_piece *there = &moulds->pieces.items[row];

        if (there->len == cut->len && there->field == piece.field && there->is_last == is_last &&
            memcmp(there->text, cut->at, cut->len) == 0)
            return row;
    }
    if (count >= MOST_SIBLINGS || moulds->pieces.count >= MOST_PIECES ||
        moulds->kept_bytes + cut->len > MOST_KEPT_BYTES)
        return 0;
    copy = arena_alloc(&moulds->arena, cut->len + SLACK_BYTES);
    if (!copy)
        return 0;
    memcpy(copy, cut->at, cut->len);
    piece.text = copy;
    moulds->kept_bytes += cut->len;
    *first = added; /* first: the list may begin in what grows now */
    if (vec_push(&moulds->pieces, &moulds->arena, piece))
        return added;
    *first = piece.sibling;
    return 0;
}

/* Room for all that a mould has besides its pieces. */
static bool reserve(struct kineto_moulds *moulds, const struct kineto_event *event)
{
    moulds->has_no_room = !vec_reserve(&moulds->texts, &moulds->arena, FIELD_COUNT) ||
                          !vec_reserve(&moulds->new_args, &moulds->arena, event->new_arg_count) ||
                          !vec_reserve(&moulds->knowns, &moulds->arena, 1);
    return !moulds->has_no_room;
}

/* What the event's texts are, in the pieces' copies of them. */
static void keep_texts(struct kineto_moulds *moulds, const struct cutting *cutting)
{
    const struct kineto_event *event = cutting->event;

    for (uint64_t left = event->present; left; left &= left - 1) {
        int               field = __builtin_ctzll(left);
        struct str        there = event->fields[field];
        struct mould_text text = { .field = (uint8_t)field };

        for (size_t i = 0; i < cutting->count; i++) {
            const struct cut *cut = &cutting->cuts[i];

            if (there.data >= cut->at && there.data + there.len <= cut->at + cut->len)
                text.text =
                    (struct str) { moulds->pieces.items[cut->row].text + (there.data - cut->at),
                                   there.len };
        }
        if (text.text.data)
            moulds->texts.items[moulds->texts.count++] = text;
    }
}

/* The rows of the pieces; false: they are there all, or there are too many. */
static bool keep_pieces(struct kineto_moulds *moulds, struct cutting *cutting)
{
    uint32_t *first = &moulds->first_root, before = (uint32_t)moulds->pieces.count;

    for (size_t i = 0; i < cutting->count; i++) {
        struct cut *cut = &cutting->cuts[i];

        cut->row = need_piece(moulds, first, cut, i + 1 == cutting->count);
        if (!cut->row)
            return false;
        if (cut->field == FIELD_NAME)
            first = named_pieces(moulds, cut->row, cutting->event->fields[FIELD_NAME], true);
        else
            first = &moulds->pieces.items[cut->row].child;
        if (!first)
            return false;
    }
    return moulds->pieces.count > before && cutting->cuts[cutting->count - 1].row >= before;
}

static bool make_moulds(struct kineto_moulds *moulds)
{
    const struct mould_piece none = { 0 };

    moulds->slots = arena_new_array(&moulds->arena, struct mould_slot, MOULD_SLOTS);
    moulds->has_met = arena_new_array(&moulds->arena, uint64_t, MET_BITS / 64);
    moulds->has_no_room =
        !moulds->slots || !moulds->has_met || !vec_push(&moulds->pieces, &moulds->arena, none);
    return !moulds->has_no_room;
}

/* Whether such a name was met before: what comes once is not worth a mould. */
static bool was_met(struct kineto_moulds *moulds, const struct kineto_event *event)
{
    uint64_t hash, bit, *word;

    if (!(event->present >> FIELD_NAME & 1))
        return false;
    hash = str_hash(event->fields[FIELD_NAME]) + event->class;
    word = &moulds->has_met[hash / 64 % (MET_BITS / 64)];
    bit = UINT64_C(1) << hash % 64;
    if (*word & bit)
        return true;
    *word |= bit;
    return false;
}

void kineto_learn_event(struct kineto_moulds *moulds, const char *begin, const char *end,
                        const struct kineto_event *event)
{
    struct json_scan    scan = { .at = begin, .end = end };
    struct cutting      cutting;
    struct kineto_known known = { .present = event->present, .class = (uint8_t)event->class };

    if (end - begin > MOST_TEXT_BYTES || moulds->has_no_room ||
        (!moulds->pieces.count && !make_moulds(moulds)) || !was_met(moulds, event))
        return;
    cutting.event = event;
    cutting.next = begin;
    cutting.count = 0;
    cutting.is_too_long = false;
    cut_object(&cutting, &scan, true);
    cut_before(&cutting, end, 0, FIELD_NONE);
    /* What a last piece leads to is there, or the piece is not. */
    if (cutting.is_too_long || scan.state != JSON_FINE || !reserve(moulds, event) ||
        !keep_pieces(moulds, &cutting))
        return;
    known.first_text = (uint32_t)moulds->texts.count;
    keep_texts(moulds, &cutting);
    known.text_count = (uint32_t)moulds->texts.count - known.first_text;
    known.first_new_arg = (uint32_t)moulds->new_args.count;
    for (known.new_arg_count = 0; known.new_arg_count < event->new_arg_count; known.new_arg_count++)
        moulds->new_args.items[moulds->new_args.count++] = event->new_args[known.new_arg_count];
    moulds->pieces.items[cutting.cuts[cutting.count - 1].row].child =
        (uint32_t)moulds->knowns.count;
    moulds->knowns.items[moulds->knowns.count++] = known;
}
