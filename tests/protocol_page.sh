#!/usr/bin/env bash
# Types what docs/protocol.md says about a whole client: its `sh` blocks, against a pond of their own on the software driver.
#   MILLPOND_BIN  the `millpond` program
# `sh setup` is done here in another way: flatc with apt-get, packages into an environment of this test's. A `text` block is
# what the block before it prints; every number is taken for equal to another one. Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
source tests/typed_section.sh
target="${CARGO_TARGET_DIR:-target}"
venv="$target/protocol-tests"
requirements=(flatbuffers==25.12.19 xxhash==4.1.0)

command -v flatc >/dev/null || {
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq && $sudo apt-get install -y -qq flatbuffers-compiler
} || exit 1
if [ "$(cat "$venv/requirements" 2>/dev/null)" != "${requirements[*]}" ]; then
    rm -rf "$venv"
    mkdir -p "$target"
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}" || exit 1
    echo "${requirements[*]}" >"$venv/requirements"
fi

begin_pond
enter_repository
PATH="$(realpath "$root/$venv" 2>/dev/null || realpath "$venv")/bin:$PATH"
export PYTHONDONTWRITEBYTECODE=1

type_section "A whole client"

hashes() { "$MILLPOND_BIN" inspect "$1" | sed -n 's/^content hash *//p; s/^layout hash *//p'; }
"$MILLPOND_BIN" verify example-model >/dev/null 2>&1
expect "its version is as its manifest says" "$?" 0
saved=$work/saved.safetensors
"$MILLPOND_BIN" save example-model "$saved" >/dev/null 2>&1 && "$MILLPOND_BIN" load again "$saved" >/dev/null 2>&1
expect "it can be saved and loaded" "$?" 0
expect "with the same hashes of layout and content" "$(hashes again)" "$(hashes example-model)"
left() { "$MILLPOND_BIN" status --json | sed -n 's/^ *"leases": \([0-9]*\),*$/\1/p' | head -n 1; }
expect "no lease is left" "$(left)" 0
expect "nor a tensor" "$("$MILLPOND_BIN" tensor ls --quiet)" ""
closing
