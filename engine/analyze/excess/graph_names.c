#include "analyze/excess/graph_names.h"

#include "model/names.h"

#include <string.h>

bool graph_name_is_gradient(struct str name)
{
    return name_is(name, NAMES_TF_GRADIENT);
}

struct str graph_name_behind(struct str name, struct str part)
{
    char last = part.data[part.len - 1];

    for (size_t at = name.len; at >= part.len; at--)
        if (name.data[at - 1] == last &&
            memcmp(name.data + at - part.len, part.data, part.len) == 0)
            return str_slice(name, at, name.len);
    return name;
}

struct str graph_name_inside(struct str name)
{
    struct str inside = graph_name_behind(name, STR("/body/")); /* "_15/model_1/gru/..." */

    if (inside.len < name.len)
        (void)str_cut(&inside, '/');
    return graph_name_behind(inside, STR("StatefulPartitionedCall/"));
}

/* "gradients_1/dense/MatMul_grad/MatMul" is for "dense/MatMul". */
static struct str trained_by_session(struct str gradient)
{
    struct str rest = gradient, tail;

    for (struct str part = { 0 }; rest.len && !str_starts(part, STR("gradients"));)
        part = str_cut(&rest, '/');
    while (str_starts(rest, STR("gradients/"))) /* of an optimizer and of its function */
        (void)str_cut(&rest, '/');
    tail = graph_name_behind(rest, STR("_grad/"));
    return tail.len < rest.len ? str_slice(rest, 0, rest.len - tail.len - STR("_grad/").len)
                               : (struct str) { 0 };
}

struct str graph_name_trained(struct str gradient)
{
    struct str tail = graph_name_behind(gradient, STR("gradient_tape/"));

    return tail.len < gradient.len ? tail : trained_by_session(gradient);
}
