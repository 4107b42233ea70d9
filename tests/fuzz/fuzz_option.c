/* Each line is an argument. Parsing fills the values or says what is wrong with which option. */
#include "fuzz.h"

#include "base/option.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 64 };

struct values {
    bool               flag;
    int64_t            count;
    double             share;
    const char        *text, *one;
    struct option_list list, repeat;
};

static const struct option options[] = {
    { "flag", OPTION_FLAG, offsetof(struct values, flag), NULL, NULL, "", "f", false },
    { "max-count", OPTION_COUNT, offsetof(struct values, count), "3", NULL, "", NULL, false },
    { "share", OPTION_NUMBER, offsetof(struct values, share), "5%", "unit:share", "", NULL, false },
    { "text", OPTION_TEXT, offsetof(struct values, text), NULL, "FILE", "", "o", false },
    { "one", OPTION_ONE_OF, offsetof(struct values, one), "a", "a|bc|d", "", NULL, false },
    { "list", OPTION_LIST, offsetof(struct values, list), "x,y", NULL, "", NULL, false },
    { "repeat", OPTION_REPEAT, offsetof(struct values, repeat), NULL, NULL, "", NULL, false },
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena       arena = { .budget_bytes = 1 << 20 };
    struct str         rest = { (const char *)bytes, len };
    char              *arguments[MAX_ARGUMENTS];
    int                count = 0;
    struct values      values;
    struct option_list operands = { 0 };
    struct err         err = { 0 };

    while (rest.len && count < MAX_ARGUMENTS) {
        struct str line = arena_str(&arena, str_cut(&rest, '\n'));

        if (!line.data)
            break;
        arguments[count++] = (char *)(uintptr_t)line.data;
    }
    bool ok = option_parse(options, ARRAY_COUNT(options), count, arguments, &arena, &values,
                           &operands, &err);

    if (ok != (err.code == ERR_NONE))
        abort();
    if (ok && (values.count < 0 || !values.one || operands.values.count > (size_t)count))
        abort();
    arena_free(&arena);
    return 0;
}
