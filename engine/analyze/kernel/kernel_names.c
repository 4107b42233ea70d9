#include "analyze/kernel/kernel_names.h"

#include "base/macros.h"
#include "base/words.h"
#include "model/names.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

enum { LONGEST_NAME = 1024 };

static const struct {
    const char *part, *library;
} libraries[] = {
#define LIBRARY(part, library) { part, library },
#include "analyze/kernel/kernel_names.def"
};

enum where { EVERY, TEXT, HEAD };
static const struct {
    enum where           where;
    const char          *part;
    enum kernel_category category;
} categories[] = {
#define CATEGORY(where, part, category) { where, part, KERNEL_##category },
#include "analyze/kernel/kernel_names.def"
};

static const struct {
    const char      *part;
    enum tensor_core use;
} tensor_core_rules[] = {
#define CORES(part, use) { part, TENSOR_CORE_##use },
#include "analyze/kernel/kernel_names.def"
};

enum how { PART, WORD };
static const struct {
    enum how    how;
    const char *part;
    enum dtype  dtype;
} dtype_rules[] = {
#define ELEMENTS(how, part, dtype) { how, part, DTYPE_##dtype },
#include "analyze/kernel/kernel_names.def"
};

static struct str lower(struct str name, char text[LONGEST_NAME])
{
    struct str copy = { text, name.len < LONGEST_NAME ? name.len : LONGEST_NAME };

    for (size_t i = 0; i < copy.len; i++)
        text[i] = (char)(name.data[i] + (name.data[i] >= 'A' && name.data[i] <= 'Z') * ('a' - 'A'));
    return copy;
}

/* Eigen's and TensorFlow's kernels name the type that they count in beside that of elements. */
static bool counts_in_long(struct str small)
{
    return str_fits(small, "*eigen*|*tensorflow*|*unsigned long long*");
}

/* Compilers that make a name of the ops that they fused: it may hold any op's name. */
static bool is_made_up(struct str small)
{
    return str_fits(small, "triton_poi*|triton_red*|triton_per*|triton__*");
}

/* Up to the templates or arguments, without the type that is returned; a mangled name is one text.
 */
static struct str head_of(struct str small)
{
    size_t end;

    if (str_starts(small, STR("std::enable_if")))
        small = str_slice(small, str_search(small, STR("::type ")) + 7, small.len);
    if (str_starts(small, STR("void ")))
        small = str_slice(small, 5, small.len);
    while ((end = str_search(small, STR("(anonymous namespace)::"))) < str_find(small, '<'))
        small = str_slice(small, end + 23, small.len);
    end = str_find(small, '<');
    return str_slice(small, 0, end < str_find(small, '(') ? end : str_find(small, '('));
}

static bool is_identifier(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

/* Between characters that no identifier has, where the word is one there. */
static bool is_word(struct str text, size_t at, struct str word)
{
    size_t end = at + word.len;

    return (at == 0 || !is_identifier(word.data[0]) || !is_identifier(text.data[at - 1])) &&
           (end == text.len || !is_identifier(word.data[word.len - 1]) ||
            !is_identifier(text.data[end]));
}

/* Rates and sizes are given by value, whatever the elements are: only what is pointed at counts. */
static bool is_scalar(struct str argument)
{
    for (size_t i = 0; i < argument.len; i++)
        if (!is_identifier(argument.data[i]) && argument.data[i] != ' ' && argument.data[i] != ')')
            return false;
    return true;
}

/* Where the arguments of a name that is whole begin; its length where it has none. */
static size_t arguments_of(struct str small)
{
    size_t at = small.len, depth = 0;

    if (at == 0 || small.data[at - 1] != ')')
        return small.len;
    do {
        at--;
        depth += small.data[at] == ')';
        depth -= small.data[at] == '(';
    } while (at > 0 && depth > 0);
    return depth > 0 ? small.len : at;
}

/* The name without its arguments that are given by value. */
static struct str without_scalars(struct str small, char text[LONGEST_NAME])
{
    size_t     at = arguments_of(small);
    struct str rest = str_slice(small, at, small.len), kept = { text, at };

    memcpy(text, small.data, at);
    while (rest.len > 0) {
        struct str argument = str_slice(rest, 1, rest.len);
        size_t     end = str_find(argument, ',');

        argument = str_slice(argument, 0, end < argument.len ? end : argument.len);
        if (!is_scalar(argument)) {
            memcpy(text + kept.len, rest.data, argument.len + 1);
            kept.len += argument.len + 1;
        }
        rest = str_slice(rest, argument.len + 1, rest.len);
    }
    return kept;
}

/* The parts of all lists, numbered one list behind the other. */
enum {
    CATEGORIES_FROM = ARRAY_COUNT(libraries),
    CORES_FROM = CATEGORIES_FROM + ARRAY_COUNT(categories),
    DTYPES_FROM = CORES_FROM + ARRAY_COUNT(tensor_core_rules),
    PARTS = DTYPES_FROM + ARRAY_COUNT(dtype_rules)
};
static struct word    items[PARTS];
static struct words   parts = { .items = items, .room = PARTS };
static pthread_once_t parts_made = PTHREAD_ONCE_INIT;

static void make_parts(void)
{
    uint16_t row = 0;

    for (size_t i = 0; i < ARRAY_COUNT(libraries); i++)
        words_add_part(&parts, str_from(libraries[i].part), row++);
    for (size_t i = 0; i < ARRAY_COUNT(categories); i++)
        words_add_part(&parts, str_from(categories[i].part), row++);
    for (size_t i = 0; i < ARRAY_COUNT(tensor_core_rules); i++)
        words_add_part(&parts, str_from(tensor_core_rules[i].part), row++);
    for (size_t i = 0; i < ARRAY_COUNT(dtype_rules); i++)
        words_add_part(&parts, str_from(dtype_rules[i].part), row++);
}

/* The first row of each list that a name fits; the first of the next list where none does. */
struct rows {
    size_t library, category, cores;
};

static void keep_first(size_t *first, size_t row)
{
    if (row < *first)
        *first = row;
}

static bool is_place_of(enum where where, struct str head, const char *at, size_t bytes)
{
    return where != HEAD || (at >= head.data && at + bytes <= head.data + head.len);
}

static struct rows rows_of(struct str small)
{
    struct rows        rows = { CATEGORIES_FROM, CORES_FROM, DTYPES_FROM };
    struct words_walk  walk = { .text = small };
    struct str         head = head_of(small);
    bool               made_up = is_made_up(small);
    const struct word *part;

    while ((part = words_next(&parts, &walk))) {
        enum where where = EVERY;

        if (part->row < CATEGORIES_FROM) {
            keep_first(&rows.library, part->row);
        } else if (part->row < CORES_FROM) {
            where = categories[part->row - CATEGORIES_FROM].where;
            if ((where == EVERY || !made_up) &&
                is_place_of(where, head, small.data + walk.at, part->text.len))
                keep_first(&rows.category, part->row);
        } else if (part->row < DTYPES_FROM) {
            keep_first(&rows.cores, part->row);
        }
    }
    return rows;
}

static enum dtype dtype_of(struct str name)
{
    char               text[LONGEST_NAME];
    struct str         small = without_scalars(name, text);
    struct words_walk  walk = { .text = small };
    size_t             row = PARTS;
    const struct word *part;
    enum dtype         dtype;

    while ((part = words_next(&parts, &walk)))
        if (part->row >= DTYPES_FROM && (dtype_rules[part->row - DTYPES_FROM].how == PART ||
                                         is_word(small, walk.at, part->text)))
            keep_first(&row, part->row);
    if (row == PARTS)
        return DTYPE_UNKNOWN;
    dtype = dtype_rules[row - DTYPES_FROM].dtype;
    return dtype == DTYPE_I64 && counts_in_long(small) ? DTYPE_UNKNOWN : dtype;
}

/* Eight bits are multiplied on tensor cores alone, transforms in 32 bits never are. */
static enum tensor_core cores_of(struct str small, size_t row, enum dtype dtype)
{
    if (row < DTYPES_FROM)
        return tensor_core_rules[row - CORES_FROM].use;
    if (dtype == DTYPE_F8 || dtype == DTYPE_F4)
        return TENSOR_CORE_YES;
    return dtype == DTYPE_F32 && str_contains(small, STR("winograd")) ? TENSOR_CORE_NO
                                                                      : TENSOR_CORE_UNKNOWN;
}

bool kernel_is_product(enum kernel_category category)
{
    return category == KERNEL_GEMM || category == KERNEL_CONV || category == KERNEL_ATTENTION;
}

/* A few operations an element, each read and written once: memory holds it. */
static bool is_pointwise(enum kernel_category category)
{
    return category == KERNEL_ELEMENTWISE || category == KERNEL_CAST || category == KERNEL_COPY ||
           category == KERNEL_FILL || category == KERNEL_LAYOUT;
}

bool kernel_is_streaming(enum kernel_category category)
{
    return is_pointwise(category) || category == KERNEL_NORM || category == KERNEL_SOFTMAX ||
           category == KERNEL_REDUCE || category == KERNEL_RANDOM || category == KERNEL_OPTIMIZER ||
           category == KERNEL_GATHER;
}

struct kernel_name kernel_name_parse(struct str name)
{
    struct kernel_name result = { .category = KERNEL_OTHER };
    char               text[LONGEST_NAME];
    struct str         small = lower(name, text);
    struct rows        rows;

    pthread_once(&parts_made, make_parts);
    rows = rows_of(small);
    if (rows.library < CATEGORIES_FROM)
        result.library = libraries[rows.library].library;
    if (rows.category < CORES_FROM)
        result.category = categories[rows.category - CATEGORIES_FROM].category;
    result.dtype = dtype_of(small);
    if (kernel_is_product(result.category))
        result.tensor_core = cores_of(small, rows.cores, result.dtype);
    return result;
}

/* Kernels that only run what their first type is: its name tells more than theirs. */
static bool is_wrapper(struct str name)
{
    return str_fits(name, "cutlass::Kernel|cutlass::Kernel2|cutlass::device_kernel|Kernel|Kernel2|"
                          "device_kernel|*::enable_sm*");
}

/* The last name of a mangled one, "_ZN4vllm18act_and_mulI…" gives "act_and_mul", at `at` of it, of
 * what it wraps where it is a wrapper. Empty: none there. */
static struct str last_of_mangled(struct str name, size_t at)
{
    struct str last = { 0 };

    while (at < name.len) {
        size_t len = 0;

        if (name.data[at] == 'N' || (name.data[at] == 'I' && is_wrapper(last))) {
            at++;
        } else if (name.data[at] == 'S') { /* said before: S_, S3_, St */
            at += name.len - at > 1 && name.data[at + 1] == 't' ? 1 : 0;
            while (at < name.len && name.data[at] != '_' && name.data[at] != 't')
                at++;
            at++;
        } else {
            while (at < name.len && isdigit((unsigned char)name.data[at]) && len < name.len)
                len = len * 10 + (size_t)(name.data[at++] - '0');
            if (len == 0 || len > name.len - at)
                break;
            last = str_slice(name, at, at + len);
            at += len;
        }
    }
    return last;
}

static bool is_type(struct str text)
{
    return str_equal(text, STR("void")) || str_contains(text, STR("::"));
}

/* What stands before templates and arguments, without what it returns. */
static struct str without_types(struct str name)
{
    static const struct str unnamed = STR_INIT("(anonymous namespace)");
    size_t                  first = 0, end = name.len, depth = 0, inside = 0;

    for (size_t i = 0; i < name.len; i++) {
        char byte = name.data[i];

        if (str_starts(str_slice(name, i, name.len), unnamed)) {
            i += unnamed.len - 1;
        } else if (depth > 0 && (byte == '(' || byte == ')')) {
            inside = byte == '(' ? inside + 1 : inside - (inside > 0);
        } else if (byte == '<' && inside == 0) {
            end = depth++ == 0 && end == name.len ? i : end;
        } else if (byte == '>' && depth > 0) {
            depth -= inside == 0; /* in parentheses it compares */
        } else if (byte == '(' && depth == 0) {
            end = i < end ? i : end;
            break;
        } else if (byte == ' ' && depth == 0 && i + 1 < name.len &&
                   is_type(str_slice(name, first, i))) {
            first = i + 1;
            end = name.len;
        }
    }
    return end > first ? str_slice(name, first, end) : name;
}

static struct str wrapped_in(struct str name, struct str family)
{
    while (is_wrapper(family) && family.data + family.len < name.data + name.len) {
        struct str rest =
            str_slice(name, (size_t)(family.data - name.data) + family.len + 1, name.len);
        size_t len = 0;

        while (len < rest.len && !memchr("<>,( ", rest.data[len], 5))
            len++;
        if (len == 0)
            break;
        family = str_slice(rest, 0, len);
    }
    return family;
}

struct str kernel_name_family(struct str name)
{
    struct str family = str_starts(name, STR("_Z")) ? last_of_mangled(name, 2)
                                                    : wrapped_in(name, without_types(name));

    if (family.len == 0)
        family = name;
    while (family.len > 1 &&
           (family.data[family.len - 1] == '_' || family.data[family.len - 1] == '.' ||
            (family.data[family.len - 1] >= '0' && family.data[family.len - 1] <= '9')))
        family.len--;
    return family;
}

const char *kernel_category_name(enum kernel_category category)
{
    static const char *const names[KERNEL_CATEGORY_COUNT] = {
        [KERNEL_OTHER] = "other",
        [KERNEL_GEMM] = "gemm",
        [KERNEL_CONV] = "conv",
        [KERNEL_ATTENTION] = "attention",
        [KERNEL_NORM] = "norm",
        [KERNEL_SOFTMAX] = "softmax",
        [KERNEL_REDUCE] = "reduce",
        [KERNEL_ELEMENTWISE] = "elementwise",
        [KERNEL_LAYOUT] = "layout",
        [KERNEL_GATHER] = "gather",
        [KERNEL_SORT] = "sort",
        [KERNEL_OPTIMIZER] = "optimizer",
        [KERNEL_RANDOM] = "random",
        [KERNEL_COPY] = "copy",
        [KERNEL_COLLECTIVE] = "collective",
        [KERNEL_CAST] = "cast",
        [KERNEL_FILL] = "fill",
        [KERNEL_POOL] = "pool",
        [KERNEL_SCAN] = "scan",
        [KERNEL_LOSS] = "loss",
        [KERNEL_ROUTING] = "routing",
        [KERNEL_SAMPLING] = "sampling",
        [KERNEL_HELPER] = "helper",
    };

    return category < KERNEL_CATEGORY_COUNT ? names[category] : "other";
}

const char *tensor_core_name(enum tensor_core use)
{
    switch (use) {
    case TENSOR_CORE_UNKNOWN:
        return "unknown";
    case TENSOR_CORE_NO:
        return "no";
    case TENSOR_CORE_YES:
        return "yes";
    }
    return "unknown";
}

bool op_is_product(struct str type)
{
    char text[LONGEST_NAME];

    return name_is(lower(type, text), NAMES_PRODUCT);
}

bool op_is_cast(struct str type)
{
    return name_is(type, NAMES_CAST);
}
