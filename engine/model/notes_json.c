#include "model/notes_json.h"

#include "base/json_fields.h"
#include "model/profile.h"

static void write_note(struct json_writer *json, const struct note *note)
{
    json_object(json);
    put_text(json, "where", note->where);
    put_text(json, "what", note->what);
    put_integer(json, "count", (int64_t)note->count);
    put_bool(json, "damage", note->is_damage);
    json_object_end(json);
}

void notes_json(struct json_writer *json, const struct profile *const *profiles, size_t count)
{
    put_array(json, "notes");
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; profiles[i] && row < profiles[i]->notes.count; row++)
            write_note(json, &profiles[i]->notes.items[row]);
    json_array_end(json);
}
