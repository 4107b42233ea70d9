/* Extensions of compilers under one name each, so that no other file spells one. */
#ifndef TFPROF_BASE_MACROS_H
#define TFPROF_BASE_MACROS_H

#define CHECK_PRINTF(format_index, first_argument)                                                 \
    __attribute__((format(printf, format_index, first_argument)))
#define MUST_USE __attribute__((warn_unused_result))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ARRAY_COUNT(array) (sizeof(array) / sizeof *(array))

/* The first of `count` rows for which is_before, a condition on the row's number `row`, does not
 * hold; `count` where it holds for all. Rows for which it holds come first. O(log count). */
#define LOWER_BOUND(count, row, is_before)                                                         \
    __extension__({                                                                                \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            const size_t row = low_ + (high_ - low_) / 2;                                          \
            if (is_before)                                                                         \
                low_ = row + 1;                                                                    \
            else                                                                                   \
                high_ = row;                                                                       \
        }                                                                                          \
        low_;                                                                                      \
    })

#endif
