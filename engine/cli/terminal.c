/* terminal: asks the system, never the locale. */
#include "cli/terminal.h"

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
