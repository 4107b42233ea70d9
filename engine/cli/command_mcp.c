/* mcp: the server that agents ask. */
#include "cli/command.h"
#include "mcp/server.h"

#include <stdio.h>

static bool run(struct call *call, struct err *err)
{
    if (call->operands.values.count > 0)
        return err_set(err, ERR_USAGE, "mcp takes no arguments: agents say what to read");
    return mcp_serve(stdin, stdout) ||
           err_set(err, ERR_OUTPUT, "standard output cannot be written");
}

const struct command command_mcp = {
    .name = "mcp",
    .summary = "answer agents over standard input and output (Model Context Protocol)",
    .operands = "",
    .description =
        "Serves the tools advise, explain, why, whatif, diff and table, and rules as resources, to "
        "programs that speak the Model Context Protocol: JSON-RPC, one message a line. Nothing is "
        "written or changed; recordings are read where the agent says they are. tfprof howto agent "
        "prints how agents should use it.",
    .run = run,
};
