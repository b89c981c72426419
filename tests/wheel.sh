#!/usr/bin/env bash
# Tries the wheel as somebody without Rust does: an empty environment, the wheel, and nothing else of
# Millpond. Everything that is typed here is the wheel's own program, library and package.
#
#   tests/wheel.sh WHEEL            in an empty environment, with numpy
#   tests/wheel.sh --system WHEEL   in one that sees this machine's packages, without a network
#
# MILLPOND_DRIVER is `soft` by default; with `cuda`, bytes are compared on the GPU, by torch. Ends with
# "N passed, N failed".
set -u
system=no
if [ "${1:-}" = --system ]; then
    system=yes
    shift
fi
[ $# = 1 ] || { sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'; exit 2; }
wheel=$(realpath "$1")
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
env=$work/env
export MILLPOND_DRIVER="${MILLPOND_DRIVER:-soft}" MILLPOND_SOFT_DIR="$work/gpu" MILLPOND_CONFIG="$work/config.toml"
export MILLPOND_RUNTIME_DIR="$work/pond" XDG_STATE_HOME="$work/state" MILLPOND_LOG_FILE="$work/pond.log" PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
mkdir -m 700 "$MILLPOND_SOFT_DIR"
: >"$MILLPOND_CONFIG"
unset MILLPOND_BIN MILLPOND_PRELOAD PYTHONPATH
passed=0 failed=0

finish() {
    [ ! -x "$env/bin/millpond" ] || "$env/bin/millpond" stop >/dev/null 2>&1
    rm -rf "$work"
}
trap finish EXIT

pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; [ ! -s "$work/output" ] || tail -n 40 "$work/output"; }
try() { # what, command...
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1 </dev/null; then pass "$what"; else fail "$what: exit code $?"; fi
}
says() { # what, text
    if grep -qF -- "$2" "$work/output"; then pass "$1"; else fail "$1: no '$2'"; fi
}
files() { find "$env" \( -type f -o -type l \) ! -path '*/__pycache__/*' | sort; }
folders() { find "$env" -type d ! -name __pycache__ | sort; }

if [ "$system" = yes ]; then
    python3 -m venv --system-site-packages --without-pip "$env" || exit 1
    # This machine's Python may be an environment itself, whose packages are not the system's.
    outer=$(python3 -c 'import site; print("\n".join(site.getsitepackages()))')
    inner=("$env"/lib/python3*/site-packages)
    echo "$outer" >"${inner[0]}/outer.pth"
    pip() { python3 -m pip --python "$env/bin/python" "$@"; }
else
    python3 -m venv "$env" || exit 1
    pip() { "$env/bin/pip" "$@"; }
    pip install --quiet numpy==2.4.6 || exit 1
fi
files >"$work/before"
folders >"$work/folders-before"
try "the wheel installs without network and dependencies" pip install --no-index --no-deps "$wheel"
export PATH="$env/bin:$PATH" VIRTUAL_ENV="$env"
hash -r

library="$env/lib/millpond/libmillpond_preload.so"
try "millpond is on PATH" command -v millpond
says "and it is the wheel's" "$env/bin/millpond"
if [ "$(head -c 4 "$env/bin/millpond")" = $'\x7fELF' ]; then pass "it is a program, not a script"; else fail "it is a script"; fi
try "millpond version" millpond version
try "millpond doctor" millpond doctor
says "doctor finds the wheel's library" "$(realpath "$library")"
try "millpond demo" millpond demo
says "the demo loses and leaks nothing" "lost 0 B; leaked 0 B"
says "it says what to try next" "  millpond serve --detach"

try "millpond bench, a program of its own" millpond bench --quick --only ping
says "the bench has measured" "request/ping"

try "millpond serve --detach" millpond serve --detach
try "millpond status" millpond status
python "$root/examples/serve_pool/make_checkpoint.py" "$work/v1.safetensors" --seed 1 --layers 4 --width 256 >/dev/null
try "millpond load" millpond load net "$work/v1.safetensors" --version v1 --activate
try "a Python program attaches the model and reads the file's bytes" python "$root/tests/wheel_attach.py" net "$work/v1.safetensors"
try "millpond run" millpond run --limit 2G env
says "run preloads the wheel's library" "LD_PRELOAD=$(realpath "$library")"
try "millpond stop" millpond stop
millpond status >"$work/output" 2>&1
if [ $? = 15 ]; then pass "no pond is left"; else fail "status after stop: exit code $?"; fi

# The page, with this environment's program and Python.
"$root/tests/serve_page.sh" --installed >"$work/page" 2>&1
cat "$work/page" | grep -vE '^[0-9]+ passed'
read -r good _ bad _ < <(tail -n 1 "$work/page")
passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-1}))

try "pip uninstall" pip uninstall --yes millpond
files >"$work/after"
try "it leaves no file" diff "$work/before" "$work/after"
folders >"$work/folders-after"
try "and no folder but those of Python" diff "$work/folders-before" "$work/folders-after"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
