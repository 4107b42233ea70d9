#include "view/groups.h"

/* Where the original counts a node more than once, its runs still count once. */
static int64_t times_of(enum view_value value, int64_t times)
{
    return value == VALUE_RUNS || value == VALUE_DEFINITIONS ? 1 : times;
}

void group_add(struct group *group, struct type_filter *filter, const struct view_call *call,
               uint32_t node)
{
    int64_t times = type_filter_times(filter, call, node);
    int64_t numbers[VIEW_VALUE_COUNT];

    if (times == 0)
        return;
    values_fill(call->classic, node, call->options->step, &filter->values, numbers);
    for (size_t i = 0; i < filter->values.count; i++) {
        enum view_value value = (enum view_value)filter->values.values[i];

        for (int64_t n = times_of(value, times); n > 0; n--)
            numbers_add(&group->self.values[value], &numbers[i], 1);
    }
    group->members[group->count++] = node;
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
        if (!node_types_add(&types, call, group->members[i]))
            text->is_cut = true;
    print_types(&types, text);
    return types.items.count > 0;
}
