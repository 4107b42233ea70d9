/* What is no profile is named by what it is, with what to do. First bytes as the formats define. */
#include "read/recognise.h"
#include "testing.h"
#include <string.h>

#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct {
    struct str  bytes;
    const char *part; /* of the message */
} rows[] = {
    { BYTES(""), "is empty" },
    { BYTES("<!DOCTYPE html>\n<html><body>404</body></html>"), "web page" },
    { BYTES("  <html lang=en>"), "web page" },
    { BYTES("PK\x03\x04\x14\x00"), "zip archive" },
    { BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:00"), "Git LFS" },
    /* length 24, its checksum, Event { file_version = "brain.Event:2" } */
    { BYTES("\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22\x09\x00\x00\xc0\x66\x8c\xd5\xd9\x41"
            "\x1a\x0d"
            "brain.Event:2"),
      "event file" },
    { BYTES("\x08\x01\x12\x10"
            "saved_model_main"),
      "SavedModel" },
    /* version 1; a meta graph of tags, and a graph of one node "a" */
    { BYTES("\x08\x01\x12\x13"
            "\x0a\x07\x22\x05serve"
            "\x12\x08\x0a\x06\x0a\x01"
            "a\x12\x01"
            "b"),
      "SavedModel" },
    { BYTES("\n\x12\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD/host:CPU"), "text tool" },
    { BYTES("{\"name\": 1}"), "is JSON" },
    { BYTES("[1, 2]"), "is JSON" },
    { BYTES("step 1 took 3 s\n"), "is text" },
    { BYTES("\xff\x00\x01\x02"), "known format" },
};

TEST(names_what_it_is)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { 0 };

        assert_false(recognise(rows[i].bytes, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        assert_non_null(strstr(err.text, rows[i].part));
        assert_true(err.advice[0]);
    }
}

TEST(knows_tar_by_its_magic)
{
    char       block[512] = "profile.pb";
    struct err err = { 0 };

    memcpy(block + 257, "ustar", 5);
    assert_false(recognise((struct str) { block, sizeof block }, &err));
    assert_non_null(strstr(err.text, "tar archive"));
}
