
#include "testing.h"

#include "advice_sample.h"
#include "base/macros.h"
#include "report/inventory.h"
#include "report/output.h"

#include <string.h>

/* The sample has no events; what follows "Analyses" depends on which analyses there are. */
TEST(shows_what_a_profile_holds)
{
    static const char     expected[] = "resnet50 · XSpace · tensorflow\n"
                                       "\n"
                                       "Files\n"
                                       "       1.50 MB  a.xplane.pb (host worker-0)\n"
                                       "\n"
                                       "Hosts\n"
                                       "  worker-0\n"
                                       "\n"
                                       "Devices\n"
                                       "  /host:CPU: cpu\n"
                                       "  GPU 0, GPU 1: gpu, NVIDIA H100\n"
                                       "\n"
                                       "Holds\n"
                                       "  timelines                          2\n"
                                       "\n"
                                       "Not understood\n"
                                       "  stat novelty                       7\n"
                                       "  field without a name               2\n"
                                       "\n"
                                       "Timelines, by events\n"
                                       "             0  thread main\n"
                                       "             0  stream 7 on GPU 0\n"
                                       "\n"
                                       "Steps\n"
                                       "  3, 2 of them used, marked in the recording; median 200.0 ms\n"
                                       "\n"
                                       "Analyses";
    struct sample         sample_, *sample = &sample_;
    struct output_options options = { .width = 80 };
    struct text           text;

    sample_make(sample);
    PUSH(sample->profile.timelines,
         (struct timeline) { .name = profile_intern(&sample->profile, STR("main")),
                             .device = NO_ID,
                             .kind = TIMELINE_THREAD });
    PUSH(sample->profile.timelines,
         (struct timeline) { .name = profile_intern(&sample->profile, STR("7")),
                             .device = 1,
                             .kind = TIMELINE_STREAM });
    profile_add_unknown(&sample->profile, UNKNOWN_FIELD, 0, 2);
    profile_add_unknown(&sample->profile, UNKNOWN_STAT,
                        profile_intern(&sample->profile, STR("novelty")), 3);
    profile_add_unknown(&sample->profile, UNKNOWN_STAT,
                        profile_intern(&sample->profile, STR("novelty")), 4);
    text = (struct text) { .arena = &sample->arena };
    output_text.info(&sample->study, &options, &text);
    text.data[sizeof expected - 1] = '\0';
    assert_string_equal(text.data, expected);
    arena_free(&sample->arena);
}

static const struct fact_spec produces[] = {
    { "part.input_ns", UNIT_NS, "" }, { "x.one", UNIT_COUNT, "" },  { "x.two", UNIT_COUNT, "" },
    { "y.three", UNIT_COUNT, "" },    { "z.four", UNIT_COUNT, "" },
};
static const struct table_spec tables[] = { { .name = "x.table" } };

/* Of five facts and a table one is there; x.* share a reason, y.three has its own, z.four none. */
TEST(each_absence_is_told_once)
{
    const struct analysis analysis = { .name = "made-up",
                                       .produces = produces,
                                       .produces_count = ARRAY_COUNT(produces),
                                       .tables = tables,
                                       .table_count = ARRAY_COUNT(tables) };
    struct sample         sample;
    struct missing        missing;
    struct yield          yield;
    size_t                cursor = 0;

    sample_make(&sample);
    assert_true(facts_absent(&sample.study.facts, "x.", "record x", "no x in the trace"));
    assert_true(facts_absent(&sample.study.facts, "y.three", NULL, "one host"));
    yield = inventory_yield(&sample.study, &analysis);
    assert_int_equal(yield.found, 1);
    assert_int_equal(yield.of, 6);
    assert_true(inventory_missing(&sample.study, &analysis, &cursor, &missing));
    assert_string_equal(missing.name, "x.");
    assert_string_equal(missing.reason, "no x in the trace");
    assert_string_equal(missing.capture, "record x");
    assert_true(inventory_missing(&sample.study, &analysis, &cursor, &missing));
    assert_string_equal(missing.name, "y.three");
    assert_null(missing.capture);
    assert_false(inventory_missing(&sample.study, &analysis, &cursor, &missing));
    arena_free(&sample.arena);
}
