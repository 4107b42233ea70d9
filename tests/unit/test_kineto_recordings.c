/* The Kineto reader on recordings. */

#include "testing.h"

#include "base/text.h"
#include "kineto_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    const char *paths[2];
    uint32_t    events, steps, hosts, collectives;
};

static void check_recording(const struct recording *recording, bool is_streamed)
{
    struct reading      reading = { 0 };
    struct read_options options = { 0 };
    struct read_input   inputs[2] = { 0 };
    char                paths[2][512];
    uint32_t            count = 0, steps = 0;

    for (; count < 2 && recording->paths[count]; count++) {
        snprintf(paths[count], sizeof paths[count], CASES_DIR "/recordings/%s",
                 recording->paths[count]);
        if (!is_streamed)
            assert_true(file_open(&inputs[count].file, paths[count], 0, &reading.err));
        inputs[count].path = paths[count];
        inputs[count].source = NO_ID;
    }
    assert_true(profile_init(&reading.profile, &reading.arena));
    assert_true(reader_kineto.read(inputs, count, &options, &reading.profile, &reading.err));
    assert_int_equal(reading.profile.event_count, recording->events);
    assert_int_equal(reading.profile.hosts.count, recording->hosts);
    assert_int_equal(reading.profile.collectives.count, recording->collectives);
    for (uint32_t event = 0; event < reading.profile.event_count; event++)
        steps += event_activity(&reading.profile, event)->kind == ACTIVITY_STEP;
    assert_int_equal(steps, recording->steps);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(reading.profile.hosts.items[i].rank, recording->hosts > 1 ? (int)i : -1);
        file_close(&inputs[i].file);
    }
    assert_int_equal(reading.profile.notes.count, 0);
    arena_free(&reading.arena);
}

/* Counts by an independent reader of the same files (Python's json): events with "ph": "X" but for
 * the span of the profiler itself, and of those the ones whose name begins with ProfilerStep. */
TEST(reads_recordings)
{
    static const struct recording rows[] = {
        { { "torch-cast-each-step/slow/trace.json.gz" }, 9696, 8, 1, 0 },
        { { "torch-loop-index/fixed/trace.json.gz" }, 4084, 8, 1, 0 },
        { { "torch-ddp-straggler/slow/rank0.pt.trace.json.gz",
            "torch-ddp-straggler/slow/rank1.pt.trace.json.gz" },
          7200,
          16,
          2,
          32 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_recording(&rows[i], false);
        check_recording(&rows[i], true);
    }
}
