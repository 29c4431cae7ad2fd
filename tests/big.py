#!/usr/bin/env python3
"""Big projects: how long commands take in them, and how much memory.

usage: big.py MK [--scale N] [--rounds N] [--directory DIR] [--only SHAPE]...

Builds each shape below with the program MK, then runs every command there and in a project of 1,000
events, in turn, and prints both medians, their ratio and the peak of resident memory. Exits 1 if a
command fails or goes over 256 MiB. Times decide nothing: they are for reading.

With --scale N everything is N times smaller, which `cargo test` does; the whole takes about a quarter of
an hour and 8 GB. Needs nothing but the standard library.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MEMORY_MAX = 256 << 10  # KiB


class Project:
    """A project of its own, in a directory under `home`."""

    def __init__(self, mk, home, name):
        self.mk, self.path = mk, os.path.join(home, name)
        os.mkdir(self.path)
        self.must("init")

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MK_")}
        return {**kept, "MK_AGENT": "ann", "MK_SESSION": "big", "GIT_CEILING_DIRECTORIES": self.path}

    def must(self, *words, lines=None):
        """Runs a command, with `lines` as its input, and ends the script if it fails."""
        child = subprocess.Popen(
            [self.mk, *words],
            cwd=self.path,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            for line in lines or ():
                child.stdin.write(line)
            child.stdin.close()
        except BrokenPipeError:
            pass
        said = child.stderr.read().decode()
        if child.wait() != 0:
            sys.exit(f"mk {' '.join(words)[:200]}: {child.returncode}: {said}")

    def measure(self, words):
        """Seconds, KiB of resident memory and exit status of a command."""
        begun = time.perf_counter()
        child = subprocess.Popen(
            [self.mk, *words],
            cwd=self.path,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return time.perf_counter() - begun, used.ru_maxrss, child.returncode


def notes(first, count, size=300):
    for number in range(first, first + count):
        kind = number % 10
        if kind == 0:
            event = "ARCHITECTURAL_DECISION"
            payload = {"decision_key": f"area-{number // 10 % 50}", "decision_value": f"choice {number}"}
        else:
            event = "AGENT_SCRATCHPAD"
            text = f"note {number}: looked at the parser and the lexer. "
            payload = {"note": (text * (size // len(text) + 1))[:size]}
        yield json.dumps({"event_type": event, "payload": payload}).encode() + b"\n"


def log(project, scale):
    """1,000,000 events"""
    project.must("append", "--batch", lines=notes(0, 1_000_000 // scale))


def branches(project, scale):
    """10,000 branches of one event each"""
    project.must("append", "--batch", lines=notes(0, 1_000))
    for number in range(10_000 // scale):
        project.must("fork", f"side/{number}", "--at", "main@500")


def nested(project, scale):
    """10,000 forks, each of the one before"""
    project.must("append", "--batch", lines=notes(0, 1_000))
    last = "main"
    for number in range(10_000 // scale):
        project.must("fork", f"deep/{number}", "--from", last)
        last = f"deep/{number}"
    project.must("switch", last)


def payloads(project, scale):
    """10,000 events of 256 KiB"""
    project.must("append", "--batch", lines=notes(0, 10_000 // scale, 256 * 1024 - 64))


def leases(project, scale):
    """1,000 leases held"""
    project.must("append", "--batch", lines=notes(0, 1_000))
    paths = [f"src/{number % 10}/file-{number}.rs" for number in range(1_000 // scale)]
    for at in range(0, len(paths), 50):
        project.must("lease", "acquire", "--ttl", "86400", *paths[at : at + 50])


SHAPES = [log, branches, nested, payloads, leases]

# What is run in each. A shape may leave a command without an answer (status 1), never without success
# otherwise. Those that write come last and change a project alike at both sizes.
COMMANDS = [
    "fold",
    "context",
    "log -n 20 --oneline",
    "show HEAD",
    "rev-parse HEAD~100",
    "rev-list --count HEAD",
    "merge-base main HEAD",
    "for-each-branch",
    "diff main HEAD",
    "lease list",
    "lease check src/1/file-1.rs",
    "anchor",
    "note x",
    "decide area-1 other -m why",
    "lease acquire big/one --ttl 1",
    "undo",
    "rollback HEAD~3 -m why --include-others",
    "gc",
    "verify",
    "export ../export.ndjson",
    "backup ../copy.db --force",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mk")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory")
    parser.add_argument("--only", action="append", choices=[shape.__name__ for shape in SHAPES])
    options = parser.parse_args()
    mk = os.path.abspath(options.mk)
    home = tempfile.mkdtemp(prefix="mk-big-", dir=options.directory)
    try:
        sys.exit(0 if run(mk, home, options) else 1)
    finally:
        shutil.rmtree(home)


def run(mk, home, options):
    small = Project(mk, home, "small")
    small.must("append", "--batch", lines=notes(0, 1_000))
    print(f"{'command':<42} {'big':>11} {'1k events':>11} {'ratio':>8} {'peak':>9}")
    sound = True
    for shape in SHAPES:
        if options.only and shape.__name__ not in options.only:
            continue
        big = Project(mk, home, shape.__name__)
        begun = time.perf_counter()
        shape(big, options.scale)
        print(f"-- {shape.__doc__}, made in {time.perf_counter() - begun:.1f} s")
        for command in COMMANDS:
            words = command.split()
            rounds = [(big.measure(words), small.measure(words)) for _ in range(options.rounds)]
            long = statistics.median(big_one[0] for big_one, _ in rounds)
            short = statistics.median(small_one[0] for _, small_one in rounds)
            peak = max(big_one[1] for big_one, _ in rounds)
            statuses = {big_one[2] for big_one, _ in rounds}
            faults = []
            if peak > MEMORY_MAX:
                faults.append("over 256 MiB")
            if not statuses <= {0, 1}:
                faults.append(f"exit status {sorted(statuses)}")
            sound = sound and not faults
            print(
                f"{command:<42} {long * 1e3:>8.1f} ms {short * 1e3:>8.1f} ms {long / short:>8.2f}"
                f" {peak / 1024:>5.0f} MiB  {', '.join(faults)}".rstrip(),
                flush=True,
            )
        shutil.rmtree(big.path)
    return sound


if __name__ == "__main__":
    main()
