#include "base/words.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 3 };

/* The first bytes, as a number; zeros behind the end. */
static uint32_t key_of(struct str text)
{
    uint32_t key = 0;

    for (size_t i = 0; i < KEY_BYTES && i < text.len; i++)
        key |= (uint32_t)(unsigned char)text.data[i] << 8 * i;
    return key;
}

/* The first eight bytes of a text; zeros behind the end. */
static uint64_t head_of(const char *text, size_t len)
{
    uint64_t head = 0;

    if (len >= sizeof head)
        memcpy(&head, text, sizeof head);
    else
        memcpy(&head, text, len);
    return head;
}

static unsigned bucket_of(uint32_t key)
{
    return key * UINT32_C(2654435761) >> (32 - WORDS_BUCKET_BITS);
}

/* What a row's words have in their keys besides their first bytes. */
static uint32_t row_key(const struct words *words, uint16_t row)
{
    return words->is_by_row ? (uint32_t)row << 24 : 0;
}

static void add(struct words *words, struct word word)
{
    uint16_t *first;

    if (words->count == words->room || word.text.len < (word.is_end ? 1 : KEY_BYTES))
        abort();
    word.head = head_of(word.text.data, word.text.len);
    memset(&word.mask, 0xff, word.text.len < sizeof word.mask ? word.text.len : sizeof word.mask);
    first = &words->first[bucket_of(key_of(word.text) ^ row_key(words, word.row))];
    word.next = *first;
    words->items[words->count++] = word;
    *first = words->count;
}

void words_add_part(struct words *words, struct str part, uint16_t row)
{
    add(words, (struct word) { .text = part, .row = row });
}

void words_add(struct words *words, const char *list, uint16_t row)
{
    struct str rest = str_from(list);

    while (rest.len > 0) {
        struct str  text = str_cut(&rest, '|');
        struct word word = { .row = row, .is_start = text.data[0] != '*' };

        word.is_end = text.data[text.len - 1] != '*';
        word.text = str_slice(text, !word.is_start, text.len - !word.is_end);
        add(words, word);
    }
}

static bool stands(const struct word *word, struct str text, size_t at)
{
    size_t left = text.len - at;

    return word->text.len <= left && (!word->is_start || at == 0) &&
           (!word->is_end || word->text.len == left) &&
           (word->text.len <= sizeof word->head ||
            memcmp(text.data + at, word->text.data, word->text.len) == 0);
}

const struct word *words_next(const struct words *words, struct words_walk *walk)
{
    struct str text = walk->text;
    uint32_t   key = walk->key;
    uint16_t   next = walk->next;

    if (!walk->is_begun) {
        key = key_of(text);
        next = text.len ? words->first[bucket_of(key)] : 0;
        walk->is_begun = true;
    }
    for (;;) {
        uint64_t head = next ? head_of(text.data + walk->at, text.len - walk->at) : 0;

        while (next) {
            const struct word *word = &words->items[next - 1];

            next = word->next;
            if ((head & word->mask) == word->head && stands(word, text, walk->at)) {
                walk->key = key;
                walk->next = next;
                return word;
            }
        }
        if (++walk->at >= text.len)
            return NULL;
        key >>= 8;
        if (walk->at + KEY_BYTES <= text.len)
            key |= (uint32_t)(unsigned char)text.data[walk->at + KEY_BYTES - 1] << 16;
        next = words->first[bucket_of(key)];
    }
}

uint16_t words_first_row(const struct words *words, struct str text, uint16_t none)
{
    struct words_walk  walk = { .text = text };
    const struct word *word;

    while ((word = words_next(words, &walk)))
        if (word->row < none)
            none = word->row;
    return none;
}

bool words_fit(const struct words *words, struct str text, uint16_t row, bool at_start)
{
    uint32_t key = key_of(text), of_row = row_key(words, row);

    for (size_t at = 0; at < text.len && (at == 0 || !at_start); at++) {
        uint16_t next;
        uint64_t head;

        if (at > 0)
            key >>= 8;
        if (at > 0 && at + KEY_BYTES <= text.len)
            key |= (uint32_t)(unsigned char)text.data[at + KEY_BYTES - 1] << 16;
        next = words->first[bucket_of(key ^ of_row)];
        head = next ? head_of(text.data + at, text.len - at) : 0;
        for (const struct word *word; next; next = word->next) {
            word = &words->items[next - 1];
            if (word->row == row && (head & word->mask) == word->head && stands(word, text, at))
                return true;
        }
    }
    return false;
}
