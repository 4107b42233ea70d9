/* terminal: asks the system, never the locale. */
#include "cli/terminal.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned terminal_width(void)
{
    struct winsize size = { 0 };

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TERMINAL_COLUMNS;
    if (size.ws_col < TERMINAL_MIN_COLUMNS)
        return TERMINAL_MIN_COLUMNS;
    return size.ws_col < TERMINAL_COLUMNS ? size.ws_col : TERMINAL_COLUMNS;
}

bool terminal_is_colored(const char *choice, bool is_standard_output)
{
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");

    if (strcmp(choice, "always") == 0)
        return true;
    if (strcmp(choice, "never") == 0 || !is_standard_output || (no_color && *no_color))
        return false;
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static bool is_installed(const char *program, struct arena *arena)
{
    struct str rest = str_from(getenv("PATH"));

    while (rest.len) {
        struct str  folder = str_cut(&rest, ':');
        const char *path = arena_text(arena, "%.*s/%s", STR_ARG(folder), program);

        if (folder.len && path && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

const char *terminal_pager(struct arena *arena)
{
    const char *chosen = getenv("TFPROF_PAGER");

    chosen = chosen ? chosen : getenv("PAGER");
    if (chosen)
        return *chosen && strcmp(chosen, "cat") != 0 ? chosen : NULL;
    return is_installed("less", arena) ? "less -X" : NULL;
}
