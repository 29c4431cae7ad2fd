#!/usr/bin/env python3
"""Hold `mk exec call` against MemKraft 4.5.0 with random requests.

    mkep_fuzz.py MK [--seed N] [--operations N] [--length N] [--keep-going]

MK is the program. The reference must be importable (run this with the Python of an environment that
holds memkraft==4.5.0); without it the script says so and exits with 0, so that a build elsewhere does
not fail for want of it.

A sequence starts from two empty bases and sends the same requests to both: to the reference in this
process, to MK through `exec call --batch`. Answers are compared as cases/mkep/README.md says: random
ids are paired one to one, digests that hang on them are recomputed, messages are free. Where the
reference has a known fault (docs/spec/mkep.md, section 27) its answer is not asked for, or another is
expected; each such place is named here by the number of the fault.

At the end of a sequence the logs change places: MemKraft reads what `mk exec export` wrote, MK what
MemKraft wrote and `mk exec import` took over. Each must say of every goal what the other says, to the
last digest.

Exit status: 0 if every sequence agreed, 1 if one did not (its seed is printed), 2 for a wrong call.
"""
import argparse
import collections
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

SAFE = 2 ** 53 - 1
KEY = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
HEX = re.compile(r"[0-9a-f]{32}\Z|[0-9a-f]{64}\Z")
ENVIRONMENT = {"USER": "fuzzuser", "LOGNAME": "fuzzuser", "PATH": os.environ.get("PATH", "")}


# -- MKCJSON/1, once more ----------------------------------------------------------------------

class NotCanonical(Exception):
    pass


def check(value, depth, arrays):
    if isinstance(value, (dict, list)) and depth > 8:
        raise NotCanonical
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > SAFE:
            raise NotCanonical
        return value
    if isinstance(value, str):
        if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise NotCanonical
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        if len(value) > arrays:
            raise NotCanonical
        return [check(item, depth + 1, arrays) for item in value]
    if isinstance(value, dict):
        if len(value) > 64 or not all(KEY.match(key) for key in value):
            raise NotCanonical
        return {key: check(item, depth + 1, arrays) for key, item in value.items()}
    raise NotCanonical


def digest(value, arrays=64):
    try:
        text = json.dumps(check(value, 1, arrays), ensure_ascii=False, sort_keys=True,
                          separators=(",", ":"))
    except NotCanonical:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


# -- requests ----------------------------------------------------------------------------------

UNFENCED = {"goal.declare", "lease.acquire", "lease.release", "assess.record"}


class Maker:
    """Draws requests. Knows a little of what was answered, so that many of them go through."""

    goals = ["team/alpha", "team/beta"]
    gates = ["build", "test", "docs", "gate.four"]
    scopes = ["build", "test", "docs", "goal", "handoff", "src/a.rs", "free-scope"]
    holders = ["w1", "w2", "w3"]
    texts = ["a", "plain words", "é", "e\u0301", "한글", "😀", "x" * 512, 'quote " \\ \n', "/", "~"]

    def __init__(self, rng):
        self.rng = rng
        self.clock = 0
        self.ids = collections.defaultdict(list)
        self.tokens = [1]
        self.envelopes = []
        self.sent = []
        self.count = 0
        # What most sequences need before anything else can be said of a goal.
        self.first = [("goal.declare", goal, None) for goal in self.goals]
        self.first += [("gate.declare", goal, gate) for goal in self.goals for gate in self.gates]
        self.first = [it for it in self.first if self.maybe(0.8)]
        self.fencing = self.pick([0.03, 0.1, 0.6])

    def pick(self, items):
        return self.rng.choice(items)

    def maybe(self, share):
        return self.rng.random() < share

    def now(self):
        self.clock += self.pick([0, 1, 5, 30, 61])
        if self.maybe(0.02):
            self.clock -= 40
        minutes, seconds = divmod(max(self.clock, 0), 60)
        hours, minutes = divmod(minutes, 60)
        text = "2026-08-%02dT%02d:%02d:%02d" % (4 + hours // 24, hours % 24, minutes, seconds)
        return text + self.pick(["Z", "Z", "Z", ".5Z", ".999999+00:00", "-00:00"])

    def later(self):
        return "2026-08-%02dT%02d:30:00%s" % (
            self.pick([3, 4, 5, 28]), self.rng.randrange(24), self.pick(["Z", "+09:00"]))

    def text(self):
        return self.pick(self.texts) + (str(self.rng.randrange(5)) if self.maybe(0.5) else "")

    def payload(self, depth=1):
        members = {}
        for _ in range(self.rng.randrange(4)):
            key = self.pick(["note", "list", "n", "z9", "a_b"])
            members[key] = self.pick([
                self.text()[:400], self.rng.randrange(-5, 5), None, True, [], [1, "x"],
                {"deep": {}}, "/etc/passwd", "see /home/x/y", "sk-" + "a" * 16, "fine ~ text",
                "fuzzuser was here", "C:\\x", "profile://x"])
            if depth < 4 and self.maybe(0.2):
                members[key] = self.payload(depth + 1)
        return members

    def op(self):
        rng = self.rng
        if self.first:
            return self.declaration(*self.first.pop(0))
        goal = self.pick(self.goals) if self.maybe(0.9) else "team/none"
        gate = self.pick(self.gates) if self.maybe(0.95) else "missing-gate"
        op = rng.choices(
            ["goal.declare", "goal.transition", "gate.declare", "gate.transition", "receipt.record",
             "lease.acquire", "lease.release", "handoff.declare", "handoff.transition",
             "handoff.import", "handoff.export", "assess.record", "assess.run", "state.read",
             "describe"],
            [5, 3, 8, 16, 14, 12, 7, 5, 6, 3, 4, 3, 5, 6, 1])[0]
        target, args = {"goal_id": goal}, {}
        if op == "goal.declare":
            args = {"title": self.text(), "intent": self.text(),
                    "constraints": [self.text() for _ in range(rng.randrange(3))],
                    "success_criteria": [self.text()]}
            if self.maybe(0.2):
                args["privacy"] = self.pick(["public_safe", "private_pointer", "secret", None])
            if self.maybe(0.2):
                args["owner_hint"] = self.pick([self.text(), None, 3])
            if self.maybe(0.1):
                args["parent_goal_id"] = self.pick(["team/alpha", "x", None])
        elif op == "goal.transition":
            args = {"to_status": self.pick(["satisfied", "abandoned", "open", "x"]),
                    "reason": self.pick([None, None, "because"])}
            if self.maybe(0.85):
                args["to_status"] = "satisfied"
        elif op == "gate.declare":
            target["gate_id"] = gate
            args = {"description": self.text(),
                    "verification": {"check_kind": "command", "check_ref": self.text()}}
            if self.maybe(0.3):
                args["required"] = self.pick([True, False, None, 1])
            if self.maybe(0.4):
                args["scope_key"] = self.pick(self.scopes + [None, "Bad Scope"])
            if self.maybe(0.1):
                args["verification"]["Extra Key"] = 1.5
        elif op == "gate.transition":
            target["gate_id"] = gate
            args = {"to_status": self.pick(["passed", "failed", "waived", "pending", "passed"])}
            if self.maybe(0.5):
                args["reopen_reason"] = self.pick(["again", None])
            if self.maybe(0.4):
                args["authority_claim"] = self.pick(["human", "human", "agent", "system", "god"])
            if self.maybe(0.2):
                args["receipt_id"] = self.pick(self.ids["receipt"] or ["none"])
        elif op == "receipt.record":
            target["gate_id"] = gate
            args = {"verdict": self.pick(["pass", "pass", "fail", "maybe"]),
                    "content_sha256": self.pick("ab") * 64, "summary": self.text(),
                    "observed_at": self.pick([None, "2026-08-04T10:00:00+02:00"] * 9 + ["yesterday"])}
            if self.maybe(0.8) and args["verdict"] == "maybe":
                args["verdict"] = "pass"
            if self.maybe(0.5):
                args["provenance_id"] = self.pick(["run-1", None])
            if self.maybe(0.2):
                args["artifact_path"] = "out/log.txt"
        elif op == "lease.acquire":
            target["scope_key"] = self.pick(self.scopes)
            args = {"holder": self.pick(self.holders),
                    "ttl_seconds": self.pick([1, 30, 60, 60, 120, 120, 3600, 86400] * 4 + [0, 86401])}
            if self.maybe(0.2):
                args["expected_fence"] = self.pick(self.tokens + [None, 0])
        elif op == "lease.release":
            lease = self.pick(self.ids["lease"] or [("build", "0" * 32)])
            target["scope_key"] = lease[0] if self.maybe(0.9) else self.pick(self.scopes)
            args = {"lease_id": lease[1]}
            if self.maybe(0.4):
                args["released_by"] = self.pick(self.holders + [None])
        elif op == "handoff.declare":
            args = {"to_actor": self.pick(["bob", "eve"]), "payload": self.payload()}
            if self.maybe(0.2):
                args["payload_schema"] = self.pick(["memkraft.handoff.context/2", "Bad", None])
            if self.maybe(0.4):
                args["expires_at"] = self.pick([self.later(), None])
        elif op in ("handoff.transition", "handoff.export"):
            target["handoff_id"] = self.pick(self.ids["handoff"] or ["1" * 32])
            if op == "handoff.transition":
                args = {"to_state": self.pick(["accepted", "accepted", "completed", "offered"])}
        elif op == "handoff.import":
            args = {"envelope": self.envelope()}
        elif op == "assess.record":
            args = {"assessment": {
                "advisory": True,
                "recommendation": self.pick(["should_run", "wait", "stop", "repair", "run"]),
                "reason_code": self.pick(["gates_open", "goal_satisfied", "lease_held_by_other",
                                          "stale_lease_detected"]),
                "inputs_digest": "c" * 64,
                "caveats": self.pick([[], ["waiver_unverified"], None, False, {}, 0])}}
        elif op == "state.read":
            if self.maybe(0.4):
                args["include"] = self.pick([["gates"], ["leases", "handoffs"], [], None, ["x"]])
        if op == "describe":
            target = {}
        return op, target, args

    def declaration(self, op, goal, gate):
        target = {"goal_id": goal}
        if op == "goal.declare":
            return op, target, {"title": "Ship", "intent": "é", "constraints": [],
                                "success_criteria": ["green"]}
        target["gate_id"] = gate
        return op, target, {
            "description": "d", "required": self.maybe(0.7),
            "verification": {"check_kind": "command", "check_ref": "make"}}

    def envelope(self):
        if self.envelopes and self.maybe(0.4):
            envelope = dict(self.pick(self.envelopes))
        else:
            payload = {"note": self.text()[:100]}
            envelope = {
                "envelope_schema": "memkraft.handoff/1",
                "origin_instance_id": self.pick(["7" * 32, "8" * 32]), "goal_id": "else/where",
                "handoff_id": self.pick("0123") * 32, "payload_schema": "a.b/1",
                "payload": payload, "payload_digest": digest(payload, 32),
                "expires_at": self.pick([None, None, self.later()]),
                "exported_at": "2026-08-04T10:00:00Z"}
            envelope["envelope_digest"] = digest(envelope, 32)
            self.envelopes.append(envelope)
        if self.maybe(0.15):
            envelope[self.pick(list(envelope))] = self.pick([None, 1, "x", "9" * 32, "9" * 64])
        return envelope

    def request(self):
        if self.sent and self.maybe(0.08):
            return self.pick(self.sent)
        self.count += 1
        is_first = bool(self.first)
        op, target, args = self.op()
        is_query = op in ("handoff.export", "assess.run", "state.read", "describe")
        request = {"mkep": "0", "kind": "query" if is_query else "apply",
                   "request_id": "%032x" % (self.count + 16 ** 8 * self.rng.randrange(1000)),
                   "op": op, "now": self.now(), "target": target, "args": args}
        if op == "describe":
            del request["now"]
        if not is_query:
            request["precondition"] = {} if is_first else self.precondition(op)
        if self.maybe(0.05):
            request["binding"] = self.pick(
                [{"holder": "w1"}, {"holder": 1.5}, None, {"x": 1}, {"execution_run_id": []}])
        if not is_first and self.maybe(0.1):
            self.spoil(request)
        if self.maybe(0.3):
            members = list(request.items())
            self.rng.shuffle(members)
            request = dict(members)
        self.sent.append(request)
        return request

    def precondition(self, op):
        precondition = {}
        if self.maybe(0.15):
            precondition["operation_id"] = self.pick(["%064x" % self.rng.randrange(40), None, "x"])
        if self.maybe(0.12):
            precondition["expect_execution_seq"] = self.pick([1, 2, 5, 9, None, "1", 1.0, True])
        if self.maybe(0.08):
            precondition["expect_state"] = self.pick(["open", "pending", "passed", None, "offered"])
        if self.maybe(0.02 if op in UNFENCED else self.fencing):
            precondition["fence_token"] = self.pick(
                self.tokens[-2:] * 4 + [None, 1, 0, "1", 99])
        return precondition

    def spoil(self, request):
        """Makes it a request that is nearly right."""
        where = self.pick([request, request["target"], request["args"],
                           request.get("precondition", request)])
        if not isinstance(where, dict):
            return
        how = self.rng.randrange(4)
        if how == 0 and where:
            del where[self.pick(list(where))]
        elif how == 1:
            where[self.pick(["extra", "Bad Key", "é", "zz"])] = self.pick([1, None, "x", 1.5])
        elif where:
            where[self.pick(list(where))] = self.pick([
                None, 1, True, 1.5, "", "x", [], {}, ["a"], "x" * 513, SAFE + 1, -1, {"a": 1},
                "Team/Alpha", "2026-08-04T11:22:33", "2026-02-30T00:00:00Z", [[[[]]]]])

    def learn(self, request, response):
        if not response.get("ok"):
            return
        result = response["result"]
        if "receipt_id" in result:
            self.ids["receipt"].append(result["receipt_id"])
        if result.get("fence_token"):
            self.tokens.append(result["fence_token"])
            self.ids["lease"].append((result["scope_key"], result["lease_id"]))
        if "handoff_id" in result and request["op"] != "handoff.transition":
            self.ids["handoff"].append(result["handoff_id"])


# -- the two programs --------------------------------------------------------------------------

class Reference:
    def __init__(self, base):
        from memkraft import MemKraft
        from memkraft.execution_dispatch import dispatch
        self.dispatch, self.store = dispatch, MemKraft(base_dir=base)

    def call(self, request):
        text = json.dumps(request, ensure_ascii=False)
        try:
            response = self.dispatch(self.store, json.loads(text))
            return json.loads(json.dumps(response, ensure_ascii=False))
        except Exception as error:  # KF-06, KF-09, KF-10: no answer at all
            return {"died": type(error).__name__}


class Ours:
    def __init__(self, program, base):
        self.process = subprocess.Popen(
            [program, "exec", "call", "--batch", "--base-dir", base], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=ENVIRONMENT)

    def call(self, request):
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        response = json.loads(answer)
        wire = json.dumps(response, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        assert wire.encode() + b"\n" == answer, "the answer is not compact and sorted"
        return response

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


# -- comparing ---------------------------------------------------------------------------------

class Names:
    """Random ids, paired one to one."""

    def __init__(self):
        self.there, self.back = {}, {}

    def bind(self, theirs, ours):
        if self.there.get(theirs, ours) != ours or self.back.get(ours, theirs) != theirs:
            return False
        self.there[theirs], self.back[ours] = ours, theirs
        return True

    def exchange(self, value):
        """`value` with our ids in the place of theirs."""
        if isinstance(value, str):
            return self.there.get(value, value)
        if isinstance(value, list):
            return [self.exchange(item) for item in value]
        if isinstance(value, dict):
            return {key: self.exchange(item) for key, item in value.items()}
        return value


OWN = ("implementation", "implementation_version", "transports", "capabilities_digest")


class Comparison:
    def __init__(self, names):
        self.names, self.faults = names, []

    def run(self, theirs, ours, path=""):
        if path == "error.message" or path == "response_digest":
            return
        if path.startswith("result.") and path[7:] in OWN:
            return
        if isinstance(theirs, dict) and isinstance(ours, dict):
            for key in sorted(set(theirs) | set(ours)):
                if key in theirs and key in ours:
                    self.run(theirs[key], ours[key], path + "." + key if path else key)
                else:
                    self.faults.append("%s.%s is on one side only" % (path, key))
        elif isinstance(theirs, list) and isinstance(ours, list):
            if len(theirs) != len(ours):
                self.faults.append("%s: %r, ours %r" % (path, theirs, ours))
                return
            if path == "result.handoffs":
                names = [item["handoff_id"] for item in ours]
                if names != sorted(names):
                    self.faults.append("result.handoffs is not sorted")
                known = {item["handoff_id"]: item for item in ours}
                ours = [known.get(self.names.there.get(item["handoff_id"]), {}) for item in theirs]
            for index, pair in enumerate(zip(theirs, ours)):
                self.run(*pair, "%s[%d]" % (path, index))
        elif isinstance(theirs, str) and isinstance(ours, str) and theirs != ours:
            if theirs.startswith("handoff:") and ours.startswith("handoff:"):
                theirs, ours = theirs[8:], ours[8:]
            both = HEX.match(theirs) and HEX.match(ours) and len(theirs) == len(ours)
            if not both or not self.names.bind(theirs, ours):
                self.faults.append("%s: %r, ours %r" % (path, theirs, ours))
        elif type(theirs) is not type(ours) or theirs != ours:
            self.faults.append("%s: %r, ours %r" % (path, theirs, ours))


def recomputed(request, response):
    """What a response says of itself and of its request."""
    faults = []
    if response["request_digest"] != digest(request):
        faults.append("request_digest is another")
    body = {key: value for key, value in response.items() if key != "response_digest"}
    if response["response_digest"] != digest(body):
        faults.append("response_digest is another")
    result = response.get("result") or {}
    if {"gates", "handoffs"} <= set(result) and result["rejected_transitions"] == 0:
        keys = ("execution_schema", "goal_id", "goal_status", "gates", "handoffs", "execution_seq",
                "unverified_waivers", "receipts_without_provenance", "skipped", "consistent")
        projection = dict({key: result[key] for key in keys}, rejected_transitions=[])
        if result["projection_digest"] != digest(projection, 10 ** 9):
            faults.append("projection_digest is another")
    return faults


def is_time(value):
    return isinstance(value, str)


def faulty(request, theirs):
    """Which known fault of the reference the request runs into, if one."""
    target = request.get("target")
    goal = target.get("goal_id") if isinstance(target, dict) else None
    if "died" in theirs:
        return "KF-06/09/10"
    if request.get("op") == "state.read" and not (
            isinstance(goal, str)
            and re.fullmatch(r"[a-z0-9][a-z0-9._-]{1,31}/[a-z0-9][a-z0-9._-]{1,63}", goal)):
        return "KF-12"
    return None


def retried(request, theirs, ours):
    """KF-03, KF-04: a retry that the reference refuses; the right answer is the replay check's."""
    their_code = (theirs.get("error") or {}).get("code")
    our_code = (ours.get("error") or {}).get("code")
    is_replay = ours.get("outcome") == "already_applied" or our_code == "E_IDEMPOTENCY_MISMATCH"
    if their_code in ("E_PRECONDITION_STATE", "E_PRECONDITION_SEQ"):
        # Arguments and the fence come before the replay check.
        return "KF-04" if is_replay or our_code in ARGUMENT_CODES else None
    if their_code == "E_IDEMPOTENCY_MISMATCH" and request.get("op") == "gate.transition":
        keys = theirs["error"]["details"]["differing_keys"]
        if "observed_reopened_at_seq" in keys:
            ours_keys = (ours.get("error") or {}).get("details", {}).get("differing_keys", [])
            rest = [key for key in keys if key != "observed_reopened_at_seq"]
            if is_replay and rest == ours_keys:
                return "KF-03"
    return None


ARGUMENT_CODES = {"E_TYPE", "E_PATTERN", "E_MISSING_FIELD", "E_LIMIT_EXCEEDED", "E_TIME_FORMAT",
                  "E_TIME_NAIVE", "E_UNKNOWN_FIELD", "E_FENCE_REQUIRED", "E_FENCE_STALE",
                  "E_DIGEST_MISMATCH", "E_HANDOFF_EXPIRED", "E_NOT_DECLARED"}


LOG = os.path.join(".memkraft", "execution", "events.jsonl")


def run(program, *words):
    done = subprocess.run([program, "exec", *words], env=ENVIRONMENT, capture_output=True)
    return [] if done.returncode == 0 else ["mk exec %s: %s" % (words[0], done.stderr.decode())]


def exchanged(program, root, bases, goals):
    """What the two programs say of each other's logs and do not agree on."""
    faults, pairs = [], []
    if os.path.exists(os.path.join(bases[1], ".mk")):
        out = os.path.join(root, "exported")
        faults += run(program, "export", out, "--base-dir", bases[1])
        pairs.append(("exported", out, bases[1]))
    if os.path.exists(os.path.join(bases[0], LOG)):
        with open(os.path.join(bases[0], LOG), "ab") as log:
            log.write(b"no json\n\xff\n[1]\n{\"cut off")
        imported, again = os.path.join(root, "imported"), os.path.join(root, "again")
        for _ in range(2):
            faults += run(program, "import", bases[0], "--base-dir", imported)
        faults += run(program, "export", again, "--base-dir", imported)
        pairs += [("imported", bases[0], imported), ("returned", again, imported)]
    for what, theirs, mine in [] if faults else pairs:
        reference, ours = Reference(theirs), Ours(program, mine)
        for goal in goals:
            request = {"mkep": "0", "kind": "query", "request_id": "0" * 32, "op": "state.read",
                       "now": "2026-08-04T12:00:00Z", "target": {"goal_id": goal}, "args": {}}
            said, read = reference.call(request), ours.call(request)
            if said != read:
                faults += ["the %s log reads otherwise" % what, json.dumps(said), json.dumps(read)]
        ours.close()
    return faults


def play(program, seed, length, counts):
    """One sequence. Answers how many operations, and what differed."""
    maker, names = Maker(random.Random(seed)), Names()
    with tempfile.TemporaryDirectory() as root:
        bases = [os.path.join(root, name) for name in ("reference", "mk")]
        for base in bases:
            os.mkdir(base)
        reference, ours = Reference(bases[0]), Ours(program, bases[1])
        try:
            for step in range(length):
                request = maker.request()
                theirs = reference.call(request)
                mine = names.exchange(request)
                answer = ours.call(mine)
                faults = recomputed(mine, answer)
                fault = faulty(request, theirs) or retried(request, theirs, answer)
                code = answer.get("outcome") or answer["error"]["code"]
                counts["%s %s" % (request.get("op"), code)] += 1
                if fault:
                    counts["(known fault %s)" % fault] += 1
                    # What the fault leaves alone is still the same.
                    if "died" not in theirs and theirs.get("state") != answer.get("state"):
                        comparison = Comparison(names)
                        comparison.run(theirs.get("state"), answer.get("state"), "state")
                        faults += comparison.faults
                else:
                    comparison = Comparison(names)
                    comparison.run(theirs, answer)
                    faults += comparison.faults
                if faults:
                    return step + 1, [json.dumps(request), *faults,
                                      json.dumps(theirs)[:1500], json.dumps(answer)[:1500]]
                maker.learn(request, theirs)
        finally:
            status = ours.close()
        if status != 0:
            return length, ["mk ended with %d" % status]
        faults = exchanged(program, root, bases, maker.goals + ["team/none"])
        if faults:
            return length, faults
    return length, []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int, default=1_000)
    parser.add_argument("--length", type=int, default=80, help="operations of a sequence")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    os.environ.update(USER="fuzzuser", LOGNAME="fuzzuser")
    try:
        import memkraft
    except ImportError:
        print("memkraft is not installed here; nothing was compared")
        return 0
    if memkraft.__version__ != "4.5.0":
        print("memkraft is %s, not 4.5.0" % memkraft.__version__)
        return 2
    counts, done, agreed, differed = collections.Counter(), 0, 0, 0
    seed = options.seed
    while done < options.operations:
        operations, faults = play(options.program, seed, options.length, counts)
        done += operations
        if faults:
            differed += 1
            print("seed %d differs at operation %d:" % (seed, operations))
            for line in faults:
                print("  " + line)
            if not options.keep_going:
                break
        else:
            agreed += 1
        seed += 1
    if options.verbose:
        for name, count in sorted(counts.items()):
            print("%7d %s" % (count, name))
    known = sum(count for name, count in counts.items() if name.startswith("("))
    print("%d operations, %d sequences agreed, %d differed, %d known faults of the reference met"
          % (done, agreed, differed, known))
    return 1 if differed else 0


if __name__ == "__main__":
    sys.exit(main())
