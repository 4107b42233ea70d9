/*
 * Protobuf text format: https://protobuf.dev/reference/protobuf/textformat-spec/
 * Lengths of submessages are written as five-byte varints that are filled in once the end is known.
 */
#include "read/proto/textproto.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

enum { LENGTH_BYTES = 5 };

struct parser {
    struct str    text;
    size_t        at;
    int           depth;
    struct arena *arena;
    VEC(char) out;
    struct textproto_unknown *unknown;
    struct err               *err;
};

static bool parse_fields(struct parser *parser, const ProtobufCMessageDescriptor *descriptor,
                         char close);

static bool fail_at(struct parser *parser, size_t at, const char *what)
{
    uint32_t line = 1, column = 1;

    for (size_t i = 0; i < at && i < parser->text.len; i++) {
        column = parser->text.data[i] == '\n' ? 1 : column + 1;
        line += parser->text.data[i] == '\n';
    }
    err_set(parser->err, ERR_FORMAT, "%s", what);
    parser->err->line = line;
    parser->err->column = column;
    return false;
}

static bool fail(struct parser *parser, const char *what)
{
    return fail_at(parser, parser->at, what);
}

static char peek(const struct parser *parser)
{
    return parser->at < parser->text.len ? parser->text.data[parser->at] : '\0';
}

static void skip_blanks(struct parser *parser)
{
    for (; parser->at < parser->text.len; parser->at++) {
        char byte = parser->text.data[parser->at];

        if (byte == '#')
            while (parser->at + 1 < parser->text.len && parser->text.data[parser->at + 1] != '\n')
                parser->at++;
        else if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')
            return;
    }
}

static bool accept(struct parser *parser, char byte)
{
    skip_blanks(parser);
    if (parser->at >= parser->text.len || parser->text.data[parser->at] != byte)
        return false;
    parser->at++;
    return true;
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '+' || byte == '-';
}

/* A name, a number or an enumerator; empty when there is none. */
static struct str take_word(struct parser *parser)
{
    size_t start;

    skip_blanks(parser);
    start = parser->at;
    while (parser->at < parser->text.len && is_word_byte(parser->text.data[parser->at]))
        parser->at++;
    return str_slice(parser->text, start, parser->at);
}

static bool put(struct parser *parser, const void *bytes, size_t count)
{
    if (!vec_reserve(&parser->out, parser->arena, count))
        return err_set(parser->err, ERR_LIMIT, "the text does not fit into the memory budget");
    if (count)
        memcpy(parser->out.items + parser->out.count, bytes, count);
    parser->out.count += count;
    return true;
}

static bool put_varint(struct parser *parser, uint64_t value)
{
    uint8_t bytes[10];
    size_t  count = 0;

    do {
        bytes[count] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        count++;
    } while ((value >>= 7) != 0);
    return put(parser, bytes, count);
}

static bool put_key(struct parser *parser, uint32_t number, unsigned wire_type)
{
    return put_varint(parser, (uint64_t)number << 3 | wire_type);
}

static bool put_length(struct parser *parser, size_t start)
{
    size_t length = parser->out.count - start;

    if (length >> 35)
        return fail(parser, "a message is too long");
    for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        parser->out.items[start - LENGTH_BYTES + (size_t)i] =
            (char)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
    return true;
}

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : 16;
}

/* Behind the backslash. */
static bool take_escape(struct parser *parser)
{
    static const char letters[] = "abfnrtv\\'\"?", meanings[] = "\a\b\f\n\r\t\v\\'\"?";
    char              byte = peek(parser);
    const char       *letter = byte ? strchr(letters, byte) : NULL;
    int               base = byte == 'x' || byte == 'X' ? 16 : 8, limit = base == 16 ? 2 : 3;
    unsigned          value = 0;
    int               digits = 0;

    if (letter) {
        parser->at++;
        return put(parser, &meanings[letter - letters], 1);
    }
    parser->at += base == 16;
    for (; digits < limit && digit_of(peek(parser)) < base; digits++, parser->at++)
        value = value * (unsigned)base + (unsigned)digit_of(peek(parser));
    byte = (char)value;
    return digits ? put(parser, &byte, 1) : fail(parser, "an escape in a string is not one");
}

static bool take_string(struct parser *parser)
{
    skip_blanks(parser);
    if (peek(parser) != '"' && peek(parser) != '\'')
        return fail(parser, "a string is missing");
    while (peek(parser) == '"' || peek(parser) == '\'') {
        char quote = peek(parser);

        for (parser->at++; peek(parser) != quote;) {
            size_t start = parser->at;

            if (parser->at >= parser->text.len || peek(parser) == '\n')
                return fail(parser, "a string does not end");
            if (peek(parser) == '\\') {
                parser->at++;
                if (!take_escape(parser))
                    return false;
                continue;
            }
            while (parser->at < parser->text.len && peek(parser) != quote && peek(parser) != '\\' &&
                   peek(parser) != '\n')
                parser->at++;
            if (!put(parser, parser->text.data + start, parser->at - start))
                return false;
        }
        parser->at++;
        skip_blanks(parser);
    }
    return true;
}

/* Decimal, 0x hexadecimal or 0 octal, with sign. */
static bool word_to_integer(struct str word, uint64_t *value)
{
    bool     is_negative = word.len && word.data[0] == '-';
    int      base = 10;
    uint64_t sum = 0;

    word = str_slice(word, is_negative, word.len);
    if (word.len > 2 && word.data[0] == '0' && (word.data[1] | 0x20) == 'x') {
        base = 16;
        word = str_slice(word, 2, word.len);
    } else if (word.len > 1 && word.data[0] == '0') {
        base = 8;
    }
    for (size_t i = 0; i < word.len; i++) {
        int digit = digit_of(word.data[i]);

        if (digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = is_negative ? UINT64_C(0) - sum : sum;
    return word.len > 0;
}

static bool word_to_double(struct str word, double *value)
{
    bool       is_negative = word.len && word.data[0] == '-';
    struct str plain = str_slice(word, is_negative, word.len);

    if (str_fits(plain, "inf|infinity"))
        *value = (double)INFINITY;
    else if (str_equal(plain, STR("nan")))
        *value = (double)NAN;
    else {
        if (plain.len > 1 && (plain.data[plain.len - 1] | 0x20) == 'f')
            plain.len--;
        if (plain.len > 1 && plain.data[plain.len - 1] == '.')
            plain.len--;
        if (!str_to_double(plain, value))
            return false;
    }
    *value = is_negative ? -*value : *value;
    return true;
}

static bool word_to_bool(struct str word, uint64_t *value)
{
    static const char *const yes[] = { "true", "t", "True", "1" };
    static const char *const no[] = { "false", "f", "False", "0" };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        *value = str_equal(word, str_from(yes[i]));
        if (*value || str_equal(word, str_from(no[i])))
            return true;
    }
    return false;
}

static bool word_to_enum(const ProtobufCEnumDescriptor *descriptor, struct str word,
                         uint64_t *value)
{
    const ProtobufCEnumValue *found;
    char                      name[64];

    if (word_to_integer(word, value))
        return true;
    if (word.len >= sizeof name)
        return false;
    memcpy(name, word.data, word.len);
    name[word.len] = '\0';
    found = protobuf_c_enum_descriptor_get_value_by_name(descriptor, name);
    *value = found ? (uint64_t)(int64_t)found->value : 0;
    return found != NULL;
}

static bool put_double(struct parser *parser, const ProtobufCFieldDescriptor *field, double value)
{
    float    narrow = (float)value;
    uint32_t bits;

    if (field->type == PROTOBUF_C_TYPE_DOUBLE)
        return put_key(parser, field->id, 1) && put(parser, &value, sizeof value);
    memcpy(&bits, &narrow, sizeof bits);
    return put_key(parser, field->id, 5) && put(parser, &bits, sizeof bits);
}

static bool parse_scalar(struct parser *parser, const ProtobufCFieldDescriptor *field)
{
    struct str word;
    size_t     start;
    uint64_t   value;
    double     number;
    bool       is_understood;

    skip_blanks(parser);
    start = parser->at;
    word = take_word(parser);
    if (word.len == 1 && word.data[0] == '-') { /* "- 5" */
        take_word(parser);
        word = str_slice(parser->text, start, parser->at);
    }
    if (field->type == PROTOBUF_C_TYPE_FLOAT || field->type == PROTOBUF_C_TYPE_DOUBLE)
        return word_to_double(word, &number) ? put_double(parser, field, number)
                                             : fail_at(parser, start, "a number is missing");
    if (field->type == PROTOBUF_C_TYPE_BOOL)
        is_understood = word_to_bool(word, &value);
    else if (field->type == PROTOBUF_C_TYPE_ENUM)
        is_understood = word_to_enum(field->descriptor, word, &value);
    else
        is_understood = word_to_integer(word, &value);
    if (!is_understood)
        return fail_at(parser, start,
                       field->type == PROTOBUF_C_TYPE_ENUM ? "an enumerator is not known"
                                                           : "a whole number is missing");
    return put_key(parser, field->id, 0) && put_varint(parser, value);
}

/* Behind the opening bracket, with the key and room for the length to write. */
static bool parse_message(struct parser *parser, const ProtobufCFieldDescriptor *field, char close)
{
    static const char room[LENGTH_BYTES] = { 0 };
    size_t            start;

    if (parser->depth >= TEXTPROTO_MAX_DEPTH)
        return fail(parser, "messages are nested more than 100 levels deep");
    if (!put_key(parser, field->id, 2) || !put(parser, room, sizeof room))
        return false;
    start = parser->out.count;
    parser->depth++;
    if (!parse_fields(parser, field->descriptor, close))
        return false;
    parser->depth--;
    return put_length(parser, start);
}

static bool parse_one(struct parser *parser, const ProtobufCFieldDescriptor *field)
{
    static const char room[LENGTH_BYTES] = { 0 };
    size_t            start;

    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (accept(parser, '{'))
            return parse_message(parser, field, '}');
        if (accept(parser, '<'))
            return parse_message(parser, field, '>');
        return fail(parser, "a message in { } is missing");
    }
    if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_BYTES)
        return parse_scalar(parser, field);
    if (!put_key(parser, field->id, 2) || !put(parser, room, sizeof room))
        return false;
    start = parser->out.count;
    return take_string(parser) && put_length(parser, start);
}

static char partner_of(char byte)
{
    return (char)(byte == '{' ? '}' : byte == '<' ? '>' : ']');
}

/* A value of a field that is not known: scalars, or brackets up to their partners. */
static bool skip_value(struct parser *parser)
{
    char   partners[TEXTPROTO_MAX_DEPTH];
    size_t open = 0, start, kept = parser->out.count;

    for (;;) {
        char byte;

        skip_blanks(parser);
        byte = peek(parser);
        start = parser->at;
        if (byte == '{' || byte == '<' || byte == '[') {
            if (open == sizeof partners)
                return fail(parser, "messages are nested more than 100 levels deep");
            partners[open++] = partner_of(byte);
            parser->at++;
        } else if (open && byte == partners[open - 1]) {
            parser->at++;
            open--;
        } else if (byte == '"' || byte == '\'') {
            if (!take_string(parser))
                return false;
            parser->out.count = kept;
        } else if (open && (byte == ':' || byte == ',' || byte == ';')) {
            parser->at++;
        } else if (take_word(parser).len == 0) {
            return fail_at(parser, start, "a value is missing");
        }
        if (!open)
            return true;
    }
}

static bool parse_values(struct parser *parser, const ProtobufCFieldDescriptor *field)
{
    if (!accept(parser, '['))
        return parse_one(parser, field);
    if (accept(parser, ']'))
        return true;
    do {
        if (!parse_one(parser, field))
            return false;
    } while (accept(parser, ','));
    return accept(parser, ']') || fail(parser, "a list does not end with ]");
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *descriptor,
                                                  struct str                        word)
{
    char name[64];

    if (word.len >= sizeof name)
        return NULL;
    memcpy(name, word.data, word.len);
    name[word.len] = '\0';
    return protobuf_c_message_descriptor_get_field_by_name(descriptor, name);
}

static bool parse_fields(struct parser *parser, const ProtobufCMessageDescriptor *descriptor,
                         char close)
{
    for (;;) {
        const ProtobufCFieldDescriptor *field;
        struct str                      word;
        bool                            is_extension;

        skip_blanks(parser);
        if (close ? accept(parser, close) : parser->at >= parser->text.len)
            return true;
        is_extension = accept(parser, '['); /* [type.googleapis.com/…] { … } */
        while (is_extension && parser->at < parser->text.len && peek(parser) != ']')
            parser->at++;
        word =
            is_extension ? str_slice(parser->text, parser->at, parser->at + 1) : take_word(parser);
        parser->at += is_extension;
        if (!word.len)
            return fail(parser, "a field's name is missing");
        field = find_field(descriptor, word);
        if (!field && parser->unknown)
            parser->unknown->tell(parser->unknown, word);
        if (!accept(parser, ':') && peek(parser) != '{' && peek(parser) != '<')
            return fail(parser, "a field's name needs : or { behind it");
        if (!(field ? parse_values(parser, field) : skip_value(parser)))
            return false;
        if (!accept(parser, ','))
            accept(parser, ';');
    }
}

bool textproto_to_bytes(const ProtobufCMessageDescriptor *descriptor, struct str text,
                        struct arena *arena, struct str *bytes, struct textproto_unknown *unknown,
                        struct err *err)
{
    struct parser parser = { .text = text, .arena = arena, .unknown = unknown, .err = err };

    if (!parse_fields(&parser, descriptor, '\0'))
        return false;
    *bytes = (struct str) { .data = parser.out.items, .len = parser.out.count };
    return true;
}
