#include "read/tf/named.h"

#include "read/recognise.h"
#include "read/tf/tf_model.h"

struct named_role {
    const char *option, *wanted;
    uint32_t    kinds; /* bit an enum tf_kind */
};

#define KIND(kind) (1U << (kind))
static const struct named_role of_graph = { "--graph_path", "a GraphDef",
                                            KIND(TF_GRAPH) | KIND(TF_GRAPH_TEXT) },
                               of_run = { "--run_meta_path", "RunMetadata",
                                          KIND(TF_RUN) | KIND(TF_RUN_TEXT) | KIND(TF_TIMELINE) },
                               of_log = { "--op_log_path", "an OpLogProto", KIND(TF_LOG) },
                               of_profile = { "--profile_path", "a ProfileProto",
                                              KIND(TF_PROFILE) };

static bool add(const struct option_list *list, const struct named_role *role, struct arena *arena,
                struct read_paths *found, struct err *err)
{
    for (size_t i = 0; i < list->values.count; i++) {
        struct read_path item = { .path = arena_text(arena, "%s", list->values.items[i]),
                                  .role = role };

        if (!item.path || !vec_push(&found->list, arena, item))
            return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    }
    return true;
}

bool named_add(const struct read_options *options, struct arena *arena, struct read_paths *found,
               struct err *err)
{
    if (options->profile_paths.values.count &&
        (options->graph_paths.values.count || options->run_meta_paths.values.count)) {
        err_set(err, ERR_USAGE,
                "--profile_path is set, do not set --graph_path or --run_meta_path");
        return err_advise(err, "a profile holds its graph and its runs");
    }
    return add(&options->graph_paths, &of_graph, arena, found, err) &&
           add(&options->run_meta_paths, &of_run, arena, found, err) &&
           add(&options->op_log_paths, &of_log, arena, found, err) &&
           add(&options->profile_paths, &of_profile, arena, found, err);
}

static const char *kind_name(struct str bytes, const struct reader *reader)
{
    switch (tf_kind_of(bytes)) {
    case TF_GRAPH:
    case TF_GRAPH_TEXT:
        return "a GraphDef";
    case TF_RUN:
    case TF_TIMELINE:
    case TF_RUN_TEXT:
        return "RunMetadata";
    case TF_LOG:
        return "an OpLogProto";
    case TF_PROFILE:
        return "a ProfileProto";
    case TF_META_GRAPH:
        return "a MetaGraphDef";
    case TF_NONE:
        break;
    }
    return reader ? reader->name : NULL;
}

bool named_check(const struct named_role *role, struct str bytes, const struct reader *reader,
                 struct err *err)
{
    enum tf_kind kind = tf_kind_of(bytes);
    const char  *is = kind_name(bytes, reader);

    /* Other recordings of whole programs do as a profile. */
    if ((role->kinds & KIND(kind)) || (role == &of_profile && kind == TF_NONE && reader))
        return true;
    if (is)
        return err_set(err, ERR_FORMAT, "is %s, and %s takes %s", is, role->option, role->wanted);
    if (!recognise_is_known(bytes))
        return err_set(err, ERR_FORMAT, "is not %s, which %s takes", role->wanted, role->option);
    return recognise(bytes, err);
}

bool named_left_out(const struct named_role *role, const struct reader *chosen, struct err *err)
{
    err_set(err, ERR_USAGE, "%s has no place beside a recording of another format (%s)",
            role->option, chosen->name);
    return err_advise(err, "give the files of one recording");
}
