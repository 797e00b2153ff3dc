#!/bin/sh
# exits.sh STATUS COMMAND...: succeeds when COMMAND ends with exactly STATUS; -N: killed by signal N. It has
# 300 seconds. What the shell itself says of a signal is no output of the command.
wanted=$1
case $wanted in -*) # a shell does not tell a signal from a status above 128
  exec python3 -S -c 'import subprocess, sys
status = subprocess.run(sys.argv[2:], timeout=300).returncode
if status != int(sys.argv[1]):
    sys.exit(f"exits.sh: expected status {sys.argv[1]}, got {status}: {sys.argv[2:]}")' "$@" ;;
esac
shift
exec 3>&2 2>/dev/null
(exec 2>&3 3>&- timeout --foreground 300 "$@")
status=$?
test "$status" -eq "$wanted" && exit
echo "exits.sh: expected status $wanted, got $status: $*" >&3
exit 1
