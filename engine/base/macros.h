/* Compiler attributes under one name each, so that no other file spells a GNU extension. */
#ifndef TFPROF_BASE_MACROS_H
#define TFPROF_BASE_MACROS_H

#define CHECK_PRINTF(format_index, first_argument)                                                 \
    __attribute__((format(printf, format_index, first_argument)))
#define MUST_USE __attribute__((warn_unused_result))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ARRAY_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
