/* tfprof: says what to change in a machine-learning program, from a recording of its run. */
#include "lib/tfprof.h"

int main(int argument_count, char **arguments)
{
    int skipped = argument_count > 0; /* its name */

    return tfprof_main(argument_count - skipped, arguments + skipped);
}
