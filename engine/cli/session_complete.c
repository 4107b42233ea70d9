/* What may stand where a line ends: commands, options, values, names of the profile. */
#include "base/file.h"
#include "base/macros.h"
#include "base/sort.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 200 };

struct completing {
    const struct session *session;
    struct arena         *arena;
    struct session_words *words;
    struct str            before, start; /* of the word: what stands before; what is begun */
    bool                  is_full;
};

/* Of a comma list: what stands in it already is not offered again. */
static bool is_listed(const struct completing *completing, struct str word)
{
    struct str rest = completing->before;

    while (completing->words->is_open && rest.len)
        if (str_equal(str_cut(&rest, ','), word))
            return true;
    return false;
}

static void offer(struct completing *completing, struct str word)
{
    char *whole;

    if (!str_starts(word, completing->start) || is_listed(completing, word) ||
        completing->words->items.count == WORDS_MAX)
        return;
    whole = arena_text(completing->arena, "%.*s%.*s", STR_ARG(completing->before), STR_ARG(word));
    if (!whole || !vec_push(&completing->words->items, completing->arena, whole))
        completing->is_full = true;
}

static void offer_choices(struct completing *completing, const char *choices)
{
    struct str rest = str_from(choices);

    while (rest.len)
        offer(completing, str_cut(&rest, '|'));
}

static void offer_options(struct completing *completing)
{
    for (size_t i = 0; i < session_option_count; i++) {
        char *name = arena_text(completing->arena, "-%s", session_options[i].name);

        if (name && !session_options[i].is_legacy)
            offer(completing, str_from(name));
    }
}

static void offer_types(struct completing *completing)
{
    const struct classic *classic = completing->session->input->profile.classic;
    struct intern         seen;

    if (!intern_init(&seen, completing->arena))
        return;
    for (uint32_t i = 0; i < classic->nodes.count; i++) {
        uint32_t count = seen.count;

        if (intern_add(&seen, classic_type(classic, i)) == count)
            offer(completing, classic_type(classic, i));
    }
}

/* Names up to the next part of their path, as a shell offers folders. */
static void offer_names(struct completing *completing)
{
    const struct classic *classic = completing->session->input->profile.classic;
    struct str            last = { 0 };
    uint32_t              low = (uint32_t)LOWER_BOUND(
                     classic->nodes.count, i,
                     str_compare(classic_name(classic, (uint32_t)i), completing->start) < 0);

    for (; low < classic->nodes.count && completing->words->items.count < WORDS_MAX; low++) {
        struct str name = classic_name(classic, low);
        size_t     from = completing->start.len;

        if (!str_starts(name, completing->start))
            return;
        name = str_slice(name, 0, from + str_find(str_slice(name, from, name.len), '/') + 1);
        if (!str_equal(name, last))
            offer(completing, name);
        last = name;
    }
}

static void offer_steps(struct completing *completing)
{
    const struct classic *classic = completing->session->input->profile.classic;

    offer(completing, STR("-1"));
    for (size_t i = 0; i < classic->steps.count; i++) {
        char *step = arena_text(completing->arena, "%lld", (long long)classic->steps.items[i]);

        if (step)
            offer(completing, str_from(step));
    }
}

static bool has_blank(const char *name)
{
    return strpbrk(name, " \t'\"") != NULL;
}

/* Names in the folder that is begun; hidden ones where a dot is. Blanks would end the word. */
static void offer_files(struct completing *completing)
{
    struct str start = completing->start;
    size_t     slash = str_find_last(start, '/');
    struct str folder = str_slice(start, 0, slash < start.len ? slash + 1 : 0);
    char      *path = arena_text(completing->arena, "%.*s", STR_ARG(folder)), **names = NULL;
    size_t     count = 0;
    struct err ignored = { 0 };

    if (!path || !file_list(*path ? path : ".", completing->arena, &names, &count, &ignored))
        return;
    completing->before.len += folder.len;
    completing->start = str_slice(start, folder.len, start.len);
    for (size_t i = 0; i < count && completing->words->items.count < WORDS_MAX; i++) {
        char *whole, *name;

        if (!str_starts(str_from(names[i]), completing->start) || has_blank(names[i]) ||
            (names[i][0] == '.' && !completing->start.len))
            continue;
        whole = arena_text(completing->arena, "%s%s", path, names[i]);
        name = arena_text(completing->arena, "%s%s", names[i],
                          whole && file_is_directory(whole) ? "/" : "");
        if (name)
            offer(completing, str_from(name));
    }
}

/* Kinds of output, then the file behind "file:outfile=". */
static void offer_outputs(struct completing *completing)
{
    static const struct str outfile = STR_INIT("outfile=");
    struct str              start = completing->start;
    size_t                  at = str_search(start, outfile);

    if (at == start.len) {
        offer_choices(completing,
                      "file:outfile=|folded:outfile=|none|pprof:outfile=|stdout|timeline:outfile=");
        return;
    }
    completing->before = str_slice(start, 0, at + outfile.len);
    completing->start = str_slice(start, at + outfile.len, start.len);
    offer_files(completing);
}

static bool names_files(const struct option *option)
{
    return option->choices &&
           (strcmp(option->choices, "FILE") == 0 || strcmp(option->choices, "DIR") == 0);
}

static void offer_values(struct completing *completing, const struct option *option)
{
    struct str name = str_from(option->name);

    if (names_files(option))
        offer_files(completing);
    else if (option->kind == OPTION_ONE_OF)
        offer_choices(completing, option->choices);
    else if (option->kind == OPTION_FLAG)
        offer_choices(completing, "false|true");
    else if (str_equal(name, STR("output")))
        offer_outputs(completing);
    else if (str_equal(name, STR("step")))
        offer_steps(completing);
    else if (str_equal(name, STR("account_type_regexes")))
        offer_types(completing);
    else if (str_ends(name, STR("_name_regexes")))
        offer_names(completing);
    for (size_t i = 0; i < ATTRIBUTE_COUNT && str_equal(name, STR("select")); i++)
        offer(completing, str_from(attribute_name((enum attribute)i)));
}

static const struct option *option_before(struct str line, size_t from)
{
    struct str rest = str_trim(str_slice(line, 0, from)), word;
    size_t     blank = str_find_last(rest, ' ');

    word = str_slice(rest, blank < rest.len ? blank + 1 : 0, rest.len);
    if (word.len < 2 || word.data[0] != '-')
        return NULL;
    word = str_slice(word, word.data[1] == '-' ? 2 : 1, word.len);
    for (size_t i = 0; i < session_option_count; i++)
        if (str_equal(word, str_from(session_options[i].name)))
            return session_options[i].kind == OPTION_CHOSEN ? NULL : &session_options[i];
    return NULL;
}

/* Its values come in the order of their numbers. */
static bool is_step(const struct option *option)
{
    return option && strcmp(option->name, "step") == 0;
}

bool session_complete(const struct session *session, struct str line, struct arena *arena,
                      struct session_words *words, size_t *from)
{
    struct completing    completing = { .session = session, .arena = arena, .words = words };
    size_t               blank = str_find_last(line, ' ');
    const struct option *option;
    size_t               comma;

    *from = blank < line.len ? blank + 1 : 0;
    completing.start = str_slice(line, *from, line.len);
    completing.before = (struct str) { line.data + *from, 0 };
    option = option_before(line, *from);
    if (str_trim(str_slice(line, 0, *from)).len == 0) {
        for (size_t i = 0; i < session_command_count; i++)
            offer(&completing, str_from(session_commands[i]));
    } else if (option && (option->kind != OPTION_FLAG || !str_starts(completing.start, STR("-")))) {
        comma = str_find_last(completing.start, ',');
        words->is_open = option->kind == OPTION_LIST;
        if (option->kind == OPTION_LIST && comma < completing.start.len) {
            completing.before = str_slice(completing.start, 0, comma + 1);
            completing.start = str_slice(completing.start, comma + 1, completing.start.len);
        }
        offer_values(&completing, option);
    } else {
        offer_options(&completing);
    }
    if (words->items.count && !is_step(option))
        qsort(words->items.items, words->items.count, sizeof *words->items.items, sort_by_text);
    return !completing.is_full;
}
