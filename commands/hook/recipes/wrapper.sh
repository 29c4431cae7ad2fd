#!/bin/sh
# For an agent without hooks: ./with-lease FILE... -- COMMAND runs COMMAND while it holds the files.
exec mk with "$@"
