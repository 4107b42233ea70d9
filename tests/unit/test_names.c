/* Lists of names: whole names, starts, ends and parts. */
#include "model/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void stars_open_a_name(void **state)
{
    (void)state;
    assert_true(name_is(STR("Cast"), NAMES_CAST));          /* the first word */
    assert_true(name_is(STR("aten::type_as"), NAMES_CAST)); /* the last one */
    assert_false(name_is(STR("Casts"), NAMES_CAST));
    assert_false(name_is(STR("Cast|convert"), NAMES_CAST));
    assert_false(name_is(STR(""), NAMES_CAST));
    assert_true(name_is(STR("ResourceApplyAdam"), NAMES_TF_ASSIGNMENT));
    assert_false(name_is(STR("MyResourceApplyAdam"), NAMES_TF_ASSIGNMENT));
    assert_true(name_is(STR("numpy stack"), NAMES_NUMPY_MAKER));
    assert_false(name_is(STR("numpy stacks"), NAMES_NUMPY_MAKER));
    assert_true(name_is(STR("batch_matmul_v2"), NAMES_PRODUCT));
    assert_false(name_is(STR("mat_mul"), NAMES_PRODUCT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_open_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
