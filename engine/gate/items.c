#include "gate/items.h"

#include "analyze/facts.h"
#include "base/intern.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 60, MOST_WORK = 40, MOST_NAME = 160 };

static const struct item_source {
    const char *table, *noun; /* the table's name is also the key in a baseline */
    const char *name, *group, *dtype, *trait, *ns, *count, *bytes, *blocks, *block_threads;
} sources[ITEM_KIND_COUNT] = {
    [ITEM_PATH] = { "path", "part of the path", "name", "part", "", "kind", "ns", "count", "", "",
                    "" },
    [ITEM_OP] = { "ops", "op", "name", "type", "dtype", "shapes", "self_ns", "calls", "", "", "" },
    [ITEM_KERNEL] = { "kernels", "kernel", "name", "op", "dtype", "tensor_core", "total_ns",
                      "calls", "", "grid_blocks", "block_threads" },
    [ITEM_SYNC] = { "syncs", "blocking call", "name", "owner", "", "", "wait_ns", "count", "", "",
                    "" },
    [ITEM_COPY] = { "copies", "copy", "name", "direction", "", "kind", "ns", "count", "bytes", "",
                    "" },
    [ITEM_COLLECTIVE] = { "collectives", "collective", "name", "type", "", "", "ns", "count",
                          "bytes", "", "" },
};

const char *item_kind_name(enum item_kind kind)
{
    return sources[kind].table;
}

const char *item_kind_noun(enum item_kind kind)
{
    return sources[kind].noun;
}

struct reader { /* one table */
    const struct facts *facts;
    const struct table *table;
    struct arena       *arena;
};

static double number_at(const struct reader *reader, const char *column, size_t row)
{
    int    at = column[0] ? table_column(reader->table, column) : -1;
    double value = at < 0 ? NAN : reader->table->columns[at][row];

    return isfinite(value) ? value : 0;
}

static const char *text_at(const struct reader *reader, const char *column, size_t row)
{
    double     id = number_at(reader, column, row);
    struct str name = id > 0 ? intern_str(reader->facts->names, (uint32_t)id) : STR("");

    name = arena_str(reader->arena, str_slice(name, 0, MOST_NAME));
    return name.data ? name.data : "";
}

/* Order of identity, so that equal ones stand together. */
static int by_identity(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    return IN_ORDER(strcmp(a->name, b->name), strcmp(a->group, b->group), strcmp(a->file, b->file),
                    COMPARE(a->line, b->line));
}

static int by_time(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    return IN_ORDER(COMPARE(b->ns, a->ns), by_identity(left, right));
}

/* Of rows that are one item, the one with most time says its types. */
static void merge_equal(struct item_list *list)
{
    size_t kept = 0;

    if (list->rows.count == 0)
        return;
    qsort(list->rows.items, list->rows.count, sizeof *list->rows.items, by_identity);
    for (size_t i = 1; i < list->rows.count; i++) {
        struct item *into = &list->rows.items[kept], *from = &list->rows.items[i];

        if (by_identity(into, from) != 0) {
            list->rows.items[++kept] = *from;
            continue;
        }
        struct item sum = from->ns > into->ns ? *from : *into;
        sum.ns = into->ns + from->ns;
        sum.fastest_ns =
            into->fastest_ns > 0 && from->fastest_ns > 0 ? into->fastest_ns + from->fastest_ns : 0;
        sum.count = into->count + from->count;
        sum.bytes = into->bytes + from->bytes;
        sum.threads = into->threads + from->threads;
        *into = sum;
    }
    list->rows.count = kept + 1;
}

static bool add_table(struct item_list *list, const struct item_source *source,
                      const struct reader *reader)
{
    for (size_t row = 0; row < reader->table->row_count; row++) {
        struct item item = {
            .name = text_at(reader, source->name, row),
            .group = text_at(reader, source->group, row),
            .file = text_at(reader, "source_file", row),
            .dtype = text_at(reader, source->dtype, row),
            .trait = text_at(reader, source->trait, row),
            .line = (uint32_t)number_at(reader, "source_line", row),
            .ns = number_at(reader, source->ns, row),
            .fastest_ns = number_at(reader, "fastest_ns", row),
            .count = number_at(reader, source->count, row),
            .bytes = number_at(reader, source->bytes, row),
            .threads = number_at(reader, source->blocks, row) *
                       number_at(reader, source->block_threads, row) *
                       number_at(reader, source->count, row),
        };

        if (!vec_push(&list->rows, reader->arena, item))
            return false;
    }
    return true;
}

bool items_add(struct item_list lists[ITEM_KIND_COUNT], const struct facts *facts,
               struct arena *arena)
{
    for (int kind = 0; kind < ITEM_KIND_COUNT; kind++) {
        struct reader reader = { facts, facts_find_table(facts, sources[kind].table), arena };

        if (reader.table && !add_table(&lists[kind], &sources[kind], &reader))
            return false;
        merge_equal(&lists[kind]);
    }
    return true;
}

bool items_finish(struct item_list lists[ITEM_KIND_COUNT], size_t run_count)
{
    for (int kind = 0; kind < ITEM_KIND_COUNT; kind++) {
        struct item_list *list = &lists[kind];

        for (size_t i = 0; i < list->rows.count; i++) {
            list->rows.items[i].ns /= (double)run_count;
            list->rows.items[i].fastest_ns /= (double)run_count;
            list->rows.items[i].count /= (double)run_count;
            list->rows.items[i].bytes /= (double)run_count;
            list->rows.items[i].threads /= (double)run_count;
        }
        if (list->rows.count > 0)
            qsort(list->rows.items, list->rows.count, sizeof *list->rows.items, by_time);
        list->is_complete = list->rows.count <= MOST_ITEMS;
        if (!list->is_complete)
            list->rows.count = MOST_ITEMS;
    }
    return true;
}

const struct item *item_find(const struct item_list *list, const struct item *like)
{
    for (size_t i = 0; i < list->rows.count; i++)
        if (by_identity(&list->rows.items[i], like) == 0)
            return &list->rows.items[i];
    return NULL;
}

static int by_flops(const void *left, const void *right)
{
    const struct work_item *a = left, *b = right;

    return IN_ORDER(COMPARE(b->flops, a->flops), strcmp(a->what, b->what));
}

bool work_add(struct identity *identity, const struct facts *facts, struct arena *arena)
{
    struct reader reader = { facts, facts_find_table(facts, "roofline"), arena };
    struct intern known; /* whats of the items; the empty one has id 0 */
    uint64_t      hash = 0;

    if (!intern_init(&known, arena))
        return false;
    for (size_t row = 0; reader.table && row < reader.table->row_count; row++) {
        const char *shapes = text_at(&reader, "shapes", row);
        const char *what = arena_text(arena, "%s %s", text_at(&reader, "type", row), shapes);
        double      flops = number_at(&reader, "flops", row);
        double      calls = number_at(&reader, "calls", row);

        if (!what)
            return false;
        if (!shapes[0] || flops <= 0)
            continue;
        uint32_t id = intern_add(&known, str_from(what));
        if (id == NO_ID)
            return false;
        if (id <= identity->work.count) {
            identity->work.items[id - 1].flops += flops;
            identity->work.items[id - 1].calls += calls;
        } else if (!vec_push(&identity->work, arena, (struct work_item) { what, flops, calls })) {
            return false;
        }
    }
    if (identity->work.count > 0)
        qsort(identity->work.items, identity->work.count, sizeof *identity->work.items, by_flops);
    if (identity->work.count > MOST_WORK)
        identity->work.count = MOST_WORK;
    for (size_t i = 0; i < identity->work.count; i++)
        hash += str_hash(str_from(identity->work.items[i].what)); /* in any order */
    identity->work_hash = "";
    if (identity->work.count > 0)
        identity->work_hash = arena_text(arena, "%016llx", (unsigned long long)hash);
    return identity->work_hash != NULL;
}
