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

void csv_text(struct text *text, struct str value)
{
    bool is_quoted = is_formula(value);

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
