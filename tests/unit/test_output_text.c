
#include "testing.h"

#include "advice_sample.h"
#include "report/layout.h"
#include "report/output.h"

#include <string.h>

static const char *render(struct sample *sample, struct output_options options)
{
    struct text text = { .arena = &sample->arena };

    if (options.width == 0)
        options.width = 80;
    output_text.advice(&sample->advice, &sample->study, &options, &text);
    return text.data;
}

TEST(leads_with_the_verdict_and_ranks)
{
    /* 25 % of 30 cells are 7.5 cells, 75 % are 22.5. */
    static const char expected[] =
        "resnet50 · XSpace · tensorflow · 1 host · 2 x NVIDIA H100 · steps 4…5 (1 step\n"
        "left out)\n"
        "\n"
        "Note: planes[1]: events without a name (3 times)\n"
        "\n"
        "Input-bound: the device waits 50.0 ms of each 200.0 ms step for data.\n"
        "\n"
        "  step                   200.0 ms   median of 2, ±10.0 ms\n"
        "  input wait              50.0 ms  25.0 %  ███████▌\n"
        "  compute                150.0 ms  75.0 %  ██████████████████████▌\n"
        "\n"
        "What to do, the most and surest first, and what it saves of the step:\n"
        "  1.   22.5 %  Let the map use all cores                             input.py:41\n"
        "\n"
        "1. The input pipeline runs one element at a time\n"
        "                                            saves 40.0 … 50.0 ms a step (22.5 %)\n"
        "   tfdata-sequential-map · warn · high confidence · by replay\n"
        "   At    ParallelMapV2 > Map, input.py:41 (load)\n"
        "   Why   the map runs on 1 thread and takes 48 ms a step, more than 5 % of it\n"
        "   - map time: 48.0 ms (24.0 % of the step)\n"
        "   Fix   Let the map use all cores\n"
        "         ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE)\n"
        "   With  input-bound-step\n"
        "\n"
        "Without a sure price:\n"
        "\n"
        "2. Only 1 of 4 hosts was recorded\n"
        "   rank-set-incomplete · info\n"
        "   At    step 4\n"
        "   - hosts: 1\n"
        "   Fix   Record all hosts\n"
        "\n"
        "tfprof explain RULE PROFILE shows more of each.\n"
        "\n"
        "Fixing 1: 200.0 ms → 155.0 ms a step (1.29 times as fast); then the step is\n"
        "compute-bound.\n"
        "\n"
        "4 of 8 rules looked: 2 found something. 3 could not look: no kernels (2), no\n"
        "memory events (1). 1 failed. All of it: --coverage\n"
        "Rule failed: my/rule: line 3: nil\n";
    struct sample sample;

    sample_make(&sample);
    assert_string_equal(render(&sample, (struct output_options) { .min_share = 0.005 }), expected);
    arena_free(&sample.arena);
}

/* Files of PyTorch are of a process each: with their ranks they are those, which may share a
 * machine. */
TEST(processes_are_no_hosts)
{
    for (int known = 0; known < 2; known++) {
        struct sample sample;
        struct host   host = { .rank = known ? 1 : -1 };

        sample_make(&sample);
        sample.profile.format = FORMAT_KINETO;
        sample.profile.hosts.items[0].rank = 0;
        assert_true(vec_push(&sample.profile.hosts, &sample.arena, host));
        assert_non_null(strstr(render(&sample, (struct output_options) { .min_share = 0.005 }),
                               known ? " · 2 ranks · " : " · 2 hosts · "));
        arena_free(&sample.arena);
    }
}

/* Numbers are those of the blocks below: one without a saving of step time keeps its number and has
 * no line. A remedy is cut behind its first sentence, at a colon behind some words, and where the
 * line ends (80 columns: 15 before it, 2 + 11 behind). */
TEST(the_short_answer_has_a_line_a_fix)
{
    static struct location at = { .file = "/home/me/input.py", .line = 7 };
    struct sample          sample;
    struct finding        *findings;
    const char            *shown;

    sample_make(&sample);
    findings = sample.advice.findings.items;
    findings[0].remedy_text =
        "Let the map use all the cores that this machine has and do not wait for them. Then more.";
    findings[0].locations.items = &at;
    findings[0].locations.count = 1;
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_non_null(strstr(shown,
                           "  1.   22.5 %  Let the map use all the cores that this machine has …"
                           "  input.py:7\n\n1. "));
    findings[0].remedy_text = "Fuse: compile the step. Then more.";
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_non_null(strstr(shown, "Fuse: compile the step  "));
    findings[0].remedy_text = "Let the map use all cores of the host: that is a number.";
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_non_null(strstr(shown, "Let the map use all cores of the host  "));
    findings[0].impact.resource = "memory";
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_null(strstr(shown, "What to do"));
    arena_free(&sample.arena);
}

/* Behind four findings facts are a line each, behind six what has a price; what is wrong is said
 * whole, and then nothing stands below a heading that it has no price. */
TEST(facts_behind_the_first_are_brief)
{
    struct sample  sample;
    struct finding fact, wrong, priced;
    const char    *shown;

    sample_make(&sample);
    priced = sample.advice.findings.items[0];
    fact = wrong = sample.advice.findings.items[1];
    wrong.severity = SEVERITY_WARN;
    wrong.title = "Something is wrong";
    for (int i = 0; i < 2; i++)
        assert_true(vec_push(&sample.advice.findings, &sample.arena, fact));
    assert_true(vec_push(&sample.advice.findings, &sample.arena, fact));
    assert_true(vec_push(&sample.advice.findings, &sample.arena, wrong));
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_non_null(
        strstr(shown, "\n4. Only 1 of 4 hosts was recorded\n   rank-set-incomplete · info\n"));
    assert_non_null(strstr(shown, "\n6. Something is wrong\n   rank-set-incomplete · warn\n"));
    assert_non_null(strstr(shown, "\nAnd:\n"
                                  "5.  Only 1 of 4 hosts was recorded (rank-set-incomplete)\n\n"
                                  "tfprof explain RULE PROFILE shows more of each."));
    assert_non_null(strstr(shown, "Without a sure price"));
    assert_true(vec_push(&sample.advice.findings, &sample.arena, priced));
    shown = render(&sample, (struct output_options) { .min_share = 0.005 });
    assert_null(strstr(shown, "Without a sure price"));
    assert_non_null(strstr(shown,
                           "\n7.  The input pipeline runs one element at a time "
                           "(tfdata-sequential-map): saves\n    40.0 … 50.0 ms a step (22.5 %)\n"));
    arena_free(&sample.arena);
}

TEST(coverage_lists_every_rule)
{
    static const char expected[] =
        "4 of 8 rules looked: 2 found something. 3 could not look: no kernels (2), no\n"
        "memory events (1). 1 failed.\n"
        "Rule failed: my/rule: line 3: nil\n"
        "\n"
        "Rules that could not look:\n"
        "  no kernels: low-occupancy small-copies\n"
        "  no memory events: alloc-growth\n"
        "    Capture: record memory events\n"
        "\n"
        "Suppressed:\n"
        "  no-step-markers (2): baseline\n";
    struct sample sample;
    const char   *shown;

    sample_make(&sample);
    shown = render(&sample, (struct output_options) { .is_complete = true });
    assert_string_equal(strstr(shown, "4 of 8"), expected);
    arena_free(&sample.arena);
}

/* One of the three skipped rules is about other formats: it could not look, but never will. */
TEST(rules_for_other_formats_count_apart)
{
    struct sample sample;
    const char   *shown;

    sample_make(&sample);
    sample.advice.skipped.items[1].is_other_format = true;
    sample.advice.other_format_count = 1;
    shown = render(&sample, (struct output_options) { .is_complete = true });
    assert_non_null(strstr(shown, "4 of 7 rules looked: 2 found something. 2 could not look: no "
                                  "kernels (2)"));
    assert_non_null(strstr(shown, "this format."));
    assert_non_null(strstr(shown, "Rules for profiles of other formats:\n  alloc-growth\n"));
    assert_null(strstr(shown, "no memory events: alloc-growth"));
    arena_free(&sample.arena);
}

TEST(nothing_found_is_a_sentence)
{
    static const struct {
        uint32_t    looked;
        const char *expected;
    } cases[] = {
        { 5, "5 of 8 rules looked and found nothing to improve. 3 could not look: no kernels\n"
             "(2), no memory events (1). All of it: --coverage\n" },
        { 0, "0 of 8 rules looked, so nothing can be said about this program. 3 could not\n"
             "look: no kernels (2), no memory events (1). All of it: --coverage\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample sample;
        const char   *shown;

        sample_make(&sample);
        sample.advice.findings.count = sample.advice.failed.count = 0;
        sample.advice.together.count = sample.advice.found_count = 0;
        sample.advice.looked_count = cases[i].looked;
        shown = render(&sample, (struct output_options) { 0 });
        assert_string_equal(strstr(shown, " of 8 rules") - 1, cases[i].expected);
        assert_null(strstr(shown, "1. "));
        arena_free(&sample.arena);
    }
}

TEST(small_findings_are_counted_not_shown)
{
    struct sample sample;
    const char   *shown;

    sample_make(&sample);
    shown = render(&sample, (struct output_options) { .min_share = 0.25 });
    assert_null(strstr(shown, "tfdata-sequential-map"));
    assert_null(strstr(shown, "Fixing"));
    assert_non_null(strstr(shown, "1 finding worth less than 25.0 %"));
    assert_non_null(strstr(shown, "1. Only 1 of 4 hosts"));
    arena_free(&sample.arena);
}

/* Ranks 1 to 4, of which 2 and 3 save memory rather than time. */
TEST(together_names_what_was_fixed)
{
    static const struct {
        uint32_t    count;
        const char *expected;
    } cases[] = { { 1, "Fixing 1: " }, { 2, "Fixing 1 and 4 together: " } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample sample_, *sample = &sample_;

        sample_make(sample);
        sample->advice.findings.count = 1;
        for (uint32_t rank = 2; rank <= 4; rank++) {
            PUSH(sample->advice.findings, sample->advice.findings.items[0]);
            sample->advice.findings.items[rank - 1].rank = rank;
        }
        sample->advice.findings.items[1].impact.resource = "memory";
        sample->advice.findings.items[2].impact.resource = "memory";
        sample->advice.together.items[0].count = cases[i].count;
        assert_non_null(strstr(render(sample, (struct output_options) { 0 }), cases[i].expected));
        arena_free(&sample->arena);
    }
}

/* The second of three findings is too small to be shown: the third is number 2. */
TEST(numbers_skip_nothing)
{
    struct sample sample_, *sample = &sample_;
    const char   *shown;

    sample_make(sample);
    sample->advice.findings.count = 1;
    for (uint32_t rank = 2; rank <= 3; rank++) {
        PUSH(sample->advice.findings, sample->advice.findings.items[0]);
        sample->advice.findings.items[rank - 1].rank = rank;
    }
    sample->advice.findings.items[1].impact.share = 0.001;
    sample->advice.together.items[0].count = 3;
    shown = render(sample, (struct output_options) { .min_share = 0.02 });
    assert_non_null(strstr(shown, "\n2. "));
    assert_null(strstr(shown, "\n3. "));
    assert_non_null(strstr(shown, "Fixing 1 and 2 together: "));
    arena_free(&sample->arena);
}

TEST(notes_are_capped)
{
    struct sample sample;
    const char   *shown;

    sample_make(&sample); /* with one note */
    for (unsigned i = 0; i < 6; i++)
        assert_true(profile_note(&sample.profile, "", 1, "note %u", i));
    shown = render(&sample, (struct output_options) { 0 });
    assert_non_null(strstr(shown, "Note: note 3\nNote: 2 more: tfprof info\n\n"));
    arena_free(&sample.arena);
}

TEST(lines_fit_the_terminal)
{
    static const unsigned widths[] = { 60, 72, 80 };

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct sample sample;
        struct str    rest;

        sample_make(&sample);
        sample.advice.findings.items[0].remedy_code = "ds.map(decode)";
        sample.advice.findings.items[0].subject.kernel =
            "void_at::native::vectorized_elementwise_kernel<4,at::native::CUDAFunctor_add<float>,"
            "at::detail::Array<char*,3>,"
            "漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢>";
        rest = str_from(render(&sample, (struct output_options) { .width = widths[i] }));
        while (rest.len > 0)
            assert_in_range(text_width(str_cut(&rest, '\n')), 0, widths[i]);
        arena_free(&sample.arena);
    }
}

TEST(colours_change_nothing_else)
{
    struct sample sample;
    const char   *plain, *colored;
    struct text   stripped;

    sample_make(&sample);
    plain = render(&sample, (struct output_options) { 0 });
    colored = render(&sample, (struct output_options) { .is_colored = true });
    stripped = (struct text) { .arena = &sample.arena };
    assert_non_null(strchr(colored, '\x1b'));
    for (const char *at = colored; *at; at++) {
        if (*at == '\x1b')
            at = strchr(at, 'm');
        else
            text_add_byte(&stripped, *at);
    }
    assert_string_equal(stripped.data, plain);
    arena_free(&sample.arena);
}

TEST(control_characters_are_escaped)
{
    static const struct {
        struct str  given;
        const char *shown;
    } cases[] = {
        { STR_INIT("plain ü → 漢"), "plain ü → 漢" },
        { STR_INIT("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\x0a\\x7f" },
        { STR_INIT("\xc2\x9b"
                   "2J"),
          "\\x9b2J" },                                        /* C1 control sequence introducer */
        { STR_INIT("\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd" }, /* invalid, and cut short */
        { STR_INIT("nul\0end"), "nul\\x00end" },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str shown = layout_clean(&arena, cases[i].given);

        assert_true(str_equal(shown, str_from(cases[i].shown)));
    }
    arena_free(&arena);
}

TEST(ranges_name_the_unit_once)
{
    static const struct {
        double      low, high;
        enum unit   unit;
        const char *shown;
    } cases[] = {
        { 52e6, 61e6, UNIT_NS, "52.0 … 61.0 ms" },
        { 520e3, 61e6, UNIT_NS, "520.0 µs … 61.0 ms" },
        { 61e6, 61e6, UNIT_NS, "61.0 ms" },
        { 0.1, 0.2, UNIT_SHARE, "10.0 … 20.0 %" },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str shown = layout_range(&arena, cases[i].low, cases[i].high, cases[i].unit);

        assert_string_equal(shown.data, cases[i].shown);
    }
    arena_free(&arena);
}

/* Where "a step takes" leaves room for a number but not for its unit, both go down. */
TEST(numbers_keep_their_unit)
{
    static const struct {
        const char *given, *shown;
    } cases[] = {
        { "a step takes 40.0 ms", "a step takes\n40.0 ms\n" },
        { "a step takes 40.0 ms,", "a step takes\n40.0 ms,\n" },
        { "a step takes (+40 %).", "a step takes\n(+40 %).\n" },
        { "a step takes 40.0 of", "a step takes 40.0\nof\n" },
        { "a step takes many ms", "a step takes many\nms\n" },
        { "a step takes ±40 ms", "a step takes\n±40 ms\n" },
        { "the step took 40.0\nms", "the step took 40.0\nms\n" }, /* lines of the text */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena  arena = { 0 };
        struct text   text = { .arena = &arena };
        struct layout layout = layout_make(&text, 18, false);

        layout_wrap(&layout, 0, "", 0, str_from(cases[i].given));
        assert_int_equal(text.len, strlen(cases[i].shown));
        assert_memory_equal(text.data, cases[i].shown, text.len);
        arena_free(&arena);
    }
}

TEST(long_names_are_cut_between_characters)
{
    static const struct {
        const char *given;
        size_t      columns;
        const char *shown;
    } cases[] = {
        { "abcdef", 6, "abcdef" },
        { "abcdef", 5, "abcd…" },
        { "äöüß", 3, "äö…" },
        { "漢漢漢", 4, "漢漢…" }, /* two columns each: the last goes */
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str shown = layout_shorten(&arena, str_from(cases[i].given), cases[i].columns);

        assert_string_equal(shown.data, cases[i].shown);
    }
    /* Of 5 columns 2 are for the end. */
    assert_string_equal(layout_shorten_middle(&arena, STR("abcdefgh"), 5).data, "ab…gh");
    assert_string_equal(layout_shorten_middle(&arena, STR("漢字漢語"), 5).data, "漢…語");
    assert_string_equal(layout_shorten_middle(&arena, STR("abcde"), 5).data, "abcde");
    arena_free(&arena);
}
