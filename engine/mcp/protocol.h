/* protocol: one JSON-RPC message, and the answers to it. */
#ifndef TFPROF_MCP_PROTOCOL_H
#define TFPROF_MCP_PROTOCOL_H

#include "base/json_writer.h"

enum rpc_error {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_NO_RESOURCE = -32002,
    RPC_OTHER_VERSION = -32022,
};
struct rpc_request {
    struct str id;     /* as written; empty: a notification, which nobody answers */
    struct str method; /* resolved */
    struct str params; /* an object as written; empty: none */
};

/* False: *error and *why say what is wrong, and id is there where it could be told. */
bool rpc_parse(struct rpc_request *request, struct str line, struct arena *arena,
               enum rpc_error *error, const char **why);
/* Begins {"jsonrpc": …, "id": …, and leaves the object open. */
void rpc_begin(struct json_writer *json, const struct rpc_request *request, struct text *text);
/* The whole answer. */
void rpc_fail(const struct rpc_request *request, enum rpc_error error, const char *why,
              struct text *text);

/* A member of an object as written; false: there is none. */
bool rpc_member(struct str object, const char *name, struct str *value);
/* A text, resolved; NULL: there is none, or it is no text. */
const char *rpc_text(struct str object, const char *name, struct arena *arena);
/* A whole number; false: none. */
bool rpc_integer(struct str object, const char *name, int64_t *number);

#endif
