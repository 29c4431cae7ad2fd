"""What a model does in a repository that another agent works in, and what must reach it."""

import json
import re

HELD = "'held.txt' is leased to 'bob'"


def story(stage, agent):
    """The script of the model. `agent` says how its tools are called."""
    claim, mk, repo = stage.claim, stage.mk, stage.repo
    is_untouched = lambda: (repo / "held.txt").read_text() == "theirs\n"

    request = yield
    claim("the first request has what the hook says when a session begins",
          "Shared memory of this repository (mk), branch main." in request.text
          and "DECISION store.engine = sqlite" in request.text, request.text)
    claim("and tells of the server", agent.server in " ".join([*request.tools, request.text]), request.text)
    request = yield agent.search()
    found = set(re.findall(r"mk_(?!_|mk_)[a-z_]+", " ".join([*request.tools, request.text])))
    claim("the model finds the server's tools",
          {"mk_context", "mk_decide", "mk_lease_acquire", "mk_note"} <= found, sorted(found))

    yield agent.read("held.txt")
    request = yield agent.edit("held.txt", "theirs", "mine")
    claim("an edit of a file that another holds is refused, and the model reads by whom",
          HELD in request.text, request.text)
    claim("and the file is as it was", is_untouched())

    request = yield agent.write("free.txt", "mine\n")
    claim("an edit of a free file is made",
          (repo / "free.txt").exists() and (repo / "free.txt").read_text() == "mine\n", request.text)
    claim("and the agent holds the file", held(mk).get("free.txt") == agent.name, held(mk))
    request = yield agent.tool("mk_lease_acquire", {"resources": ["free.txt"]})
    claim("hooks and server are one holder", "fencing_token" in request.text, request.text)

    mk("--agent bob decide api.style rest -m", "as the clients have it")
    request = yield agent.tool("mk_context", {})
    claim("what another decided meanwhile comes as news with the answer of a tool",
          "api.style" in request.text.partition("news")[2], request.text)
    mk("--agent bob decide api.version v2 -m", "as the clients have it")
    request = yield agent.shell("echo from-the-shell; exit 3")
    claim("and after a command, from the hook",
          re.search("NEWS event .* of bob: .*api.version", request.text), request.text)
    recorded = [event for event in log(mk) if "from-the-shell" in json.dumps(event["payload"])]
    claim("the command is recorded as the agent's",
          [event["agent_id"] for event in recorded] == [agent.name], recorded)
    agent.check_record(recorded)

    yield from agent.own_story()

    mk("config hook.enforce ask")
    request = yield agent.edit("held.txt", "theirs", "mine")
    claim("with hook.enforce ask, and nobody to ask, the edit is refused",
          HELD in request.text and is_untouched(), request.text)
    mk("config hook.enforce warn")
    request = yield agent.edit("held.txt", "theirs", "mine")
    claim("with warn it is made, and the model reads who holds the file",
          HELD in request.text and not is_untouched(), request.text)


def prepare(stage, agent):
    """The repository before the agent starts."""
    (stage.repo / "held.txt").write_text("theirs\n")
    stage.mk(f"attach {agent.name} {agent.options}")
    stage.mk("--agent bob decide store.engine sqlite -m", "one file")
    stage.mk("--agent bob lease acquire held.txt --ttl 600")


def aftermath(stage):
    """What is left when the agent has ended."""
    stage.claim("nothing that the agent started runs on", stage.are_ended(), stage.processes())
    stage.claim("the leases of its hooks are given back", held(stage.mk) == {"held.txt": "bob"}, held(stage.mk))


def check_status(stage, recorded):
    """Of an agent that tells how its commands end."""
    codes = [event["payload"].get("exit_code") for event in recorded]
    stage.claim("with its exit status", codes == [3], recorded)
    context = stage.mk("context")
    stage.claim("and is a blocker for everyone",
                any("BLOCKER" in line and "from-the-shell" in line for line in context.splitlines()), context)


def held(mk):
    """Who holds each leased file."""
    leases = json.loads(mk("lease list --json"))["leases"]
    return {lease["resource_key"]: lease["holder_agent_id"] for lease in leases}


def log(mk):
    return [json.loads(line) for line in mk("log --json").splitlines()]
