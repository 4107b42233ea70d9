#include "cli/session.h"

#include "base/macros.h"
#include "base/sort.h"
#include "cli/view_input.h"
#include "report/output.h"
#include "rules/advise.h"
#include "view/classic_advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VIEW_OPTION(field) offsetof(struct view_values, field)
/* clang-format off */
const struct option session_options[] = {
#include "view/view_options.def"
};
/* clang-format on */
const size_t      session_option_count = ARRAY_COUNT(session_options);
const char *const session_commands[] = {
    "scope", "graph", "op", "code", "advise", "set", "reset", "help", "quit",
};
const size_t session_command_count = ARRAY_COUNT(session_commands);

enum { LISTED_OPTIONS = 21, NAME_WIDTH = 28 };

static const char *words_of_list(const struct option *option, const struct option_list *list,
                                 struct arena *arena)
{
    struct text text = { .arena = arena };

    text_add(&text, STR(""));
    for (size_t i = 0; i < list->values.count; i++)
        text_print(&text, "%s%s", i ? "," : "", list->values.items[i]);
    (void)option;
    return text.data ? text.data : "";
}

static void list_output(const char *value, struct session_answer *answer)
{
    struct view_output output;
    struct err         ignored = { 0 };

    if (view_output_scan(value, &answer->arena, &output, &ignored))
        view_output_print(&output, &answer->text);
}

/* Every option with its value: the answer to an empty line. */
static void list_options(const struct session *session, struct session_answer *answer)
{
    for (size_t i = 0; i < LISTED_OPTIONS; i++) {
        const struct option *option = &session_options[i];
        const void          *field = (const char *)&session->values + option->offset;
        struct option_list   list;

        text_print(&answer->text, "-%-*s", NAME_WIDTH - 1, option->name);
        if (option->kind == OPTION_INTEGER) {
            text_print(&answer->text, "%" PRId64, *(const int64_t *)field);
        } else if (option->kind == OPTION_FLAG) {
            text_print(&answer->text, "%s", *(const bool *)field ? "true" : "false");
        } else if (option->kind == OPTION_LIST) {
            list = *(const struct option_list *)field;
            if (list.values.count && strcmp(option->name, "select") == 0)
                qsort(list.values.items, list.values.count, sizeof *list.values.items,
                      sort_by_text);
            text_print(&answer->text, "%s", words_of_list(option, &list, &answer->arena));
        } else {
            const char *value = *(const char *const *)field;

            if (strcmp(option->name, "output") == 0)
                list_output(value, answer);
            else
                text_print(&answer->text, "%s", value ? value : "");
        }
        text_add_byte(&answer->text, '\n');
    }
}

/* Words at blanks; quotes hold one together and are taken off. Of the original they hold nothing,
 * and only the outermost are taken off. A word "|" ends them: what follows is for the shell. */
struct words {
    VEC(char *) items;
    const char *pipe;
};

static char *without_quotes(char *word)
{
    size_t len;

    while (*word == '\'' || *word == '"')
        word++;
    for (len = strlen(word); len && (word[len - 1] == '\'' || word[len - 1] == '"');)
        word[--len] = '\0';
    return word;
}

static bool split(const char *line, bool is_compat, struct arena *arena, struct words *words)
{
    struct str rest = str_trim(str_from(line));

    while (rest.len) {
        struct text word = { .arena = arena };
        char        quote = 0;
        size_t      at = 0;

        if (rest.data[0] == '|' && (rest.len == 1 || rest.data[1] == ' ')) {
            words->pipe = arena_text(arena, "%.*s", STR_ARG(str_slice(rest, 1, rest.len)));
            return words->pipe != NULL;
        }
        for (; at < rest.len && (quote || (rest.data[at] != ' ' && rest.data[at] != '\t')); at++) {
            char byte = rest.data[at];

            if (!is_compat && (quote ? byte == quote : byte == '"' || byte == '\''))
                quote = quote ? 0 : byte;
            else
                text_add_byte(&word, byte);
        }
        rest = str_trim(str_slice(rest, at, rest.len));
        text_add(&word, STR(""));
        if (!vec_push(&words->items, arena,
                      !word.data  ? (char[]) { "" }
                      : is_compat ? without_quotes(word.data)
                                  : word.data))
            return false;
    }
    return true;
}

static const struct option *option_of(const char *word)
{
    struct str name = str_from(word);

    if (name.len < 2 || name.data[0] != '-')
        return NULL;
    name = str_slice(name, name.data[1] == '-' ? 2 : 1, name.len);
    for (size_t i = 0; i < session_option_count; i++)
        if (str_equal(name, str_from(session_options[i].name)))
            return &session_options[i];
    return NULL;
}

/* A line has no operands, so that a flag's value may be any word that says yes or no. */
static bool join_flags(struct words *words, struct arena *arena)
{
    static const char *const yes[] = { "true", "t", "yes", "y", "1" }, *const no[] = { "false", "f",
                                                                                       "no", "n",
                                                                                       "0" };
    size_t kept = 0;

    for (size_t i = 0; i < words->items.count; i++) {
        const struct option *option = option_of(words->items.items[i]);
        const char          *next = i + 1 < words->items.count ? words->items.items[i + 1] : "";
        const char          *value = NULL;

        for (size_t n = 0; option && option->kind == OPTION_FLAG && n < ARRAY_COUNT(yes); n++)
            value = strcasecmp(next, yes[n]) == 0  ? "true"
                    : strcasecmp(next, no[n]) == 0 ? "false"
                                                   : value;
        words->items.items[kept] = words->items.items[i];
        if (value) {
            words->items.items[kept] = arena_text(arena, "-%s=%s", option->name, value);
            i++;
        }
        if (!words->items.items[kept++])
            return false;
    }
    words->items.count = kept;
    return true;
}

static bool take_options(struct words *words, struct arena *arena, struct view_values *values,
                         struct err *err)
{
    struct option_list operands = { 0 };

    if (!join_flags(words, arena))
        return err_set(err, ERR_LIMIT, "the line does not fit the memory limit");
    if (!option_update(session_options, session_option_count, (int)words->items.count - 1,
                       words->items.items + 1, arena, values, &operands, err))
        return false;
    if (operands.values.count == 0)
        return true;
    err_set(err, ERR_USAGE, "'%s' is no option", operands.values.items[0]);
    if (operands.values.items[0][0] == '>')
        return err_advise(err, "-output file:outfile=NAME writes to a file");
    return err_advise(err, "options begin with a dash, as -max_depth 3");
}

static struct view_call call_of(struct session *session, struct session_answer *answer,
                                const struct view_options *options)
{
    return (struct view_call) { .classic = session->input->profile.classic,
                                .options = options,
                                .trees = &session->trees,
                                .arena = &answer->arena,
                                .text = &answer->text,
                                .complaints = &answer->complaints };
}

/* On a terminal the words on a view come once, until another is asked for or more is selected. */
static bool is_explained(struct session *session, const struct view *view,
                         const struct view_options *options)
{
    bool is_known =
        session->explained == view && (options->selected & ~session->explained_attributes) == 0;

    if (!is_known)
        session->explained_attributes = 0;
    session->explained = view;
    session->explained_attributes |= options->selected;
    return is_known && !options->is_compat && options->output.kind == OUTPUT_STDOUT;
}

static bool show(struct session *session, const struct view *view, const struct view_values *values,
                 bool is_terminal, struct session_answer *answer, struct err *err)
{
    struct view_options options;
    struct view_call    call = call_of(session, answer, &options);
    bool                is_done;

    if ((view->needs_code && !input_lines(session->input, err)) ||
        !view_options_check(values, session->input->profile.classic, &answer->arena, &options,
                            &answer->complaints, err))
        return false;
    call.is_unexplained = is_terminal && !answer->pipe && is_explained(session, view, &options);
    is_done = view_report(view, &call, err);
    view_options_free(&options);
    return is_done;
}

/* Views are read without much of what rules look at: TensorFlow's files are read again, in full. */
static struct input *input_of_advice(struct session *session, struct err *err)
{
    enum profile_format format = session->input->profile.format;
    struct input_values values;

    if (session->full || !session->read_as || (format != FORMAT_PROFILE && format != FORMAT_GRAPH))
        return session->full ? session->full : session->input;
    values = *session->read_as;
    values.notes = NOTES_KEEP;
    session->full = arena_new(session->arena, struct input);
    if (session->full && input_read(session->full, &values, session->operands, INPUT_ANALYSES, err))
        return session->full;
    session->full = NULL;
    return NULL;
}

void session_free(struct session *session)
{
    if (session->full)
        input_free(session->full);
    session->full = NULL;
}

static bool advise(struct session *session, struct session_answer *answer, struct err *err)
{
    static const struct advise_options rules = { 0 };
    static const struct option_list    all = { 0 };
    struct view_options                compat = { .is_compat = true };
    struct view_call                   call = call_of(session, answer, &compat);
    struct advice                      advice = { 0 };
    struct output_options              shape = { .width = 80, .min_share = 0.005 };
    struct input                      *input;

    if (session->values.is_compat)
        return classic_advice(&call, &all, false, err);
    input = input_of_advice(session, err);
    if (!input || !input_study(input, err) ||
        !advise_run(&input->study, &rules, &answer->arena, &advice, err))
        return false;
    output_find("text")->advice(&advice, &input->study, &shape, &answer->text);
    return true;
}

/* `set`: values live as long as the session, the words of a line as long as its answer. */
static bool set(struct session *session, struct words *words, struct session_answer *answer,
                struct err *err)
{
    struct view_values  values = session->values;
    struct view_options options;

    for (size_t i = 0; i < words->items.count; i++) {
        words->items.items[i] = arena_text(session->arena, "%s", words->items.items[i]);
        if (!words->items.items[i])
            return err_set(err, ERR_LIMIT, "the line does not fit the memory limit");
    }
    if (!take_options(words, session->arena, &values, err) ||
        !view_options_check(&values, session->input->profile.classic, &answer->arena, &options,
                            &answer->complaints, err))
        return false;
    view_options_free(&options);
    session->values = values;
    return true;
}

/* `reset`, `reset -step -select`: back to what options are without a word. */
static bool reset(struct session *session, const struct words *words, struct err *err)
{
    struct view_values presets;

    if (!option_presets(session_options, session_option_count, session->arena, &presets, err))
        return false;
    presets.is_compat = session->values.is_compat; /* what the session is, no option of a line */
    if (words->items.count == 1)
        session->values = presets;
    for (size_t i = 1; i < words->items.count; i++) {
        const struct option *option = option_of(words->items.items[i]);

        if (!option) {
            err_set(err, ERR_USAGE, "'%s' is no option", words->items.items[i]);
            return err_advise(err, "reset -step -select; reset alone takes all back");
        }
        memcpy((char *)&session->values + option->offset, (const char *)&presets + option->offset,
               option_bytes(option));
    }
    return true;
}

static bool unknown_command(const char *word, struct err *err)
{
    const char *nearest = option_nearest(word, session_commands, session_command_count);

    err_set(err, ERR_USAGE, "'%s' is no command", word);
    return nearest ? err_advise(err, "did you mean '%s'?", nearest)
                   : err_advise(err, "help lists the commands");
}

static bool has_semicolon(const struct words *words)
{
    for (size_t i = 0; i < words->items.count; i++)
        if (str_ends(str_from(words->items.items[i]), STR(";")))
            return true;
    return false;
}

bool session_line(struct session *session, const char *line, bool is_terminal,
                  struct session_answer *answer, struct err *err)
{
    struct words       words = { 0 };
    struct view_values values = session->values;
    const struct view *view;
    const char        *command;

    answer->text.arena = answer->complaints.arena = &answer->arena;
    if (!split(line, session->values.is_compat, &answer->arena, &words))
        return err_set(err, ERR_LIMIT, "the line does not fit the memory limit");
    if (!session->values.is_compat && has_semicolon(&words))
        return err_set(err, ERR_USAGE, "a line is one command; ';' does not end it");
    answer->pipe = words.pipe;
    if (words.items.count == 0) {
        list_options(session, answer);
        return true;
    }
    command = words.items.items[0];
    view = view_find(command);
    if (strcmp(command, "quit") == 0 || strcmp(command, "exit") == 0) {
        session->is_ended = session->values.is_compat || words.items.count == 1;
        return session->is_ended || err_set(err, ERR_USAGE, "%s takes nothing behind it", command);
    }
    if (strcmp(command, "help") == 0)
        return session_help(words.items.count > 1 ? words.items.items[1] : NULL, answer, err);
    if (strcmp(command, "set") == 0 && words.items.count > 1)
        return set(session, &words, answer, err);
    if (strcmp(command, "set") == 0) {
        list_options(session, answer);
        return true;
    }
    if (strcmp(command, "reset") == 0 && !session->values.is_compat)
        return reset(session, &words, err);
    if (strcmp(command, "advise") == 0)
        return advise(session, answer, err);
    if (!view)
        return unknown_command(command, err);
    if (is_terminal && !words.pipe && values.max_rows == 0)
        values.max_rows = session->default_rows;
    return take_options(&words, &answer->arena, &values, err) &&
           show(session, view, &values, is_terminal, answer, err);
}
