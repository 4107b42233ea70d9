#!/usr/bin/env python3
"""The Model Context Protocol server: recorded lines, bounds of answers, and the official client where it is installed.

    check_mcp.py TFPROF RECORDING...

Lines of clients of both kinds (with a handshake, and of the revision without one) are those that the official client sent.
"""
import json, pathlib, subprocess, sys

MOST_BYTES = 4600  # of a result by default: below 2,000 tokens
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


def talk(tfprof, *lines):
    given = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([tfprof, "mcp"], input=given, capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == "", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def check_lines(tfprof):
    start = request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "mcp", "version": "0.1.0"})
    first, tools, pong = talk(tfprof, start, {"jsonrpc": "2.0", "method": "notifications/initialized"},
                              request("tools/list", "a \"b\""), request("ping", 7))
    assert first["result"]["protocolVersion"] == "2025-06-18" and first["result"]["serverInfo"]["name"] == "tfprof"
    assert tools["id"] == 'a "b"' and [tool["name"] for tool in tools["result"]["tools"]] == [
        "advise", "explain", "why", "whatif", "diff", "table"]
    for tool in tools["result"]["tools"]:
        assert tool["annotations"]["readOnlyHint"] and set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
    assert pong["id"] == 7 and len(json.dumps(tools)) < 9000
    start["params"]["protocolVersion"] = "1999-01-01"
    [old] = talk(tfprof, start)
    assert old["result"]["protocolVersion"] == "2025-11-25"
    discovered, other = talk(tfprof, request("server/discover", _meta=META),
                             request("tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}))
    assert discovered["result"]["supportedVersions"] == ["2026-07-28"] and discovered["result"]["resultType"] == "complete"
    assert other["error"]["code"] == -32022 and other["error"]["data"]["supported"] == ["2026-07-28"]


def check_refusals(tfprof):
    rows = [("{", -32700), ("[]", -32700), ("7", -32700), ("{} {}", -32700), ('{"a":1}', -32600),
            ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
            ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600), ('{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
            ('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002),
            ("[" * 100000, -32700), ("x" * 3000000, -32700)]
    answers = talk(tfprof, *[line for line, _ in rows], "", '{"jsonrpc":"2.0","method":"unknown/notification"}')
    assert [answer["error"]["code"] for answer in answers] == [code for _, code in rows]


def closed(schema):
    """The schema with no more members than it names: what an answer has, its schema tells."""
    if isinstance(schema, dict):
        made = {key: closed(value) for key, value in schema.items()}
        return {**made, "additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else made
    return schema


def check_structure(tfprof, tool, content, schemas={}):
    """An answer fits the tool's outputSchema."""
    try:
        import jsonschema
    except ImportError:
        return
    if not schemas:
        [answer] = talk(tfprof, request("tools/list"))
        for item in answer["result"]["tools"]:
            jsonschema.Draft202012Validator.check_schema(item["outputSchema"])
            schemas[item["name"]] = jsonschema.Draft202012Validator(closed(item["outputSchema"]))
            assert item["outputSchema"]["type"] == "object" and item["outputSchema"]["required"], item["name"]
    faults = ["%s: %s" % (list(fault.path), fault.message) for fault in schemas[tool].iter_errors(content)]
    assert not faults, (tool, faults[:3])


def call(tfprof, tool, **arguments):
    [answer] = talk(tfprof, request("tools/call", name=tool, arguments=arguments))
    result = answer["result"]
    assert [item["type"] for item in result["content"]] == ["text"]
    text = result["content"][0]["text"]
    if result["isError"]:
        return text
    assert json.loads(text) == result["structuredContent"]
    check_structure(tfprof, tool, result["structuredContent"])
    if not {"limit", "top"} & set(arguments):
        assert len(text.encode()) <= MOST_BYTES, (tool, arguments, len(text))
    return result["structuredContent"]


def said(tfprof, *arguments):
    return json.loads(subprocess.run([tfprof, *arguments, "--format", "json"], capture_output=True, check=True).stdout)


def check_tools(tfprof, path):
    whole, kept = said(tfprof, "advise", path, "--config", "none"), call(tfprof, "advise", path=path)
    assert kept["verdict"]["text"] == whole["verdict"]["text"] and 1 <= len(kept["findings"]) <= 5
    for finding, item in zip(kept["findings"], whole["findings"]):
        assert finding["rule"] == item["rule"] and finding["impact"].get("low_ms") == item["impact"].get("low_ms")
    assert len(call(tfprof, "advise", path=path, limit=100)["findings"]) == len(whole["findings"])
    explained = call(tfprof, "explain", rule=whole["findings"][0]["rule"], path=path)
    assert explained["outcome"] == "found" and explained["evidence"], explained
    call(tfprof, "explain", rule="tensor-cores-unused")
    assert call(tfprof, "why", path=path)["causes"]
    edits = next((item["edits"] for item in whole["findings"] if item.get("edits")), ["scale=host=0.5"])
    assert call(tfprof, "whatif", path=path, edits=edits)["together"]["step_ms"] <= whole["steps"]["wall_ms"]["median"] * 2
    assert call(tfprof, "whatif", path=path, edits=["scale=host=0.5"])["step_ms"] > 0
    assert call(tfprof, "diff", before=path, after=path)["per"]
    rows = call(tfprof, "table", path=path, name="steps", columns="number,duration_ns", where=["duration_ns>1ns"], sort="duration_ns", top=3)
    assert rows["rows"] == said(tfprof, "table", "steps", path, "--columns", "number,duration_ns", "--sort", "duration_ns", "--top", "3")["rows"]
    assert {c["name"]: c["unit"] for c in rows["columns"]}["duration_ns"] == "ns"
    # However few rows fit, all columns tell their units, and shares have six digits.
    ops = call(tfprof, "table", path=path, name="ops")
    assert all(set(row) <= {c["name"] for c in ops["columns"]} for row in ops["rows"]), ops["columns"]
    assert all(value == float("%.6g" % value) for row in ops["rows"] for value in row.values()
               if isinstance(value, float) and value != int(value)), ops["rows"]
    assert "steps" in call(tfprof, "table", path=path)  # which tables there are
    assert "this recording has" in call(tfprof, "table", path=path, name="no_such_table") and "steps" in call(
        tfprof, "table", path=path, name="no_such_table")
    assert "nowhere" in call(tfprof, "advise", path="nowhere")
    assert "path of a recording" in call(tfprof, "advise", path=7)
    assert "cannot be opened" in call(tfprof, "advise", path="a\nb")
    # What is no edit of the command is one of a finding, and no other option.
    refused = call(tfprof, "whatif", path=path, edits=["config=/etc/passwd"])
    assert isinstance(refused, str) and "config" in refused and "passwd" in refused, refused
    assert "no column" in call(tfprof, "table", path=path, name="steps", where=["output=x"])


def check_resources(tfprof):
    listing, templates, rules, rule = talk(
        tfprof, request("resources/list"), request("resources/templates/list"), request("resources/read", uri="tfprof://rules"),
        request("resources/read", uri="tfprof://rules/input-bound-step"))
    assert [item["uri"] for item in listing["result"]["resources"]] == ["tfprof://rules"]
    assert templates["result"]["resourceTemplates"][0]["uriTemplate"] == "tfprof://rules/{rule}"
    listed = json.loads(rules["result"]["contents"][0]["text"])["rules"]
    assert [item["id"] for item in listed] == [item["id"] for item in said(tfprof, "rules", "--config", "none")["rules"]]
    assert json.loads(rule["result"]["contents"][0]["text"]) == said(tfprof, "explain", "input-bound-step", "--config", "none")


def check_changed_file(tfprof, path, folder):
    """A file is read again where it changed meanwhile."""
    import shutil
    place = folder / "trace.pb"
    files = sorted(pathlib.Path(path).rglob("*.xplane.pb"))
    shutil.copy(files[0], place)
    server = subprocess.Popen([tfprof, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask():
        server.stdin.write(json.dumps(request("tools/call", name="advise", arguments={"path": str(place)})) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())["result"]
    first = ask()
    assert first == ask() and not first["isError"]
    place.write_bytes(b"no recording")
    assert ask()["isError"]
    server.stdin.close()
    assert server.wait(20) == 0


def check_client(tfprof, path):
    try:
        import anyio, mcp
    except ImportError:
        return "no official client here"

    async def ask():
        server = mcp.StdioServerParameters(command=str(tfprof), args=["mcp"])
        versions = []
        for mode in "auto", "legacy":
            async with mcp.Client(server, mode=mode) as client:
                versions.append(client.protocol_version)
                tools = (await client.list_tools()).tools
                assert len(tools) == 6 and all("properties" in tool.output_schema for tool in tools)
                resources = await client.list_resources()
                assert [str(item.uri) for item in resources.resources] == ["tfprof://rules"]
                rules = await client.read_resource("tfprof://rules")
                assert len(json.loads(rules.contents[0].text)["rules"]) > 100
                advice = await client.call_tool("advise", {"path": str(path)})
                assert not advice.is_error and advice.structured_content["verdict"]["text"]
                why = await client.call_tool("why", {"path": str(path)})
                assert why.structured_content["causes"]
                rule = await client.read_resource("tfprof://rules/input-bound-step")
                assert "input-bound-step" in rule.contents[0].text
        return "the official client speaks " + " and ".join(versions)
    return anyio.run(ask)


def main():
    import tempfile
    tfprof, *recordings = sys.argv[1:]
    check_lines(tfprof)
    check_refusals(tfprof)
    check_resources(tfprof)
    for recording in recordings:
        check_tools(tfprof, recording)
    with tempfile.TemporaryDirectory() as folder:
        check_changed_file(tfprof, recordings[0], pathlib.Path(folder))
    print("%d recordings; %s" % (len(recordings), check_client(tfprof, recordings[0])))


main()
