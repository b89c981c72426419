#!/usr/bin/env bash
# The C++ header: its tests with two compilers, two standards and sanitizers, an installed tree from other build systems, the examples
# and the code on the pages; all on the software driver.
#   MILLPOND_BIN         the `millpond` program
#   MILLPOND_LIBRARIES   the folder with libmillpond.so, such as target/debug
#   tests/cpp.sh [--full]   --full adds the rest of the matrix and valgrind
# Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
: "${MILLPOND_BIN:?names the millpond program}" "${MILLPOND_LIBRARIES:?names the folder of libmillpond.so}"
MILLPOND_BIN=$(realpath "$MILLPOND_BIN") MILLPOND_LIBRARIES=$(realpath "$MILLPOND_LIBRARIES")
export MILLPOND_BIN
unset MILLPOND_RUNTIME_DIR MILLPOND_CONFIG MILLPOND_SOFT_DIR
full=no
[ "${1:-}" != --full ] || full=yes

root=$PWD
work=$(mktemp -d)
export TMPDIR=$work
cache="${CARGO_TARGET_DIR:-$root/target}/cpp-tests"
mkdir -p "$cache"
trap 'end_pond; rm -rf "$work"' EXIT
pond=''
passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }
end_pond() { [ -z "$pond" ] || { kill "$pond"; wait "$pond"; pond=''; } 2>/dev/null; }

# A command whose output matters only if it fails.
works() { # what, command...
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1 </dev/null; then pass "$what"; else
        fail "$what"
        tail -n 40 "$work/said"
    fi
}

# A program of tests prints its own lines; they count one by one. Each file of tests has a process of its own, and so a pond.
tests() { # what, program, files...
    local what=$1 program=$2 file count=0 code last
    shift 2
    for file in "$@"; do
        if [ "${under:-}" = valgrind ]; then
            valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --child-silent-after-fork=yes \
                --suppressions=bindings/c/tests/cpp/valgrind.supp "$program" "$file" >"$work/tests" 2>&1 </dev/null
        else
            timeout 240 "$program" "$file" >"$work/tests" 2>&1 </dev/null
        fi
        code=$?
        last=$(grep -E '^[0-9]+ passed, ' "$work/tests" | tail -n 1)
        if [[ $code = 0 && $last =~ ^([0-9]+)\ passed,\ 0\ failed$ ]]; then
            count=$((count + BASH_REMATCH[1]))
        else
            fail "$what: $file (exit code $code)"
            grep -v '^ok ' "$work/tests" | tail -n 60
        fi
    done
    passed=$((passed + count))
    echo "ok      $what: $count tests"
}
files=(elastic events faults models parity tensors values)

tree=$work/installed/millpond
works "a tree is laid out" scripts/c-package --libraries "$MILLPOND_LIBRARIES" --tree "$tree"
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "-I$tree/include")
link=("-L$tree/lib" -lmillpond "-Wl,-rpath,$tree/lib" -pthread)

# Each header stands alone, and together they are read in a moment.
headers() { # compiler, standard
    local header
    for header in "$tree"/include/millpond/*.hpp "$tree"/include/millpond/detail/*.hpp; do
        case "$header" in */memory_resource.hpp) continue ;; esac
        echo "#include \"$header\""$'\n'"#include \"$header\"" | "$1" "-std=c++$2" "${strict[@]}" -fsyntax-only -x c++ - || return 1
    done
}
headers g++ 17 >"$work/headers-gcc" 2>&1 &
gcc=$!
headers clang++ 20 >"$work/headers-clang" 2>&1 &
clang=$!
stood() { wait "$1" || { cat "$2"; return 1; }; }
if stood "$gcc" "$work/headers-gcc"; then pass "each header stands alone: g++, C++17"; else fail "each header stands alone: g++, C++17"; fi
if stood "$clang" "$work/headers-clang"; then pass "each header stands alone: clang++, C++20"; else fail "each header stands alone: clang++, C++20"; fi
echo '#include <millpond/millpond.hpp>' | tee "$work/two.cpp" >"$work/one.cpp"
echo 'int main() { return 0; }' >>"$work/one.cpp"
works "two files of one program include it" g++ -std=c++17 "${strict[@]}" "$work/one.cpp" "$work/two.cpp" -o "$work/both" "${link[@]}"
works "it does without exceptions and RTTI" g++ -std=c++17 -fno-exceptions -fno-rtti "${strict[@]}" "$work/one.cpp" -o "$work/none" "${link[@]}"
for compiler in g++ clang++; do
    for _ in 1 2 3; do
        TIMEFORMAT=%U
        { time "$compiler" -std=c++17 -O2 "-I$tree/include" -c "$work/one.cpp" -o "$work/one.o"; } 2>&1
    done | sort -n | head -n 1 | sed "s/^/        seconds that $compiler takes for the header: /"
done

# Lists of the C ABI that the header repeats are complete: values.cpp compares each entry.
complete() { # prefix of the C header's words, what values.cpp has
    [ "$(grep -cE "^    MILLPOND_$1_[A-Z0-9_]+ = [0-9]+,$" bindings/c/include/millpond/millpond.h)" = "$2" ]
}
works "no dtype is missing" complete DTYPE "$(grep -cE '"[A-Z0-9_]+", (4|6|8|16|32|64)\}' <(tr '{' '\n' <bindings/c/include/millpond/dtype.hpp))"
works "no kind of event is missing" complete EVENT "$(sed -n '/^enum class event_kind/,/^};/p' bindings/c/include/millpond/events.hpp | grep -c ' = ')"
codes() { sed -n "/^enum $1/,/^}/p" "$2" | grep -oE '= [0-9]+,$' | sort; }
same_codes() { diff <(codes 'millpond_result' bindings/c/include/millpond/millpond.h) <(codes 'class errc' bindings/c/include/millpond/error.hpp); }
works "no result is missing" same_codes

# The matrix. The build of one line and the run of the one before go side by side.
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS="suppressions=$root/bindings/c/tests/cpp/tsan.supp history_size=4"
export LSAN_OPTIONS="suppressions=$root/bindings/c/tests/cpp/lsan.supp"
build() { # name, compiler, flags...
    local name=$1 compiler=$2
    shift 2
    "$compiler" "$@" -g1 "${strict[@]}" bindings/c/tests/cpp/main.cpp -o "$work/tests-$name" "${link[@]}" >"$work/built-$name" 2>&1
}
lines=(
    "gcc-17 g++ -std=c++17 -O1"
    "clang-20 clang++ -std=c++20 -O1"
    "gcc-20-asan g++ -std=c++20 -fsanitize=address,undefined"
    "clang-17-asan clang++ -std=c++17 -fsanitize=address,undefined"
    "clang-20-tsan clang++ -std=c++20 -fsanitize=thread"
)
[ "$full" = no ] || lines+=(
    "gcc-20 g++ -std=c++20 -O2"
    "clang-17 clang++ -std=c++17 -O2"
    "gcc-17-asan g++ -std=c++17 -fsanitize=address,undefined"
    "clang-20-asan clang++ -std=c++20 -fsanitize=address,undefined"
    "gcc-17-tsan g++ -std=c++17 -fsanitize=thread"
)
before=''
for line in "${lines[@]}" ''; do
    building=''
    if [ -n "$line" ]; then
        # shellcheck disable=SC2086 # several words
        build $line &
        building=$!
    fi
    [ -z "$before" ] || tests "its tests: $before" "$work/tests-$before" "${files[@]}"
    before=${line%% *}
    if [ -n "$building" ] && ! wait "$building"; then
        fail "it is compiled: $before"
        head -n 40 "$work/built-$before"
        before=''
    fi
done
[ "$full" = no ] || under=valgrind tests "its tests, under valgrind" "$work/tests-gcc-17" elastic events models tensors values

# std::format, with the first compiler whose library has it.
formatting=''
for candidate in g++ clang++ "clang++-19 -stdlib=libc++"; do
    # shellcheck disable=SC2086 # several words
    if printf '#include <version>\n#ifndef __cpp_lib_format\n#error\n#endif\n' | $candidate -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
        formatting=$candidate
        break
    fi
done
if [ -n "$formatting" ]; then
    # shellcheck disable=SC2086 # several words
    works "formats are compiled: $formatting" $formatting -std=c++20 "${strict[@]}" bindings/c/tests/cpp/format.cpp -o "$work/format" "${link[@]}"
    tests "formats" "$work/format" format
else
    echo "SKIPPED formats: no compiler here has std::format"
fi

# With a CCCL that is too old for the resources, the header does without; they say which CCCL they need, and no more.
mkdir -p "$work/old/cuda"
echo '#define CCCL_VERSION 3000001' >"$work/old/cuda/version"
echo 'using cudaStream_t = struct CUstream_st *;' >"$work/old/cuda_runtime_api.h"
printf '#ifdef MILLPOND_HAS_CCCL_RESOURCE\n#error "too old"\n#endif\n' | cat "$work/two.cpp" - >"$work/old.cpp"
old() { # compiler
    local said
    "$1" -std=c++17 "${strict[@]}" -I"$work/old" -fsyntax-only "$work/old.cpp" || return 1
    if said=$(echo '#include <millpond/memory_resource.hpp>' | "$1" -std=c++17 "${strict[@]}" -I"$work/old" -fsyntax-only -x c++ - 2>&1); then return 1; fi
    echo "$said"
    [ "$(grep -c 'error:' <<<"$said")" = 1 ] && [[ $said = *"needs CCCL 3.1 or later"* ]]
}
for compiler in g++ clang++; do works "an old CCCL is no obstacle: $compiler" old "$compiler"; done

# CCCL, from PyPI: headers alone, and the static runtime library.
cccl=$cache/cccl
if [ ! -e "$cccl/complete" ]; then
    rm -rf "$cccl"
    mkdir -p "$cccl"
    works "CCCL's headers are fetched" python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$cccl" \
        "nvidia-cuda-cccl>=13,<14" "nvidia-cuda-runtime>=13,<14" "nvidia-cuda-crt>=13,<14" && touch "$cccl/complete"
fi
cuda=$cccl/nvidia/cu13
with_cccl=(-isystem "$cuda/include" -isystem "$cuda/include/cccl" "-L$cuda/lib" -lcudart_static -ldl -lrt)
resource=(g++-17 clang++-20)
[ "$full" = no ] || resource+=(g++-20 clang++-17)
for pair in "${resource[@]}"; do
    works "the resource for CCCL is compiled: $pair" "${pair%-*}" "-std=c++${pair##*-}" "${strict[@]}" bindings/c/tests/cpp/resource.cpp \
        -o "$work/resource-$pair" "${link[@]}" "${with_cccl[@]}"
    tests "the resource for CCCL: $pair" "$work/resource-$pair" resource
done

# Other build systems, in a clean folder, after the tree was moved.
mkdir "$work/elsewhere"
mv "$tree" "$work/elsewhere/"
tree=$work/elsewhere/millpond
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
examples=$tree/share/doc/millpond/examples/cpp
cp -r "$examples" "$work/by-cmake"
cp -r "$examples" "$work/by-make"
works "a project of CMake finds the package" cmake -S "$work/by-cmake" -B "$work/by-cmake/build" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_CXX_FLAGS=-Werror
works "and builds the examples" cmake --build "$work/by-cmake/build" -j 2
mkdir "$work/wanting"
wanting() { # version
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(wanting LANGUAGES C)\nfind_package(Millpond %s REQUIRED)\n' "$1" >"$work/wanting/CMakeLists.txt"
    cmake -S "$work/wanting" -B "$work/wanting/build-$1" -DCMAKE_PREFIX_PATH="$tree"
}
works "a project in C finds the version that is there" wanting 0.1
if wanting 9.0 >"$work/said" 2>&1 || ! grep -q 'compatible with requested version "9.0"' "$work/said"; then
    fail "a version that is not there is refused"
else pass "a version that is not there is refused"; fi
works "a Makefile with pkg-config builds the examples" make -C "$work/by-make" -j 2 CXX=clang++ CXXFLAGS='-O1 -Wall -Wextra -Werror'

# The examples say what their page says, built either way.
begin_pond() {
    export MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR="$work/gpu-$1" MILLPOND_SOFT_MEMORY=256M MILLPOND_RUNTIME_DIR="$work/pond-$1" MILLPOND_CONFIG="$work/config.toml"
    mkdir -p -m 700 "$MILLPOND_SOFT_DIR"
    : >"$MILLPOND_CONFIG"
    "$MILLPOND_BIN" serve >/dev/null 2>"$work/log" &
    pond=$!
    until "$MILLPOND_BIN" status >/dev/null 2>&1; do sleep 0.05; done
}
# Identities and numbers of a machine are its own.
general() { sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g; s/GPU-ID .*: ([0-9]+) tensors, ([0-9]+) of [0-9]+ bytes/GPU-ID NAME: \1 tensors, \2 of N bytes/'; }
typed() { # folder of programs, work folder
    begin_pond "$(basename "$2")"
    mkdir -p "$2"
    awk -v folder="$2" '/^```sh run$/ { name = folder "/typed.sh"; next } /^```text said$/ { name = folder "/wanted"; next } /^```/ { name = "" } name { print > name }' examples/cpp/README.md
    (cd "$1" && bash -e "$2/typed.sh") >"$2/said" 2>"$2/complained"
    if diff <(general <"$2/wanted") <(general <"$2/said"); then pass "the examples print what their page says: $(basename "$2")"; else
        fail "the examples print what their page says: $(basename "$2")"
        cat "$2/complained"
    fi
    end_pond
}
typed "$work/by-cmake/build" "$work/with-cmake"
typed "$work/by-make" "$work/with-make"

# C++ on the pages is compiled, and what has a main is run.
begin_pond pages
for page in docs/cpp.md docs/from-cuda-ipc-memory-manager.md README.md; do
    rm -f "$work"/block-*
    awk -v folder="$work" '/^```cpp$/ { name = sprintf("%s/block-%03d.cpp", folder, ++count); next } /^```/ { name = "" } name { print > name }' "$page"
    for block in "$work"/block-*.cpp; do
        [ -e "$block" ] || continue
        what="$page, $(basename "$block" .cpp)"
        if grep -q '^int main' "$block"; then
            works "$what is compiled" g++ -std=c++17 -Wall -Wextra -Werror "-I$tree/include" "$block" -o "$work/page" "${link[@]/$work\/installed/$work\/elsewhere}"
            works "$what runs" "$work/page"
        else
            works "$what is compiled" g++ -std=c++17 -Wall -Wextra "-I$tree/include" -include bindings/c/tests/cpp/page.hpp -fsyntax-only "$block"
        fi
    done
done
end_pond
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
