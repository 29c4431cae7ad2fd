"""A client of the Model Context Protocol, as small as one can be.

    python3 client.py AGENT

starts `mk mcp` for AGENT and reads calls on stdin, a line each: the name of a tool, a space, its arguments
as JSON. For each it prints one line: `ok` and the result, or `no` and the error, as JSON.
"""

import itertools
import json
import subprocess
import sys

server = subprocess.Popen(
    ["mk", "--agent", sys.argv[1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
numbers = itertools.count()


def send(message):
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()


def ask(method, params):
    number = next(numbers)
    send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message
    sys.exit("the server ended without an answer")


ask(
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "example", "version": "1"},
    },
)
send({"jsonrpc": "2.0", "method": "notifications/initialized"})
for line in sys.stdin:
    tool, arguments = line.split(" ", 1)
    answer = ask("tools/call", {"name": tool, "arguments": json.loads(arguments)})
    result = answer.get("result")
    if result is None:
        print("no", json.dumps(answer["error"]), flush=True)
    elif result.get("isError"):
        # The last text of an error is its JSON.
        print("no", result["content"][-1]["text"], flush=True)
    else:
        print("ok", json.dumps(result["structuredContent"]), flush=True)
server.stdin.close()
sys.exit(server.wait())
