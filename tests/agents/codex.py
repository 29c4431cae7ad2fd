"""Codex: `codex exec`, in a home in which the person has trusted the project.

Its models call tools in one of two ways, by the model's name: each by itself, or from a program that the model writes.
"""

import json

from model import Call, Model, Responses
from story import HELD, story

CONFIG = """\
model = "{model}"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[projects."{repo}"]
trust_level = "trusted"
"""


class Codex:
    """With a model that calls each tool by itself."""

    name, title, model = "codex", "codex (tools)", "gpt-5.5"
    program, package = "codex", "@openai/codex"
    options, server = "--hooks --approve", "mcp__mk"

    def __init__(self, stage):
        self.stage = stage

    def play(self):
        """Runs the agent against the script; gives the model and how the agent ended."""
        home = self.stage.home / ".codex"
        home.mkdir()
        with Model(Responses, story(self.stage, self)) as model:
            config = CONFIG.format(model=self.model, url=model.url, repo=self.stage.repo)
            (home / "config.toml").write_text(config)
            ended = self.stage.run(
                self.program, "exec", "--sandbox", "danger-full-access", "--dangerously-bypass-hook-trust",
                "do the work", env={"CODEX_HOME": str(home), "SCRIPTED_KEY": "none"})
        complaints = [line for line in ended[2].splitlines() if "hooks.json" in line]
        self.stage.claim("the program has no complaint about the hooks", not complaints, complaints)
        return model, ended

    def search(self):
        return Call("tool_search", {"query": "mk lease decide note context", "limit": 20}, kind="search")

    def read(self, name):
        return self.shell(f"cat {name}")

    def edit(self, name, old, new):
        return self.patch(f"*** Update File: {name}\n@@\n-{old}\n+{new}\n")

    def write(self, name, content):
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        return self.patch(f"*** Add File: {name}\n{lines}")

    def patch(self, text):
        return Call("apply_patch", f"*** Begin Patch\n{text}*** End Patch\n", kind="custom")

    def shell(self, command):
        return Call("exec_command", {"cmd": command})

    def tool(self, name, arguments):
        return Call(name, arguments, namespace="mcp__mk")

    def check_record(self, recorded):
        kinds = [event["event_type"] for event in recorded]
        self.stage.claim("as a note, since no exit status is told", kinds == ["AGENT_SCRATCHPAD"], recorded)

    def own_story(self):
        """Models that are offered no apply_patch call it as a command, which Codex does not leave to a shell."""
        (self.stage.repo / "sub").mkdir()
        patch = "*** Begin Patch\n*** Update File: ../held.txt\n@@\n-theirs\n+mine\n*** End Patch"
        request = yield self.shell(f"cd sub && apply_patch <<'EOF'\n{patch}\nEOF\n")
        is_untouched = (self.stage.repo / "held.txt").read_text() == "theirs\n"
        self.stage.claim("an edit by a command that is a patch is refused too",
                         HELD in request.text and is_untouched, request.text)


class CodexProgram(Codex):
    """With a model that writes programs, which call the tools."""

    title, model = "codex (program)", "gpt-6.2-sol"

    def search(self):
        return Call("exec", "text(ALL_TOOLS.map(tool => tool.name).join(' '));", kind="custom")

    def patch(self, text):
        return self.calling("apply_patch", f"*** Begin Patch\n{text}*** End Patch\n")

    def shell(self, command):
        return self.calling("exec_command", {"cmd": command})

    def tool(self, name, arguments):
        return self.calling(f"mcp__mk__{name}", arguments)

    def calling(self, name, argument):
        return Call("exec", f"text(await tools.{name}({json.dumps(argument)}));", kind="custom")
