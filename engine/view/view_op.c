/* op: nodes of one type together, a list rather than a tree; totals run from the end of the list.
 */
#include "base/sort.h"
#include "view/groups.h"
#include "view/rows.h"
#include "view/tree.h"

#include <inttypes.h>
#include <stdlib.h>

struct entry {
    struct str          name;
    struct group        group;
    struct view_numbers total;              /* of this one and all behind it */
    uint32_t            order;              /* by name */
    uint32_t            hidden;             /* ops of types behind it that are not shown */
    uint8_t             flops, total_flops; /* what is known of them: enum flops_known bits */
    bool                is_accounted;
};
struct entries {
    struct entry       *items;
    size_t              count;
    struct view_numbers total;
};

/* Nodes by type, which options do not change. */
struct op_groups {
    struct typed {
        struct str name;
        uint32_t   type, count; /* interned; nodes */
    } * types;                  /* by name */
    uint32_t *group_of;         /* by node */
    uint32_t  count;
};

static int compare_types(const void *left, const void *right)
{
    const struct typed *a = left, *b = right;

    return str_compare(a->name, b->name);
}

static uint32_t type_of(const struct classic *classic, uint32_t node)
{
    return classic->profile->ops.items[classic->nodes.items[node].op].type;
}

static bool count_types(const struct classic *classic, struct arena *arena,
                        struct op_groups *groups)
{
    const struct profile *profile = classic->profile;
    uint32_t             *counts = arena_new_array(arena, uint32_t, profile->names.count);
    uint32_t              used = 0;

    groups->group_of = arena_new_array(arena, uint32_t, classic->nodes.count);
    if (!counts || !groups->group_of)
        return false;
    for (uint32_t i = 0; i < classic->nodes.count; i++) {
        groups->group_of[i] = type_of(classic, i);
        groups->count += counts[groups->group_of[i]]++ == 0;
    }
    groups->types = arena_new_array(arena, struct typed, groups->count);
    if (!groups->types)
        return false;
    for (uint32_t i = 0; i < profile->names.count; i++)
        if (counts[i])
            groups->types[used++] = (struct typed) { profile_str(profile, i), i, counts[i] };
    if (used)
        qsort(groups->types, used, sizeof *groups->types, compare_types);
    for (uint32_t i = 0; i < used; i++)
        counts[groups->types[i].type] = i;
    for (uint32_t i = 0; i < classic->nodes.count; i++)
        groups->group_of[i] = counts[groups->group_of[i]];
    return true;
}

/* Made once for calls that keep what they build. NULL: full. */
static const struct op_groups *groups_of(const struct view_call *call)
{
    struct arena     *arena = call->trees ? call->trees->arena : call->arena;
    struct op_groups *groups = call->trees ? call->trees->groups : NULL;

    if (groups)
        return groups;
    groups = arena_new(arena, struct op_groups);
    if (!groups || !count_types(call->classic, arena, groups))
        return NULL;
    if (call->trees)
        call->trees->groups = groups;
    return groups;
}

static void finish_entry(struct entry *entry, const struct view_call *call)
{
    entry->is_accounted = entry->group.count > 0 || call->options->account.is_everything;
    if (!call->options->is_compat)
        entry->flops =
            (uint8_t)flops_known_of_all(call->classic, entry->group.members, entry->group.count);
}

/* One entry a type, by name; nodes of one in the order of their names. */
static bool build(const struct view_call *call, struct entries *entries)
{
    const struct op_groups *groups = groups_of(call);
    struct type_filter      filter;
    uint32_t *members = arena_new_array(call->arena, uint32_t, call->classic->nodes.count);

    if (!groups || !members || !type_filter_init(&filter, call))
        return false;
    entries->count = groups->count;
    entries->items = arena_new_array(call->arena, struct entry, groups->count);
    if (!entries->items)
        return false;
    for (uint32_t i = 0; i < groups->count; i++) {
        entries->items[i] =
            (struct entry) { .name = groups->types[i].name, .group.members = members, .order = i };
        members += groups->types[i].count;
    }
    for (uint32_t i = 0; i < call->classic->nodes.count; i++)
        group_add(&entries->items[groups->group_of[i]].group, &filter, call, i);
    for (uint32_t i = 0; i < groups->count; i++)
        finish_entry(&entries->items[i], call);
    return true;
}

struct keyed {
    int64_t      key;
    struct entry entry;
};

static int compare_keys(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return IN_ORDER(COMPARE(b->key, a->key), COMPARE(a->entry.order, b->entry.order));
}

static int64_t key_of(const struct entry *entry, int order_by)
{
    if (order_by == ORDER_BY_NAME)
        return 0;
    /* How often a type occurs is how many nodes are of it. */
    return order_by == VALUE_RUNS ? (int64_t)entry->group.count
                                  : entry->group.self.values[order_by];
}

static bool sort(const struct view_call *call, struct entries *entries)
{
    struct keyed *keyed = arena_new_array(call->arena, struct keyed, entries->count);

    if (!keyed)
        return false;
    for (size_t i = 0; i < entries->count; i++)
        keyed[i] = (struct keyed) { key_of(&entries->items[i], call->options->order_by),
                                    entries->items[i] };
    if (entries->count)
        qsort(keyed, entries->count, sizeof *keyed, compare_keys);
    for (size_t i = 0; i < entries->count; i++)
        entries->items[i] = keyed[i].entry;
    return true;
}

static void sum_up(struct entries *entries)
{
    uint8_t flops = FLOPS_NONE;

    entries->total = (struct view_numbers) { 0 };
    for (size_t i = entries->count; i-- > 0;) {
        values_add(&entries->total, &entries->items[i].group.self);
        flops |= entries->items[i].flops;
        entries->items[i].total = entries->total;
        entries->items[i].total_flops = flops;
    }
}

static bool account(const struct view_call *call, struct entries *entries)
{
    size_t kept = 0;

    if (!sort(call, entries))
        return false;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->items[i].is_accounted)
            entries->items[kept++] = entries->items[i];
    entries->count = kept;
    sum_up(entries);
    return true;
}

static bool is_on_device(const struct entry *entry, const struct view_call *call)
{
    bool is_on = call->options->devices.is_everything;

    for (uint32_t i = 0; i < entry->group.count && !is_on; i++)
        is_on = view_patterns_match(&call->options->devices,
                                    classic_device(call->classic, entry->group.members[i]));
    return is_on;
}

static bool should_show(const struct entry *entry, const struct view_call *call)
{
    const struct view_options *options = call->options;

    for (int i = 0; i < VALUE_DEFINITIONS; i++) {
        int64_t value = i == VALUE_RUNS ? (int64_t)entry->group.count : entry->total.values[i];
        int64_t min = options->mins.values[i];

        if (value < min && (min > 0 || options->is_compat))
            return false;
    }
    return is_on_device(entry, call) && view_patterns_match(&options->show, entry->name) &&
           !view_patterns_match(&options->hide, entry->name);
}

/* Types that are not shown are hidden by the one before them; those before all others by the first.
 */
static void hide(struct entries *entries, size_t kept, uint32_t count, uint32_t *before_all)
{
    if (kept)
        entries->items[kept - 1].hidden += count;
    else
        *before_all += count;
}

/* From the first that is a start to the first that is too deep or trimmed. */
static void choose(const struct view_call *call, struct entries *entries)
{
    const struct view_options *options = call->options;
    size_t                     kept = 0, from = 0;
    int64_t                    depth = 0;
    uint32_t                   before_all = 0;
    bool                       is_over = false;

    /* No pattern at all starts at the first one. */
    while (options->start.is_asked && from < entries->count &&
           !view_patterns_match(&options->start, entries->items[from].name))
        hide(entries, 0, entries->items[from++].group.count, &before_all);
    for (size_t i = from; i < entries->count; i++, depth++) {
        is_over = is_over || depth > options->max_depth ||
                  view_patterns_match(&options->trim, entries->items[i].name);
        if (!is_over && should_show(&entries->items[i], call))
            entries->items[kept++] = entries->items[i];
        else
            hide(entries, kept, entries->items[i].group.count, &before_all);
    }
    entries->count = kept;
    if (kept)
        entries->items[0].hidden += before_all;
    if (options->is_displayed_only)
        sum_up(entries);
}

static bool arrange(const struct view_call *call, struct entries *entries)
{
    if (!build(call, entries) || !account(call, entries))
        return false;
    choose(call, entries);
    return true;
}

bool op_rows(const struct view_call *call, struct op_row *rows, size_t room, size_t *count,
             struct view_numbers *total)
{
    struct entries entries = { 0 };

    if (!arrange(call, &entries))
        return false;
    *total = entries.total;
    *count = entries.count < room ? entries.count : room;
    for (size_t i = 0; i < *count; i++)
        rows[i] = (struct op_row) { entries.items[i].name, entries.items[i].group.self };
    return true;
}

static void fill_row(const struct entry *entry, struct view_numbers *numbers,
                     struct view_rows *found)
{
    struct view_row *row = &found->items[entry->order];

    numbers += 2 * (size_t)entry->order;
    numbers[0] = entry->group.self;
    numbers[1] = entry->total;
    row->node = NO_ID;
    row->members = entry->group.members;
    row->member_count = entry->group.count;
    row->is_accounted = true;
    row->flops = entry->total_flops;
    row->hidden = entry->hidden;
    row->self = numbers[0].values;
    row->total = numbers[1].values;
}

/* Ids are places by name. Entries move when some are left out, so that numbers are copied. */
static bool rows(const struct view_call *call, struct view_rows *found)
{
    struct entries       entries = { 0 };
    struct view_numbers *numbers;

    *found = (struct view_rows) { 0 };
    if (!build(call, &entries))
        return false;
    found->count = entries.count;
    found->items = arena_new_array(call->arena, struct view_row, found->count);
    found->shown = arena_new_array(call->arena, struct shown_row, found->count);
    numbers = arena_new_array(call->arena, struct view_numbers, found->count * 2);
    if (!found->items || !found->shown || !numbers)
        return false;
    for (size_t i = 0; i < entries.count; i++)
        found->items[i].name = found->items[i].key = entries.items[i].name;
    if (!account(call, &entries))
        return false;
    for (size_t i = 0; i < entries.count; i++)
        fill_row(&entries.items[i], numbers, found);
    choose(call, &entries);
    found->root = entries.total;
    for (size_t i = 0; i < entries.count; i++) {
        fill_row(&entries.items[i], numbers, found);
        found->shown[found->shown_count++] =
            (struct shown_row) { .id = entries.items[i].order, .depth = 1, .parent = NO_ID };
    }
    return true;
}

/* With those behind it they may be known. */
static void print_unknown_flops(struct text *item, const struct entry *entry, double percent)
{
    text_add(item, STR("? float_ops ("));
    if (entry->total_flops == FLOPS_UNKNOWN)
        text_add_byte(item, '?');
    else
        text_print(item, "%.2f%%", percent);
    text_add(item, STR(", ?)"));
}

/* "1.37sec (100.00%, 36.44%)": with what follows, alone; memory that is none counts nowhere. */
static void print_share(const struct entry *entry, const struct entries *entries,
                        const struct column *column, const struct view_call *call)
{
    int64_t     self = entry->group.self.values[column->value];
    int64_t     total = entry->total.values[column->value];
    double      all = (double)entries->total.values[column->value];
    bool        is_none = column->kind == COLUMN_MEMORY ? self <= 0 : total <= 0;
    struct text item = { .arena = call->arena };

    if (column->kind == COLUMN_FLOAT_OPS && entry->flops == FLOPS_UNKNOWN) {
        print_unknown_flops(&item, entry, is_none ? 0.0 : 100.0 * (double)total / all);
        text_print(call->text, "%30.*s", STR_ARG(text_str(&item)));
        return;
    }
    if (column->kind == COLUMN_FLOAT_OPS && entry->flops == FLOPS_IN_PART &&
        !call->options->is_compat)
        text_add(&item, STR(">="));
    print_column_number(&item, column->kind, self);
    if (column->kind == COLUMN_PARAMS)
        text_add(&item, STR(" params"));
    else if (column->kind == COLUMN_FLOAT_OPS)
        text_add(&item, STR(" float_ops"));
    text_print(&item, " (%.2f%%, %.2f%%)", is_none ? 0.0 : 100.0 * (double)total / all,
               is_none ? 0.0 : 100.0 * (double)self / all);
    text_print(call->text, "%30.*s", STR_ARG(text_str(&item)));
}

struct signature { /* nodes with the same inputs */
    struct str shapes;
    int64_t    runs, nodes, micros;
};

static int compare_shapes(const void *left, const void *right)
{
    const struct signature *a = left, *b = right;

    return str_compare(a->shapes, b->shapes);
}

static int compare_runs(const void *left, const void *right)
{
    const struct signature *a = left, *b = right;

    return IN_ORDER(COMPARE(b->runs, a->runs), compare_shapes(left, right));
}

static struct signature signature_of(const struct view_call *call, uint32_t node)
{
    struct text shapes = { .arena = call->arena };
    int64_t     step = call->options->step;

    print_input_shapes(call, node, STR(",\t"), &shapes);
    return (struct signature) {
        .shapes = text_str(&shapes),
        .runs = classic_value(call->classic, node, MEASURE_RUNS, step),
        .nodes = 1,
        .micros = classic_value(call->classic, node, MEASURE_EXEC_MICROS, step),
    };
}

static bool print_signatures(const struct entry *entry, const struct view_call *call)
{
    uint32_t          count = entry->group.count;
    size_t            used = 0;
    struct signature *signatures = arena_new_array(call->arena, struct signature, count);

    if (!signatures)
        return false;
    for (uint32_t i = 0; i < count; i++)
        signatures[i] = signature_of(call, entry->group.members[i]);
    if (count)
        qsort(signatures, count, sizeof *signatures, compare_shapes);
    for (uint32_t i = 0; i < count; i++) {
        if (used && str_equal(signatures[used - 1].shapes, signatures[i].shapes)) {
            signatures[used - 1].runs += signatures[i].runs;
            signatures[used - 1].nodes += signatures[i].nodes;
            signatures[used - 1].micros += signatures[i].micros;
        } else {
            signatures[used++] = signatures[i];
        }
    }
    if (used)
        qsort(signatures, used, sizeof *signatures, compare_runs);
    text_add(call->text, STR("\n"));
    for (size_t i = 0; i < used; i++) {
        text_print(
            call->text,
            "%sinput_type: %.*s\t(run*%" PRId64 "|defined*%" PRId64 ")\texec_time: ", i ? "\n" : "",
            STR_ARG(signatures[i].shapes), signatures[i].runs, signatures[i].nodes);
        print_micros(call->text, signatures[i].micros);
    }
    text_add(call->text, STR("\n\n"));
    return true;
}

static void print_item(const struct entry *entry, const struct entries *entries,
                       const struct column *column, const struct view_call *call)
{
    struct text item = { .arena = call->arena };

    switch (column->kind) {
    case COLUMN_MEMORY:
    case COLUMN_TIME:
    case COLUMN_PARAMS:
    case COLUMN_FLOAT_OPS:
        print_share(entry, entries, column, call);
        return;
    case COLUMN_DEVICE:
        group_print_devices(&entry->group, call, call->text);
        return;
    case COLUMN_OP_TYPES:
        group_print_types(&entry->group, call, call->text);
        return;
    case COLUMN_OCCURRENCE:
        text_print(&item, "%" PRId64 "|%" PRIu32, entry->group.self.values[VALUE_RUNS],
                   entry->group.count);
        text_print(call->text, "%10.*s", STR_ARG(text_str(&item)));
        return;
    case COLUMN_HIDDEN_OPS:
        text_print(call->text, "+%" PRIu32 " hidden", entry->hidden);
        return;
    case COLUMN_INPUT_SHAPES:
        return;
    }
}

static bool print_entry(const struct entry *entry, const struct entries *entries,
                        const struct view_call *call)
{
    bool has_shapes = false;

    text_print(call->text, "%-25.*s", STR_ARG(entry->name));
    for (size_t i = 0; i < call->columns.count; i++) {
        const struct column *column = &call->columns.items[i];

        if (column->kind == COLUMN_INPUT_SHAPES) {
            has_shapes = true;
            continue;
        }
        if (i)
            text_add(call->text, STR(", "));
        print_item(entry, entries, column, call);
    }
    text_add(call->text, STR("\n"));
    return !has_shapes || print_signatures(entry, call);
}

static bool show(const struct view_call *call, struct err *err)
{
    struct entries entries = { 0 };

    if (!arrange(call, &entries))
        return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
    for (size_t i = 0; i < entries.count && view_row_fits(call, i); i++) {
        if (!print_entry(&entries.items[i], &entries, call))
            return err_set(err, ERR_LIMIT, "the view does not fit the memory limit");
        if (!view_row_end(call, err))
            return false;
    }
    view_rows_end(call, entries.count);
    return true;
}

const struct view view_op = {
    .name = "op",
    .doc = "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging "
           "to the same type are aggregated together.",
    .layout = LAYOUT_GROUPS,
    .show = show,
    .rows = rows,
};
