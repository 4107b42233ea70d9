#include "base/file.h"

#include "base/text.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PATH_BYTES = 64, MAX_STORED = 1 << 20 };

static char folder[PATH_BYTES];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tfprof-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct arena arena = { 0 };
    struct err   err = { 0 };
    char       **names;
    size_t       count;

    (void)state;
    if (!file_list(folder, &arena, &names, &count, &err))
        return -1;
    for (size_t i = 0; i < count; i++)
        unlink(arena_text(&arena, "%s/%s", folder, names[i]));
    arena_free(&arena);
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[PATH_BYTES * 2];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void store(const char *name, struct str bytes)
{
    FILE *file = fopen(path_of(name), "wb");

    assert_non_null(file);
    if (bytes.len)
        assert_int_equal(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

/* One gzip member of `bytes`, by zlib; returns the length. */
static size_t deflate_member(struct str bytes, char *out, size_t room)
{
    z_stream stream = { 0 };

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)bytes.data;
    stream.avail_in = (uInt)bytes.len;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t len = room - stream.avail_out;

    deflateEnd(&stream);
    return len;
}

TEST(plain_files_are_mapped)
{
    struct file file;
    struct err  err = { 0 };

    store("plain", STR("a\0b\n"));
    assert_true(file_open(&file, path_of("plain"), 1, &err)); /* a budget is for copies only */
    assert_true(file.is_mapped && !file.is_gzip && !file.is_damaged);
    assert_true(str_equal(file.bytes, STR("a\0b\n")));
    assert_int_equal(file.stored_bytes, 4);
    file_drop(&file, 0, 4);
    assert_true(str_equal(file.bytes, STR("a\0b\n"))); /* dropped bytes come back from the file */
    file_close(&file);
    file_close(&file);

    store("empty", STR(""));
    assert_true(file_open(&file, path_of("empty"), 0, &err));
    assert_int_equal(file.bytes.len, 0);
    file_close(&file);
}

/* Of a gzip file the first bytes are those that it inflates to. */
TEST(heads_are_of_what_is_inside)
{
    char   head[8], packed[64];
    size_t len = deflate_member(STR("abcdefghijkl"), packed, sizeof packed);

    store("plain", STR("abcdef"));
    assert_int_equal(file_head(path_of("plain"), head, 4), 4);
    assert_memory_equal(head, "abcd", 4);
    assert_int_equal(file_head(path_of("plain"), head, 8), 6);
    store("packed", (struct str) { packed, len });
    assert_int_equal(file_head(path_of("packed"), head, 8), 0); /* 8 stored bytes tell nothing */
    assert_int_equal(file_head(folder, head, 8), 0);
    assert_int_equal(file_head("/nonexistent/x", head, 8), 0);
}

/* What is stored may be a small part of what comes out: 100 000 equal bytes pack to some 100. */
TEST(heads_of_gzip_are_cut)
{
    static char zeros[100000], head[4096], packed[4096];
    size_t      len = deflate_member((struct str) { zeros, sizeof zeros }, packed, sizeof packed);

    store("packed", (struct str) { packed, len });
    memset(head, 1, sizeof head);
    assert_int_equal(file_head(path_of("packed"), head, sizeof head), sizeof head);
    assert_memory_equal(head, zeros, sizeof head);
}

/* What a file says at its end that it holds is no more than a guess. */
TEST(lengths_in_gzip_files_are_guesses)
{
    static char  zeros[200000], packed[4096];
    const size_t claims[] = { 0, 1, 100000, 300000, UINT32_MAX };
    struct file  file;
    struct err   err = { 0 };
    size_t       len = deflate_member((struct str) { zeros, sizeof zeros }, packed, sizeof packed);

    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        for (int byte = 0; byte < 4; byte++)
            packed[len - 4 + (size_t)byte] = (char)(claims[i] >> 8 * byte);
        store("packed", (struct str) { packed, len });
        assert_true(file_open(&file, path_of("packed"), 0, &err));
        assert_int_equal(file.bytes.len, sizeof zeros);
        assert_memory_equal(file.bytes.data, zeros, sizeof zeros);
        file_close(&file);
    }
}

TEST(what_cannot_be_read_says_why)
{
    struct file file;
    struct err  err = { 0 };
    char        text[1200];

    assert_false(file_open(&file, "/nonexistent/x", 0, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_string_equal(err_format(&err, text, sizeof text),
                        "/nonexistent/x: cannot be opened: No such file or directory");
    err = (struct err) { 0 };
    assert_false(file_open(&file, folder, 0, &err));
    assert_string_equal(err.text, "is a directory");
    err = (struct err) { 0 };
    assert_null(file_stream_open("/nonexistent/x", &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_null(file_stream_open(folder, &err));
    assert_true(file_is_directory(folder));
    assert_false(file_is_directory("/nonexistent"));
    assert_false(file_exists("/nonexistent"));
}

/* Reads all of a stream, and its damage if there is one. */
static struct str read_stream(const char *path, struct text *all, char *damage, size_t damage_bytes)
{
    struct err          err = { 0 };
    struct file_stream *stream = file_stream_open(path, &err);
    struct str          run;

    assert_non_null(stream);
    while ((run = file_stream_next(stream)).len)
        text_add(all, run);
    assert_int_equal(file_stream_next(stream).len, 0);
    *damage = '\0';
    file_stream_damage(stream, damage, damage_bytes);
    file_stream_close(stream);
    return text_str(all);
}

TEST(gzip_members_are_joined)
{
    static char  stored[MAX_STORED];
    size_t       len = 0;
    struct arena arena = { 0 };
    struct text  all = { .arena = &arena };
    struct file  file;
    struct err   err = { 0 };
    char         damage[128];

    len += deflate_member(STR("hello "), stored + len, sizeof stored - len);
    len += deflate_member(STR(""), stored + len, sizeof stored - len);
    len += deflate_member(STR("world\0"), stored + len, sizeof stored - len);
    memset(stored + len, 0, 100); /* padding, as tapes and some writers leave it */
    len += 100;
    store("members.gz", (struct str) { stored, len });
    assert_true(file_open(&file, path_of("members.gz"), 0, &err));
    assert_true(file.is_gzip && !file.is_damaged && !file.is_mapped);
    assert_true(str_equal(file.bytes, STR("hello world\0")));
    assert_int_equal(file.stored_bytes, len);
    file_close(&file);
    assert_true(str_equal(read_stream(path_of("members.gz"), &all, damage, sizeof damage),
                          STR("hello world\0")));
    assert_string_equal(damage, "");
    arena_free(&arena);
}

TEST(cut_gzip_gives_a_prefix_and_damage)
{
    static const char plain[] =
        "The quick brown fox jumps over the lazy dog, again and again and again.";
    struct str whole = { plain, sizeof plain - 1 };
    char       stored[512];
    size_t     len = deflate_member(whole, stored, sizeof stored);

    for (size_t cut = 3; cut < len; cut++) { /* with less it is not gzip yet */
        struct arena arena = { 0 };
        struct text  all = { .arena = &arena };
        struct file  file;
        struct err   err = { 0 };
        char         damage[128], expected[128];

        snprintf(expected, sizeof expected, "gzip data ends early at byte %zu", cut);
        store("cut.gz", (struct str) { stored, cut });
        read_stream(path_of("cut.gz"), &all, damage, sizeof damage);
        assert_string_equal(damage, expected);
        if (text_str(&all).len == 0) { /* nothing of it is left */
            assert_false(file_open(&file, path_of("cut.gz"), 0, &err));
            assert_int_equal(err.code, ERR_FORMAT);
            assert_non_null(strstr(err.text, expected));
        } else {
            assert_true(file_open(&file, path_of("cut.gz"), 0, &err));
            assert_true(file.is_damaged);
            assert_string_equal(file.damage, expected);
            assert_true(str_starts(whole, file.bytes));
            assert_true(str_equal(text_str(&all), file.bytes));
            file_close(&file);
        }
        arena_free(&arena);
    }
}

TEST(damaged_gzip_keeps_what_came_before)
{
    char   stored[512];
    size_t first = deflate_member(STR("first"), stored, sizeof stored);
    size_t both = first + deflate_member(STR("second"), stored + first, sizeof stored - first);
    struct {
        const char *what;
        size_t      at;
        char        byte;
        const char *bytes, *damage;
    } rows[] = {
        { "checksum", both - 8, (char)(stored[both - 8] ^ 1), "firstsecond",
          "gzip checksum is wrong" },
        { "block type", first + 10, '\x07', "first", "gzip data is broken" },
        { "next member", first, 'x', "first", "other bytes follow the gzip data" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char        kept = stored[rows[i].at];
        struct file file;
        struct err  err = { 0 };

        print_message("%s\n", rows[i].what);
        stored[rows[i].at] = rows[i].byte;
        store("damaged.gz", (struct str) { stored, both });
        assert_true(file_open(&file, path_of("damaged.gz"), 0, &err));
        assert_true(file.is_damaged);
        assert_true(str_equal(file.bytes, str_from(rows[i].bytes)));
        assert_true(str_starts(str_from(file.damage), str_from(rows[i].damage)));
        file_close(&file);
        stored[rows[i].at] = kept;
    }
}

TEST(inflating_is_bounded)
{
    static char zeros[MAX_STORED], stored[4096];
    size_t      len = deflate_member((struct str) { zeros, sizeof zeros }, stored, sizeof stored);
    struct file file;
    struct err  err = { 0 };

    store("bomb.gz", (struct str) { stored, len });
    assert_false(file_open(&file, path_of("bomb.gz"), MAX_STORED - 1, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_true(file_open(&file, path_of("bomb.gz"), MAX_STORED, &err));
    assert_int_equal(file.bytes.len, MAX_STORED);
    file_close(&file);
}

TEST(streams_give_large_files_whole)
{
    enum { LARGE = 11 << 20 };
    struct arena arena = { 0 };
    struct text  all = { .arena = &arena };
    char        *bytes = arena_alloc(&arena, LARGE), *stored = arena_alloc(&arena, LARGE);
    uint32_t     number = 1;
    char         damage[128];

    for (size_t i = 0; i < LARGE; i++) { /* compresses to about three quarters */
        number = number * 1664525 + 1013904223;
        bytes[i] = (char)('0' + (number >> 26));
    }
    store("large", (struct str) { bytes, LARGE });
    assert_true(str_equal(read_stream(path_of("large"), &all, damage, sizeof damage),
                          (struct str) { bytes, LARGE }));
    size_t len = deflate_member((struct str) { bytes, LARGE }, stored, LARGE);

    all = (struct text) { .arena = &arena };
    store("large.gz", (struct str) { stored, len });
    assert_true(str_equal(read_stream(path_of("large.gz"), &all, damage, sizeof damage),
                          (struct str) { bytes, LARGE }));
    assert_string_equal(damage, "");

    /* Closing half way neither hangs nor leaks. */
    struct err          err = { 0 };
    struct file_stream *stream = file_stream_open(path_of("large.gz"), &err);

    assert_true(file_stream_next(stream).len > 0);
    file_stream_close(stream);
    file_stream_close(NULL);
    arena_free(&arena);
}

TEST(pipes_are_read_whole)
{
    int         ends[2], kept = dup(STDIN_FILENO);
    struct file file;
    struct err  err = { 0 };

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_true(file_open(&file, "-", 0, &err));
    assert_true(str_equal(file.bytes, STR("piped")));
    assert_false(file.is_mapped);
    file_close(&file);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

/* Eight bytes for each page of the address space, of 2^47 bytes and more, in a file that claims
 * none. */
TEST(files_that_claim_nothing_are_bounded)
{
    struct file file;
    struct err  err = { 0 };

    assert_true(file_open(&file, "/proc/self/comm", 0, &err));
    assert_true(file.bytes.len > 1 && file.bytes.len <= 17); /* a name of up to 15, a new line */
    file_close(&file);
    assert_false(file_open(&file, "/proc/self/pagemap", 0, &err));
}

TEST(writing_is_all_or_nothing)
{
    struct file  file;
    struct err   err = { 0 };
    struct stat  status;
    struct arena arena = { 0 };
    char       **names;
    size_t       before, after;

    assert_true(file_list(folder, &arena, &names, &before, &err));
    assert_true(file_write(path_of("written"), STR("one"), &err));
    assert_int_equal(chmod(path_of("written"), 0600), 0);
    assert_true(file_write(path_of("written"), STR("two\0!"), &err));
    assert_int_equal(stat(path_of("written"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* replaced with the permissions it had */
    assert_true(file_open(&file, path_of("written"), 0, &err));
    assert_true(str_equal(file.bytes, STR("two\0!")));
    file_close(&file);
    assert_true(file_write("/dev/null", STR("gone"), &err));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode)); /* written to, not replaced */

    assert_false(file_write("/nonexistent/x", STR("x"), &err));
    assert_int_equal(err.code, ERR_OUTPUT);
    assert_false(file_write(folder, STR("x"), &err));
    if (file_exists("/dev/full"))
        assert_false(file_write("/dev/full", STR("x"), &err));
    assert_true(file_list(folder, &arena, &names, &after, &err));
    assert_int_equal(after, before + 1); /* no temporary file is left */
    arena_free(&arena);
}

TEST(names_are_sorted)
{
    struct arena arena = { 0 };
    struct err   err = { 0 };
    char       **names;
    size_t       count;

    store("b", STR(""));
    store("B", STR(""));
    store(".a", STR(""));
    assert_true(file_list(folder, &arena, &names, &count, &err));
    assert_true(count >= 3);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
    assert_string_equal(names[0], ".a");
    assert_string_equal(names[1], "B");
    assert_false(file_list("/nonexistent", &arena, &names, &count, &err));
    assert_int_equal(err.code, ERR_INPUT);
    arena_free(&arena);
}

AROUND_TESTS(make_folder, remove_folder)
