"""A tool server that keeps to no rule, written by hand: bad schemas, the same name twice, noise, and endless lines."""

import json
import sys
from typing import Any

OBJECT: dict[str, Any] = {"type": "object", "properties": {"page": {"type": "integer"}}}


def tool(name: str, schema: dict[str, Any] = OBJECT, description: str = "Look.") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    tool("look"),
    tool("look", description="The same name again."),
    tool("unclear", {"type": "object", "properties": {"x": {"type": "no such type"}}}),
    tool("either", {**OBJECT, "oneOf": [{"required": ["page"]}, {"required": ["book"]}]}),
    tool("read.file me"),
    tool("n" * 90),
    tool("chatty", description="word " * 50_000),
    tool("endless"),
    tool("nonsense"),
]
if "--broken" in sys.argv:
    TOOLS.append(tool("broken", {"type": "object", "properties": 5}))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            info = {"name": "liar", "version": "1"}
            version = request["params"]["protocolVersion"]
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": TOOLS}}
        case "tools/call" if request["params"]["name"] == "nonsense":
            return {"result": {"content": "not a list of blocks"}}
        case "tools/call" if request["params"]["name"] == "endless":
            for _ in range(64):
                sys.stdout.write("x" * 1024 * 1024)
            return {"result": {}}
        case "tools/call":
            return {"result": {"content": [{"type": "text", "text": json.dumps(request["params"])}]}}
        case method:
            return {"error": {"code": -32601, "message": f"no {method} here"}}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    say("Welcome! This line is no message.")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            say(json.dumps({"jsonrpc": "2.0", "id": request["id"]} | answer(request)))


if __name__ == "__main__":
    main()
