#!/usr/bin/env bash
# Programs of the CUDA runtime that know nothing of Millpond open its tensors by their handles: a ring of processes in the
# pattern of NVIDIA's simpleIPC. For a machine with a GPU and nvcc.
#
#   MILLPOND_BIN=./millpond tests/ipc_patterns.sh [FOLDER WITH ring.cu]
set -euo pipefail
millpond=${MILLPOND_BIN:-millpond}
programs=${1:-$(dirname "$0")/programs}
work=$(mktemp -d)
export MILLPOND_RUNTIME_DIR=$work/run
"$millpond" serve >"$work/log" 2>&1 &
keeper=$!
trap '"$millpond" stop >/dev/null 2>&1 || kill $keeper; wait $keeper || true; rm -rf "$work"' EXIT
nvcc -O2 -o "$work/ring" "$programs/ring.cu"
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
"$millpond" status
echo "2 passed, 0 failed"
