#!/usr/bin/env python3
"""The page in a real browser: against `millpond web` over a real pond on the software driver, and, for what a real pond
cannot easily show, against `mock.py`.

    python3 tests/web/browser.py --bin target/debug [--only PART] [--list]
    python3 tests/web/browser.py --bin target/debug --pictures docs/pictures

Needs chromium and chromedriver, and nothing that is not in Python's standard library. The last line is `N passed, N failed`.
Times are printed and decide nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mock
import pictures
import scenarios
from scene import MIB, Scene
from webdriver import Browser

LIVE = "return window.__millpond && window.__millpond.link === 'live' && window.__millpond.updates > 0"
ROWS = "return [...document.querySelectorAll(`[data-table=${arguments[0]}] tbody th`)].map((it) => it.textContent)"
CELL = "return [...document.querySelectorAll('.cell')].some((it) => it.getAttribute('aria-label').startsWith(arguments[0]))"


class Page:
    """The page in the browser, and what several tests do with it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser, self.url = browser, url

    def open(self) -> None:
        # What an earlier test has left in the console is that test's.
        self.browser.console()
        self.browser.go("about:blank")
        self.browser.go(self.url)
        self.browser.run("localStorage.clear(); sessionStorage.clear()")
        self.browser.go(self.url)
        self.browser.until(LIVE, what="the picture is live")

    def rows(self, table: str) -> list[str]:
        return self.browser.run(ROWS, table)

    def is_quiet(self, *allowed: str) -> None:
        """Nothing is in the console, but for lines that a test has caused on purpose."""
        said = [line["message"] for line in self.browser.console() if not any(it in line["message"] for it in allowed)]
        same(said, [], "the console is empty")

    def fits(self, what: str) -> None:
        wide, window = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        check(wide <= window, f"{what}: the page is {wide} wide in a window of {window}")

    def act(self, row: str, button: str) -> None:
        """Clicks a button in a row of a table."""
        clicked = self.browser.run(
            """
            const row = [...document.querySelectorAll('.rows tbody tr')].find((it) => it.querySelector('th').textContent === arguments[0]);
            const button = row && [...row.querySelectorAll('.acts button')].find((it) => it.textContent === arguments[1]);
            if (button) button.click();
            return Boolean(button);""",
            row,
            button,
        )
        check(clicked, f"the row of {row} has the button {button}")

    def confirm(self) -> str:
        """What the dialog says, confirmed."""
        text = self.browser.run("return document.querySelector('#confirm[open]').textContent.replaceAll(/\\s+/g, ' ')")
        self.browser.click("#c-go")
        return text

    def give_token(self, token: str) -> None:
        self.browser.click("#unlock")
        self.browser.until("return document.querySelector('#token').open")
        self.browser.run("document.getElementById('k-field').value = ''")
        self.browser.type("#k-field", token)
        self.browser.keys("Enter")


def median(told: dict) -> float:
    """Of the updates after the first picture."""
    return statistics.median(told["updatesMs"][1:] or told["updatesMs"])


def check(is_so: object, what: str) -> None:
    if not is_so:
        raise AssertionError(what)


def same(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, and not {wanted!r}")


def wait_until(question: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 30
    while not question():
        check(time.monotonic() < deadline, f"it did not come to be: {what}")
        time.sleep(0.05)


# -- against a real pond --


def the_page_shows_what_the_commands_show(page: Page, scene: Scene) -> None:
    page.open()
    models = [
        f"{version['model']}@{version['version']}"
        for model in scene.read("models")["models"]
        for version in model["versions"]
    ]
    same(page.rows("versions"), models, "versions")
    tensors = scene.read("tensor", "ls")["tensors"]
    same(sorted(page.rows("tensors")), sorted(it["name"] for it in tensors), "tensors")
    groups = [it["name"] for it in scene.read("group", "ls")["groups"]]
    same(page.rows("groups"), groups, "groups")
    same(sorted(page.rows("caches")), ["embedder/kv", "llama/kv"], "caches")
    same(set(page.rows("processes")) >= {"engine-0", "engine-3", "canary", "search", "trainer"}, True, "processes")
    for tensor in tensors:
        check(page.browser.run(CELL, f"{tensor['name']}: "), f"{tensor['name']} is in the map")
    events = page.browser.run("return document.querySelectorAll('#b-events li').length")
    check(events > 10, "events are shown")
    page.is_quiet()


def parts_of_the_map_are_to_scale(page: Page, scene: Scene) -> None:
    page.open()
    areas = page.browser.run("""
        return [...document.querySelectorAll('.cell')].map((it) => [it.__cell.bytes, it.getBoundingClientRect().width * it.getBoundingClientRect().height])""")
    total, area = sum(it[0] for it in areas), sum(it[1] for it in areas)
    same(total, scene.read("status")["devices"][0]["total_bytes"], "bytes of all parts")
    for size, drawn in areas:
        check(
            abs(drawn / area - size / total) < 0.002,
            f"{size} bytes of {total} have {drawn:.0f} of {area:.0f} square pixels",
        )


def what_is_made_appears_by_itself(page: Page, scene: Scene) -> None:
    page.open()
    page.browser.run("window.__same = true")
    begun = time.monotonic()
    scene.millpond("tensor", "create", "fresh/one", "--dtype", "f32", "--shape", "1024,1024")
    page.browser.until(CELL, "fresh/one: ", what="the new tensor is in the map")
    print(f"  a new tensor was in the map {time.monotonic() - begun:.2f} s after its command began")
    check("fresh/one" in page.rows("tensors"), "and in the table")
    page.browser.until(
        "return document.querySelector('#b-events').textContent.includes('fresh/one')", what="and among the events"
    )
    scene.millpond("tensor", "rm", "fresh/one")
    page.browser.until(
        "return !document.querySelector('#tensors').textContent.includes('fresh/one')", what="it goes as it came"
    )
    check(page.browser.run("return window.__same"), "the page was not loaded again")
    page.is_quiet()


def to_point_at_a_part_says_what_it_is(page: Page, _: Scene) -> None:
    page.open()
    page.browser.run("window.scrollTo(0, 0)")
    for name, expected in (
        ("acts/layer12", ["tensor", "Readers", "2: engine-0, pid", "engine-1, pid", "Owner", "of the card"]),
        ("llama@v2", ["version of a model", "12 tensors", "engine-3", "current"]),
        ("llama/kv", ["elastic cache", "serving", "kv-engine"]),
    ):
        x, y = page.browser.run(
            """
            const place = [...document.querySelectorAll('.cell')].find((it) => it.getAttribute('aria-label').startsWith(arguments[0] + ':')).getBoundingClientRect();
            return [place.left + place.width / 2, place.top + place.height / 2]""",
            name,
        )
        page.browser.point(x, y)
        tip = page.browser.until(
            "const tip = document.getElementById('tip'); return !tip.hidden && tip.textContent.startsWith(arguments[0]) && tip.textContent",
            name,
        )
        for part in expected:
            check(part in tip, f"the tip of {name} has {part!r}: {tip}")
    page.browser.point(5, 300)
    page.browser.until("return document.getElementById('tip').hidden", what="the tip goes with the pointer")
    page.is_quiet()


def everything_can_be_reached_by_keyboard(page: Page, _: Scene) -> None:
    page.open()
    browser, reached = page.browser, []
    name = "const it = document.activeElement; return it === document.body ? '' : (it.id || it.getAttribute('aria-label') || it.textContent || it.getAttribute('class')).trim().slice(0, 60)"
    outline = "const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none' || document.activeElement.matches('.map')"
    for _ in range(70):
        browser.keys("Tab")
        at = browser.run(name)
        if not at:
            break
        check(browser.run(outline), f"{at} shows that it has the focus")
        reached.append(at)
    for wanted in (
        "Skip to the GPUs",
        "filter",
        "unlock",
        "theme",
        "help-open",
        "gpu0-map",
        "llama@v1",
        "acts/layer12",
        "Size",
        "serving",
        "engine-0",
        "only-wrong",
        "b-events",
    ):
        check(wanted in reached, f"Tab reaches {wanted}: {reached}")
    browser.keys("/")
    same(browser.run("return document.activeElement.id"), "filter", "/ goes to the filter")
    browser.keys("l", "o", "r", "a")
    browser.until("return document.querySelectorAll('[data-table=tensors] tbody tr').length === 2", what="it filters")
    browser.keys("Escape")
    browser.until(
        "return document.querySelectorAll('[data-table=tensors] tbody tr').length > 5 && document.activeElement === document.body",
        what="Esc empties it",
    )
    browser.keys("?")
    browser.until("return document.getElementById('help').open", what="? opens the help")
    browser.keys("Escape")
    browser.until("return !document.getElementById('help').open", what="Esc closes it")
    browser.keys("1")
    browser.until("return document.activeElement.matches('.map')", what="1 goes to the map")
    seen = set()
    for key in ("Right", "Right", "Down", "Right", "Right", "Up", "Left"):
        browser.keys(key)
        seen.add(
            browser.until(
                "const id = document.activeElement.getAttribute('aria-activedescendant'); return id && document.getElementById(id).getAttribute('aria-label')"
            )
        )
    check(len(seen) > 3, f"arrows go from part to part: {seen}")
    browser.keys("Enter")
    title = browser.until(
        "return document.getElementById('inspector').open && document.getElementById('i-title').textContent"
    )
    check(any(title in it for it in seen), f"Enter shows all about the part: {title}")
    browser.keys("Escape")
    browser.until(
        "return !document.getElementById('inspector').open && document.activeElement.matches('.map')",
        what="the focus goes back",
    )
    for key, heading in (
        ("m", "t-models"),
        ("n", "t-tensors"),
        ("g", "t-limits"),
        ("p", "t-processes"),
        ("e", "t-events"),
    ):
        browser.keys(key)
        same(browser.run("return document.activeElement.id"), heading, f"{key} goes to its section")
    page.is_quiet()


def the_inspector_says_who_holds_a_tensor(page: Page, _: Scene) -> None:
    page.open()
    page.browser.run(
        "[...document.querySelectorAll('#tensors .name')].find((it) => it.textContent === 'acts/layer24').click()"
    )
    text = page.browser.until(
        "return document.getElementById('inspector').open && document.getElementById('inspector').textContent"
    )
    for part in (
        "acts/layer24",
        "BF16",
        "engine-0, pid",
        "engine-1, pid",
        "millpond inspect acts/layer24",
        "Shared with",
        "Slab",
    ):
        check(part in text, f"it has {part!r}: {text}")
    page.browser.keys("Escape")


def the_filter_finds_tensors_models_and_processes(page: Page, _: Scene) -> None:
    page.open()
    page.browser.type("#filter", "LLAMA")
    page.browser.until("return document.querySelectorAll('#models tbody tr').length === 2", what="two versions")
    same(page.rows("versions"), ["llama@v1", "llama@v2"], "versions")
    check("canary" in page.rows("processes") and "search" not in page.rows("processes"), "processes by what they hold")
    same(page.rows("tensors"), [], "no tensor")
    check(
        "No tensor fits the filter" in page.browser.run("return document.getElementById('tensors').textContent"),
        "and it is said",
    )
    dimmed = page.browser.run("return document.querySelectorAll('.cell.dim').length")
    check(dimmed > 5, "other parts of the map step back")
    page.is_quiet()


def without_a_token_nothing_can_be_changed(page: Page, scene: Scene) -> None:
    page.open()
    same(page.browser.run("return document.querySelectorAll('.acts button').length"), 0, "buttons")
    status = page.browser.ask(
        "POST",
        "/execute/async",
        {
            "args": [],
            "script": """
        const done = arguments[0];
        fetch('/api/v1/actions/swap', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"model":"llama","version":"v1"}' })
          .then(async (answer) => done([answer.status, (await answer.json()).error.kind]))""",
        },
    )
    same(status, [403, "denied"], "an action without a token")
    page.give_token("not-the-right-token-at-all")
    page.browser.until(
        "return document.getElementById('token').open && !document.getElementById('k-wrong').hidden",
        what="a wrong token is refused",
    )
    check(
        "does not allow actions" in page.browser.run("return document.getElementById('k-wrong').textContent"),
        "and it is said",
    )
    page.browser.keys("Escape")
    same(page.browser.run("return sessionStorage.getItem('millpond-token')"), None, "a wrong token is not kept")
    same(current(scene, "llama"), "v2", "the current version")
    page.is_quiet("403 (Forbidden)")


def current(scene: Scene, model: str) -> str:
    return next(it["current"] for it in scene.read("models")["models"] if it["name"] == model)


def with_a_token_actions_are_confirmed_and_carried_out(page: Page, scene: Scene) -> None:
    page.open()
    browser = page.browser
    page.give_token(scene.token)
    browser.until("return document.querySelectorAll('.acts button').length > 2", what="the buttons are there")
    page.act("llama@v1", "Swap")
    browser.click("#confirm [data-close]")
    same(current(scene, "llama"), "v2", "after Cancel")
    page.act("llama@v1", "Swap")
    said = page.confirm()
    for part in ("Make llama@v1 current?", "instead of v2", "4 readers of v2 keep it", "rollback"):
        check(part in said, f"the dialog has {part!r}: {said}")
    wait_until(lambda: current(scene, "llama") == "v1", "v1 is current")
    browser.until(
        "return [...document.querySelectorAll('#models tbody tr')].some((it) => it.textContent.includes('llama@v1') && it.textContent.includes('current'))",
        what="the page shows it",
    )
    page.act("llama@v1", "Roll back")
    check("Roll llama back to v2?" in page.confirm(), "the dialog says where to")
    wait_until(lambda: current(scene, "llama") == "v2", "v2 is current again")
    browser.until(
        "return [...document.querySelectorAll('#models tbody tr')].some((it) => it.textContent.includes('llama@v2') && it.textContent.includes('current'))"
    )
    page.act("llama@v1", "Retire")
    check("1 reader has left" in page.confirm(), "the dialog says when its memory goes")
    wait_until(lambda: "draining" in scene.millpond("models"), "v1 drains")
    page.act("serving", "Limit")
    browser.run("document.getElementById('c-limit').value = 'plenty'")
    browser.click("#c-go")
    check(
        "is no size"
        in browser.until("const it = document.getElementById('c-wrong'); return !it.hidden && it.textContent"),
        "what is no size is refused",
    )
    browser.run("document.getElementById('c-limit').value = '50%'")
    browser.click("#c-go")
    total = scene.read("status")["devices"][0]["total_bytes"]
    limit = lambda: next(it for it in scene.read("group", "ls")["groups"] if it["name"] == "serving")["devices"][0][
        "limit_bytes"
    ]
    wait_until(lambda: abs(limit() - total // 2) < 2 * MIB, "half of the card is the limit")
    # A size that differs is refused by the pond, whose words are shown.
    page.act("training", "Limit")
    browser.run("document.getElementById('c-limit').value = 'none'")
    browser.click("#c-go")
    wait_until(
        lambda: (
            next(it for it in scene.read("group", "ls")["groups"] if it["name"] == "training")["devices"][0][
                "limit_bytes"
            ]
            is None
        ),
        "no limit",
    )
    browser.until("return !document.getElementById('confirm').open")
    browser.click("#unlock")
    browser.until(
        "return document.querySelectorAll('.acts button').length === 0", what="without the token the buttons go"
    )
    page.is_quiet()


def a_daemon_that_is_killed_is_told_and_the_picture_goes_on(page: Page, scene: Scene) -> None:
    page.open()
    page.browser.run("window.__same = true")
    before = scene.read("status")
    os.kill(before["daemon_pid"], signal.SIGKILL)
    said = page.browser.until(
        "const it = document.getElementById('banner'); return !it.hidden && it.textContent.includes('replaced') && it.textContent"
    )
    check(f"epoch {before['epoch'] + 1} after {before['epoch']}" in said, f"the page says it: {said}")
    check(
        "replaced" in page.browser.run("return document.getElementById('said').textContent"),
        "it is said to screen readers",
    )
    page.browser.until(
        "return window.__millpond.link === 'live' && !document.getElementById('main').classList.contains('stale')",
        what="the picture is live",
    )
    scene.millpond("tensor", "create", "after/kill", "--dtype", "f32", "--shape", "1024")
    page.browser.until(
        "return document.getElementById('tensors').textContent.includes('after/kill')",
        what="what comes after it is shown",
    )
    page.browser.until(
        "return document.getElementById('b-events').textContent.includes('recovered')", what="the recovery is an event"
    )
    check(page.browser.run("return window.__same"), "the page was not loaded again")
    page.is_quiet()


def what_lives_in_a_hostile_pond_is_only_text(page: Page, scene: Scene) -> None:
    names = [
        "<img/src=x/onerror=window.pwned=1>",
        "<script>window.pwned=1</script>",
        '"><svg/onload=window.pwned=1>',
        "constructor",
        "__proto__",
        "x" * 200,
        "\u05e9\u05dc\u05d5\u05dd/\u0645\u0631\u062d\u0628\u0627",
    ]
    hostile = [["publish", name, 65536] for name in names]
    scene.act("<img src=x onerror=window.pwned=1>\u202egnp.exe", *hostile, ["get", names[0]])
    page.open()
    page.browser.type("#filter", "pwned")
    page.browser.until(
        "return document.querySelectorAll('[data-table=tensors] tbody tr').length === 3 && document.querySelectorAll('#processes tbody tr').length === 1",
        what="they are found by their text",
    )
    page.browser.run(
        "document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))"
    )
    page.browser.until("return document.querySelectorAll('[data-table=tensors] tbody tr').length > 8")
    shown = page.rows("tensors")
    for name in names:
        check(name in shown, f"{name!r} is shown as it is")
    programs = page.rows("processes")
    check(
        any("<img src=x" in it for it in programs) and not any("\u202e" in it for it in programs),
        f"what turns text around is written out: {programs}",
    )
    same(
        page.browser.run("return [window.pwned, document.images.length, document.scripts.length]"),
        [None, 0, 1],
        "nothing ran",
    )
    page.fits("hostile names")
    page.browser.size(390, 844, 2, True)
    page.fits("hostile names on a phone")
    page.browser.cdp("Emulation.clearDeviceMetricsOverride")
    page.is_quiet()
    for name in names:
        scene.millpond("tensor", "rm", name)


def the_keys_are_those_of_the_document(page: Page, _: Scene) -> None:
    page.open()
    keys = page.browser.run(
        "return [...document.querySelectorAll('#h-keys kbd')].map((it) => [it.textContent, it.parentElement.nextElementSibling.textContent])"
    )
    document = (pathlib.Path(__file__).resolve().parents[2] / "docs/page.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([^`]+)` \| (.*) \|$", document.split("| key | goes to |")[1].split("\n\n")[0], re.MULTILINE
    )
    same(keys, [list(row) for row in rows], "keys in docs/page.md")


def an_injected_script_does_not_run(page: Page, _: Scene) -> None:
    page.open()
    blocked = page.browser.ask(
        "POST",
        "/execute/async",
        {
            "args": [],
            "script": """
        const done = arguments[0], blocked = [];
        document.addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'window.pwned = 1';
        document.body.append(script);
        const div = document.createElement('div');
        div.innerHTML = '<img src="https://other.example/x.png"><b onclick="window.pwned = 2" style="color: red">x</b><iframe srcdoc="x"></iframe>';
        document.body.append(div);
        div.querySelector('b').click();
        fetch('https://other.example/').catch(() => {});
        const look = () => blocked.length >= 5 || performance.now() > 20000 + begun ? (div.remove(), script.remove(), done([blocked.sort(), window.pwned ?? null])) : setTimeout(look, 20);
        const begun = performance.now();
        look();""",
        },
    )
    kinds, pwned = blocked
    same(pwned, None, "nothing ran")
    for kind in ("script-src-elem", "script-src-attr", "style-src-attr", "img-src", "connect-src"):
        check(kind in kinds, f"{kind} was blocked: {kinds}")
    page.browser.console()


def the_accessibility_tree_is_complete(page: Page, _: Scene) -> None:
    page.open()
    page.browser.cdp("Accessibility.enable")
    nodes = [it for it in page.browser.cdp("Accessibility.getFullAXTree")["nodes"] if not it.get("ignored")]
    page.browser.cdp("Accessibility.disable")
    role = lambda node: node.get("role", {}).get("value", "")
    name = lambda node: node.get("name", {}).get("value", "").strip()
    roles = {role(it) for it in nodes}
    for landmark in ("banner", "main", "contentinfo", "search", "region", "status"):
        check(landmark in roles, f"there is a {landmark}: {sorted(roles)}")
    interactive = {
        "button",
        "link",
        "textbox",
        "searchbox",
        "checkbox",
        "listbox",
        "option",
        "combobox",
        "slider",
        "tab",
        "menuitem",
        "dialog",
    }
    nameless = [
        f"{role(it)} {it.get('backendDOMNodeId')}"
        for it in nodes
        if role(it) in interactive | {"img", "image", "table", "region", "heading", "columnheader"} and not name(it)
    ]
    same(nameless, [], "everything that needs a name has one")
    same(sum(role(it) == "heading" and level(it) == 1 for it in nodes), 1, "headings of level 1")
    check(sum(role(it) == "heading" and level(it) == 2 for it in nodes) >= 8, "each part has a heading")
    options = [name(it) for it in nodes if role(it) == "option"]
    check(
        any(it.startswith("acts/layer12: tensor, ") and "2 readers" in it for it in options),
        f"parts of the map say what they are: {options[:3]}",
    )
    check(sum(role(it) == "rowheader" for it in nodes) > 15, "rows of tables have headers")


def level(node: dict) -> int:
    return next((it["value"]["value"] for it in node.get("properties", []) if it["name"] == "level"), 0)


def text_has_contrast_in_both_themes(page: Page, _: Scene) -> None:
    for scheme in ("light", "dark"):
        page.browser.scheme(scheme)
        page.open()
        poor = page.browser.run("""
            const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
            const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
            const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((it) => it / 255).map((it) => it <= .03928 ? it / 12.92 : ((it + .055) / 1.055) ** 2.4); return .2126 * x + .7152 * y + .0722 * z; };
            const ground = (node) => { for (let at = node; at; at = at.parentElement) { const colour = rgba(getComputedStyle(at).backgroundColor); if (colour[3] > 200) return colour; } return [255, 255, 255]; };
            const poor = [];
            for (const node of document.querySelectorAll('body *')) {
              if (![...node.childNodes].some((it) => it.nodeType === 3 && it.textContent.trim()) || !node.getClientRects().length || node.closest('.unseen, .skip, script, svg')) continue;
              const a = light(rgba(getComputedStyle(node).color)), b = light(ground(node)), contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
              if (contrast < 4.5) poor.push(`${node.tagName} ${node.className} ${node.textContent.slice(0, 20)}: ${contrast.toFixed(2)}`);
            }
            const text = light(rgba(getComputedStyle(document.body).color));
            for (const cell of document.querySelectorAll('.cell')) {
              const b = light(rgba(getComputedStyle(cell).fill)), contrast = (Math.max(text, b) + .05) / (Math.min(text, b) + .05);
              if (contrast < 4.5) poor.push(`${cell.getAttribute('class')}: ${contrast.toFixed(2)}`);
            }
            return [...new Set(poor)]""")
        same(poor, [], f"text with less than 4.5 to 1 in {scheme}")
    page.browser.scheme("light")


def the_theme_follows_the_system_and_the_button(page: Page, _: Scene) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    page.browser.scheme("light")
    page.open()
    light = page.browser.run(ground)
    page.browser.scheme("dark")
    dark = page.browser.run(ground)
    check(light != dark, "the system's theme is followed")
    page.browser.click("#theme")
    same(page.browser.run(ground), light, "the button chooses light")
    page.browser.click("#theme")
    page.browser.scheme("light")
    same(page.browser.run(ground), dark, "then dark")
    page.browser.go(page.url)
    same(page.browser.run(ground), dark, "which the next visit keeps")
    page.open()


def it_is_readable_on_a_phone(page: Page, _: Scene) -> None:
    page.browser.size(390, 844, 2, True)
    try:
        page.open()
        page.fits("a phone")
        small = page.browser.run(
            "return [...document.querySelectorAll('.top button, .top input')].filter((it) => it.getClientRects().length && it.getBoundingClientRect().height < 40).map((it) => it.id)"
        )
        same(small, [], "buttons that are too small for a finger")
        columns = page.browser.run(
            "return new Set([...document.querySelectorAll('.panel')].filter((it) => it.getClientRects().length).map((it) => Math.round(it.getBoundingClientRect().left))).size"
        )
        same(columns, 1, "columns")
    finally:
        page.browser.cdp("Emulation.clearDeviceMetricsOverride")


def a_pond_that_stops_is_away_and_comes_back(page: Page, scene: Scene) -> None:
    page.open()
    page.browser.run("window.__same = true")
    scene.millpond("stop")
    scene.keeper.wait()
    said = page.browser.until(
        "return document.documentElement.dataset.link === 'away' && !document.getElementById('banner').hidden && document.getElementById('banner').textContent"
    )
    check(said.startswith("Pond away. ") and len(said) > 30, f"it says why: {said}")
    check(
        page.browser.run(
            "return document.getElementById('main').classList.contains('stale') && document.querySelectorAll('#tensors tbody tr').length > 3"
        ),
        "the last picture stays, in grey",
    )
    page.browser.until("return / old\\./.test(document.getElementById('banner-age').textContent)", what="with its age")
    # What they have mapped of the old pond is still on the card.
    scene.end_processes()
    scene.serve()
    page.browser.until(
        LIVE
        + " && document.getElementById('banner').hidden && !document.getElementById('main').classList.contains('stale')",
        what="it comes back by itself",
    )
    page.browser.until(
        "return document.getElementById('tensors').textContent.includes('No tensor yet')",
        what="an empty pond says what to type",
    )
    scene.millpond("tensor", "create", "another/pond", "--dtype", "f32", "--shape", "1024")
    page.browser.until(
        "const text = document.getElementById('b-events').textContent; return text.includes('another/pond') && !text.includes('llama')",
        what="events are those of the new pond",
    )
    check(page.browser.run("return window.__same"), "the page was not loaded again")
    page.is_quiet()


def a_web_service_that_ends_is_told_and_comes_back(page: Page, scene: Scene) -> None:
    page.open()
    port = int(page.url.rstrip("/").rsplit(":", 1)[1])
    scene.close_web(signal.SIGKILL)
    said = page.browser.until(
        "return document.documentElement.dataset.link === 'offline' && !document.getElementById('banner').hidden && document.getElementById('banner').textContent"
    )
    check("does not answer" in said, f"it says so: {said}")
    same(scene.open_web(port=port).rstrip("/"), page.url.rstrip("/"), "the same address")
    page.browser.until(LIVE + " && document.getElementById('banner').hidden", what="it comes back by itself")
    page.is_quiet("ERR_")


def ten_thousand_tensors_are_shown(page: Page, scene: Scene) -> None:
    scene.tell(scene.kv, ["uncommit", 0, 0, 32], ["trim", 0])
    scene.act(
        "filler", *[["publish", f"many/{number % 8}/t{number}", 256 * (1 + number % 7)] for number in range(10_000)]
    )
    page.open()
    page.browser.until(
        "return document.getElementById('n-tensors').textContent.startsWith('10,0')", what="all are counted"
    )
    check(
        "the 1,000 largest one by one" in page.browser.run("return document.getElementById('n-tensors').textContent"),
        "it is said which are shown",
    )
    check(any(it.startswith("many/") for it in page.rows("sums")), "sums are by the first part of the name")
    page.browser.until("return window.__millpond.updates > 2")
    told = page.browser.run(
        "return { ...window.__millpond, paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, nodes: document.querySelectorAll('.map *').length }"
    )
    print(
        f"  10,000 tensors: first paint {told['paint']:.0f} ms, first picture {told['firstPictureMs']:.0f} ms, update {median(told):.1f} ms (longest {told['longestUpdateMs']:.1f} ms), {told['nodes']} nodes in the map"
    )
    check(told["nodes"] < 2500, "a map has about 2,000 nodes at most")
    page.is_quiet()


# -- against the mock --


def the_mock_tells_what_a_real_pond_tells(page: Page, scene: Scene) -> None:
    import urllib.request

    with urllib.request.urlopen(f"{page.url}api/v1/overview", timeout=30) as answer:
        real = json.load(answer)
    lost: list[str] = []

    def compare(told: object, said: object, path: str) -> None:
        if isinstance(told, dict) and isinstance(said, dict) and path not in (".user_names",):
            for key, value in told.items():
                if key not in said:
                    lost.append(f"{path}.{key}")
                else:
                    compare(value, said[key], f"{path}.{key}")
        elif isinstance(told, list) and isinstance(said, list) and told and said:
            compare(told[0], said[0], f"{path}[]")

    compare(scenarios.overview("demo"), real, "")
    same(lost, [], "fields that only the mock has")


def a_thousand_tensors_are_shown_one_by_one(page: Page, server: mock.Mock) -> None:
    server.turn_to("thousand")
    page.open()
    page.browser.until("return document.querySelectorAll('.cell.k-tensor').length === 1000", what="a thousand parts")
    page.browser.until("return window.__millpond.updates > 4")
    told = page.browser.run("return window.__millpond")
    print(f"  1,000 tensors that all move: update {median(told):.1f} ms, longest {told['longestUpdateMs']:.1f} ms")
    same(page.browser.run("return document.querySelectorAll('[data-table=tensors] tbody tr').length"), 20, "rows")
    page.browser.run(
        "[...document.querySelectorAll('#tensors .more-rows button')].find((it) => it.getClientRects().length).click()"
    )
    same(
        page.browser.run("return document.querySelectorAll('[data-table=tensors] tbody tr').length"),
        220,
        "rows, after more were asked for",
    )
    page.is_quiet()


def eight_cards_stand_side_by_side(page: Page, server: mock.Mock) -> None:
    server.turn_to("eight")
    page.open()
    page.browser.until("return document.querySelectorAll('.map').length === 8", what="eight maps")
    same(page.browser.run("return document.getElementById('q-what').textContent"), "On 8 GPUs", "the question")
    page.browser.keys("8")
    same(page.browser.run("return document.activeElement.id"), "gpu7-map", "8 goes to the last one")
    page.fits("eight cards")
    page.is_quiet()


def a_hundred_thousand_tensors_are_summed_up(page: Page, server: mock.Mock) -> None:
    server.turn_to("hundred_thousand")
    page.open()
    page.browser.until(
        "return document.getElementById('n-tensors').textContent === '100,000, the 1,000 largest one by one'",
        what="all are counted",
    )
    check(page.browser.run(CELL, "12,375 tensors in job"), "sums are parts of the map")
    check(
        page.browser.run("return document.querySelectorAll('.map *').length") < 2500,
        "a map has about 2,000 nodes at most",
    )
    page.is_quiet()


def hostile_names_of_older_ponds_are_only_text(page: Page, server: mock.Mock) -> None:
    server.turn_to("hostile")
    page.open()
    same(
        page.browser.run(
            "return [window.pwned, document.images.length, document.scripts.length, document.querySelectorAll('h1').length]"
        ),
        [None, 0, 1, 1],
        "nothing ran",
    )
    check(
        not page.browser.run("return /[\\u202e\\u200b\\u2066]/.test(document.body.textContent)"),
        "nothing invisible is left",
    )
    page.fits("hostile names")
    page.browser.run(
        "[...document.querySelectorAll('#tensors .name')].forEach((it) => { it.click(); document.getElementById('inspector').close(); })"
    )
    page.browser.size(390, 844, 2, True)
    page.fits("hostile names on a phone")
    page.browser.cdp("Emulation.clearDeviceMetricsOverride")
    page.is_quiet()


def what_is_wrong_is_said_first(page: Page, server: mock.Mock) -> None:
    server.turn_to("wrong")
    page.open()
    text = page.browser.run("return document.getElementById('a-wrong').textContent")
    check(text.startswith("5 problems and 3 warnings"), f"they are counted: {text}")
    check("its programs hold more than they say" in text and "ipc/frames" in text, f"the worst are named: {text}")
    page.browser.click("#only-wrong")
    same(
        page.browser.run(
            "return [...document.querySelectorAll('#b-events li')].every((it) => it.matches('.warn, .bad'))"
        ),
        True,
        "only what may be wrong",
    )
    server.turn_to("demo")
    page.browser.until(
        "return document.getElementById('a-wrong').textContent.startsWith('1 problem')",
        what="what is over goes, and the death of a host is remembered for an hour",
    )


def an_empty_pond_says_what_to_type(page: Page, server: mock.Mock) -> None:
    server.turn_to("empty")
    page.open()
    text = page.browser.run("return document.getElementById('main').textContent")
    for command in ("millpond tensor create", "millpond load", "millpond run --limit 10G", "millpond group set"):
        check(command in text, f"it has {command!r}")
    page.is_quiet()


def a_pond_that_is_away_from_the_beginning_is_said(page: Page, server: mock.Mock) -> None:
    server.turn_to("away")
    page.browser.go("about:blank")
    page.browser.go(page.url)
    text = page.browser.until("const it = document.getElementById('hello'); return !it.hidden && it.textContent")
    check(
        "The pond is away" in text and "Nobody listens at" in text and "millpond serve --detach" in text,
        f"it says why and what to type: {text}",
    )
    server.turn_to("demo")
    page.browser.until(LIVE + " && document.getElementById('hello').hidden", what="it comes by itself")


def who_may_not_see_is_told_why(page: Page, server: mock.Mock) -> None:
    server.turn_to("forbidden")
    page.browser.go("about:blank")
    page.browser.go(page.url)
    text = page.browser.until("const it = document.getElementById('hello'); return !it.hidden && it.textContent")
    check("not for user 33" in text and "--token-file FILE" in text, f"it says why: {text}")
    server.turn_to("demo")
    page.browser.until(LIVE, what="a right that is given later is enough")
    page.browser.console()


def a_token_opens_a_locked_page(page: Page, server: mock.Mock) -> None:
    server.turn_to("locked")
    browser = page.browser
    browser.go("about:blank")
    browser.go(page.url)
    browser.until("return document.getElementById('token').open", what="the page asks for a token")
    browser.type("#k-field", "wrong")
    browser.keys("Enter")
    browser.until(
        "return document.getElementById('token').open && !document.getElementById('k-wrong').hidden",
        what="a wrong one is refused",
    )
    browser.type("#k-field", mock.TOKEN)
    browser.keys("Enter")
    browser.until(LIVE, what="the right one opens")
    same(
        browser.run("return [sessionStorage.getItem('millpond-token'), localStorage.getItem('millpond-token')]"),
        [mock.TOKEN, None],
        "it is kept in this tab only",
    )
    browser.run("sessionStorage.clear()")
    browser.console()


REAL = [
    the_page_shows_what_the_commands_show,
    parts_of_the_map_are_to_scale,
    what_is_made_appears_by_itself,
    to_point_at_a_part_says_what_it_is,
    everything_can_be_reached_by_keyboard,
    the_inspector_says_who_holds_a_tensor,
    the_filter_finds_tensors_models_and_processes,
    the_accessibility_tree_is_complete,
    text_has_contrast_in_both_themes,
    the_theme_follows_the_system_and_the_button,
    it_is_readable_on_a_phone,
    the_keys_are_those_of_the_document,
    an_injected_script_does_not_run,
    what_lives_in_a_hostile_pond_is_only_text,
    the_mock_tells_what_a_real_pond_tells,
    without_a_token_nothing_can_be_changed,
    with_a_token_actions_are_confirmed_and_carried_out,
    a_daemon_that_is_killed_is_told_and_the_picture_goes_on,
    a_web_service_that_ends_is_told_and_comes_back,
    ten_thousand_tensors_are_shown,
    a_pond_that_stops_is_away_and_comes_back,
]
MOCKED = [
    eight_cards_stand_side_by_side,
    a_thousand_tensors_are_shown_one_by_one,
    a_hundred_thousand_tensors_are_summed_up,
    hostile_names_of_older_ponds_are_only_text,
    what_is_wrong_is_said_first,
    an_empty_pond_says_what_to_type,
    a_pond_that_is_away_from_the_beginning_is_said,
    who_may_not_see_is_told_why,
    a_token_opens_a_locked_page,
]


class Count:
    def __init__(self, only: str) -> None:
        self.only, self.passed, self.failed = only, 0, 0

    def chooses(self, test: Callable) -> bool:
        return self.only in test.__name__

    def run(self, test: Callable, page: Page, ground: object, keep: pathlib.Path | None) -> None:
        begun, name = time.monotonic(), test.__name__.replace("_", " ")
        try:
            test(page, ground)
            self.passed += 1
            print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception:
            self.failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
            if keep:
                with contextlib.suppress(Exception):
                    page.browser.picture(keep / f"{test.__name__}.png", whole=True)
                    print(f"  picture: {keep / test.__name__}.png", flush=True)


@contextlib.contextmanager
def serving_mock() -> Iterator[mock.Mock]:
    server = mock.Mock(0, "demo")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def tests(built: str, only: str, keep: pathlib.Path | None) -> int:
    count = Count(only)
    browser = Browser()
    try:
        browser.scheme("light")
        if any(map(count.chooses, REAL)):
            scene = Scene(built, 8 * MIB)
            try:
                scene.serve()
                url = scene.open_web()
                scene.fill()
                for test in filter(count.chooses, REAL):
                    count.run(test, Page(browser, url), scene, keep)
            finally:
                browser.go("about:blank")
                scene.end()
        with serving_mock() as server:
            for test in filter(count.chooses, MOCKED):
                count.run(test, Page(browser, f"http://127.0.0.1:{server.server_address[1]}/"), server, keep)
            browser.go("about:blank")
    finally:
        browser.end()
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed or not count.passed else 0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--bin", help="cargo's folder with the programs and the software driver, such as target/debug"
    )
    arguments.add_argument("--only", default="", help="run tests whose name has this text")
    arguments.add_argument("--list", action="store_true", help="print the tests' names")
    arguments.add_argument("--keep", type=pathlib.Path, help="a folder for pictures of what failed")
    arguments.add_argument(
        "--pictures", type=pathlib.Path, help="take the pictures of the documents into this folder, and run no test"
    )
    given = arguments.parse_args()
    if given.list:
        print("\n".join(test.__name__ for test in [*REAL, *MOCKED]))
        return 0
    if not given.bin:
        arguments.error("--bin is needed")
    if given.pictures:
        pictures.take(given.bin, given.pictures)
        return 0
    return tests(given.bin, given.only.replace(" ", "_"), given.keep)


if __name__ == "__main__":
    sys.exit(main())
