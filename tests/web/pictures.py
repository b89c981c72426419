"""The pictures of the page in README and documents: taken from a real browser over a real pond, so that they cannot drift
from the program. What is in them is the same each time; times and identities are not."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import time

from scene import MIB, Scene
from webdriver import Browser

PICTURES = (
    ("page-light", "light", 1440, 1000, 1.5),
    ("page-dark", "dark", 1440, 1000, 1.5),
    ("page-phone", "light", 390, 844, 2.0),
)
MOST_BYTES = 150_000
LIFE_SECONDS = 75
"""So long caches grow and shrink before the pictures, so that the charts have something to show."""


def take(built: str, folder: pathlib.Path) -> None:
    if not shutil.which("pngquant"):
        raise SystemExit(
            "pngquant is needed: apt-get install pngquant; and for the letters fonts-inter and fonts-jetbrains-mono"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # The folder is in the pictures.
    scene = Scene(built, 128 * MIB, "/tmp/millpond")
    browser = None
    try:
        scene.serve()
        url = scene.open_web()
        browser = Browser()
        browser.go(url)
        scene.fill()
        live(scene)
        for name, scheme, width, height, scale in PICTURES:
            browser.scheme(scheme)
            browser.size(width, height, scale, mobile=width < 500)
            browser.go(url)
            browser.until(
                "return window.__millpond && window.__millpond.updates > 1 && document.querySelector('.chart path') !== null",
                what="the picture is live",
            )
            path = folder / f"{name}.png"
            browser.picture(path)
            shrink(path)
            print(f"{path}: {path.stat().st_size:,} bytes")
    finally:
        if browser:
            browser.end()
        scene.end()


def live(scene: Scene) -> None:
    """Caches that come and go, as they do under load."""
    held = 32
    end = time.monotonic() + LIFE_SECONDS
    steps = (-9, -4, 6, 3, -8, -2, 9, 4, -3, -5, 7, 2)
    number = 0
    while time.monotonic() < end:
        step = steps[number % len(steps)]
        number += 1
        to = max(8, min(32, held + step))
        if to > held:
            scene.tell(scene.kv, ["commit", 0, held, to])
        elif to < held:
            scene.tell(scene.kv, ["uncommit", 0, to, held], ["trim", 0])
        held = to
        time.sleep(2.5)


def shrink(path: pathlib.Path) -> None:
    """A palette takes a quarter of the bytes, and nobody sees it on a page of flat colours."""
    for colours in (256, 128, 64):
        subprocess.run(
            [
                "pngquant",
                "--force",
                "--strip",
                "--speed",
                "1",
                "--nofs",
                "--output",
                str(path),
                str(colours),
                str(path),
            ],
            check=True,
        )
        if path.stat().st_size <= MOST_BYTES:
            return
    raise SystemExit(f"{path} has {path.stat().st_size} bytes, and may have {MOST_BYTES}")
