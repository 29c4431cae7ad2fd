"""Speeds and memory of `mk mcp` through a raw pipe, beside MemKernel's server if it is given.

Usage: python3 benches/mcp.py target/release/mk [VENV]      (VENV has memkernel-mcp 0.3.0)

Servers are started in turn. The store of mk has 50,000 events; that of the peer, which needs minutes for as many, has
2,000 or what MK_MCP_PEER_EVENTS says, of the same kinds, which favours it. Standard library only.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

MK = os.path.abspath(sys.argv[1])
PEER = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
EVENTS = 50_000
PEER_EVENTS = int(os.environ.get("MK_MCP_PEER_EVENTS", "2000"))


class Server:
    """A server on a pipe, up to the answer of initialize."""

    def __init__(self, command, cwd, env=None):
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0)
        self.out = os.fdopen(self.process.stdout.fileno(), "rb", closefd=False)
        self.last = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.start_ms = (time.perf_counter() - begun) * 1e3
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            line = self.out.readline()
            if not line:
                sys.exit(f"{method}: the server ended")
            # An answer is told from a notification without parsing it: that is not what is measured.
            if b'"id":%d,' % self.last in line or b'"id":%d}' % self.last in line:
                return line

    def hear(self, method):
        """Waits for a notification."""
        while True:
            line = self.out.readline()
            if not line:
                sys.exit(f"{method}: the server ended")
            if b'"method":"%s"' % method.encode() in line:
                return line

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        return kib / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def times(act, rounds, before=None):
    """What each act takes, but for what comes before it."""
    took = []
    for n in range(rounds):
        if before:
            before(n)
        begun = time.perf_counter()
        act(n)
        took.append((time.perf_counter() - begun) * 1e3)
    took.sort()
    return took[len(took) // 2], took[int(len(took) * 0.95)]


def show(what, mine, theirs=None, unit="ms"):
    text = f"{what:<44} mk {mine:>8.2f} {unit}"
    if theirs is not None:
        text += f"   MemKernel {theirs:>9.2f} {unit}   {theirs / mine:>6.1f} x"
    print(text, flush=True)


def notices(start, rounds=100):
    """How long after a write is sent to one server a subscriber at another is told of it."""
    subscriber, writer = start(), start()
    subscriber.ask("resources/subscribe", {"uri": "mk://log/main"})
    took = []
    for n in range(rounds):
        # Apart, since a URI is told of four times a second at most.
        time.sleep(0.3)
        begun = time.perf_counter()
        writer.call("mk_note", {"note": f"notice {n}"})
        subscriber.hear("notifications/resources/updated")
        took.append((time.perf_counter() - begun) * 1e3)
    subscriber.close()
    writer.close()
    return sorted(took)


def main():
    with tempfile.TemporaryDirectory() as cwd, tempfile.TemporaryDirectory() as peer_cwd:
        env = {**os.environ, "MK_AGENT": "bench"}
        subprocess.run([MK, "init"], cwd=cwd, env=env, check=True, capture_output=True)
        lines = "".join(
            json.dumps({"event_type": "ARCHITECTURAL_DECISION",
                        "payload": {"decision_key": f"k{n // 10 % 40}", "decision_value": f"v{n}", "rationale": "-"}}) + "\n"
            if n % 10 == 0 else json.dumps({"payload": {"note": f"note {n} of many, of some length"}}) + "\n"
            for n in range(EVENTS))
        subprocess.run([MK, "append", "--batch"], cwd=cwd, env=env, check=True, capture_output=True,
                       input=lines.encode())
        ours = lambda: Server([MK, "mcp"], cwd, env)
        theirs = None
        if PEER:
            peer_env = {**os.environ, "MEMKERNEL_DB": os.path.join(peer_cwd, "memory.db")}
            theirs = lambda: Server([os.path.join(PEER, "bin", "memkernel-server")], peer_cwd, peer_env)
            server = theirs()
            for n in range(PEER_EVENTS):
                if n % 10 == 0:
                    server.call("memkernel_append_decision", {
                        "decision_key": f"k{n // 10 % 40}", "decision_value": f"v{n}", "rationale": "-"})
                else:
                    server.call("memkernel_note", {"note": f"note {n} of many, of some length"})
            server.close()

        starts, peer_starts = [], []
        for round in range(20):
            server = ours()
            starts.append(server.start_ms)
            server.close()
            if theirs and round < 5:
                server = theirs()
                peer_starts.append(server.start_ms)
                server.close()
        starts.sort()
        show("start to the answer of initialize, p50", starts[10],
             statistics.median(peer_starts) if peer_starts else None)
        show("the same, p95", starts[19])

        mk, peer = ours(), theirs() if theirs else None
        mk.call("mk_context", {})
        if peer:
            peer.call("memkernel_query_state", {})
        show("memory after the first call", mk.memory_mib(), peer and peer.memory_mib(), "MiB")
        note = lambda tool: lambda s: s.call(tool, {"note": "bench"})
        ours_note, their_note = note("mk_note"), note("memkernel_note")
        our_state = lambda s: s.call("mk_context", {})
        their_state = lambda s: s.call("memkernel_query_state", {})
        rows = [
            ("an empty request (ping)", 2000, lambda s: s.ask("ping", {}), lambda s: s.ask("ping", {}), None),
            ("tools/list", 500, lambda s: s.ask("tools/list", {}), lambda s: s.ask("tools/list", {}), None),
            ("read the state (mk_context / query_state)", 300, our_state, their_state, None),
            ("the same after a write", 300, our_state, their_state, (ours_note, their_note)),
            ("newest events (mk_log / history)", 300, lambda s: s.call("mk_log", {}),
             lambda s: s.call("memkernel_history", {"limit": 20}), None),
            ("write (mk_note / note)", 300, ours_note, their_note, None),
        ]
        for what, rounds, our_act, their_act, before in rows:
            before_ours = before and (lambda n: before[0](mk))
            before_theirs = before and (lambda n: before[1](peer))
            p50, p95 = times(lambda n: our_act(mk), rounds, before_ours)
            peer_p50, peer_p95 = (
                times(lambda n: their_act(peer), rounds // 5, before_theirs) if peer else (None, None))
            show(f"{what}, p50", p50, peer_p50)
            show(f"{what}, p95", p95, peer_p95)
        latency = notices(ours)
        show("another's write to the notification of it, p50", latency[len(latency) // 2])
        show("the same, p95", latency[int(len(latency) * 0.95)])
        # The tool that both servers have, by the same name.
        compat = Server([MK, "mcp", "--compat", "memkernel"], cwd, env)
        by_name = lambda server: times(lambda n: server.call("memkernel_query_state", {}), 300)
        (p50, p95), (peer_p50, peer_p95) = by_name(compat), by_name(peer) if peer else (None, None)
        show("memkernel_query_state on both, p50", p50, peer_p50)
        show("memkernel_query_state on both, p95", p95, peer_p95)
        compat.close()
        before = mk.memory_mib()
        for n in range(10_000):
            mk.call("mk_log", {"limit": 5}) if n % 10 else mk.call("mk_note", {"note": "bench"})
        show("memory before 10,000 more calls", before, None, "MiB")
        show("memory after them", mk.memory_mib(), None, "MiB")
        mk.close()
        if peer:
            peer.close()


main()
