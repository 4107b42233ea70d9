/* Summaries of ranks: whatever is accepted makes a study of a job. */
#include "fuzz.h"

#include "ranks/job_study.h"
#include "ranks/job_why.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena        arena = { .budget_bytes = 64 << 20 }, report = arena;
    struct rank_records records = { 0 };
    struct rank_summary summary;
    struct profile      profile;
    struct study        study;
    struct job          job;
    struct why          why;
    struct err          err = { 0 };
    struct str          whole = { (const char *)bytes, len };

    if (rank_file_is(whole) ? rank_file_scan(whole, &records, &arena, &err)
                            : rank_read(&summary, whole, &arena, &err) &&
                                  rank_file_add(&summary, &records, &arena, &err)) {
        rank_records_settle(&records);
        if (profile_init(&profile, &report) &&
            job_study(&records, &profile, &study, &job, &report, &err) &&
            (err.code != ERR_NONE ||
             job_why(&why, &job, "collective:.", &report, &err) != (err.code == ERR_NONE)))
            __builtin_trap();
    }
    arena_free(&report);
    arena_free(&arena);
    return 0;
}
