#include "base/unit.h"

#include <math.h>

static const struct {
    const char *name, *json_name;
    double      json_factor;
} units[] = {
    [UNIT_NONE] = { "none", "none", 1 },
    [UNIT_NS] = { "ns", "ms", 1e-6 },
    [UNIT_COUNT] = { "count", "count", 1 },
    [UNIT_BYTES] = { "bytes", "bytes", 1 },
    [UNIT_SHARE] = { "share", "share", 1 },
    [UNIT_RATIO] = { "ratio", "ratio", 1 },
    [UNIT_FLOPS] = { "flops", "flops", 1 },
    [UNIT_FLOPS_PER_S] = { "flops_per_s", "flops_per_s", 1 },
    [UNIT_BYTES_PER_S] = { "bytes_per_s", "bytes_per_s", 1 },
    [UNIT_HZ] = { "hz", "hz", 1 },
    [UNIT_NAME] = { "name", "name", 1 },
    [UNIT_BOOL] = { "bool", "bool", 1 },
    [UNIT_WHEN] = { "ns", "ms", 1e-6 },
};

/* Suffixes people write and read. A printed one is a step of the unit's scale, smallest first. */
static const struct suffix {
    enum unit   unit;
    const char *text;
    double      factor;
    bool        is_printed;
} suffixes[] = {
    { UNIT_NS, "ps", 1e-3, false },
    { UNIT_NS, "ns", 1, true },
    { UNIT_NS, "µs", 1e3, true },
    { UNIT_NS, "us", 1e3, false },
    { UNIT_NS, "ms", 1e6, true },
    { UNIT_NS, "s", 1e9, true },
    { UNIT_NS, "sec", 1e9, false },
    { UNIT_NS, "min", 60e9, false },
    { UNIT_NS, "h", 3600e9, false },
    { UNIT_BYTES, "B", 1, true },
    { UNIT_BYTES, "kB", 1e3, true },
    { UNIT_BYTES, "MB", 1e6, true },
    { UNIT_BYTES, "GB", 1e9, true },
    { UNIT_BYTES, "TB", 1e12, true },
    { UNIT_BYTES, "KB", 1e3, false },
    { UNIT_BYTES, "KiB", 1024, false },
    { UNIT_BYTES, "MiB", 1048576, false },
    { UNIT_BYTES, "GiB", 1073741824, false },
    { UNIT_BYTES, "TiB", 1099511627776, false },
    { UNIT_BYTES, "K", 1024, false }, /* alone, as for other programs' memory */
    { UNIT_BYTES, "M", 1048576, false },
    { UNIT_BYTES, "G", 1073741824, false },
    { UNIT_SHARE, "%", 0.01, true },
    { UNIT_RATIO, "x", 1, false },
    { UNIT_COUNT, "k", 1e3, false },
    { UNIT_COUNT, "M", 1e6, false },
    { UNIT_COUNT, "G", 1e9, false },
    { UNIT_FLOPS, "FLOP", 1, true },
    { UNIT_FLOPS, "kFLOP", 1e3, true },
    { UNIT_FLOPS, "MFLOP", 1e6, true },
    { UNIT_FLOPS, "GFLOP", 1e9, true },
    { UNIT_FLOPS, "TFLOP", 1e12, true },
    { UNIT_FLOPS, "PFLOP", 1e15, true },
    { UNIT_FLOPS_PER_S, "FLOP/s", 1, true },
    { UNIT_FLOPS_PER_S, "kFLOP/s", 1e3, true },
    { UNIT_FLOPS_PER_S, "MFLOP/s", 1e6, true },
    { UNIT_FLOPS_PER_S, "GFLOP/s", 1e9, true },
    { UNIT_FLOPS_PER_S, "TFLOP/s", 1e12, true },
    { UNIT_FLOPS_PER_S, "PFLOP/s", 1e15, true },
    { UNIT_BYTES_PER_S, "B/s", 1, true },
    { UNIT_BYTES_PER_S, "kB/s", 1e3, true },
    { UNIT_BYTES_PER_S, "MB/s", 1e6, true },
    { UNIT_BYTES_PER_S, "GB/s", 1e9, true },
    { UNIT_BYTES_PER_S, "TB/s", 1e12, true },
    { UNIT_HZ, "/s", 1, true },
    { UNIT_HZ, "Hz", 1, false },
    { UNIT_HZ, "kHz", 1e3, false },
    { UNIT_HZ, "MHz", 1e6, false },
    { UNIT_HZ, "GHz", 1e9, false },
};

const char *unit_name(enum unit unit)
{
    return units[unit].name;
}

bool unit_from_name(struct str name, enum unit *unit)
{
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (!str_equal(name, str_from(units[i].name)))
            continue;
        *unit = (enum unit)i;
        return true;
    }
    return false;
}

double unit_to_json(double value, enum unit unit)
{
    return value * units[unit].json_factor;
}

const char *unit_json_name(enum unit unit)
{
    return units[unit].json_name;
}

/* Three digits that matter, four from 100 on; whole numbers as they are. */
static void print_number(struct text *text, double number, bool is_exact)
{
    double size = fabs(number);

    if (size >= 1e15 && !(is_exact && size < 0x1p63))
        text_print(text, "%.3g", number);
    else if (size >= 999.95 || (is_exact && number == floor(number)))
        text_print(text, "%.0f", number);
    else
        text_print(text, "%.*f", size >= 9.995 ? 1 : 2, number);
}

/* The largest printed step that leaves at least 1, as the number will be rounded. */
static const struct suffix *fitting_suffix(double value, enum unit unit)
{
    const struct suffix *best = NULL;

    for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
        const struct suffix *suffix = &suffixes[i];

        if (suffix->unit == unit && suffix->is_printed &&
            (!best || fabs(value) >= suffix->factor * 0.99995))
            best = suffix;
    }
    return best;
}

void unit_print(struct text *text, double value, enum unit unit)
{
    const struct suffix *suffix = fitting_suffix(value, unit);

    if (unit == UNIT_BOOL) {
        text_add(text, value != 0 ? STR("yes") : STR("no"));
    } else if (unit == UNIT_SHARE) {
        double percent = value * 100;

        if (percent > 0 && percent < 0.005)
            text_add(text, STR("< 0.01 %"));
        else {
            print_number(text, percent, percent == 0 || percent == 100);
            text_add(text, STR(" %"));
        }
    } else if (unit == UNIT_WHEN) {
        text_print(text, "%.3f ms", value / 1e6);
    } else if (value == 0 && unit == UNIT_NS) {
        text_add(text, STR("0 ms"));
    } else if (suffix) {
        print_number(text, value / suffix->factor, suffix->factor == 1);
        text_print(text, " %s", suffix->text);
    } else {
        print_number(text, value, unit != UNIT_RATIO);
        if (unit == UNIT_RATIO)
            text_add_byte(text, 'x');
    }
}

enum unit unit_shown(enum unit unit, const char *name)
{
    struct str text = str_from(name);

    if (unit == UNIT_NS && (str_equal(text, STR("time_ns")) || str_equal(text, STR("start_ns")) ||
                            str_equal(text, STR("peak_time_ns"))))
        return UNIT_WHEN;
    return unit == UNIT_RATIO && str_ends(text, STR("share")) ? UNIT_SHARE : unit;
}

bool unit_is_suffix(struct str text)
{
    for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++)
        if (suffixes[i].is_printed && str_equal(text, str_from(suffixes[i].text)))
            return true;
    return false;
}

bool unit_scan(struct str text, enum unit unit, double *value)
{
    static const char number_bytes[] = "+-.0123456789";
    struct str        rest;
    size_t            len = 0;
    double            number, factor = 1;

    text = str_trim(text);
    while (len < text.len && str_find(STR(number_bytes), text.data[len]) < sizeof number_bytes - 1)
        len++;
    /* An exponent is part of the number when digits follow. */
    if (len > 0 && len + 1 < text.len && (text.data[len] == 'e' || text.data[len] == 'E')) {
        size_t digits = len + 1;

        if (text.data[digits] == '-' || text.data[digits] == '+')
            digits++;
        if (digits < text.len && text.data[digits] >= '0' && text.data[digits] <= '9')
            for (len = digits; len < text.len && text.data[len] >= '0' && text.data[len] <= '9';)
                len++;
    }
    if (!str_to_double(str_slice(text, 0, len), &number))
        return false;
    rest = str_trim(str_slice(text, len, text.len));
    if (rest.len) {
        size_t i = 0;

        while (
            i < ARRAY_COUNT(suffixes) &&
            !((suffixes[i].unit == unit || (unit == UNIT_NONE && suffixes[i].unit == UNIT_COUNT)) &&
              str_equal(rest, str_from(suffixes[i].text))))
            i++;
        if (i == ARRAY_COUNT(suffixes))
            return false;
        factor = suffixes[i].factor;
    }
    /* 5 * 0.01 is not 0.05: divide by whole numbers rather than multiply by fractions. */
    number = factor < 1 ? number / round(1 / factor) : number * factor;
    if (!isfinite(number))
        return false;
    *value = number;
    return true;
}
