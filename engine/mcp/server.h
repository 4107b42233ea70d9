/*
 * server: the Model Context Protocol over a stream of lines, for agents: the newest revision, which has no
 * handshake, and those before it that begin with "initialize".
 */
#ifndef TFPROF_MCP_SERVER_H
#define TFPROF_MCP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

/* Until the input ends. False: the output cannot be written. */
bool mcp_serve(FILE *input, FILE *output);

#endif
