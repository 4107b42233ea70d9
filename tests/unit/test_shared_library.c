/* libtfprof.so through tfprof.h alone: what its page promises of answers, errors, tables and
 * threads. */
#include "lib/tfprof.h"
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RECORDING CASES_DIR "/recordings/tf2-input-sequential-map"

static tfprof_profile *opened(const char *const *options)
{
    const char *const paths[] = { RECORDING };
    tfprof_error     *error = NULL;
    tfprof_profile   *profile = tfprof_open(paths, 1, options, &error);

    assert_non_null(profile);
    assert_null(error);
    return profile;
}

/* The caller frees it. */
static char *text_of(tfprof_answer *answer)
{
    char *text;

    assert_non_null(answer);
    assert_int_equal(strlen(tfprof_answer_text(answer)), tfprof_answer_bytes(answer));
    text = strdup(tfprof_answer_text(answer));
    tfprof_answer_free(answer);
    return text;
}

/* Neither the order of questions nor how often one is asked changes an answer. */
TEST(answers_do_not_depend_on_others)
{
    const char *const edits[] = { "no-input-wait", NULL };
    tfprof_profile   *profile = opened(NULL), *other = opened(NULL);
    char             *first = text_of(tfprof_advise(profile, NULL, NULL));
    char             *whatif = text_of(tfprof_whatif(other, edits, NULL));
    char             *info = text_of(tfprof_info(other, NULL, NULL));
    char             *text;

    free(text_of(tfprof_report(profile, NULL, NULL)));
    text = text_of(tfprof_whatif(profile, edits, NULL));
    assert_string_equal(text, whatif);
    free(text);
    text = text_of(tfprof_advise(profile, NULL, NULL));
    assert_string_equal(text, first);
    free(text);
    text = text_of(tfprof_info(profile, NULL, NULL));
    assert_string_equal(text, info);
    free(text);
    free(text_of(tfprof_why(profile, NULL, NULL, NULL)));
    free(text_of(tfprof_why(profile, "step:slowest", NULL, NULL)));
    free(text_of(tfprof_tool(profile, "overview", NULL, NULL)));
    free(text_of(tfprof_explain(profile, "input-bound-step", NULL, NULL)));
    free(text_of(tfprof_explain(NULL, "input-bound-step", NULL, NULL)));
    free(text_of(tfprof_diff(profile, profile, NULL, NULL)));
    tfprof_close(profile);
    tfprof_close(other);
    free(first);
    free(whatif);
    free(info);
}

/* Frees *error. */
static void expect_error(tfprof_error **where, int kind, const char *part)
{
    tfprof_error *error = *where;

    assert_non_null(error);
    print_message("%s\n", tfprof_error_message(error));
    assert_int_equal(tfprof_error_kind(error), kind);
    assert_non_null(strstr(tfprof_error_message(error), part));
    tfprof_error_free(error);
    *where = NULL;
}

TEST(options_that_cannot_be_are_refused)
{
    static const struct {
        const char *option;
        int         kind;
        const char *part;
    } rows[] = {
        { "output=x.json", TFPROF_ERROR_USAGE, "output is an option of the command line" },
        { "list", TFPROF_ERROR_USAGE, "list is an option of the command line" },
        { "steps=1:3", TFPROF_ERROR_USAGE, "said when a recording is opened" },
        { "graph_path=x", TFPROF_ERROR_USAGE, "said when a recording is opened" },
        { "min-impcat=1%", TFPROF_ERROR_USAGE, "did you mean --min-impact?" },
        { "only=no-such-rule", TFPROF_ERROR_USAGE, "no-such-rule" },
        { "config=nowhere.toml", TFPROF_ERROR_INPUT, "nowhere.toml" },
    };
    tfprof_profile *profile = opened(NULL);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const options[] = { rows[i].option, NULL };
        tfprof_error     *error = NULL;

        assert_null(tfprof_advise(profile, options, &error));
        expect_error(&error, rows[i].kind, rows[i].part);
    }
    tfprof_close(profile);
}

TEST(errors_tell_their_kind)
{
    const char *const missing[] = { "nowhere.json" }, *const here[] = { RECORDING };
    const char *const little[] = { "memory=1000", NULL }, *const whole[] = { "steps=900:", NULL };
    tfprof_error   *error = NULL;
    tfprof_profile *profile;

    assert_null(tfprof_open(missing, 1, NULL, &error));
    expect_error(&error, TFPROF_ERROR_INPUT, "nowhere.json");
    assert_null(tfprof_open(missing, 1, NULL, NULL));
    assert_null(tfprof_open(here, 1, little, &error));
    expect_error(&error, TFPROF_ERROR_LIMIT, "memory");
    assert_null(tfprof_open(here, 1, whole, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "selects no step");
    assert_null(tfprof_open(NULL, 0, NULL, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "no profile given");
    assert_null(tfprof_gate(here, 1, NULL, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "nothing to hold");
    profile = opened(NULL);
    assert_null(tfprof_whatif(profile, NULL, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "no edit");
    assert_null(tfprof_tool(profile, "advise", NULL, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "no tool");
    assert_null(tfprof_table_text(profile, "kernels", NULL, &error));
    expect_error(&error, TFPROF_ERROR_INCONCLUSIVE, "no table kernels");
    tfprof_close(profile);
    tfprof_close(NULL);
    tfprof_answer_free(NULL);
}

TEST(a_gate_that_fails_is_an_answer)
{
    const char *const here[] = { RECORDING };
    const char *const holds[] = { "budget=findings.total >= 0", NULL };
    const char *const fails[] = { "budget=findings.total < 0", "inconclusive=pass", NULL };
    tfprof_answer    *answer = tfprof_gate(here, 1, fails, NULL);

    assert_non_null(answer);
    assert_int_equal(tfprof_answer_status(answer), 1);
    assert_non_null(strstr(tfprof_answer_text(answer), "\"outcome\": \"fail\""));
    assert_string_equal(tfprof_answer_warnings(answer), "");
    tfprof_answer_free(answer);
    answer = tfprof_gate(here, 1, holds, NULL);
    assert_non_null(answer);
    tfprof_answer_free(answer);
}

static size_t lines_of(tfprof_answer *answer)
{
    char  *text = text_of(answer);
    size_t count = 0;

    for (const char *at = text; *at; at++)
        count += *at == '\n';
    free(text);
    return count;
}

/* Children moved out live on when all else is gone, as the interface's text demands. */
TEST(tables_outlive_their_profile)
{
    const char *const  csv[] = { "format=csv", NULL };
    const char *const  two[] = { "columns=name,duration_ns", "sort=duration_ns", NULL };
    tfprof_profile    *profile = opened(NULL);
    size_t             row_count = lines_of(tfprof_table_text(profile, "steps", csv, NULL)) - 1;
    struct ArrowSchema schema;
    struct ArrowArray  array, moved;
    tfprof_error      *error = NULL;
    const double      *numbers;

    assert_false(tfprof_table(profile, "steps", two, &schema, &array, &error));
    expect_error(&error, TFPROF_ERROR_USAGE, "has no column 'name'");
    assert_null(schema.release);
    assert_null(array.release);
    assert_true(tfprof_table(profile, "steps", NULL, &schema, &array, NULL));
    tfprof_close(profile);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(array.length, row_count);
    assert_int_equal(array.n_children, schema.n_children);
    for (int64_t i = 0; i < schema.n_children; i++) {
        if (strcmp(schema.children[i]->name, "duration_ns") != 0)
            continue;
        assert_string_equal(schema.children[i]->format, "g");
        assert_memory_equal(schema.children[i]->metadata + 8, "unit\x02\0\0\0ns", 10);
        moved = *array.children[i];
        array.children[i]->release = NULL;
    }
    array.release(&array);
    assert_null(array.release);
    schema.release(&schema);
    assert_null(schema.release);
    numbers = moved.buffers[1];
    for (int64_t row = 0; row < moved.length; row++)
        assert_true(numbers[row] > 0);
    moved.release(&moved);
}

TEST(facts_are_found_by_name_and_in_order)
{
    tfprof_profile *profile = opened(NULL);
    size_t          count = tfprof_fact_count(profile);
    tfprof_fact     fact, found, before = { .name = "" };

    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        assert_true(tfprof_fact_at(profile, i, &fact));
        assert_true(strcmp(before.name, fact.name) < 0);
        assert_true(tfprof_fact_find(profile, fact.name, &found));
        assert_memory_equal(&found, &fact, sizeof fact);
        assert_true((fact.text != NULL) == (strcmp(fact.unit, "name") == 0));
        before = fact;
    }
    assert_false(tfprof_fact_at(profile, count, &fact));
    assert_false(tfprof_fact_find(profile, "no.such_fact", &fact));
    for (size_t i = 0; i < tfprof_table_count(profile); i++)
        assert_non_null(tfprof_table_name(profile, i));
    assert_null(tfprof_table_name(profile, tfprof_table_count(profile)));
    tfprof_close(profile);
}

static void *ask_twice(void *profile)
{
    char *first = text_of(tfprof_advise(profile, NULL, NULL));
    char *second = text_of(tfprof_advise(profile, NULL, NULL));

    assert_string_equal(first, second);
    free(second);
    return first;
}

TEST(threads_share_a_profile)
{
    tfprof_profile *profile = opened(NULL);
    pthread_t       threads[3];
    char           *texts[3];

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_twice, profile), 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], (void **)&texts[i]);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(texts[i], texts[0]);
    for (size_t i = 0; i < 3; i++)
        free(texts[i]);
    tfprof_close(profile);
}
