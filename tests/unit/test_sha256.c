/* sha256 and base64: the examples of FIPS 180-4 and RFC 4648. */
#include "base/base64.h"
#include "base/sha256.h"

#include "base/macros.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

TEST(published_digests)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
          "lmnopqrs"
          "mnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        unsigned char digest[SHA256_BYTES];
        char          hex[2 * SHA256_BYTES + 1];

        sha256(str_from(rows[i].text), digest);
        for (size_t at = 0; at < SHA256_BYTES; at++)
            snprintf(hex + 2 * at, 3, "%02x", digest[at]);
        assert_string_equal(hex, rows[i].digest);
    }
}

TEST(published_letters)
{
    static const char *const rows[][2] = { { "f", "Zg==" },         { "fo", "Zm8=" },
                                           { "foo", "Zm9v" },       { "foob", "Zm9vYg==" },
                                           { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct text  text = { .arena = &arena };

        base64_add(&text, str_from(rows[i][0]));
        assert_string_equal(text.data, rows[i][1]);
        arena_free(&arena);
    }
}
