/* streams: libc's streams under the names that bundled archives know them by (engine/bundle.cmake).
 */
#include <stdio.h>

extern FILE *tfprof_stdin, *tfprof_stdout, *tfprof_stderr;
FILE        *tfprof_stdin, *tfprof_stdout, *tfprof_stderr;

/* Before main() and before a program gets the library: archives know nothing of a beginning. */
__attribute__((constructor)) static void take_streams(void)
{
    tfprof_stdin = stdin;
    tfprof_stdout = stdout;
    tfprof_stderr = stderr;
}
