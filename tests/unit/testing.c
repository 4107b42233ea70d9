#include "testing.h"

#include <stdlib.h>

enum { MOST_TESTS = 100 };

static struct CMUnitTest tests[MOST_TESTS];
static int               lines[MOST_TESTS], count;
static CMFixtureFunction before_all, behind_all;

void testing_add(int line, struct CMUnitTest test)
{
    int at = count++;

    if (count > MOST_TESTS)
        abort();
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = test;
    lines[at] = line;
}

void testing_around(CMFixtureFunction before, CMFixtureFunction behind)
{
    before_all = before;
    behind_all = behind;
}

int main(void)
{
    return cmocka_run_group_tests(tests, before_all, behind_all);
}
