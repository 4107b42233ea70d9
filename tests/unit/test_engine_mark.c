/* Names of ranges as engines write them, and such as look alike. */

#include "testing.h"

#include "analyze/step/engine_mark.h"

TEST(names_tell_requests_and_tokens)
{
    static const struct {
        const char *name, *phase;
        double      prefills, decodes, tokens, kv_tokens;
    } rows[] = {
        { "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37("
          "sq37sk34489sqsq37sqsk34489)",
          "mixed", 9, 37, 8155 + 37, 8430 + 34489 },
        { "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
          "decode", 0, 32, 32, 32785 },
        { "execute_context_2(512)_generation_0(0)", "prefill", 2, 0, 512, -1 },
        { "step[DECODE bs=32]", "decode", 0, 32, 32, -1 },
        { "step[EXTEND bs=4 toks=2048]", "prefill", 4, 0, 2048, -1 },
        { "decode[bs=8]", "decode", 0, 8, 8, -1 },
        { "[Executor] _forward_step 12: 3 ctx reqs, 5 gen reqs", "mixed", 3, 5, -1, -1 },
        { "[Executor] _forward_step 7: 3 ctx reqs, 96 ctx tokens, 5 gen reqs", "mixed", 3, 5, 101,
          -1 },
        { "execute_new_2_cached_6", "mixed", 2, 6, -1, -1 },
        { "step[MIXED bs=9 toks=264]", "mixed", 1, 8, 264, -1 },
        { "step[TARGET_VERIFY bs=8 toks=32]", "decode", 0, 8, 32, -1 },
        { "step[DRAFT_EXTEND_V2 bs=8]", "draft", 0, 0, -1, -1 },
    };
    static const char *const others[] = { "execute_model",
                                          "ProfilerStep#3",
                                          "step 12",
                                          "run[bs=2]",
                                          "decode_layer",
                                          "",
                                          "context_1_generation_2",
                                          "execute_new_model",
                                          "step[IDLE bs=0]" };
    struct engine_mark       mark;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(engine_mark_parse(str_from(rows[i].name), &mark));
        assert_string_equal(engine_mark_phase(&mark), rows[i].phase);
        assert_true(mark.prefills == rows[i].prefills && mark.decodes == rows[i].decodes);
        assert_true(mark.tokens == rows[i].tokens && mark.kv_tokens == rows[i].kv_tokens);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(engine_mark_parse(str_from(others[i]), &mark));
}

/* What engines call once a step is known, too, where they mark nothing. */
TEST(calls_of_engines)
{
    static const char *const calls[] = {
        "gpu_model_runner: forward",
        "vllm/v1/worker/gpu_worker.py(263): execute_model",
        "/usr/lib/python3/dist-packages/sglang/srt/managers/scheduler.py(1490): run_batch",
        "tensorrt_llm/_torch/pyexecutor/py_executor.py(1200): _forward_step",
    };
    static const char *const others[] = { "model.py(12): forward", "worker.py(3): execute_model",
                                          "gpu_model_runner: sample",
                                          "vllm/v1/worker/gpu_worker.py(263): load_model" };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_true(engine_call(str_from(calls[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(engine_call(str_from(others[i])));
}
