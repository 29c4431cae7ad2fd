#!/bin/sh
# Two agents and a person on one repository with two failing tests: who may edit, who is refused, a fork, a
# step that is taken back, a fix, and what the next one reads. Checks each of its claims.
#
# Needs mk on the PATH, and python3: client.py beside it is an MCP client of a few lines.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
shop=$(mktemp -d)
trap 'exec 3>&- 5>&-; wait; rm -r "$shop"' EXIT
cd "$shop"

say() { printf '\n== %s\n' "$1"; }

# claim WHAT PATTERN TEXT: the text holds the pattern.
claim() {
    case $3 in
        *"$2"*) printf 'holds: %s\n' "$1" ;;
        *) printf 'does not hold: %s\n%s\n' "$1" "$3"; exit 1 ;;
    esac
}

# denial WHAT PATTERN TEXT: it does not.
denial() {
    case $3 in
        *"$2"*) printf 'does not hold: %s\n%s\n' "$1" "$3"; exit 1 ;;
        *) printf 'holds: %s\n' "$1" ;;
    esac
}

# exits WHAT STATUS COMMAND...: the command ends with that status.
exits() {
    what=$1 wanted=$2 status=0
    shift 2
    "$@" > /dev/null || status=$?
    claim "$what" "=$wanted=" "=$status="
}

cat > shop.py <<'END'
from datetime import datetime


def total(cents, percent):
    return int(cents * (100 + percent) / 100)


def day(seconds):
    return datetime.fromtimestamp(seconds).date().isoformat()
END
cat > test_total.py <<'END'
import unittest
from shop import total


class Total(unittest.TestCase):
    def test_half_a_cent_goes_up(self):
        self.assertEqual(total(1050, 19), 1250)
END
cat > test_day.py <<'END'
import os
import time
import unittest

os.environ["TZ"] = "Pacific/Auckland"
time.tzset()
from shop import day


class Day(unittest.TestCase):
    def test_days_are_those_of_utc(self):
        self.assertEqual(day(1_700_000_000), "2023-11-14")
END

# run_test AGENT TEST: runs it and records what came of it, as the hook of an agent does.
run_test() {
    status=0
    output=$(python3 -B -m unittest "$2" 2>&1) || status=$?
    python3 -c 'import json, sys; print(json.dumps(
        {"command": "python3 -m unittest " + sys.argv[1], "exit_code": int(sys.argv[2]), "output": sys.argv[3]}))' \
        "$2" "$status" "$output" | mk --agent "$1" append --type TOOL_EXECUTION_LOG --payload - > /dev/null
    return "$status"
}

say 'A project, and two agents that speak MCP'
mk init
mkfifo ann.in ann.out bob.in bob.out
python3 "$here/client.py" ann < ann.in > ann.out &
exec 3> ann.in 4< ann.out
python3 "$here/client.py" bob < bob.in > bob.out 3>&- 4<&- &
exec 5> bob.in 6< bob.out
ann() { printf '%s %s\n' "$1" "$2" >&3; read -r answer <&4; printf '%s\n' "$answer"; }
bob() { printf '%s %s\n' "$1" "$2" >&5; read -r answer <&6; printf '%s\n' "$answer"; }

say 'Contention: both want the same file'
ann mk_task '{"directive": "Make the tests of the shop pass"}' > /dev/null
claim 'Ann gets the lease' '"fencing_token": 1' "$(ann mk_lease_acquire '{"resources": ["shop.py"], "ttl_s": 600}')"
refused=$(bob mk_lease_acquire '{"resources": ["shop.py"]}')
claim 'Bob is refused' '"code":"lease-held"' "$refused"
claim 'and told by whom' "leased to 'ann'" "$refused"
exits 'a script is told the same by an exit status' 1 mk --agent carl lease check shop.py

say 'Two failing tests, which everybody sees'
run_test bob test_total && exit 1
run_test bob test_day && exit 1
context=$(ann mk_context '{}')
claim 'the first blocks' 'BLOCKER python3 -m unittest test_total' "$context"
claim 'the second blocks' 'BLOCKER python3 -m unittest test_day' "$context"
exits 'a job can be stopped by that' 1 mk status --exit-code

say 'A fork, to try an idea without anyone noticing'
bob mk_fork '{"name": "try/decimal", "switch": true}' > /dev/null
bob mk_decide '{"key": "money", "value": "decimal", "rationale": "floats lose cents"}' > /dev/null
claim 'Bob works on the idea' 'DECISION money = decimal' "$(bob mk_context '{}')"
denial 'Ann does not see it' 'DECISION money' "$(ann mk_context '{}')"
claim 'but can compare' 'money' "$(ann mk_diff '{"a": "main", "b": "try/decimal"}')"

say 'A step that is taken back'
ann mk_decide '{"key": "fix", "value": "skip the tests", "rationale": "release is due"}' > /dev/null
claim 'a bad decision holds' 'DECISION fix' "$(mk context)"
ann mk_undo '{}' > /dev/null
denial 'and no longer' 'DECISION fix' "$(mk context)"
claim 'its trace stays' 'ROLLBACK_TRIGGERED' "$(mk log --oneline)"

say 'The fix'
cat > shop.py <<'END'
from datetime import datetime, timezone


def total(cents, percent):
    return (cents * (100 + percent) + 50) // 100


def day(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).date().isoformat()
END
run_test ann test_total
run_test ann test_day
ann mk_decide '{"key": "money", "value": "whole cents", "rationale": "no floats", "fence": {"resource": "shop.py", "token": 1}}' > /dev/null
denial 'nothing blocks any more' 'BLOCKER' "$(ann mk_context '{}')"
exits 'and no job is stopped' 0 mk status --exit-code
ann mk_lease_release '{"resource": "shop.py", "token": 1}' > /dev/null

say 'The other one hears of it, and goes on'
bob mk_switch '{"branch": "main"}' > /dev/null
claim 'Bob gets the file, with a higher token' '"fencing_token": 2' "$(bob mk_lease_acquire '{"resources": ["shop.py"]}')"
stale=$(ann mk_fact '{"facts": {"late": true}, "fence": {"resource": "shop.py", "token": 1}}')
claim 'who comes with the old one is refused' '"code":"lease-lost"' "$stale"

say 'Whoever starts next reads what it all adds up to'
context=$(mk --agent carl context --budget 600)
claim 'the decision' 'DECISION money = whole cents | no floats (ann' "$context"
claim 'the task' 'TASK ann: Make the tests of the shop pass' "$context"
denial 'no blocker' 'BLOCKER' "$context"
claim 'every chain holds' 'ok: ' "$(mk verify)"
printf '\nall claims hold\n'
