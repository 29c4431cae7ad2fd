#!/usr/bin/env python3
"""Checks the log of a project without mk, from docs/format.md alone.

    mk export --log-order | python3 tests/verify_log.py

Reads event lines, each after the one it follows, and recomputes body digests, lineage chains and the
log chain. Prints the number of events and the log hash: in log order the last two words of
`mk anchor`. Exits with 1 and names the line if it is not what it must be. What is cut off the end
leaves a sound log; only the printed words, compared with an anchor that was kept elsewhere, show it.
Advisory lines are not hashed; that the heads they name are there is checked at the end.
"""

import hashlib
import json
import sys

ZERO = "0" * 64
CHAINED = ("agent_id", "branch_id", "event_type", "sequence", "timestamp", "v")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()


def body(event):
    if "body" in event:  # erased: the digest is all that is left
        return event["body"]
    content = {"metadata": event["metadata"], "payload": event["payload"]}
    return sha256(bytes.fromhex(event["salt"]), canonical(content))


def check(event, events):
    """Whether the event is sound and fits what came before."""
    chained = {"body": body(event)} | {name: event[name] for name in CHAINED}
    prev, branch = event["prev"], event["branch_id"]
    if sha256(bytes.fromhex(prev), canonical(chained)) != event["hash"]:
        raise ValueError("its hash is not that of its members")
    if prev != ZERO and prev not in events:
        raise ValueError("the event before it on its lineage is not above")
    sequence, timestamp, before = events.get(prev, (0, "", branch))
    if branch != before and event["event_type"] != "BRANCH_FORKED":
        raise ValueError(f"{branch} does not begin with a fork")
    if event["sequence"] != sequence + 1:
        raise ValueError(f"its sequence is not {sequence + 1}")
    if event["timestamp"] < timestamp:
        raise ValueError("it is older than the event before it")


def main():
    events, heads, log = {}, {}, ZERO
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            event = json.loads(line)
            if canonical(event) != line.removesuffix(b"\n"):
                raise ValueError("it is not canonical JSON")
            if "advisory" in event:
                heads |= {event["head"]: number} if event["advisory"] == "head" else {}
                continue
            check(event, events)
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"line {number}: {error}")
        events[event["hash"]] = event["sequence"], event["timestamp"], event["branch_id"]
        log = sha256(bytes.fromhex(log), bytes.fromhex(event["hash"]))
    for head, number in heads.items():
        if head not in events:
            sys.exit(f"line {number}: the head is missing")
    print(len(events), log)


if __name__ == "__main__":
    main()
