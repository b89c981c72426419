"""A browser, driven by chromedriver over WebDriver: the few commands that the tests need, on the standard library.

Selenium would be a package with a downloader of its own, for what is a dozen requests with JSON.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
]
PATIENCE = 20.0
"""Nothing takes so long unless it does not come."""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Left": "\ue012",
    "Up": "\ue013",
    "Right": "\ue014",
    "Down": "\ue015",
}


class DriverError(Exception):
    """What chromedriver refused."""


class Browser:
    """One headless Chromium with an empty profile, and the driver that it belongs to."""

    def __init__(self, width: int = 1440, height: int = 1000) -> None:
        self.profile = tempfile.mkdtemp(prefix="millpond-browser-")
        self.log = open(os.path.join(self.profile, "chromedriver.log"), "w+", encoding="utf-8")
        # A process group of its own: it is ended as a whole, whatever the browser has started.
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )
        self.session = ""
        try:
            self.port = self._port()
            flags = [*FLAGS, f"--user-data-dir={self.profile}/data", f"--window-size={width},{height}"]
            options = {"args": flags, "binary": shutil.which("chromium") or shutil.which("google-chrome") or "chromium"}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.end()
            raise

    def _port(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            said = pathlib.Path(self.log.name).read_text(encoding="utf-8")
            if "on port " in said and "successfully" in said:
                return int(said.rsplit("on port ", 1)[1].split(".")[0])
            if self.driver.poll() is not None:
                raise DriverError(f"chromedriver ended: {said}")
            time.sleep(0.02)
        raise DriverError("chromedriver does not say its port")

    def _ask(self, method: str, path: str, body: object | None = None) -> object:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise DriverError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def ask(self, method: str, path: str, body: object | None = None) -> object:
        return self._ask(method, f"/session/{self.session}{path}", body)

    def go(self, url: str) -> None:
        self.ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: object) -> object:
        """Runs a function's body in the page, and returns what it returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script: str, *arguments: object, what: str = "") -> object:
        """Waits until a function's body returns something true."""
        deadline, last = time.monotonic() + PATIENCE, None
        while time.monotonic() < deadline:
            last = self.run(script, *arguments)
            if last:
                return last
            time.sleep(0.03)
        raise AssertionError(f"it did not come to be: {what or script} (the last answer: {last!r})")

    def find(self, selector: str) -> dict:
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, selector: str) -> None:
        self.ask("POST", f"/element/{self.find(selector)[ELEMENT]}/click")

    def type(self, selector: str, text: str) -> None:
        self.ask("POST", f"/element/{self.find(selector)[ELEMENT]}/value", {"text": text})

    def keys(self, *keys: str) -> None:
        """Presses keys one after the other, wherever the focus is."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def point(self, x: float, y: float) -> None:
        """Moves the pointer to a place of the window."""
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y), "origin": "viewport"}
        self.ask(
            "POST",
            "/actions",
            {
                "actions": [
                    {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}
                ]
            },
        )

    def cdp(self, command: str, **parameters: object) -> dict:
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def scheme(self, name: str) -> None:
        self.cdp(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": name},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )

    def picture(self, path: str | os.PathLike[str], whole: bool = False) -> None:
        """Saves what the window shows, or the whole page, as PNG."""
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"] if whole else None
        clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}} if size else {}
        shot = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def console(self) -> list[dict]:
        """What the console has been told since the last question."""
        return self.ask("POST", "/se/log", {"type": "browser"})

    def end(self) -> None:
        try:
            if self.session:
                self.ask("DELETE", "")
        except (OSError, DriverError):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)
