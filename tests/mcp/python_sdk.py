"""The official Python SDK, 1.30 or 2.3, against `mk mcp`: tests/mcp/README.md"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MK = os.path.abspath(sys.argv[1])
MODERN = int(version("mcp").split(".")[0]) >= 2


def project():
    place = tempfile.mkdtemp()
    subprocess.run([MK, "init"], cwd=place, check=True, capture_output=True)
    return place


def member(result, *names):
    """A member of a result, as either SDK spells it."""
    return next(getattr(result, name) for name in names if hasattr(result, name))


def check_calls(note, refused, log):
    assert not member(note, "isError", "is_error"), note
    assert member(note, "structuredContent", "structured_content")["branch_id"] == "main", note
    assert member(refused, "isError", "is_error") and len(refused.content) == 2, refused
    assert refused.content[0].text.startswith("event-not-found: "), refused
    assert member(log, "structuredContent", "structured_content")["events"][0]["text"] == "hello", log


async def with_handshake(place):
    """Also validates each answer against the output schema of its tool."""
    server = StdioServerParameters(command=MK, args=["mcp", "--tools", "all"], cwd=place)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        hello = await session.initialize()
        assert member(hello, "serverInfo", "server_info").name == "mk", hello
        tools = (await session.list_tools()).tools
        assert len(tools) > 20, tools
        note = await session.call_tool("mk_note", {"note": "hello"})
        refused = await session.call_tool("mk_show", {"event": "99999"})
        log = await session.call_tool("mk_log", {})
        check_calls(note, refused, log)
        reading = {"mk_context": {}, "mk_status": {}, "mk_branch": {}, "mk_lease_list": {}, "mk_verify": {},
                   "mk_diff": {"a": "main"}, "mk_show": {"event": "1"}, "mk_stats": {}, "mk_notice_list": {}}
        for tool, arguments in reading.items():
            result = await session.call_tool(tool, arguments)
            assert not member(result, "isError", "is_error"), (tool, result)
        resources = (await session.list_resources()).resources
        for resource in resources:
            assert (await session.read_resource(resource.uri)).contents, resource
        prompts = (await session.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["handoff", "investigate", "resume-work"]
        assert (await session.get_prompt("resume-work", {})).messages
        await asyncio.gather(*(session.call_tool("mk_note", {"note": f"n{n}"}) for n in range(200)))


async def as_memkernel(place):
    """The tools of MemKernel, against their output schemas too."""
    server = StdioServerParameters(command=MK, args=["mcp", "--compat", "memkernel"], cwd=place)
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        assert len((await session.list_tools()).tools) == 23

        async def said(tool, **arguments):
            result = await session.call_tool("memkernel_" + tool, arguments)
            assert not member(result, "isError", "is_error"), (tool, result)
            return member(result, "structuredContent", "structured_content")

        await said("append_decision", decision_key="db", decision_value="sqlite", rationale="one file")
        state = json.loads((await said("query_state"))["result"])
        assert state["state"]["decisions"]["db"]["value"] == "sqlite", state
        token = (await said("acquire_lease", file_path="a.rs"))["fencing_token"]
        assert (await said("heartbeat_lease", file_path="a.rs", fencing_token=token))["result"] is True
        assert "try" in (await said("fork_investigation", fork_branch_name="try"))["result"]
        assert (await said("list_branches"))["active_branch"] == "try"
        await said("history")
        await said("post_notice", resource="service:auth", message="down")
        assert (await said("export_notices"))["schema"] == "memkernel.notices/v1"
        refused = await session.call_tool("memkernel_note", {})
        assert member(refused, "isError", "is_error"), refused


async def without_handshake(place):
    from mcp import Client

    async with Client(StdioServerParameters(command=MK, args=["mcp"], cwd=place)) as client:
        note = await client.call_tool("mk_note", {"note": "hello"})
        refused = await client.call_tool("mk_show", {"event": "99999"})
        log = await client.call_tool("mk_log", {"limit": 1})
        check_calls(note, refused, log)
        assert (await client.list_tools()).tools


async def main():
    place = project()
    await with_handshake(place)
    print(f"ok: mcp {version('mcp')}, with a handshake")
    await as_memkernel(project())
    print(f"ok: mcp {version('mcp')}, with the tools of MemKernel")
    if MODERN:
        await without_handshake(place)
        print(f"ok: mcp {version('mcp')}, without")
    verified = subprocess.run([MK, "verify"], cwd=place, capture_output=True, text=True)
    assert verified.returncode == 0, verified


asyncio.run(asyncio.wait_for(main(), 120))
