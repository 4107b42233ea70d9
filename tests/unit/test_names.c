/* Lists of names: whole names, starts, ends and parts. */
#include "model/names.h"
#include "testing.h"

#include <string.h>

TEST(stars_open_a_name)
{
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

/* Stars become ".*", the rest stands for itself: what a rule matches with the pattern is what
 * name_is says. */
TEST(lists_are_patterns)
{
    char whole[64], cut[12];

    assert_int_equal(name_list_find(STR("tf_variable")), NAMES_TF_VARIABLE);
    assert_int_equal(name_list_find(STR("TF_VARIABLE")), NAME_LIST_COUNT);
    assert_int_equal(name_list_find(STR("tf_variable_")), NAME_LIST_COUNT);
    assert_int_equal(name_list_pattern(NAMES_TF_FILE_LIST, whole, sizeof whole), 16);
    assert_string_equal(whole, "^(?:Matching.*)$");
    assert_int_equal(name_list_pattern(NAMES_TF_FILE_LIST, cut, sizeof cut), 16);
    assert_string_equal(cut, "^(?:Matchin");
}

TEST(every_list_fits_a_pattern)
{
    for (enum name_list list = 0; list < NAME_LIST_COUNT; list++) {
        char pattern[8192];

        assert_true(name_list_pattern(list, pattern, sizeof pattern) < sizeof pattern);
        assert_string_equal(pattern + strlen(pattern) - 2, ")$");
    }
}
