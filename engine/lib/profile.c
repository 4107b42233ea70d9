/* Recordings that are read: tfprof_open, and the facts and names of tables in them; progress. */
#include "base/macros.h"
#include "cli/progress.h"
#include "lib/handle.h"

#include <stdlib.h>
#include <string.h>

#define INPUT(field) offsetof(struct input_values, field)
/* clang-format off */
static const struct option open_options[] = {
#include "cli/input_options.def"
};
/* clang-format on */

/* What tfprof_open is asked, in the shape of a command. */
static const struct command_answer open_answer = { 0 };
static const struct command        open_command = {
           .name = "open",
           .options = open_options,
           .option_count = ARRAY_COUNT(open_options),
           .values_bytes = sizeof(struct input_values),
           .answer = &open_answer,
};

const char *tfprof_version(void)
{
    return TFPROF_VERSION;
}

void tfprof_progress(tfprof_tell tell, void *context)
{
    progress_listen(tell, context);
}

static bool load(tfprof_profile *profile, const struct asking *asking, struct err *err)
{
    struct call          call = { .command = &open_command, .arena = &profile->arena };
    struct input_values *values;

    if (!asking_parse(asking, &call, err))
        return false;
    values = call.values;
    values->notes = NOTES_KEEP;
    values->keeps_job = true;
    return input_load(&profile->input, values, &call.operands, err);
}

tfprof_profile *tfprof_open(const char *const *paths, size_t path_count, const char *const *options,
                            tfprof_error **error)
{
    struct asking asking = {
        .command = &open_command, .paths = paths, .path_count = path_count, .options = options
    };
    struct err      err = { 0 };
    tfprof_profile *profile = calloc(1, sizeof *profile);

    if (!profile)
        arena_out_of_memory(sizeof *profile);
    if (load(profile, &asking, &err)) {
        pthread_mutex_init(&profile->mutex, NULL);
        return profile;
    }
    arena_free(&profile->arena);
    free(profile);
    error_give(&err, error);
    return NULL;
}

void tfprof_close(tfprof_profile *profile)
{
    if (!profile)
        return;
    pthread_mutex_destroy(&profile->mutex);
    input_free(&profile->input);
    arena_free(&profile->arena);
    free(profile);
}

static void show(const struct facts *facts, const struct fact *from, tfprof_fact *fact)
{
    bool is_text = from->spec->unit == UNIT_NAME;

    *fact = (tfprof_fact) { .name = from->spec->name,
                            .unit = unit_name(from->spec->unit),
                            .help = from->spec->help };
    if (is_text)
        fact->text = intern_str(facts->names, (uint32_t)from->value).data;
    else
        fact->number = from->value;
}

size_t tfprof_fact_count(tfprof_profile *profile)
{
    return profile->input.study.facts.list.count;
}

bool tfprof_fact_at(tfprof_profile *profile, size_t index, tfprof_fact *fact)
{
    const struct facts *facts = &profile->input.study.facts;

    if (index >= facts->list.count)
        return false;
    pthread_mutex_lock(&profile->mutex);
    show(facts, &facts->list.items[index], fact);
    pthread_mutex_unlock(&profile->mutex);
    return true;
}

bool tfprof_fact_find(tfprof_profile *profile, const char *name, tfprof_fact *fact)
{
    const struct facts *facts = &profile->input.study.facts;
    const struct fact  *found;

    pthread_mutex_lock(&profile->mutex);
    found = facts_find(facts, name);
    if (found)
        show(facts, found, fact);
    pthread_mutex_unlock(&profile->mutex);
    return found != NULL;
}

size_t tfprof_table_count(tfprof_profile *profile)
{
    return profile->input.study.facts.tables.count;
}

const char *tfprof_table_name(tfprof_profile *profile, size_t index)
{
    const struct facts *facts = &profile->input.study.facts;

    return index < facts->tables.count ? facts->tables.items[index]->spec->name : NULL;
}
