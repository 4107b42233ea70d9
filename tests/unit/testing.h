/* testing: cmocka behind the headers that it needs, and the program that runs a file's tests. */
#ifndef TFPROF_TESTS_TESTING_H
#define TFPROF_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The last line of a file: RUN_TESTS(cmocka_unit_test(one), cmocka_unit_test(other)) */
#define RUN_TESTS(...)                                                                             \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = { __VA_ARGS__ };                                         \
                                                                                                   \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
