#!/usr/bin/env bash
# The package for C and C++ on a machine with a GPU: its examples, built there from the archive, beside a pond of their own.
#   tests/cpp_gpu.sh ARCHIVE
#   MILLPOND_BIN   the `millpond` program
# Beside the archive, cccl.tar.xz has CCCL's headers for the example of a memory resource; else they are the compiler's own.
# rmm.tar.xz has RMM, for rmm.cpp beside it.
#   NVCC           CUDA's compiler, 13 or later; `nvcc`, $CUDA_HOME/bin/nvcc or /usr/local/cuda/bin/nvcc unless said
# What cannot be built here is a line that begins with SKIPPED; on a GPU that is a failure. Ends with "N passed, N failed".
set -uo pipefail
: "${MILLPOND_BIN:?names the millpond program}"
archive=$(realpath "${1:?the archive of the package}")
MILLPOND_BIN=$(realpath "$MILLPOND_BIN")
export MILLPOND_BIN MILLPOND_DRIVER="${MILLPOND_DRIVER:-cuda}"
passed=0 failed=0 pond=''
work=$(mktemp -d)
finish() {
    [ -z "$pond" ] || { kill "$pond"; wait "$pond"; } 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; [ ! -s "$work/said" ] || tail -n 30 "$work/said"; }
works() { # what, command...
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1 </dev/null; then pass "$what"; else fail "$what"; fi
}
says() { # what, the last line, command...
    local what=$1 wanted=$2
    shift 2
    "$@" >"$work/said" 2>&1 </dev/null
    local code=$? found
    found=$(tail -n 1 "$work/said")
    if [ "$code" = 0 ] && [ "$found" = "$wanted" ]; then pass "$what"; else
        fail "$what: '$found' (exit code $code) instead of '$wanted'"
    fi
}

tar -C "$work" -xzf "$archive" || exit 1
tree=$(echo "$work"/millpond-*-linux)
export MILLPOND_RUNTIME_DIR="$work/pond" MILLPOND_CONFIG="$work/config.toml" MILLPOND_SOFT_DIR="$work/gpu"
mkdir -m 700 "$MILLPOND_SOFT_DIR"
: >"$MILLPOND_CONFIG"
"$MILLPOND_BIN" serve >/dev/null 2>"$work/log" &
pond=$!
for _ in $(seq 1 600); do
    "$MILLPOND_BIN" status >/dev/null 2>&1 && break
    sleep 0.1
done

# As the Makefile of the examples does, which needs pkg-config.
cd "$tree/share/doc/millpond/examples/cpp" || exit 1
flags=(-std=c++17 -O2 "-I$tree/include" "-L$tree/lib" -lmillpond)
plain=(create get free info producer consumer)
if command -v c++ >/dev/null; then
    for name in "${plain[@]}"; do
        works "$name is built" c++ -Wall -Wextra -Werror "$name.cpp" -o "$name" "${flags[@]}" "-Wl,-rpath,$tree/lib"
    done
    works "info runs" ./info
    id=$(./create 65536 buffers/first)
    says "get maps what create made" "00 00 00 00 00 00 00 00 " ./get "$id"
    says "free frees it" freed ./free buffers/first
    says "producer publishes" "published frames/2" ./producer 3
    says "consumer reads all of it" "frames/2 adds up to 614400" ./consumer 3
else
    echo "SKIPPED ${plain[*]}: there is no C++ compiler"
fi

nvcc=${NVCC:-$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc 2>/dev/null | head -n 1)}
if [ -n "$nvcc" ] && [ "$MILLPOND_DRIVER" = cuda ]; then
    "$nvcc" --version | tail -n 2 | head -n 1
    newer=()
    if [ -e "$(dirname "$archive")/cccl.tar.xz" ]; then
        mkdir "$work/cccl"
        tar -C "$work/cccl" -xJf "$(dirname "$archive")/cccl.tar.xz" && newer=("-I$work/cccl")
    fi
    # The first two with the compiler's own CCCL, whichever it is.
    for name in kernel multiply resource; do
        libraries=()
        [ "$name" != multiply ] || libraries=(-lcublas)
        [ "$name" != resource ] || libraries=("${newer[@]}")
        works "$name is built" "$nvcc" "${NVCCFLAGS:--arch=native}" "$name.cu" -o "$name" "${flags[@]}" "${libraries[@]}" -Xlinker -rpath -Xlinker "$tree/lib"
    done
    says "a kernel writes a tensor" written ./kernel write
    says "another process's kernel reads it" "1048576 of 1048576 are right" ./kernel read
    says "a model is published" "example/layer@v1 is current" ./multiply publish
    says "cuBLAS multiplies it" "512 of 512 rows are right" ./multiply run
    says "and again, in another process" "512 of 512 rows are right" ./multiply run
    says "thrust works in memory of the pond" "sorted, and adds up to -549755289600" ./resource
    if [ -e "$(dirname "$archive")/rmm.tar.xz" ]; then
        # RMM asks for C++20, and brings the CCCL that it is written for.
        tar -C "$work" -xJf "$(dirname "$archive")/rmm.tar.xz"
        cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
        rmm=("$work/librmm" "$work/rapids_logger")
        works "RMM's containers are built" c++ -std=c++20 -O1 "$(dirname "$archive")/rmm.cpp" -o rmm "-I$tree/include" \
            -isystem "${rmm[0]}/include/rapids" "-I${rmm[0]}/include" "-I${rmm[1]}/include" -isystem "$cuda/include" "-L$tree/lib" -lmillpond \
            "-L${rmm[0]}/lib64" -lrmm "-L${rmm[1]}/lib64" -lrapids_logger "-L$cuda/lib64" -lcudart_static -ldl -lrt -pthread \
            "-Wl,-rpath,$tree/lib:${rmm[0]}/lib64:${rmm[1]}/lib64"
        says "RMM's containers work in memory of the pond" "nothing is left" ./rmm
    else
        echo "SKIPPED rmm: there is no RMM beside the archive"
    fi
    works "the model is removed" "$MILLPOND_BIN" rm example/layer
    tensors() { "$MILLPOND_BIN" status --json | sed -n 's/^ *"tensors": \([0-9]*\),*$/\1/p' | head -n 1; }
    for _ in $(seq 1 100); do
        [ "$(tensors)" = 0 ] && break
        sleep 0.1
    done
    says "nothing is left of it" 0 tensors
else
    echo "SKIPPED kernel, multiply and resource: nvcc is not installed, or the driver is not CUDA's"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
