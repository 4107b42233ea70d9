/*
 * Packs the page's style and script into C, or a text by itself.
 *   usage: compile_page OUT STYLE SCRIPT...
 *          compile_page --text OUT NAME FILE
 * The scripts become one, in the order given. Refused is what could leave the script's element, or
 * make markup from names.
 */
#include "base/arena.h"
#include "base/base64.h"
#include "base/sha256.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool add_file(struct text *text, const char *path)
{
    char   piece[4096];
    size_t got;
    FILE  *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        return false;
    }
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        text_add(text, (struct str) { piece, got });
    fclose(file);
    return true;
}

/* The one request is that of a served page for more of its recording; the policy of a page that
 * lies in a file lets none leave. */
static size_t count_requests(struct str script)
{
    static const char request[] = "fetch(";
    size_t            count = 0;

    for (size_t i = 0; i + strlen(request) <= script.len; i++)
        count += memcmp(script.data + i, request, strlen(request)) == 0;
    return count;
}

static bool is_harmless(struct str script)
{
    static const char *const refused[] = {
        "</script",       "<!--",  "innerHTML",    "outerHTML",     "insertAdjacentHTML",
        "document.write", "eval(", "new Function", "XMLHttpRequest"
    };

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (str_contains(script, str_from(refused[i]))) {
            fprintf(stderr, "the page's script contains %s\n", refused[i]);
            return false;
        }
    if (count_requests(script) > 1) {
        fprintf(stderr, "the page's script makes requests in more than one place\n");
        return false;
    }
    return true;
}

static void write_bytes(FILE *out, const char *name, struct str bytes)
{
    fprintf(out, "static const unsigned char %s_bytes[] = {", name);
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(out, "%s%u,", i % 24 ? "" : "\n    ", (unsigned char)bytes.data[i]);
    fprintf(out,
            "\n    0 };\nconst struct str %s = { (const char *)%s_bytes, sizeof %s_bytes - 1 };\n",
            name, name, name);
}

static bool write_c(const char *path, struct str style, struct str script, struct str hash)
{
    FILE *out = fopen(path, "wb");

    if (!out) {
        perror(path);
        return false;
    }
    fprintf(out, "/* Written by compile_page. */\n#include \"report/page/assets.h\"\n\n");
    write_bytes(out, "page_style", style);
    write_bytes(out, "page_script", script);
    fprintf(out, "const char page_script_hash[] = \"sha256-%.*s\";\n", STR_ARG(hash));
    return fclose(out) == 0;
}

static int pack_text(const char *path, const char *name, const char *file, struct arena *arena)
{
    struct text text = { .arena = arena };
    FILE       *out;

    if (!add_file(&text, file))
        return 1;
    out = fopen(path, "wb");
    if (!out) {
        perror(path);
        return 1;
    }
    fprintf(out, "/* Written by compile_page. */\n#include \"cli/%s.h\"\n\n", name);
    write_bytes(out, name, text_str(&text));
    return fclose(out) == 0 ? 0 : 1;
}

static int pack(int count, char **arguments, struct arena *arena)
{
    struct text style = { .arena = arena }, script = { .arena = arena }, hash = { .arena = arena };
    unsigned char digest[SHA256_BYTES];
    bool          is_written;

    if (count == 5 && strcmp(arguments[1], "--text") == 0)
        return pack_text(arguments[2], arguments[3], arguments[4], arena);
    if (count < 4) {
        fprintf(stderr, "usage: compile_page OUT STYLE SCRIPT...\n");
        return 2;
    }
    text_add(&script, STR("'use strict';\n(() => {\n"));
    if (!add_file(&style, arguments[2]))
        return 1;
    for (int i = 3; i < count; i++)
        if (!add_file(&script, arguments[i]))
            return 1;
    text_add(&script, STR("})();\n"));
    if (!is_harmless(text_str(&script)))
        return 1;
    sha256(text_str(&script), digest);
    base64_add(&hash, (struct str) { (const char *)digest, sizeof digest });
    is_written = write_c(arguments[1], text_str(&style), text_str(&script), text_str(&hash));
    return is_written ? 0 : 1;
}

int main(int count, char **arguments)
{
    struct arena arena = { 0 };
    int          status = pack(count, arguments, &arena);

    arena_free(&arena);
    return status;
}
