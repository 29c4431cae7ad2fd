#!/bin/sh
# .git/hooks/post-checkout: notes a change of branch, and warns of leased files that it changed.
[ "$3" = 1 ] || exit 0
git diff --name-only -z "$1" "$2" | xargs -0 -r mk lease check > /dev/null ||
    echo 'mk: this checkout changed files that others hold; see `mk lease list`' >&2
git log -1 --format="checked out $(git symbolic-ref --quiet --short HEAD || echo a commit): %h %s" |
    mk note - > /dev/null || true
