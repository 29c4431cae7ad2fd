"""Claude Code: `claude -p`, in a home in which the person has approved the server of the project."""

import json

from model import Call, Messages, Model
from story import check_status, story


class ClaudeCode:
    name = title = "claude-code"
    program, package = "claude", "@anthropic-ai/claude-code"
    options, server = "--hooks", "mcp__mk"

    def __init__(self, stage):
        self.stage = stage

    def play(self):
        """Runs the agent against the script; gives the model and how the agent ended."""
        settings = self.stage.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"enabledMcpjsonServers": ["mk"]}))
        with Model(Messages, story(self.stage, self)) as model:
            ended = self.stage.run(
                self.program, "-p", "do the work", "--permission-mode", "acceptEdits",
                "--allowedTools", "Bash,mcp__mk",
                env={"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"})
        return model, ended

    def search(self):
        return Call("ToolSearch", {"query": "mk", "max_results": 20})

    def read(self, name):
        return Call("Read", {"file_path": self.path(name)})

    def edit(self, name, old, new):
        return Call("Edit", {"file_path": self.path(name), "old_string": old, "new_string": new})

    def write(self, name, content):
        return Call("Write", {"file_path": self.path(name), "content": content})

    def path(self, name):
        return str(self.stage.repo / name)

    def shell(self, command):
        return Call("Bash", {"command": command, "description": "Run it"})

    def tool(self, name, arguments):
        return Call(f"mcp__mk__{name}", arguments)

    def check_record(self, recorded):
        check_status(self.stage, recorded)

    def own_story(self):
        yield from ()
