#include "analyze/classic/classic_contexts.h"

#include "base/text.h"

bool contexts_init(struct classic_contexts *contexts, struct profile *profile, struct arena *arena,
                   bool by_line)
{
    *contexts = (struct classic_contexts) { .profile = profile,
                                            .arena = arena,
                                            .by_line = by_line,
                                            .row_of_parts.arena = arena,
                                            .frames.arena = arena };
    return vec_push(&contexts->rows, arena, (struct classic_context) { .source = NO_ID });
}

bool contexts_has_frames(const struct profile *profile)
{
    for (size_t i = 0; i < profile->activities.count; i++)
        if (profile->activities.items[i].kind == ACTIVITY_PYTHON &&
            profile->activities.items[i].source != NO_ID)
            return true;
    return false;
}

static uint32_t row_of(struct classic_contexts *contexts, const struct classic_context *context)
{
    uint64_t key = (uint64_t)context->path << 32 |
                   (uint32_t)((context->source + 1) << 1 | context->is_gradient);
    uint32_t row = id_map_get(&contexts->row_of_parts, key);

    if (row != NO_ID)
        return row;
    row = (uint32_t)contexts->rows.count;
    return id_map_put(&contexts->row_of_parts, key, row) &&
                   vec_push(&contexts->rows, contexts->arena, *context)
               ? row
               : NO_ID;
}

/* A line below the lines that called it; NO_ID: full. */
static uint32_t frame_of(struct classic_contexts *contexts, uint32_t line, uint32_t caller)
{
    struct profile    *profile = contexts->profile;
    uint64_t           key = (uint64_t)(caller + 1) << 32 | line;
    uint32_t           row = id_map_get(&contexts->frames, key);
    struct source_line frame = profile->sources.items[line];

    if (row != NO_ID)
        return row;
    frame.caller = caller;
    row = (uint32_t)profile->sources.count;
    return profile->sources.count < NO_ID >> 1 && id_map_put(&contexts->frames, key, row) &&
                   vec_push(&profile->sources, profile->arena, frame)
               ? row
               : NO_ID;
}

/* Modules of PyTorch are scopes: "nn.Module: Linear_0". */
uint32_t contexts_enter(struct classic_contexts *contexts, uint32_t around,
                        const struct activity *activity)
{
    static const struct str module = STR_INIT("nn.Module: ");
    struct profile         *profile = contexts->profile;
    struct classic_context  context = contexts->rows.items[around];
    struct str              name = profile_str(profile, activity->name);
    struct text             text = { .arena = contexts->arena };

    if (activity->kind != ACTIVITY_PYTHON)
        return around;
    if (contexts->by_line && activity->source != NO_ID) {
        context.source = frame_of(contexts, activity->source, context.source);
        context.is_gradient = false;
        return context.source == NO_ID ? NO_ID : row_of(contexts, &context);
    }
    if (!str_starts(name, module))
        return around;
    name = str_slice(name, module.len, name.len);
    text_print(&text, "%.*s%s%.*s", STR_ARG(profile_str(profile, context.path)),
               context.path ? "/" : "", STR_ARG(name));
    context.path = profile_intern(profile, text_str(&text));
    return context.path == NO_ID ? NO_ID : row_of(contexts, &context);
}

uint32_t contexts_gradient(struct classic_contexts *contexts, uint32_t around, uint32_t source)
{
    struct classic_context context = contexts->rows.items[around];

    if (!contexts->by_line || source == NO_ID)
        return around;
    context.source = source;
    context.is_gradient = true;
    return row_of(contexts, &context);
}

uint32_t contexts_source(struct classic_contexts *contexts, uint32_t context, uint32_t own,
                         bool *is_full)
{
    uint32_t around = contexts->rows.items[context].source, row;

    if (own == NO_ID || around == NO_ID || contexts->profile->sources.items[own].caller != NO_ID)
        return own == NO_ID ? around : own;
    row = frame_of(contexts, own, around);
    *is_full |= row == NO_ID;
    return row;
}
