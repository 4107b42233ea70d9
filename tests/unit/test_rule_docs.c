/* The rule that docs/checkers.md shows is a rule that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "rules/catalogue.h"

TEST(the_guides_example_passes)
{
    char                 directory[] = "/tmp/tfprof-rules-XXXXXX", path[128];
    struct arena         arena = { 0 };
    struct err           err = { 0 };
    struct file          file = { 0 };
    struct text          report = { .arena = &arena };
    struct rules_checked checked = { 0 };

    assert_true(file_open(&file, TESTS_DIR "/../docs/checkers.md", 0, &err));
    size_t start = str_search(file.bytes, STR("```lua\n")) + sizeof "```lua";
    assert_true(start < file.bytes.len);
    struct str script = str_slice(file.bytes, start, file.bytes.len);
    script = str_slice(script, 0, str_search(script, STR("\n```")));
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/slow-shuffle.lua", directory);
    assert_true(file_write(path, script, &err));
    bool is_checked = rules_check(directory, NULL, &arena, &report, &checked, &err);
    unlink(path);
    rmdir(directory);
    assert_true(is_checked);
    if (checked.fault_count > 0)
        fail_msg("%s", report.data);
    assert_int_equal(checked.rule_count, 1);
    file_close(&file);
    arena_free(&arena);
}
