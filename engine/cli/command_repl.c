/* repl: the rule API interactively. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/line_editor.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/finding_text.h"
#include "rules/repl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_ROWS = 20 };

struct repl_values {
    struct input_values input;
    struct option_list  rules;
    const char         *color;
};

#define INPUT(field) offsetof(struct repl_values, input.field)
#define REPL(field) offsetof(struct repl_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "rule", .kind = OPTION_REPEAT, .offset = REPL(rules), .choices = "CODE",
      .help = "print what this Lua returns and end, as 'return p:table(\"ops\"):top(\"self_ns\", 3)'" },
    { .name = "color", .kind = OPTION_ONE_OF, .offset = REPL(color), .preset = "auto",
      .choices = "auto|always|never", .help = "colours in text" },
#include "cli/input_options.def"
};
/* clang-format on */

struct asking {
    struct repl *repl;
    const char  *color;
    bool         is_open; /* a statement waits for more lines */
};

static void print_answer(const struct asking *asking, struct repl_answer *answer,
                         struct arena *arena)
{
    struct layout layout = { .text = &answer->text,
                             .arena = arena,
                             .width = terminal_width(),
                             .is_colored = terminal_is_colored(asking->color, true) };

    for (size_t i = 0; i < answer->findings.count; i++) {
        const struct finding *finding = &answer->findings.items[i];

        finding_text(&layout, finding, finding->rank, SIZE_MAX);
        finding_text_check(&layout, finding);
    }
    line_editor_write(stdout, text_str(&answer->text));
}

static const char *prompt_text(void *context)
{
    const struct asking *asking = context;

    return asking->is_open ? "...> " : "lua> ";
}

static bool complete_line(void *context, struct str line, struct arena *arena,
                          struct line_words *words, size_t *from)
{
    struct repl_words found;
    bool              is_done = repl_complete(line, arena, &found, from);

    (void)context;
    memcpy(&words->items, &found.items, sizeof words->items);
    words->is_open = true; /* what follows a name is no blank */
    return is_done;
}

/* "help" or "help TOPIC". */
static bool answer_help(const char *line, struct arena *arena)
{
    struct text text = { .arena = arena };
    const char *topic = line + strlen("help");

    if (strncmp(line, "help", strlen("help")) != 0 || (*topic && *topic != ' '))
        return false;
    topic += strspn(topic, " ");
    if (repl_help(topic, &text))
        line_editor_write(stdout, text_str(&text));
    else
        fprintf(stderr, "E: no topic or name '%s'\n", topic);
    return true;
}

static bool answer_line(void *context, const char *line, bool is_terminal)
{
    struct asking     *asking = context;
    struct arena       arena = { 0 };
    struct repl_answer answer;

    (void)is_terminal;
    if (!asking->is_open && (strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0))
        return false;
    if (!asking->is_open && answer_help(line, &arena)) {
        arena_free(&arena);
        return true;
    }
    switch (repl_line(asking->repl, line, &arena, &answer)) {
    case REPL_MORE:
        asking->is_open = true;
        break;
    case REPL_FAULT:
        asking->is_open = false;
        print_answer(asking, &answer, &arena);
        fprintf(stderr, "E: %s\n", answer.fault ? answer.fault : "no memory left");
        break;
    case REPL_DONE:
        asking->is_open = false;
        print_answer(asking, &answer, &arena);
        break;
    }
    arena_free(&arena);
    return true;
}

static bool run_rules(const struct asking *asking, const struct option_list *rules,
                      struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < rules->values.count; i++) {
        struct repl_answer answer;

        switch (repl_line(asking->repl, rules->values.items[i], arena, &answer)) {
        case REPL_DONE:
            print_answer(asking, &answer, arena);
            break;
        case REPL_MORE:
            return err_set(err, ERR_SCRIPT, "--rule: the statement does not end");
        case REPL_FAULT:
            return err_set(err, ERR_SCRIPT, "--rule: %s",
                           answer.fault ? answer.fault : "no memory left");
        }
    }
    return true;
}

static bool ask(struct call *call, struct input *input, struct err *err)
{
    const struct repl_values *values = call->values;
    bool                      is_terminal = isatty(STDOUT_FILENO);
    struct repl_shape         shape = { .row_count = is_terminal ? TERMINAL_ROWS : 0,
                                        .width = is_terminal ? terminal_width() : 0 };
    struct asking             asking = { .color = values->color };
    struct line_use           use = {
                  .context = &asking, .prompt = prompt_text, .complete = complete_line, .answer = answer_line
    };
    bool is_done;

    asking.repl = repl_new(&input->study, &shape, call->arena, err);
    progress_end();
    if (!asking.repl)
        return false;
    if (values->rules.values.count > 0) {
        is_done = run_rules(&asking, &values->rules, call->arena, err);
    } else {
        use.history_path = line_editor_history(".tfprof_repl_history", call->arena);
        is_done = line_editor_run(&use, err);
    }
    repl_free(asking.repl);
    return is_done;
}

static bool run(struct call *call, struct err *err)
{
    const struct repl_values *values = call->values;
    struct input              input;
    bool                      is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    is_done = input_load(&input, &values->input, &call->operands, err);
    if (is_done) {
        is_done = ask(call, &input, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

const struct command command_repl = {
    .name = "repl",
    .summary = "try the API of rules on a profile, line by line",
    .operands = "PROFILE...",
    .description =
        "Reads a profile and runs lines of Lua with what a rule has: p is the profile. Values are "
        "printed, queries and lists of rows as tables; a finding is priced, a rule runs. A name "
        "that is set without local stays; a statement may take several lines; each line has the "
        "limits of a rule. help and help NAME explain. From a terminal there are history and "
        "completion; quit or the end of input ends.\n"
        "tfprof repl PROFILE --rule 'return p.fact[\"step.median_ns\"]' prints one value and ends; "
        "the exit status is 5 when it fails. "
        "The history is kept in ~/.tfprof_repl_history, or where TFPROF_HISTORY says.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct repl_values),
    .run = run,
};
