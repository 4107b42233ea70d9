/* hlo_frames: StackFrameIndexProto made by hand. Numbers count from 1; 0 is none. */
#include "base/macros.h"
#include "read/hlo/hlo_frames.h"
#include "testing.h"

/* Location {1: file, 2: function, 3: line}, frame {1: location, 2: parent}. */
#define LOCATION(file, function, line) "\x1a\x06\x08" file "\x10" function "\x18" line
#define FRAME(location, parent) "\x22\x04\x08" location "\x10" parent
static const char bytes[] = "\x0a\x04m.py\x0a\x04t.py\x12\x04main\x12\x04"
                            "step" LOCATION("\x02", "\x01", "\x07") /* 1: t.py:7 main */
    LOCATION("\x01", "\x02", "\x09")                                /* 2: m.py:9 step */
    LOCATION("\x01", "\x02", "\x0b")                                /* 3: m.py:11 step */
    LOCATION("\x05", "\x01", "\x01")                                /* 4: of no file */
    FRAME("\x01", "\x00")                                           /* 1 */
    FRAME("\x02", "\x01")                                           /* 2: below 1 */
    FRAME("\x03", "\x01")                                           /* 3: below 1 */
    FRAME("\x04", "\x03")                                           /* 4: no file, below 3 */
    FRAME("\x02", "\x06")                                           /* 5: below 6 */
    FRAME("\x03", "\x05")  /* 6: below 5, that is below it */
    FRAME("\x63", "\x63"); /* 7: of nothing there is */

struct fixture {
    struct arena      arena, scratch;
    struct profile    profile;
    struct hlo_frames frames;
};

static void start(struct fixture *fixture, struct str text)
{
    *fixture = (struct fixture) { 0 };
    assert_true(profile_init(&fixture->profile, &fixture->arena));
    assert_true(hlo_frames_read(&fixture->frames, text, &fixture->scratch));
}

static void stop(struct fixture *fixture)
{
    arena_free(&fixture->scratch);
    arena_free(&fixture->arena);
}

static uint32_t source_of(struct fixture *fixture, uint64_t number)
{
    bool     is_full = false;
    uint32_t source =
        hlo_frames_source(&fixture->frames, number, &fixture->profile, &fixture->scratch, &is_full);

    assert_false(is_full);
    return source;
}

TEST(frames_have_their_callers)
{
    static const struct {
        uint64_t    frame;
        uint32_t    lines[4]; /* innermost first, 0 behind the last */
        const char *file;     /* of the innermost */
    } rows[] = {
        { 2, { 9, 7 }, "m.py" },  { 3, { 11, 7 }, "m.py" },
        { 1, { 7 }, "t.py" },     { 4, { 11, 7 }, "m.py" }, /* its caller stands for it */
        { 5, { 9, 11 }, "m.py" },                           /* a circle ends where it began */
    };
    struct fixture fixture;

    start(&fixture, (struct str) { bytes, sizeof bytes - 1 });
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t source = source_of(&fixture, rows[i].frame);

        assert_int_equal(source_of(&fixture, rows[i].frame), source);
        assert_string_equal(
            profile_str(&fixture.profile, fixture.profile.sources.items[source].file).data,
            rows[i].file);
        for (size_t n = 0; rows[i].lines[n]; n++) {
            assert_int_equal(fixture.profile.sources.items[source].line, rows[i].lines[n]);
            source = fixture.profile.sources.items[source].caller;
        }
        assert_true(source == NO_ID);
    }
    assert_int_equal(fixture.profile.sources.count, 5); /* 7; 9 and 11 below it; the circle's two */
    assert_true(source_of(&fixture, 0) == NO_ID);
    assert_true(source_of(&fixture, 7) == NO_ID);
    assert_true(source_of(&fixture, 8) == NO_ID);
    stop(&fixture);
}

TEST(cut_bytes_are_read_as_far_as_they_go)
{
    for (size_t len = 0; len < sizeof bytes - 1; len++) {
        struct fixture fixture;

        start(&fixture, (struct str) { bytes, len });
        for (uint64_t frame = 0; frame < 9; frame++)
            (void)source_of(&fixture, frame);
        stop(&fixture);
    }
}
