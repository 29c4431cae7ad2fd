#!/bin/sh
# .git/hooks/pre-commit: refuses a commit of files that another agent holds. With --warn it only says so.
exec mk hook git-pre-commit
