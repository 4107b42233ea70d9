#include "read/recognise.h"

#include "read/proto/message.h"

#include <string.h>

enum { LOOK_BYTES = 64 << 10, TAR_MAGIC_AT = 257 };

static struct str head_of(struct str bytes)
{
    return str_slice(bytes, 0, LOOK_BYTES);
}

/* Bytes above 127 that became U+FFFD when the file passed through a text tool. */
static bool is_text_damaged(struct str bytes)
{
    struct str head = head_of(bytes);
    size_t     count = 0;

    for (size_t at = 0; at + 2 < head.len; at++)
        count += (uint8_t)head.data[at] == 0xEF && (uint8_t)head.data[at + 1] == 0xBF &&
                 (uint8_t)head.data[at + 2] == 0xBD;
    return count >= 4 && count * 1000 > head.len;
}

static bool is_html(struct str bytes)
{
    struct str head = str_trim(str_slice(bytes, 0, 512));

    return str_fits(head, "<!DOCTYPE*|<!doctype*|<html*|<HTML*");
}

static bool is_zip(struct str bytes)
{
    return str_starts(bytes, STR("PK\x03\x04"));
}

static bool is_tar(struct str bytes)
{
    return str_equal(str_slice(bytes, TAR_MAGIC_AT, TAR_MAGIC_AT + 5), STR("ustar"));
}

/* Records of a length (8 bytes), a checksum (4) and an Event that tells its file version. */
static bool is_tfevents(struct str bytes)
{
    return str_contains(str_slice(bytes, 0, 64), STR("brain.Event:"));
}

static bool is_text(struct str bytes)
{
    struct str head = str_slice(bytes, 0, 4096);

    for (size_t i = 0; i < head.len; i++)
        if ((uint8_t)head.data[i] < 9 || head.data[i] == 127)
            return false;
    return head.len > 0;
}

/* MetaGraphDef: what it is (1), then a GraphDef (2) whose first node (1) has a name (1). */
static bool is_meta_graph(struct str bytes)
{
    struct message outer = message_of(bytes);
    struct field   field = { 0 };
    struct err     ignored = { 0 };

    if (!message_next(&outer, &field, &ignored) || !field_is_bytes(&field, 1) ||
        !message_next(&outer, &field, &ignored) || !field_is_bytes(&field, 2))
        return false;
    for (int depth = 0; depth < 2; depth++) {
        outer = message_of(field.bytes);
        if (!message_next(&outer, &field, &ignored) || !field_is_bytes(&field, 1))
            return false;
    }
    return is_text(field.bytes);
}

static bool is_saved_model(struct str bytes)
{
    struct message outer = message_of(bytes);
    struct field   field = { 0 };
    struct err     ignored = { 0 };

    return message_next(&outer, &field, &ignored) && field_is_number(&field, 1) &&
           message_next(&outer, &field, &ignored) && field_is_bytes(&field, 2) &&
           (is_meta_graph(field.bytes) || str_contains(head_of(field.bytes), STR("saved_model")));
}

/* A map of devices by number, of the names that sessions give them. */
static bool is_device_trace(struct str bytes)
{
    struct message message = message_of(bytes);
    struct field   field = { 0 };
    struct err     ignored = { 0 };

    if (!message_next(&message, &field, &ignored) || !field_is_bytes(&field, 1))
        return false;
    message = message_of(field.bytes);
    if (!message_next(&message, &field, &ignored) || !field_is_number(&field, 1) ||
        !message_next(&message, &field, &ignored) || !field_is_bytes(&field, 2))
        return false;
    message = message_of(field.bytes);
    return message_next(&message, &field, &ignored) && field_is_bytes(&field, 1) &&
           str_starts(field.bytes, STR("/job:"));
}

static bool is_lfs(struct str bytes)
{
    return str_starts(bytes, STR("version https://git-lfs"));
}

/* Its byte order mark: text that a shell or an editor has written again. */
static bool is_utf16(struct str bytes)
{
    return str_starts(bytes, STR("\xff\xfe")) || str_starts(bytes, STR("\xfe\xff"));
}

static bool is_json(struct str bytes)
{
    struct str head = str_trim(str_slice(bytes, 0, 512));

    return head.len && (head.data[0] == '{' || head.data[0] == '[');
}

static const struct {
    bool (*is)(struct str bytes);
    const char *what, *advice;
} rows[] = {
    { is_html, "is a web page", "download the file itself, not the page that shows it" },
    { is_lfs, "is a Git LFS pointer", "fetch the file with 'git lfs pull'" },
    { is_zip, "is a zip archive", "unpack it and name the profile inside" },
    { is_tar, "is a tar archive", "unpack it and name the profile inside" },
    { is_tfevents, "is a TensorBoard event file",
      "name the log directory; profiles lie in plugins/profile/RUN" },
    { is_saved_model, "is a SavedModel", "a model holds no times; record a profile of a run" },
    { is_device_trace, "is a trace of the profiler of TensorFlow 2.0 before its release",
      "record it with a released version; they write what is read" },
    { is_text_damaged, "is damaged: a text tool replaced its bytes by U+FFFD",
      "copy the file again in binary mode; what was replaced cannot be restored" },
    { is_utf16, "is text in UTF-16",
      "give the file as the profiler wrote it, or convert it to UTF-8" },
    { is_json, "is JSON, but no trace this program knows",
      "a trace has a list called traceEvents; give the profiler's own output" },
    { is_text, "is text, and no profile", "give a profile that a profiler wrote" },
};

bool recognise_is_spoilt(struct str bytes)
{
    return bytes.len == 0 || is_html(bytes) || is_lfs(bytes) || is_text_damaged(bytes);
}

bool recognise_is_known(struct str bytes)
{
    bool is_known = bytes.len == 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_known |= rows[i].is != is_text && rows[i].is(bytes);
    return is_known;
}

bool recognise(struct str bytes, struct err *err)
{
    if (bytes.len == 0) {
        err_set(err, ERR_FORMAT, "is empty");
        return err_advise(err, "the profiler was probably stopped before it wrote; record again");
    }
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].is(bytes)) {
            err_set(err, ERR_FORMAT, "%s", rows[i].what);
            return err_advise(err, "%s", rows[i].advice);
        }
    err_set(err, ERR_FORMAT, "is no profile in a known format");
    return err_advise(err, "known are XSpace, ProfileProto, GraphDef with RunMetadata, and traces "
                           "of the PyTorch profiler");
}
