#!/usr/bin/env bash
# The official conformance suite against `mk mcp --http`: tests/mcp/README.md
set -euo pipefail
mk=$(realpath "$1")
modules=$(realpath "$2")
baseline=$(realpath "$(dirname "$0")/../cases/mcp/conformance-baseline.yml")
export PATH=$modules/.bin:$modules/node/bin:$PATH
project=$(mktemp -d)
cd "$project"
"$mk" init >/dev/null
"$mk" mcp --http 127.0.0.1:0 --no-auth --tools all 2>err &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$project"' EXIT
until url=$(grep -o 'http://.*/mcp' err); do sleep 0.1; done
for revision in 2025-11-25 2026-07-28; do
  if ! conformance server --url "$url" --requirements "$revision" --expected-failures "$baseline" \
    -o "out-$revision" >log 2>&1; then
    cat log
    echo "FAILED: $revision" >&2
    exit 1
  fi
  echo "ok: $revision, $(grep '^Total' log)"
done
kill -TERM $server
wait $server
