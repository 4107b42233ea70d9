#include "model/names.h"

#include "base/macros.h"
#include "base/words.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static const char *const lists[NAME_LIST_COUNT] = {
#define NAMES(id, words) [NAMES_##id] = words,
#include "model/names.def"
#undef NAMES
};

const char *name_list_words(enum name_list list)
{
    return lists[list];
}

static const struct str ids[NAME_LIST_COUNT] = {
#define NAMES(id, words) [NAMES_##id] = STR_INIT(#id),
#include "model/names.def"
#undef NAMES
};

static bool is_same_word(struct str id, struct str word)
{
    for (size_t i = 0; i < id.len && id.len == word.len; i++)
        if (tolower((unsigned char)id.data[i]) != word.data[i])
            return false;
    return id.len == word.len;
}

enum name_list name_list_find(struct str id)
{
    enum name_list list = 0;

    while (list < NAME_LIST_COUNT && !is_same_word(ids[list], id))
        list++;
    return list;
}

/* One piece, where it fits whole; the bytes before and with it. */
static size_t add_piece(char *pattern, size_t room, size_t len, const char *piece, size_t bytes)
{
    if (len + bytes < room) {
        memcpy(pattern + len, piece, bytes);
        pattern[len + bytes] = '\0';
    }
    return len + bytes;
}

size_t name_list_pattern(enum name_list list, char *pattern, size_t room)
{
    size_t len = add_piece(pattern, room, 0, "^(?:", 4);

    for (const char *letter = lists[list]; *letter; letter++) {
        if (strchr("\\^$.?+()[]{}", *letter))
            len = add_piece(pattern, room, len, "\\", 1);
        len = *letter == '*' ? add_piece(pattern, room, len, ".*", 2)
                             : add_piece(pattern, room, len, letter, 1);
    }
    return add_piece(pattern, room, len, ")$", 2);
}

static struct word    items[2048];
static struct words   words = { .items = items, .room = ARRAY_COUNT(items), .is_by_row = true };
static bool           is_anchored[NAME_LIST_COUNT]; /* no word of the list begins with a star */
static pthread_once_t words_made = PTHREAD_ONCE_INIT;

static void make_words(void)
{
    for (int list = 0; list < NAME_LIST_COUNT; list++) {
        words_add(&words, lists[list], (uint16_t)list);
        is_anchored[list] = *lists[list] != '*' && !strstr(lists[list], "|*");
    }
}

bool name_is(struct str name, enum name_list list)
{
    pthread_once(&words_made, make_words);
    return words_fit(&words, name, (uint16_t)list, is_anchored[list]);
}
