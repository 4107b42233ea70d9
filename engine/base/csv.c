#include "base/csv.h"

#include <math.h>
#include <string.h>

static bool is_special(char byte)
{
    return byte == '"' || byte == ',' || byte == '\n' || byte == '\r';
}

static bool is_formula(struct str value)
{
    return value.len && strchr("=+-@\t\r", value.data[0]) && value.data[0];
}

/* Whether text_add_clean would leave it as it is; most are. */
static bool is_ordinary(struct str value)
{
    bool is_ascii = true;

    for (size_t i = 0; i < value.len; i++)
        is_ascii &= value.data[i] >= 0x20 && value.data[i] < 0x7f && value.data[i] != '#';
    return is_ascii && !str_starts(value, STR("::"));
}

void csv_text(struct text *text, struct str value)
{
    struct text clean = { .arena = text->arena };
    bool        is_quoted = is_formula(value);

    if (!is_ordinary(value)) {
        text_add_clean(&clean, value);
        text->is_cut |= clean.is_cut;
        value = text_str(&clean);
    }
    for (size_t i = 0; i < value.len && !is_quoted; i++)
        is_quoted = is_special(value.data[i]);
    if (!is_quoted) {
        text_add(text, value);
        return;
    }
    text_add(text, is_formula(value) ? STR("\"'") : STR("\""));
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] == '"')
            text_add_byte(text, '"');
        text_add_byte(text, value.data[i]);
    }
    text_add_byte(text, '"');
}

void csv_number(struct text *text, double number)
{
    if (!isnan(number))
        text_add_exact(text, number);
}
