#!/bin/sh
# exits.sh STATUS COMMAND...: succeeds when COMMAND ends with exactly STATUS; -N: killed by signal N. It has
# 300 seconds. What the shell itself says of a signal is no output of the command.
wanted=$1
shift
exec 3>&2 2>/dev/null
(exec 2>&3 3>&- timeout --foreground 300 "$@")
status=$?
case $wanted in -*) code=$((128 - wanted)) ;; *) code=$wanted ;; esac
test "$status" -eq "$code" && exit
echo "exits.sh: expected status $wanted, got $status: $*" >&3
exit 1
