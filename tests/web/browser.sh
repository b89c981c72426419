#!/usr/bin/env bash
# The page of `millpond web` in a real browser, over a real pond on the software driver.
#
#   tests/web/browser.sh [BIN] [ARGUMENT...]     BIN is cargo's folder with the programs; target/debug unless said
#
# It needs chromium and chromedriver, and with --pictures also pngquant and two fonts; what is not there is installed with
# apt-get. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
bin="${CARGO_TARGET_DIR:-target}/debug"
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    bin=$1
    shift
fi

need() {
    command -v "$1" >/dev/null && return
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq && $sudo apt-get install -y -qq "${@:2}" >/dev/null
}
need chromium chromium
need chromedriver chromium-driver
case " $* " in *" --pictures "*) need pngquant pngquant fonts-inter fonts-jetbrains-mono ;; esac

for made in millpond millpond-web libcuda.so libnvidia_ml.so libmillpond_preload.so lib_millpond.so; do
    [ -e "$bin/$made" ] || { echo "$bin/$made is not there: cargo build --workspace makes it" >&2; exit 1; }
done
exec python3 -B tests/web/browser.py --bin "$bin" "$@"
