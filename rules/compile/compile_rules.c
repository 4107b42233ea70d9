/*
 * compile_rules: what the build runs to compile the rules in: what each says of itself as C, so
 * that a rule costs nothing until it has something to look at, and its script as Lua's bytecode,
 * which loads nine times as fast as text. Made with the library that will load it, so that the two
 * agree. usage: compile_rules OUT PRELUDE.lua RULE.lua... Examples are for the checks that read
 * checkers/; built-in rules go without them, as they stand last in each file.
 */
#include "base/file.h"
#include "base/text.h"
#include "rules/builtin.h"

#include <lauxlib.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SCRIPT_BYTES = 1 << 20 };

/* While rules are read here, none is built in, and the prelude is what the build has of it. */
const struct builtin_rule builtin_rules[1];
const size_t              builtin_rule_count = 0;
static struct str         prelude;

struct str builtin_prelude(void)
{
    return prelude;
}

static bool read_script(const char *path, struct arena *arena, struct str *script)
{
    struct file file = { 0 };
    struct err  err = { 0 };

    if (!file_open(&file, path, MAX_SCRIPT_BYTES, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return false;
    }
    *script = arena_str(arena, file.bytes);
    file_close(&file);
    return true;
}

static bool cut_examples(const char *path, struct arena *arena, struct str *script)
{
    static const char start[] = "\n  examples = {", end[] = "\n  },\n}\n";
    size_t            at = str_search(*script, str_from(start));

    if (at == script->len)
        return true;
    if (!str_ends(*script, str_from(end))) {
        fprintf(stderr, "%s: examples must be the last field of the rule\n", path);
        return false;
    }
    *script = str_from(arena_text(arena, "%.*s\n}\n", (int)at, script->data));
    return true;
}

static void print_text(FILE *out, const char *text)
{
    if (!text) {
        fputs("NULL", out);
        return;
    }
    putc('"', out);
    for (const char *at = text; *at; at++) /* three digits end where a digit follows, too */
        fprintf(out, *at >= ' ' && *at <= '~' && !strchr("\"\\?", *at) ? "%c" : "\\%03o",
                (unsigned char)*at);
    putc('"', out);
}

static void print_number(FILE *out, double number)
{
    if (isnan(number))
        fputs("NAN", out);
    else if (isinf(number))
        fputs(number < 0 ? "-INFINITY" : "INFINITY", out);
    else
        fprintf(out, "%a", number);
}

static int print_byte(lua_State *lua, const void *bytes, size_t len, void *out)
{
    (void)lua;
    for (size_t i = 0; i < len; i++)
        fprintf(out, "%u,", ((const unsigned char *)bytes)[i]);
    return 0;
}

/* The bytes of the compiled chunk as an array. */
static bool print_bytecode(FILE *out, const char *array, const char *chunk, struct str script)
{
    lua_State *lua = luaL_newstate();
    bool is_done = lua && luaL_loadbufferx(lua, script.data, script.len, chunk, "t") == LUA_OK;

    if (is_done) {
        fprintf(out, "static const unsigned char %s[] = { ", array);
        lua_dump(lua, print_byte, out, 0);
        fputs("};\n", out);
    } else if (lua) {
        fprintf(stderr, "%s\n", lua_tostring(lua, -1));
    }
    if (lua)
        lua_close(lua);
    return is_done;
}

static void print_names(FILE *out, const char *list, size_t number, const char *const *names,
                        size_t count)
{
    fprintf(out, "static const char *%s_%zu[] = { ", list, number);
    for (size_t i = 0; i < count; i++) {
        print_text(out, names[i]);
        fputs(", ", out);
    }
    fputs("NULL };\n", out);
}

static void print_params(FILE *out, size_t number, const struct rule_param *params, size_t count)
{
    fprintf(out, "static struct rule_param params_%zu[] = {\n", number);
    for (size_t i = 0; i < count; i++) {
        const struct rule_param *param = &params[i];

        fputs("    { .name = ", out);
        print_text(out, param->name);
        fputs(", .doc = ", out);
        print_text(out, param->doc);
        fputs(", .text = ", out);
        print_text(out, param->text);
        fprintf(out, ", .kind = %d, .unit = %d, .number = ", (int)param->kind, (int)param->unit);
        print_number(out, param->number);
        fputs(", .min = ", out);
        print_number(out, param->min);
        fputs(", .max = ", out);
        print_number(out, param->max);
        fputs(", .strict = ", out);
        print_number(out, param->strict);
        fputs(" },\n", out);
    }
    fputs("    { .name = NULL }\n};\n", out);
}

/* What the row of a rule points to. */
static bool print_parts(FILE *out, size_t number, const struct rule_info *info, struct str script)
{
    char array[32], chunk[256];

    snprintf(array, sizeof array, "bytecode_%zu", number);
    snprintf(chunk, sizeof chunk, "@%s", info->file);
    print_names(out, "needs", number, info->needs.items, info->needs.count);
    print_names(out, "tags", number, info->tags.items, info->tags.count);
    print_names(out, "specific", number, info->more_specific_than.items,
                info->more_specific_than.count);
    print_params(out, number, info->params.items, info->params.count);
    return print_bytecode(out, array, chunk, script);
}

static void print_row(FILE *out, size_t number, const struct rule_info *info)
{
    const struct {
        const char *field, *text;
    } texts[] = {
        { "id", info->id },           { "title", info->title },       { "summary", info->summary },
        { "version", info->version }, { "file", info->file },         { "cause", info->cause },
        { "doc", info->doc },         { "category", info->category },
    };
    const struct {
        const char *field, *list;
        size_t      count;
    } lists[] = {
        { "needs", "needs", info->needs.count },
        { "tags", "tags", info->tags.count },
        { "more_specific_than", "specific", info->more_specific_than.count },
        { "params", "params", info->params.count },
    };

    fputs("    { .info = { ", out);
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        fprintf(out, ".%s = ", texts[i].field);
        print_text(out, texts[i].text);
        fputs(", ", out);
    }
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        fprintf(out, ".%s = { %s_%zu, %zu, %zu }, ", lists[i].field, lists[i].list, number,
                lists[i].count, lists[i].count);
    fprintf(out, ".severity = %d, .preset = %d, .format_mask = %" PRIu32 " },\n",
            (int)info->severity, (int)info->preset, info->format_mask);
    fprintf(out, "      .bytecode = { (const char *)bytecode_%zu, sizeof bytecode_%zu } },\n",
            number, number);
}

/* Reads what the rule says of itself from its whole script. */
static bool read_rule(const char *path, struct arena *arena, struct rule *rule, struct str *script)
{
    const char *slash = strrchr(path, '/');
    struct err  err = { 0 };

    if (!read_script(path, arena, script))
        return false;
    if (!rule_load(rule, slash ? slash + 1 : path, *script, &rule_default_limits, arena, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return false;
    }
    if (rule->error)
        fprintf(stderr, "%s\n", rule->error);
    rule_free(rule);
    return !rule->error;
}

static bool print_rules(FILE *out, char **paths, size_t count, struct arena *arena)
{
    struct rule *rules = arena_new_array(arena, struct rule, count + 1);

    for (size_t i = 0; i < count; i++) {
        struct str script;

        if (!read_rule(paths[i], arena, &rules[i], &script) ||
            !cut_examples(paths[i], arena, &script) || !print_parts(out, i, &rules[i].info, script))
            return false;
    }
    fputs("const struct builtin_rule builtin_rules[] = {\n", out);
    for (size_t i = 0; i < count; i++)
        print_row(out, i, &rules[i].info);
    fprintf(out, "    { .bytecode = { 0, 0 } }\n};\nconst size_t builtin_rule_count = %zu;\n",
            count);
    return true;
}

static bool print_all(FILE *out, const char *prelude_path, char **paths, size_t count)
{
    struct arena arena = { 0 };
    bool         is_done;

    fputs("/* Written by compile_rules. */\n#include \"rules/builtin.h\"\n\n#include <math.h>\n\n",
          out);
    is_done = read_script(prelude_path, &arena, &prelude) &&
              print_bytecode(out, "prelude", "=prelude.lua", prelude) &&
              print_rules(out, paths, count, &arena);
    fputs("\nstruct str builtin_prelude(void)\n{\n"
          "    return (struct str) { (const char *)prelude, sizeof prelude };\n}\n",
          out);
    arena_free(&arena);
    return is_done;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 3 ? fopen(argv[1], "w") : NULL;
    bool  is_done;

    if (!out) {
        fprintf(stderr, "usage: compile_rules OUT PRELUDE.lua RULE.lua...\n");
        return 2;
    }
    is_done = print_all(out, argv[2], argv + 3, (size_t)argc - 3);
    if ((fclose(out) != 0 || !is_done) && remove(argv[1]) == 0)
        return 1;
    return !is_done;
}
