#!/bin/sh
# usage: set.sh [OPTION OF redis-server ...]: 40,000 SET requests, 20 at a time.
port=${PORT:-7399}
src/redis-server --port "$port" --save "" "$@" > server.log 2>&1 &
server=$!
sleep 0.4
src/redis-benchmark -p "$port" -q -n 40000 -c 20 -t set | tr '\r' '\n'
src/redis-cli -p "$port" shutdown nosave
wait $server
