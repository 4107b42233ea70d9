#include "model/names.h"

#include <string.h>

static const struct str lists[NAME_LIST_COUNT] = {
#define NAMES(id, words) [NAMES_##id] = STR_INIT(words),
#include "model/names.def"
#undef NAMES
};

static bool matches(struct str name, struct str word)
{
    bool is_end = word.data[0] == '*', is_start = word.data[word.len - 1] == '*';

    word = (struct str) { word.data + is_end, word.len - is_end - is_start };
    if (is_start)
        return is_end ? str_contains(name, word) : str_starts(name, word);
    return is_end ? str_ends(name, word) : str_equal(name, word);
}

bool name_is(struct str name, enum name_list list)
{
    const char *word = lists[list].data, *end = word + lists[list].len;

    for (const char *bar; name.len && word < end; word = bar + 1) {
        bar = memchr(word, '|', (size_t)(end - word));
        bar = bar ? bar : end;
        if ((*word == *name.data || *word == '*') &&
            matches(name, (struct str) { word, (size_t)(bar - word) }))
            return true;
    }
    return false;
}
