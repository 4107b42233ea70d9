#include "cli/notes.h"

#include "base/text.h"
#include "cli/progress.h"

#include <stdio.h>

enum { MOST_NOTES = 5 };

static const char *place_of(const struct note *note, const char *name)
{
    return note->where && *note->where ? note->where : name;
}

/* What damage says stands on a line of its own: paths are long, and this must be read. */
static void add_note(struct text *text, const struct note *note, const char *name)
{
    text_add(text, STR("tfprof: "));
    text_add_clean(text, str_from(place_of(note, name)));
    text_add(text, note->is_damage ? STR(": damaged, so numbers may be wrong:\n  ") : STR(": "));
    text_add_clean(text, str_from(note->what));
    if (note->count > 1)
        text_print(text, " (%llu times)", (unsigned long long)note->count);
    text_add_byte(text, '\n');
}

static void add_notes(struct text *text, const struct profile *profile, const char *name,
                      bool is_damage, size_t *told, size_t *left)
{
    for (size_t i = 0; i < profile->notes.count; i++) {
        if (profile->notes.items[i].is_damage != is_damage)
            continue;
        if (*told < MOST_NOTES)
            add_note(text, &profile->notes.items[i], name);
        *(*told < MOST_NOTES ? told : left) += 1;
    }
}

void notes_tell(const struct profile *profile, const char *name, enum notes_use use)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };
    size_t       told = 0, left = 0;

    if (use != NOTES_KEEP)
        add_notes(&text, profile, name, true, &told, &left);
    if (use == NOTES_TELL)
        add_notes(&text, profile, name, false, &told, &left);
    if (left > 0)
        text_print(&text, "tfprof: %zu more note%s: tfprof info\n", left, left == 1 ? "" : "s");
    if (text.len > 0) {
        progress_end();
        fprintf(stderr, "%.*s", STR_ARG(text_str(&text)));
    }
    arena_free(&arena);
}

bool notes_refuse(const struct profile *profile, const char *name, struct err *err)
{
    const struct note *note = profile_first_damage(profile);

    if (!note)
        return true;
    err_set(err, ERR_FORMAT, "is damaged: %s", note->what);
    return err_source(err, place_of(note, name));
}
