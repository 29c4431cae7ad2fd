#!/bin/sh
# A job of CI. `memory.ndjson` is the log that the job before left as an artifact; it goes on to the next
# one whatever becomes of this. (Leases are not in it: they are asked for where the agents work, by
# `mk hook git-pre-commit`.)
set -e
mk init
[ ! -f memory.ndjson ] || mk import memory.ndjson
trap 'mk export memory.ndjson' EXIT
mk run -- make test
# Nothing that anybody noted blocks.
mk status --exit-code
