#include "model/notes_json.h"

#include "model/profile.h"

static void write_note(struct json_writer *json, const struct note *note)
{
    json_object(json);
    if (note->where) {
        json_key(json, "where");
        json_text(json, note->where);
    }
    json_key(json, "what");
    json_text(json, note->what);
    json_key(json, "count");
    json_integer(json, (int64_t)note->count);
    json_key(json, "damage");
    json_bool(json, note->is_damage);
    json_object_end(json);
}

void notes_json(struct json_writer *json, const struct profile *const *profiles, size_t count)
{
    json_key(json, "notes");
    json_array(json);
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; profiles[i] && row < profiles[i]->notes.count; row++)
            write_note(json, &profiles[i]->notes.items[row]);
    json_array_end(json);
}
