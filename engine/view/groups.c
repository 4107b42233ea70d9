#include "view/groups.h"

/* Where the original counts a node more than once, its runs still count once. */
static void add_times(struct view_numbers *sum, struct view_numbers numbers, int64_t times)
{
    for (; times > 0; times--) {
        values_add(sum, &numbers);
        numbers.values[VALUE_RUNS] = numbers.values[VALUE_DEFINITIONS] = 0;
    }
}

void group_account(struct group *group, struct type_filter *filter, const struct view_call *call)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t            node = group->members[i];
        int64_t             times = type_filter_times(filter, call, node);
        struct view_numbers numbers;

        if (times == 0)
            continue;
        numbers = values_of_node(call->classic, node, call->options->step);
        add_times(&group->self, numbers, times);
        group->members[kept++] = node;
    }
    group->count = kept;
    group->is_accounted = kept > 0 || call->options->account.is_everything;
}

bool group_print_devices(const struct group *group, const struct view_call *call, struct text *text)
{
    struct node_types devices = { 0 };

    for (uint32_t i = 0; i < group->count; i++)
        if (!node_types_add_name(&devices, classic_device(call->classic, group->members[i]),
                                 call->arena))
            text->is_cut = true;
    print_types(&devices, text);
    return devices.items.count > 0;
}

bool group_print_types(const struct group *group, const struct view_call *call, struct text *text)
{
    struct node_types types = { 0 };

    for (uint32_t i = 0; i < group->count; i++)
        if (!node_types_add(&types, call->classic, group->members[i], call->arena))
            text->is_cut = true;
    print_types(&types, text);
    return types.items.count > 0;
}
