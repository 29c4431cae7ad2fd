#!/bin/sh
# A job of CI. `memory.ndjson` is the log that the job before left as an artifact.
set -e
mk init
[ ! -f memory.ndjson ] || mk import memory.ndjson
mk run -- make test
# No file that was changed is held by anybody, and nothing blocks.
git diff --name-only -z "${BASE:-origin/main}" | xargs -0 -r mk lease check
mk status --exit-code
mk export > memory.ndjson
