"""The same things done by MemKernel 0.3.0 and by mk, in turn, as whole processes or in process.

Usage: VENV/bin/python benches/peer.py target/release/mk      (VENV has memkernel-mcp 0.3.0)
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

MK = os.path.abspath(sys.argv[1])
PEER = os.path.join(os.path.dirname(sys.executable), "memkernel")


def run(command, cwd):
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True)
    took = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr.decode()}")
    return took * 1e3


def beside(what, ours, theirs, cwd, rounds=7):
    pairs = [(run(ours, cwd), run(theirs, cwd)) for _ in range(rounds)]
    mk, peer = (statistics.median(side) for side in zip(*pairs))
    print(f"{what:<28} mk {mk:>9.2f} ms   MemKernel {peer:>9.1f} ms   {peer / mk:>7.0f} x")


def main():
    with tempfile.TemporaryDirectory() as cwd:
        run([MK, "init"], cwd)
        beside("--version", [MK, "--version"], [PEER, "--version"], cwd)
        beside("read the state", [MK, "fold"], [PEER, "status"], cwd)


main()
