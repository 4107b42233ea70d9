#include "analyze/step/engine_mark.h"

#include "model/names.h"

/* The number right behind `key`; otherwise `preset`. */
static double number_behind(struct str text, struct str key, double preset)
{
    size_t  at = str_search(text, key);
    size_t  end = at + key.len;
    int64_t number;

    if (at == text.len)
        return preset;
    while (end < text.len && text.data[end] >= '0' && text.data[end] <= '9')
        end++;
    return str_to_int64(str_slice(text, at + key.len, end), &number) ? (double)number : preset;
}

/* The number right before `key`. */
static double number_before(struct str text, struct str key, double preset)
{
    size_t  end = str_search(text, key), at = end;
    int64_t number;

    if (end == text.len)
        return preset;
    while (at > 0 && text.data[at - 1] >= '0' && text.data[at - 1] <= '9')
        at--;
    return str_to_int64(str_slice(text, at, end), &number) ? (double)number : preset;
}

/* "(sq8155sk8430…)" has tokens and those looked back at, "(8155)" the tokens alone. */
static void add_group(struct str text, struct engine_mark *mark)
{
    struct str inside = str_slice(text, str_find(text, '(') + 1, str_find(text, ')'));
    double     tokens = number_behind(inside, STR("sq"), -1),
           keys = number_behind(inside, STR("sk"), -1);
    int64_t alone;

    if (tokens < 0 && str_to_int64(inside, &alone))
        tokens = (double)alone;
    if (tokens >= 0)
        mark->tokens = tokens + (mark->tokens > 0 ? mark->tokens : 0);
    if (keys >= 0)
        mark->kv_tokens = keys + (mark->kv_tokens > 0 ? mark->kv_tokens : 0);
}

/* "execute_8192_context_9(sq8155sk8430…)_generation_37(sq37sk34489…)",
 * "execute_context_2(512)_generation_6(6)" */
static bool parse_vllm(struct str name, struct engine_mark *mark)
{
    size_t context, generation;

    if (!str_starts(name, STR("execute_")))
        return false;
    context = str_search(name, STR("context_"));
    generation = str_search(name, STR("_generation_"));
    if (context == name.len || generation == name.len)
        return false;
    mark->prefills = number_behind(name, STR("context_"), -1);
    mark->decodes = number_behind(name, STR("_generation_"), -1);
    add_group(str_slice(name, context, generation), mark);
    add_group(str_slice(name, generation, name.len), mark);
    return mark->prefills >= 0 && mark->decodes >= 0;
}

/* "execute_new_2_cached_6": requests that are new in it, and those that go on. */
static bool parse_older_vllm(struct str name, struct engine_mark *mark)
{
    if (!str_starts(name, STR("execute_new_")))
        return false;
    mark->prefills = number_behind(name, STR("execute_new_"), -1);
    mark->decodes = number_behind(name, STR("_cached_"), -1);
    return mark->prefills >= 0 && mark->decodes >= 0;
}

/* "step[DECODE bs=32]", "step[EXTEND bs=4 toks=2048]", "decode[bs=8]". Where a smaller model
 * drafts, "step[DRAFT_EXTEND bs=8]", the other one verifies: "step[TARGET_VERIFY bs=8]". A mixed
 * step reads a part of one prompt beside those that decode. */
static bool parse_sglang(struct str name, struct engine_mark *mark)
{
    double requests;
    bool   is_decode, is_prefill, is_mixed, is_draft;

    if (!str_contains(str_slice(name, 0, 8), STR("[")))
        return false;
    requests = number_behind(name, STR("bs="), -1);
    is_mixed = str_fits(name, "*MIXED*");
    is_draft = str_fits(name, "*DRAFT_EXTEND*");
    is_decode = str_fits(name, "*DECODE*|decode[*|*TARGET_VERIFY*|*DLLM_EXTEND*");
    is_prefill = !is_draft && !is_decode && str_fits(name, "*EXTEND*|*PREFILL*|prefill[*|extend[*");
    if (requests < 0 || is_decode + is_prefill + is_mixed + is_draft != 1)
        return false;
    mark->is_draft = is_draft;
    mark->prefills = is_prefill ? requests : is_mixed;
    mark->decodes = is_decode ? requests : is_mixed && requests > 1 ? requests - 1 : 0;
    mark->tokens = number_behind(name, STR("toks="), is_decode ? requests : -1);
    return true;
}

/* "[Executor] _forward_step 12: 3 ctx reqs, 5 gen reqs", "… 3 ctx reqs, 96 ctx tokens, 5 gen reqs"
 */
static bool parse_tensorrt(struct str name, struct engine_mark *mark)
{
    double tokens;

    if (!str_contains(name, STR("_forward_step")))
        return false;
    mark->prefills = number_before(name, STR(" ctx reqs"), -1);
    mark->decodes = number_before(name, STR(" gen reqs"), -1);
    tokens = number_before(name, STR(" ctx tokens"), -1);
    if (tokens >= 0)
        mark->tokens = tokens + mark->decodes;
    return mark->prefills >= 0 && mark->decodes >= 0;
}

bool engine_mark_parse(struct str name, struct engine_mark *mark)
{
    *mark = (struct engine_mark) { .prefills = -1, .decodes = -1, .tokens = -1, .kv_tokens = -1 };
    return parse_vllm(name, mark) || parse_older_vllm(name, mark) || parse_sglang(name, mark) ||
           parse_tensorrt(name, mark);
}

/* A function of Python is named by its file, from the package's folder on or from the root, and
 * line. */
static bool is_function(struct str name, struct str file, struct str function)
{
    return str_ends(name, function) && str_contains(name, file);
}

bool engine_call(struct str name)
{
    return str_equal(name, STR("gpu_model_runner: forward")) ||
           (is_function(name, STR("worker.py("), STR("): execute_model")) &&
            str_contains(name, STR("vllm"))) ||
           is_function(name, STR("sglang/srt/managers/scheduler.py("), STR("): run_batch")) ||
           is_function(name, STR("pyexecutor/py_executor.py("), STR("): _forward_step"));
}

const char *engine_phase(struct str name)
{
    return name_is(name, NAMES_PREFILL_RANGE)  ? "prefill"
           : name_is(name, NAMES_DECODE_RANGE) ? "decode"
                                               : NULL;
}

bool engine_phase_is_server(struct str name)
{
    return name_is(name, NAMES_PREFILL_RANGE) || name_is(name, NAMES_DECODE_STEP_RANGE);
}

const char *engine_mark_phase(const struct engine_mark *mark)
{
    if (mark->is_draft)
        return "draft";
    if (mark->prefills < 0 && mark->decodes < 0)
        return mark->guess ? mark->guess : "unknown";
    if (mark->prefills > 0 && mark->decodes > 0)
        return "mixed";
    return mark->prefills > 0 ? "prefill" : "decode";
}
