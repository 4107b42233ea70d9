#include "base/macros.h"

#include "base/parallel.h"
#include "testing.h"

#include <stdatomic.h>

enum { MOST = 10000 };

static atomic_uint seen[MOST];

static void see(void *shared, size_t index)
{
    atomic_fetch_add((atomic_size_t *)shared, index);
    atomic_fetch_add(&seen[index], 1);
}

TEST(every_index_is_worked_once)
{
    static const struct {
        size_t   count;
        unsigned threads;
    } rows[] = { { 0, 0 },    { 1, 8 },    { 3, 100 },   { MOST, 0 },
                 { MOST, 1 }, { MOST, 4 }, { 500, 9999 } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        atomic_size_t sum = 0;

        for (size_t k = 0; k < MOST; k++)
            seen[k] = 0;
        parallel_for(rows[i].count, rows[i].threads, see, &sum);
        for (size_t k = 0; k < MOST; k++)
            assert_int_equal(seen[k], k < rows[i].count);
        /* 0 + 1 + … + n-1 */
        assert_int_equal(sum, rows[i].count ? rows[i].count * (rows[i].count - 1) / 2 : 0);
    }
    assert_true(parallel_cores() >= 1);
}
