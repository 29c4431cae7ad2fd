#!/bin/sh
# .git/hooks/post-merge: notes a merge, and warns of leased files that it changed.
git diff --name-only -z ORIG_HEAD HEAD | xargs -0 -r mk lease check > /dev/null ||
    echo 'mk: this merge changed files that others hold; see `mk lease list`' >&2
git log -1 --format='merged: %h %s' | mk note - > /dev/null || true
