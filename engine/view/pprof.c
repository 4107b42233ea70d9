/*
 * Each displayed line is a location, in its function. In the original, and with compat, each edge
 * between displayed lines is one: the line of the caller in the function called.
 * Format: github.com/google/pprof/proto/profile.proto
 */
#include "view/pprof.h"

#include "base/gzip.h"
#include "base/intern.h"
#include "base/macros.h"
#include "base/wire_out.h"

#include <stdlib.h>

enum { MAPPING_ID = 1 };

struct function {
    struct str file, name; /* of the code, with " (gradient)" */
    int64_t    first_line;
    uint32_t   text_name, text_file; /* strings */
};
struct location {
    struct str file, name;
    int64_t    line;
    uint32_t   function; /* id */
};
struct sample {
    struct str name;
    uint32_t   sequence, text_name;
    uint32_t   first_location, location_count; /* rows of pprof.stacks, leaf first */
    int64_t    value;
};
struct pprof {
    const struct tree      *tree;
    const struct view_call *call;
    enum view_value         value;
    struct intern           strings;
    uint32_t                label;
    struct intern           function_keys, location_keys; /* their ids: rows + 1 */
    VEC(struct function) functions;
    VEC(struct location) locations;
    VEC(struct sample) samples;
    VEC(uint32_t) stacks;
    VEC(uint32_t) path;   /* ids of locations down to where the walk is */
    uint32_t *child_ends; /* by row of the tree: row behind all below it */
};

static const struct {
    enum attribute attribute;
    const char    *unit, *comment;
} kinds[] = {
    { ATTRIBUTE_MICROS, "microseconds",
      "Sum of accelerator execution time and cpu execution time." },
    { ATTRIBUTE_ACCELERATOR_MICROS, "microseconds", "Accelerator execution time." },
    { ATTRIBUTE_CPU_MICROS, "microseconds", "CPU execution time." },
    { ATTRIBUTE_BYTES, "bytes",
      "Sum of operation total memory requests, excluding deallocations." },
    { ATTRIBUTE_PEAK_BYTES, "bytes", "Sum of operation peak memory usage." },
    { ATTRIBUTE_RESIDUAL_BYTES, "bytes", "Sum of operation allocated memory after finish." },
    { ATTRIBUTE_OUTPUT_BYTES, "bytes", "Sum of operation output size." },
    { ATTRIBUTE_PARAMS, "count", "Model parameters." },
    { ATTRIBUTE_FLOAT_OPS, "count", "Model float operations (Only available if defined)." },
};

static const struct source_line *line_of(const struct pprof *pprof, uint32_t row)
{
    return &pprof->call->classic->profile->sources.items[pprof->tree->nodes.items[row].source];
}

/* Name of the function that a line of the tree is in; a scope is called as it is. */
static struct str function_name(struct pprof *pprof, uint32_t row)
{
    const struct profile *profile = pprof->call->classic->profile;
    struct str            name;
    char                 *text;

    if (pprof->tree->rules == TREE_SCOPE)
        return pprof->tree->nodes.items[row].name;
    name = profile_str(profile, line_of(pprof, row)->function);

    if (!pprof->tree->nodes.items[row].is_gradient)
        return name;
    text = arena_text(pprof->call->arena, "%.*s (gradient)", STR_ARG(name));
    return str_from(text);
}

/* "model:fc": the file's name without folder and ending. */
static uint32_t short_name(struct pprof *pprof, struct str file, struct str name)
{
    struct text text = { .arena = pprof->call->arena };
    size_t      slash = str_find_last(file, '/');
    struct str  base = slash < file.len ? str_slice(file, slash + 1, file.len) : file;

    text_print(&text, "%.*s:%.*s", STR_ARG(str_slice(base, 0, str_find_last(base, '.'))),
               STR_ARG(name));
    return intern_add(&pprof->strings, text_str(&text));
}

/* Equal keys are one row; they have no padding. */
struct function_key {
    int64_t  first_line;
    uint32_t file, name; /* interned in the profile */
    uint64_t is_gradient;
};
struct location_key {
    uint32_t file, name, line, function; /* of compat: function 0 */
    uint64_t is_gradient;
};

/* A scope of its own: no other row has its name. */
static uint32_t scope_function(struct pprof *pprof, uint32_t row)
{
    struct function function = { .file = STR("scope"), .name = function_name(pprof, row) };
    uint32_t        known = pprof->function_keys.count;
    uint32_t        id = intern_add(&pprof->function_keys, function.name);

    if (id != known)
        return id;
    function.text_name = intern_add(&pprof->strings, function.name);
    function.text_file = intern_add(&pprof->strings, function.file);
    return vec_push(&pprof->functions, pprof->call->arena, function) ? id : NO_ID;
}

static uint32_t scope_location(struct pprof *pprof, uint32_t row)
{
    struct location location = { .file = STR("scope"),
                                 .name = function_name(pprof, row),
                                 .function = scope_function(pprof, row) };
    uint32_t        known = pprof->location_keys.count;
    uint32_t        id = intern_add(&pprof->location_keys, location.name);

    if (id != known || location.function == NO_ID)
        return location.function == NO_ID ? NO_ID : id;
    return vec_push(&pprof->locations, pprof->call->arena, location) ? id : NO_ID;
}

static uint32_t function_id(struct pprof *pprof, uint32_t row)
{
    const struct profile     *profile = pprof->call->classic->profile;
    const struct source_line *line = line_of(pprof, row);
    struct function_key       key = { .first_line = line->first_line,
                                      .file = line->file,
                                      .name = line->function,
                                      .is_gradient = pprof->tree->nodes.items[row].is_gradient };
    struct function           function = { .file = profile_str(profile, line->file),
                                           .first_line = line->first_line };
    uint32_t                  known = pprof->function_keys.count; /* the empty key has id 0 */
    uint32_t id = intern_add(&pprof->function_keys, (struct str) { (char *)&key, sizeof key });

    if (id != known)
        return id;
    function.name = function_name(pprof, row);
    function.text_name = short_name(pprof, function.file, function.name);
    function.text_file = intern_add(&pprof->strings, function.file);
    return vec_push(&pprof->functions, pprof->call->arena, function) ? id : NO_ID;
}

/* The original has the line of the caller in the function that is called. */
static uint32_t line_location(struct pprof *pprof, uint32_t parent, uint32_t row)
{
    bool                      is_compat = pprof->call->options->is_compat;
    const struct source_line *called = line_of(pprof, row);
    const struct source_line *line = is_compat ? line_of(pprof, parent) : called;
    struct location_key       key = { .file = line->file,
                                      .name = called->function,
                                      .line = line->line,
                                      .is_gradient = pprof->tree->nodes.items[row].is_gradient };
    struct location location = { .file = profile_str(pprof->call->classic->profile, line->file),
                                 .line = line->line };
    uint32_t        known = pprof->location_keys.count, id;

    if (!is_compat)
        key.function = function_id(pprof, row);
    if (key.function == NO_ID)
        return NO_ID;
    id = intern_add(&pprof->location_keys, (struct str) { (char *)&key, sizeof key });
    if (id != known)
        return id;
    location.name = function_name(pprof, row);
    location.function = is_compat ? function_id(pprof, row) : key.function;
    return location.function != NO_ID && vec_push(&pprof->locations, pprof->call->arena, location)
               ? id
               : NO_ID;
}

static uint32_t location_id(struct pprof *pprof, uint32_t parent, uint32_t row)
{
    return pprof->tree->rules == TREE_SCOPE ? scope_location(pprof, row)
                                            : line_location(pprof, parent, row);
}

static bool add_sample(struct pprof *pprof, uint32_t node)
{
    const struct classic *classic = pprof->call->classic;
    struct arena         *arena = pprof->call->arena;
    struct sample         sample = { .name = classic_name(classic, node),
                                     .sequence = (uint32_t)pprof->samples.count,
                                     .first_location = (uint32_t)pprof->stacks.count,
                                     .location_count = (uint32_t)pprof->path.count };

    pprof->label = intern_add(&pprof->strings, STR("graph node:"));
    sample.text_name = intern_add(&pprof->strings, sample.name);
    sample.value = values_of_node(classic, node, pprof->call->options->step).values[pprof->value];
    for (size_t i = pprof->path.count; i-- > 0;)
        if (!vec_push(&pprof->stacks, arena, pprof->path.items[i]))
            return false;
    return vec_push(&pprof->samples, arena, sample);
}

/* Of a line and those below it that stand nowhere themselves. The original has those of lines at
 * the end of a trace alone. */
static bool add_samples(struct pprof *pprof, uint32_t row)
{
    const struct tree *tree = pprof->tree;
    bool               is_compat = pprof->call->options->is_compat;

    for (uint32_t i = row; i < pprof->child_ends[row]; i++) {
        const uint32_t *members = tree->members + tree->nodes.items[i].first_member;

        if (is_compat ? pprof->child_ends[i] != i + 1 : i != row && tree->states[i].is_visible) {
            i = is_compat ? i : pprof->child_ends[i] - 1;
            continue;
        }
        if (tree->rules == TREE_SCOPE) {
            uint32_t node = tree->nodes.items[i].node;

            if (tree->states[i].is_accounted && node != NO_ID && !add_sample(pprof, node))
                return false;
            continue;
        }
        for (uint32_t n = 0; n < tree->states[i].member_count; n++)
            if (!add_sample(pprof, members[n]))
                return false;
    }
    return true;
}

static bool find_ends(struct pprof *pprof)
{
    const struct tree *tree = pprof->tree;

    pprof->child_ends = arena_new_array(pprof->call->arena, uint32_t, tree->nodes.count);
    for (size_t i = tree->nodes.count; pprof->child_ends && i-- > 0;) {
        uint32_t above = tree->nodes.items[i].parent;

        if (pprof->child_ends[i] == 0)
            pprof->child_ends[i] = (uint32_t)i + 1;
        if (i > 0 && pprof->child_ends[above] < pprof->child_ends[i])
            pprof->child_ends[above] = pprof->child_ends[i];
    }
    return pprof->child_ends != NULL;
}

static bool add_row(const struct tree *tree, struct tree_step *step, void *context)
{
    struct pprof *pprof = context;
    bool          is_compat = pprof->call->options->is_compat;

    pprof->path.count = step->path_len;
    if (step->row && (step->parent || !is_compat)) {
        uint32_t id = location_id(pprof, step->parent, step->row);

        if (id == NO_ID || !vec_push(&pprof->path, pprof->call->arena, id))
            return false;
    }
    step->path_len = pprof->path.count;
    return !step->row || (tree->states[step->row].shown_count && is_compat) ||
           add_samples(pprof, step->row);
}

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int                  order = str_compare(a->name, b->name);

    return order ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void put_samples(struct pprof *pprof, struct text *text)
{
    if (pprof->samples.count)
        qsort(pprof->samples.items, pprof->samples.count, sizeof(struct sample), compare_samples);
    for (size_t i = 0; i < pprof->samples.count; i++) {
        const struct sample *sample = &pprof->samples.items[i];
        struct text          body = { .arena = text->arena }, packed = body, label = body;

        for (uint32_t n = 0; n < sample->location_count; n++)
            wire_out_varint(&packed, pprof->stacks.items[sample->first_location + n]);
        if (packed.len)
            wire_out_bytes(&body, 1, text_str(&packed));
        packed = (struct text) { .arena = text->arena };
        wire_out_varint(&packed, 1);
        wire_out_varint(&packed, (uint64_t)sample->value);
        wire_out_bytes(&body, 2, text_str(&packed));
        wire_out_nonzero(&label, 1, pprof->label);
        wire_out_nonzero(&label, 2, sample->text_name);
        wire_out_bytes(&body, 3, text_str(&label));
        wire_out_bytes(text, 2, text_str(&body));
    }
}

struct keyed { /* a function or location by its key */
    struct str file, name;
    int64_t    line;
    uint32_t   row;
};

static int compare_keys(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int                 order = str_compare(a->file, b->file);

    if (!order)
        order = str_compare(a->name, b->name);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool put_locations(struct pprof *pprof, struct text *text)
{
    size_t        count = pprof->locations.count;
    struct keyed *keys = arena_new_array(text->arena, struct keyed, count);

    for (uint32_t i = 0; keys && i < count; i++) {
        const struct location *location = &pprof->locations.items[i];

        keys[i] = (struct keyed) { location->file, location->name, location->line, i };
    }
    if (keys && count)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; keys && i < count; i++) {
        struct text body = { .arena = text->arena }, line = body;

        wire_out_nonzero(&body, 1, keys[i].row + 1);
        if (!pprof->call->options->is_compat)
            wire_out_nonzero(&body, 2, MAPPING_ID);
        wire_out_nonzero(&line, 1, pprof->locations.items[keys[i].row].function);
        wire_out_nonzero(&line, 2, keys[i].line);
        wire_out_bytes(&body, 4, text_str(&line));
        wire_out_bytes(text, 4, text_str(&body));
    }
    return keys != NULL;
}

static bool put_functions(struct pprof *pprof, struct text *text)
{
    size_t        count = pprof->functions.count;
    struct keyed *keys = arena_new_array(text->arena, struct keyed, count);

    for (uint32_t i = 0; keys && i < count; i++) {
        const struct function *function = &pprof->functions.items[i];

        keys[i] = (struct keyed) { function->file, function->name, function->first_line, i };
    }
    if (keys && count)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; keys && i < count; i++) {
        const struct function *function = &pprof->functions.items[keys[i].row];
        struct text            body = { .arena = text->arena };

        wire_out_nonzero(&body, 1, keys[i].row + 1);
        wire_out_nonzero(&body, 2, function->text_name);
        wire_out_nonzero(&body, 4, function->text_file);
        wire_out_nonzero(&body, 5, function->first_line);
        wire_out_bytes(text, 5, text_str(&body));
    }
    return keys != NULL;
}

static void put_type(struct text *text, uint32_t type, uint32_t unit)
{
    struct text body = { .arena = text->arena };

    wire_out_nonzero(&body, 1, type);
    wire_out_nonzero(&body, 2, unit);
    wire_out_bytes(text, 1, text_str(&body));
}

/* What pprof calls the binary: the recording. It says that functions and lines are known. */
static void put_mapping(struct pprof *pprof, struct text *text)
{
    enum { ID = 1, FILE_NAME = 5, HAS_FUNCTIONS = 7, HAS_FILES = 8, HAS_LINES = 9 };
    const struct profile *profile = pprof->call->classic->profile;
    struct text           body = { .arena = text->arena };
    struct str            path =
        profile->files.count ? str_from(profile->files.items[0].name) : STR("recording");

    wire_out_nonzero(&body, ID, MAPPING_ID);
    wire_out_nonzero(&body, FILE_NAME, intern_add(&pprof->strings, path));
    wire_out_nonzero(&body, HAS_FUNCTIONS, 1);
    wire_out_nonzero(&body, HAS_FILES, 1);
    wire_out_nonzero(&body, HAS_LINES, 1);
    wire_out_bytes(text, 3, text_str(&body));
}

static bool put_profile(struct pprof *pprof, size_t kind, struct text *text)
{
    const char *name = attribute_name(kinds[kind].attribute);
    uint32_t    count = intern_add(&pprof->strings, STR("count"));
    uint32_t    type = intern_add(&pprof->strings, str_from(name));
    uint32_t    unit = intern_add(&pprof->strings, str_from(kinds[kind].unit));
    uint32_t    comment = intern_add(&pprof->strings, str_from(kinds[kind].comment));
    struct text comments = { .arena = text->arena };

    put_type(text, count, count);
    put_type(text, type, unit);
    put_samples(pprof, text);
    if (!pprof->call->options->is_compat)
        put_mapping(pprof, text);
    if (!put_locations(pprof, text) || !put_functions(pprof, text))
        return false;
    for (uint32_t i = 0; i < pprof->strings.count; i++)
        wire_out_bytes(text, 6, intern_str(&pprof->strings, i));
    wire_out_varint(&comments, comment);
    wire_out_bytes(text, 13, text_str(&comments));
    if (!pprof->call->options->is_compat)
        wire_out_nonzero(text, 14, type);
    return true;
}

/* Which of the kinds is selected, alone. */
static bool find_kind(const struct view_call *call, size_t *kind)
{
    unsigned selected = call->options->selected;

    if (selected == 0 || (selected & (selected - 1))) {
        text_add(call->complaints, STR("Can only select 1 attribute for pprof output.\n"));
        return false;
    }
    for (*kind = 0; *kind < ARRAY_COUNT(kinds); ++*kind)
        if (selected == 1u << kinds[*kind].attribute)
            return true;
    for (unsigned i = 0; i < ATTRIBUTE_COUNT; i++)
        if (selected == 1u << i)
            text_print(call->complaints, "pprof doesn't support -select=%s\n",
                       attribute_name((enum attribute)i));
    return false;
}

bool pprof_of_tree(const struct tree *tree, const struct view_call *call, struct text *packed,
                   bool *is_made)
{
    struct pprof pprof = { .tree = tree, .call = call };
    struct text  profile = { .arena = call->arena };
    size_t       kind;

    *is_made = find_kind(call, &kind);
    if (!*is_made)
        return true;
    attribute_is_number(kinds[kind].attribute, &pprof.value);
    if (!intern_init(&pprof.strings, call->arena) ||
        !intern_init(&pprof.function_keys, call->arena) ||
        !intern_init(&pprof.location_keys, call->arena) || !find_ends(&pprof) ||
        !tree_walk(tree, add_row, &pprof, call->arena) || !put_profile(&pprof, kind, &profile))
        return false;
    return gzip_pack(text_str(&profile), packed);
}
