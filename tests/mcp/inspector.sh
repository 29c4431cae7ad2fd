#!/usr/bin/env bash
# The official inspector against `mk mcp`: tests/mcp/README.md
set -euo pipefail
mk=$(realpath "$1")
modules=$(realpath "$2")
export PATH=$modules/.bin:$modules/node/bin:$PATH
# It keeps a catalogue at home.
HOME=$(mktemp -d)
export HOME
project=$(mktemp -d)
trap 'rm -rf "$HOME" "$project"' EXIT
cd "$project"
"$mk" init >/dev/null

# inspect STATUS ARGS…: what it prints is left in the file `out`, warnings are none.
inspect() {
  local wanted=$1 status=0
  shift
  mcp-inspector --cli --format json "$@" >out 2>err || status=$?
  if [ "$status" != "$wanted" ] || grep '^Warning:' err; then
    echo "FAILED with $status: $*" >&2
    cat out err >&2
    exit 1
  fi
  echo "ok: $*"
}

inspect 0 --method tools/list --strict -- "$mk" mcp --tools all
inspect 0 --method tools/list --strict -- "$mk" mcp
for peer in memkernel memkraft; do
  inspect 0 --method tools/list --strict -- "$mk" mcp --compat $peer
done
inspect 0 --method tools/call --tool-name memkernel_note --tool-arg note=hello -- "$mk" mcp --compat memkernel
inspect 5 --method tools/call --tool-name memkernel_nope --tool-args-json '{}' -- "$mk" mcp --compat memkernel
inspect 0 --method tools/list --protocol-era modern -- "$mk" mcp
inspect 0 --method tools/call --tool-name mk_note --tool-arg note=hello -- "$mk" mcp
inspect 5 --method tools/call --tool-name mk_show --tool-args-json '{}' -- "$mk" mcp
inspect 0 --method resources/list -- "$mk" mcp
inspect 0 --method resources/templates/list -- "$mk" mcp
inspect 0 --method prompts/list -- "$mk" mcp
inspect 0 --method resources/read --uri mk://state/main -- "$mk" mcp
inspect 0 --method prompts/get --prompt-name resume-work -- "$mk" mcp
inspect 0 --method tools/call --tool-name mk_note --tool-arg note=x \
  --load --load-requests 500 --load-concurrency 10 -- "$mk" mcp
grep -q '"errors":0' out && grep -q '"toolErrors":0' out
[ "$("$mk" rev-list --count main)" -ge 501 ]
