"""A repository with a memory, a home that holds nothing else, and programs that all end with the stage."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SECONDS = 120


class Stage:
    def __init__(self, mk, modules, name):
        self.name, self.failed = name, 0
        self.place = Path(tempfile.mkdtemp(prefix="mk-agents-")).resolve()
        self.repo, self.home, tmp = (self.place / part for part in ("repo", "home", "tmp"))
        bin = self.place / "bin"
        for directory in (self.repo, self.home, tmp, bin):
            directory.mkdir()
        (bin / "mk").symlink_to(mk)
        self.env = {
            "PATH": f"{bin}:{modules}/.bin:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(tmp),
            "LANG": "C.UTF-8",
            # Nothing but loopback is asked, whatever else an agent would like to ask.
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        self.run("git", "init", "-q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_processes()
        shutil.rmtree(self.place, ignore_errors=True)

    def end_processes(self):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def processes(self):
        """The processes of the stage, by its home in their environment, whatever group they moved to."""
        mark, found = f"HOME={self.home}\0".encode(), []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:  # it ended, or is another user's
                pass
        return found

    def are_ended(self):
        """Whether all processes of the stage end by themselves within some seconds."""
        until = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.1)
        return not left

    def run(self, *command, env=None):
        """Runs a command in the repository: its status and what it prints, stdout first."""
        started = subprocess.Popen(
            command, cwd=self.repo, env=self.env | (env or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = started.communicate(timeout=SECONDS)
            return started.returncode, out, err
        except subprocess.TimeoutExpired:
            self.end_processes()
            out, err = started.communicate()
            return None, out, f"{err}\nended after {SECONDS} s"

    def mk(self, line, *more):
        """What `mk` prints; it must succeed."""
        status, out, err = self.run("mk", *line.split(), *more)
        if status != 0:
            raise RuntimeError(f"mk {line}: {status}: {err}")
        return out

    def claim(self, claim, holds, detail=""):
        if holds:
            print(f"ok {self.name}: {claim}", flush=True)
        else:
            self.failed += 1
            shown = str(detail)
            shown = shown if len(shown) <= 2000 else f"{shown[:1000]} … {shown[-1000:]}"
            print(f"FAILED {self.name}: {claim}: {shown!r}", flush=True)
