/*
 * Arrow's file format (arrow.apache.org/docs/format/Columnar.html, "IPC File Format"): the schema,
 * one batch of rows, and a footer that says where they are. Everything begins at a multiple of 8.
 * Slots of messages are those of Arrow's Message.fbs, Schema.fbs and File.fbs.
 */
#include "report/arrow.h"

#include "analyze/table_view.h"
#include "report/flatbuffer.h"

#define MAGIC STR("ARROW1")
enum { ALIGNMENT = 8, CONTINUES = -1 };
enum { METADATA_V5 = 4 };
enum header_type { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum field_type { TYPE_FLOAT = 3, TYPE_TEXT = 5, TYPE_BOOL = 6 };
enum { PRECISION_DOUBLE = 2 };
enum { NODE_BYTES = 16, BUFFER_BYTES = 16, BLOCK_BYTES = 24 };

struct block { /* a message and its body, in the file */
    size_t at, metadata_bytes, body_bytes;
};

static void pad(struct text *text)
{
    while (text->len % ALIGNMENT)
        text_add_byte(text, '\0');
}

static size_t add_pair(struct flat *flat, struct str key, struct str value)
{
    struct flat_table pair = flat_table(flat, "44");

    flat_point(flat, pair.fields[0], flat_str(flat, key));
    flat_point(flat, pair.fields[1], flat_str(flat, value));
    return pair.at;
}

static size_t add_type(struct flat *flat, enum arrow_type type)
{
    struct flat_table table = flat_table(flat, type == ARROW_NUMBER ? "2" : "");

    if (type == ARROW_NUMBER)
        flat_set(flat, table.fields[0], PRECISION_DOUBLE, sizeof(int16_t));
    return table.at;
}

static enum field_type field_type(enum arrow_type type)
{
    switch (type) {
    case ARROW_NUMBER:
        return TYPE_FLOAT;
    case ARROW_BOOL:
        return TYPE_BOOL;
    case ARROW_TEXT:
        return TYPE_TEXT;
    }
    return TYPE_TEXT;
}

/* Field: name, nullable, type's kind, type, dictionary, children, custom_metadata. */
static size_t add_field(struct flat *flat, const struct arrow_column *column)
{
    struct flat_table field = flat_table(flat, "4114044");
    size_t            none, pairs;

    flat_point(flat, field.fields[0], flat_str(flat, str_from(column->spec->name)));
    flat_set(flat, field.fields[1], true, 1);
    flat_set(flat, field.fields[2], field_type(column->type), 1);
    flat_point(flat, field.fields[3], add_type(flat, column->type));
    flat_point(flat, field.fields[5], flat_vector(flat, 0, sizeof(uint32_t), &none));
    flat_point(flat, field.fields[6], flat_vector(flat, 2, sizeof(uint32_t), &pairs));
    flat_point(flat, pairs, add_pair(flat, STR("unit"), str_from(unit_name(column->spec->unit))));
    flat_point(flat, pairs + sizeof(uint32_t),
               add_pair(flat, STR("help"), str_from(column->spec->help)));
    return field.at;
}

/* Schema: endianness, fields. */
static size_t add_schema(struct flat *flat, const struct arrow_batch *batch)
{
    struct flat_table schema = flat_table(flat, "24");
    size_t            fields;

    flat_point(flat, schema.fields[1],
               flat_vector(flat, batch->column_count, sizeof(uint32_t), &fields));
    for (size_t i = 0; i < batch->column_count; i++)
        flat_point(flat, fields + i * sizeof(uint32_t), add_field(flat, &batch->columns[i]));
    return schema.at;
}

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Columns without nulls need no bits of validity. */
static size_t buffer_bytes(const struct arrow_column *column, size_t index)
{
    return index == 0 && column->null_count == 0 ? 0 : column->buffers[index].len;
}

static void add_numbers(struct flat *flat, size_t at, size_t first, size_t second)
{
    flat_set(flat, at, (int64_t)first, sizeof(int64_t));
    flat_set(flat, at + sizeof(int64_t), (int64_t)second, sizeof(int64_t));
}

/* RecordBatch: length, nodes, buffers. Gives the bytes of its body. */
static size_t add_batch(struct flat *flat, const struct arrow_batch *batch, size_t *body_bytes)
{
    struct flat_table table = flat_table(flat, "844");
    size_t            items, buffer_count = 0;

    *body_bytes = 0;
    flat_set(flat, table.fields[0], (int64_t)batch->row_count, sizeof(int64_t));
    flat_point(flat, table.fields[1], flat_vector(flat, batch->column_count, NODE_BYTES, &items));
    for (size_t i = 0; i < batch->column_count; i++) {
        add_numbers(flat, items + i * NODE_BYTES, batch->row_count, batch->columns[i].null_count);
        buffer_count += batch->columns[i].buffer_count;
    }
    flat_point(flat, table.fields[2], flat_vector(flat, buffer_count, BUFFER_BYTES, &items));
    for (size_t i = 0; i < batch->column_count; i++)
        for (size_t b = 0; b < batch->columns[i].buffer_count; b++) {
            size_t bytes = buffer_bytes(&batch->columns[i], b);

            add_numbers(flat, items, *body_bytes, bytes);
            items += BUFFER_BYTES;
            *body_bytes += padded(bytes);
        }
    return table.at;
}

/* A message of the stream: its length, then Message: version, header's kind, header, bodyLength. */
static struct block add_message(struct text *text, enum header_type type,
                                const struct arrow_batch *batch)
{
    struct block      block = { .at = text->len };
    struct flat       prefix = { text, text->len };
    struct flat_table message;
    struct flat       flat;
    size_t            root, header;

    text_fill(text, '\0', 2 * sizeof(int32_t));
    flat = flat_begin(text, &root);
    message = flat_table(&flat, "2148");
    flat_point(&flat, root, message.at);
    header = type == HEADER_SCHEMA ? add_schema(&flat, batch)
                                   : add_batch(&flat, batch, &block.body_bytes);
    flat_set(&flat, message.fields[0], METADATA_V5, sizeof(int16_t));
    flat_set(&flat, message.fields[1], type, 1);
    flat_point(&flat, message.fields[2], header);
    flat_set(&flat, message.fields[3], (int64_t)block.body_bytes, sizeof(int64_t));
    flat_pad(&flat, ALIGNMENT);
    flat_set(&prefix, 0, CONTINUES, sizeof(int32_t));
    flat_set(&prefix, sizeof(int32_t), (int64_t)flat_bytes(&flat), sizeof(int32_t));
    block.metadata_bytes = flat_bytes(&prefix);
    return block;
}

static void add_body(struct text *text, const struct arrow_batch *batch)
{
    for (size_t i = 0; i < batch->column_count; i++)
        for (size_t b = 0; b < batch->columns[i].buffer_count; b++) {
            text_add(text, str_slice(batch->columns[i].buffers[b], 0,
                                     buffer_bytes(&batch->columns[i], b)));
            pad(text);
        }
}

/* Footer: version, schema, dictionaries, recordBatches. */
static void add_footer(struct text *text, const struct arrow_batch *batch,
                       const struct block *block)
{
    size_t            root, none, items;
    struct flat       flat = flat_begin(text, &root);
    struct flat_table footer = flat_table(&flat, "2444");
    size_t            bytes;

    flat_point(&flat, root, footer.at);
    flat_set(&flat, footer.fields[0], METADATA_V5, sizeof(int16_t));
    flat_point(&flat, footer.fields[1], add_schema(&flat, batch));
    flat_point(&flat, footer.fields[2], flat_vector(&flat, 0, BLOCK_BYTES, &none));
    flat_point(&flat, footer.fields[3], flat_vector(&flat, 1, BLOCK_BYTES, &items));
    add_numbers(&flat, items, block->at, block->metadata_bytes);
    flat_set(&flat, items + 2 * sizeof(int64_t), (int64_t)block->body_bytes, sizeof(int64_t));
    bytes = flat_bytes(&flat);
    text_fill(text, '\0', sizeof(int32_t));
    flat_set(&flat, bytes, (int64_t)bytes, sizeof(int32_t));
    text_add(text, MAGIC);
}

void arrow_file(const struct table_view *view, const struct output_options *options,
                struct text *text)
{
    struct arrow_batch batch;
    struct block       block;
    struct err         err = { 0 };

    (void)options;
    if (!arrow_batch_make(&batch, view, text->arena, &err)) {
        text->is_cut = true; /* which the caller says */
        return;
    }
    text_add(text, MAGIC);
    pad(text);
    add_message(text, HEADER_SCHEMA, &batch);
    block = add_message(text, HEADER_BATCH, &batch);
    add_body(text, &batch);
    text_fill(text, (char)0xff, sizeof(int32_t)); /* the stream's end */
    text_fill(text, '\0', sizeof(int32_t));
    add_footer(text, &batch, &block);
}
