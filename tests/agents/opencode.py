"""OpenCode: `opencode run`, with a provider that speaks OpenAI Chat Completions.

It offers its models one of two sets of tools that edit, by the model's name: `edit` and `write`, or `apply_patch`.
"""

import json

from model import Call, Completions, Model
from story import HELD, check_status, story


class OpenCode:
    """With a model that edits with `edit` and `write`."""

    name, title, model = "opencode", "opencode (edit)", "scripted"
    program, package = "opencode", "opencode-ai"
    options, server = "--hooks", "mk_mk_"

    def __init__(self, stage):
        self.stage = stage

    def play(self):
        """Runs the agent against the script; gives the model and how the agent ended."""
        # Before it loads a plugin it installs the types of plugins from the registry, and asks for a minute.
        (self.stage.home / ".npmrc").write_text("fetch-retries=0\n")
        config = self.stage.home / ".config" / "opencode" / "opencode.json"
        config.parent.mkdir(parents=True)
        with Model(Completions, story(self.stage, self)) as model:
            provider = {"npm": "@ai-sdk/openai-compatible", "models": {self.model: {}},
                        "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"}}
            config.write_text(json.dumps({"model": f"scripted/{self.model}", "provider": {"scripted": provider}}))
            ended = self.stage.run(
                self.program, "run", "do the work",
                env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"})
        return model, ended

    def search(self):
        # All tools are offered at once.
        return self.read("held.txt")

    def read(self, name):
        return Call("read", {"filePath": self.path(name)})

    def edit(self, name, old, new):
        return Call("edit", {"filePath": self.path(name), "oldString": old, "newString": new})

    def write(self, name, content):
        return Call("write", {"filePath": self.path(name), "content": content})

    def path(self, name):
        return str(self.stage.repo / name)

    def shell(self, command):
        return Call("bash", {"command": command, "description": "Run it"})

    def tool(self, name, arguments):
        return Call(f"mk_{name}", arguments)

    def check_record(self, recorded):
        check_status(self.stage, recorded)

    def own_story(self):
        """The model of a subagent is the same one, and its requests come in the middle of the script."""
        task = {"description": "a part", "prompt": "do a part", "subagent_type": "general"}
        request = yield Call("task", task)
        self.stage.claim("a subagent is told too when it begins",
                         "Shared memory of this repository (mk), branch main." in request.text, request.text)
        request = yield self.edit("held.txt", "theirs", "mine")
        is_untouched = (self.stage.repo / "held.txt").read_text() == "theirs\n"
        self.stage.claim("and refused what another holds", HELD in request.text and is_untouched, request.text)
        request = yield self.write("free.txt", "ours\n")
        self.stage.claim("and has what its parent holds",
                         (self.stage.repo / "free.txt").read_text() == "ours\n", request.text)
        yield "did a part"


class OpenCodePatch(OpenCode):
    """With a model that edits with `apply_patch`."""

    title, model = "opencode (patch)", "gpt-5.5"

    def edit(self, name, old, new):
        return self.patch(f"*** Update File: {name}\n@@\n-{old}\n+{new}\n")

    def write(self, name, content):
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        return self.patch(f"*** Add File:{name}\n{lines}")

    def patch(self, text):
        return Call("apply_patch", {"patchText": f"*** Begin Patch\n{text}*** End Patch"})
