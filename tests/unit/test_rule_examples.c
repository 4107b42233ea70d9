/* Every rule in checkers/ loads and does what its own examples say. */

#include "testing.h"

#include "rules/catalogue.h"

TEST(rules_do_what_their_examples_say)
{
    struct arena         arena = { 0 };
    struct err           err = { 0 };
    struct text          report = { .arena = &arena };
    struct rules_checked checked = { 0 };

    if (!rules_check(TESTS_DIR "/../checkers", NULL, &arena, &report, &checked, &err))
        fail_msg("%s", err.text);
    if (checked.fault_count > 0)
        fail_msg("%u faults in %u rules:\n%s", checked.fault_count, checked.rule_count,
                 report.data);
    assert_true(checked.rule_count > 0);
    arena_free(&arena);
}

TEST(builtin_rules_load)
{
    struct arena     arena = { 0 };
    struct err       err = { 0 };
    struct rule_list list;

    if (!rules_list(NULL, &arena, &list, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < list.failed.count; i++)
        print_error("%s: %s\n", list.failed.items[i].rule, list.failed.items[i].message);
    assert_int_equal(list.failed.count, 0);
    assert_true(list.rules.count > 0);
    for (size_t i = 0; i < list.rules.count; i++)
        assert_true(list.rules.items[i].summary[0] != '\0');
    arena_free(&arena);
}
