/* Names of ranges as engines write them, and such as look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/step/engine_mark.h"

static void names_tell_requests_and_tokens(void **state)
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
    };
    static const char *const others[] = {
        "execute_model",         "ProfilerStep#3", "step 12", "run[bs=2]", "decode_layer", "",
        "context_1_generation_2"
    };
    struct engine_mark mark;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(engine_mark_parse(str_from(rows[i].name), &mark));
        assert_string_equal(engine_mark_phase(&mark), rows[i].phase);
        assert_true(mark.prefills == rows[i].prefills && mark.decodes == rows[i].decodes);
        assert_true(mark.tokens == rows[i].tokens && mark.kv_tokens == rows[i].kv_tokens);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(engine_mark_parse(str_from(others[i]), &mark));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_tell_requests_and_tokens) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
