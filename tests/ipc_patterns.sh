#!/usr/bin/env bash
# Programs that know nothing of Millpond open its tensors by the bytes of `millpond tensor handle`: a plain C program, and a
# ring of processes of the CUDA runtime in the pattern of NVIDIA's simpleIPC. For a machine with a GPU and nvcc.
#
#   MILLPOND_BIN=./millpond tests/ipc_patterns.sh [FOLDER WITH ring.cu AND ipc_reader.c]
set -euo pipefail
millpond=${MILLPOND_BIN:-millpond}
programs=${1:-$(dirname "$0")/programs}
work=$(mktemp -d)
export MILLPOND_RUNTIME_DIR=$work/run
"$millpond" serve >"$work/log" 2>&1 &
keeper=$!
trap '"$millpond" stop >/dev/null 2>&1 || kill $keeper; wait $keeper || true; rm -rf "$work"' EXIT
nvcc -O2 -o "$work/ring" "$programs/ring.cu"
cc -O2 -o "$work/reader" "$programs/ipc_reader.c" -ldl
for _ in $(seq 100); do "$millpond" status >/dev/null 2>&1 && break; sleep 0.1; done
bytes=$((16 << 20))
handles=()
for number in 1 2 3 4; do
    "$millpond" tensor create "ring/$number" --dtype u8 --shape $bytes --transport ipc --zero >/dev/null
    # The 64 bytes of each, from base64.
    mapfile -t -O "${#handles[@]}" handles < <("$millpond" tensor handle "ring/$number" --json 2>/dev/null | python3 -c '
import base64, json, sys
handle = json.load(sys.stdin)
for part in ("memory", "event"):
    print(base64.b64decode(handle[part]).hex())')
done
said=$("$work/ring" $bytes "${handles[@]}")
echo "four processes, 50 rounds: $said"
[ "$said" = right ] || { echo "FAILED"; echo "0 passed, 1 failed"; exit 1; }
# The old bytes of deleted tensors open nothing, whatever is made afterwards.
for number in 2 3; do "$millpond" tensor rm "ring/$number" >/dev/null; done
"$millpond" tensor create ring/later --dtype u8 --shape $bytes --transport ipc --zero >/dev/null
! said=$("$work/ring" $bytes "${handles[2]}" "${handles[3]}") || { echo "an old handle opened something: $said"; exit 1; }
echo "an old handle: $said"
# A C program writes through a handle what another one reads through the same handle.
written=$(printf 'fill 4096 1000 7\nsum 0 %s\nclose\n' $bytes | "$work/reader" "${handles[0]}" "${handles[1]}" | tr '\n' ' ')
read=$(printf 'wait\nsum 4096 1000\nclose\n' | "$work/reader" "${handles[0]}" "${handles[1]}" | tr '\n' ' ')
echo "a C program wrote: $written; another read: $read"
case "$read" in *7000*) ;; *) echo "FAILED"; echo "2 passed, 1 failed"; exit 1 ;; esac
"$millpond" status
echo "3 passed, 0 failed"
