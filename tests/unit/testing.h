/* testing: cmocka behind the headers that it needs, and the tests of a file. */
#ifndef TFPROF_TESTS_TESTING_H
#define TFPROF_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* TEST(what_holds) { ... } is a test, AROUND_TESTS what happens before and behind all of a file, with the
 * `state` that they get. They run in the order in which they are written. */
#define TEST(name)                                                                                 \
    static void                        name(void **state);                                         \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        testing_add(__LINE__, (struct CMUnitTest) { #name, name, NULL, NULL, NULL });              \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define AROUND_TESTS(before, behind)                                                               \
    __attribute__((constructor)) static void add_around(void)                                      \
    {                                                                                              \
        testing_around(before, behind);                                                            \
    }

void testing_add(int line, struct CMUnitTest test);
void testing_around(CMFixtureFunction before, CMFixtureFunction behind);

#endif
