/* howto: how to record a program, section by section of docs/recording.md. */
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/agent_page.h"
#include "cli/command.h"
#include "cli/howto.h"
#include "cli/recording_page.h"

/* From a heading "## NAME" to the next one. */
struct section {
    struct str name, body;
};

static bool next_section(struct str *rest, struct section *section)
{
    static const struct str HEAD = STR_INIT("\n## ");
    size_t                  at = str_search(*rest, HEAD), end;

    if (at == rest->len)
        return false;
    *rest = str_slice(*rest, at + HEAD.len, rest->len);
    section->name = str_slice(*rest, 0, str_find(*rest, '\n'));
    end = str_search(*rest, HEAD);
    section->body = str_trim(str_slice(*rest, section->name.len, end));
    return true;
}

struct str howto_name(size_t index)
{
    struct str     rest = recording_page;
    struct section section = { 0 };

    while (next_section(&rest, &section))
        if (index-- == 0)
            return section.name;
    return (struct str) { 0 };
}

/* What people call a framework beside its name here. */
static struct str known_as(struct str name)
{
    static const struct {
        struct str said, name;
    } others[] = {
        { STR_INIT("pytorch"), STR_INIT("torch") },
        { STR_INIT("tf"), STR_INIT("tensorflow") },
        { STR_INIT("tf2"), STR_INIT("tensorflow") },
        { STR_INIT("hf"), STR_INIT("huggingface") },
        { STR_INIT("transformers"), STR_INIT("huggingface") },
    };

    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (str_equal(name, others[i].said))
            return others[i].name;
    return name;
}

static bool show(struct str said, struct arena *arena, struct err *err)
{
    struct str     name = known_as(said);
    struct str     rest = recording_page;
    struct section section;
    struct text    text = { .arena = arena };
    const char    *near;
    VEC(const char *) names = { 0 };

    if (str_equal(name, STR("agent")))
        return file_write("-", agent_page, err);
    while (next_section(&rest, &section)) {
        if (str_equal(section.name, name)) {
            text_print(&text, "%.*s\n", STR_ARG(section.body));
            return file_write("-", text_str(&text), err);
        }
        if (!vec_push(&names, arena, arena_str(arena, section.name).data))
            return err_set(err, ERR_LIMIT, "no memory left");
    }
    near = option_nearest(arena_str(arena, name).data, names.items, names.count);
    err_set(err, ERR_USAGE, "there is no recipe for '%.*s'", STR_ARG(name));
    return near ? err_advise(err, "did you mean %s?", near)
                : err_advise(err, "tfprof howto lists them");
}

/* "PyTorch, training or inference on CPU or GPU" */
static struct str first_sentence(struct str body)
{
    struct str line = str_slice(body, 0, str_find(body, '\n'));
    size_t     end = str_search(line, STR(". "));

    line = str_slice(line, 0, end);
    return str_ends(line, STR(".")) ? str_slice(line, 0, line.len - 1) : line;
}

/* Names of all sections, and what each is about. */
static bool list(struct arena *arena, struct err *err)
{
    struct str     rest = recording_page;
    struct section section;
    struct text    text = { .arena = arena };

    while (next_section(&rest, &section))
        text_print(&text, "tfprof howto %-12.*s %.*s\n", STR_ARG(section.name),
                   STR_ARG(first_sentence(section.body)));
    text_add(&text, STR("tfprof howto agent        How agents should use tfprof, as a SKILL.md\n"));
    return file_write("-", text_str(&text), err);
}

static bool run(struct call *call, struct err *err)
{
    if (call->operands.values.count > 1)
        return err_set(err, ERR_USAGE, "howto takes one name");
    return call->operands.values.count
               ? show(str_from(call->operands.values.items[0]), call->arena, err)
               : list(call->arena, err);
}

const struct command command_howto = {
    .name = "howto",
    .summary = "print how to record a program: torch, tensorflow, keras, tf1, jax, vllm and more",
    .operands = "[RECIPE]",
    .description =
        "Prints what to add to a program, and which command reads what it records. Without a name "
        "it lists the recipes. agent prints how agents should use tfprof, as a SKILL.md.",
    .run = run,
};
