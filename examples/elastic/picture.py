"""Memory of two caches over time, as an SVG: what each uses, what each keeps idle, and the limit that they share."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 500
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 118, 62
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

# Blue and orange of Okabe and Ito, which nobody confuses. What is idle is lighter and has stripes, so that it is told apart
# without colours too.
STYLE = """\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; fill: #1f2328; font-size: 13px; }
.page { fill: #ffffff; }
.title { font-size: 20px; font-weight: 600; }
.small { font-size: 12px; fill: #59636e; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.axis { stroke: #59636e; stroke-width: 1; }
.phase { fill: #59636e; font-size: 12px; }
.band { fill: #f3f5f7; }
.a-used { fill: #0072b2; }
.a-idle { fill: #9ccbe8; }
.b-used { fill: #e08214; }
.b-idle { fill: #fbd6a5; }
.a-line { stroke: #0072b2; stroke-width: 1.5; }
.b-line { stroke: #c2660a; stroke-width: 1.5; }
.limit { stroke: #1f2328; stroke-width: 2; stroke-dasharray: 7 4; }
.edge { stroke: #ffffff; stroke-width: 1; fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; }
  .small, .phase { fill: #9198a1; }
  .grid { stroke: #2a313a; }
  .axis { stroke: #9198a1; }
  .band { fill: #151b23; }
  .a-used { fill: #3b9fdb; }
  .a-idle { fill: #1d4a68; }
  .b-used { fill: #f0a04b; }
  .b-idle { fill: #6b4415; }
  .a-line { stroke: #3b9fdb; }
  .b-line { stroke: #f0a04b; }
  .limit { stroke: #e6edf3; }
  .edge { stroke: #0d1117; }
}"""

UNITS = [("GiB", 1 << 30), ("MiB", 1 << 20)]


def draw(result: dict[str, Any]) -> str:
    """The picture of what `burst.py` has written."""
    limit, seconds = result["limit_bytes"], max(result["seconds"], 1e-3)
    unit, unit_bytes = next((one for one in UNITS if limit >= 2 * one[1]), UNITS[-1])
    top = limit * 1.12

    def x(time: float) -> float:
        return LEFT + PLOT_WIDTH * min(max(time / seconds, 0.0), 1.0)

    def y(amount: float) -> float:
        return TOP + PLOT_HEIGHT * (1 - amount / top)

    names = [cache["name"] for cache in result["caches"]]
    parts = [_head(result, names), _phases(result["phases"], seconds, x)]
    for tick in _ticks(limit / unit_bytes):
        at = y(tick * unit_bytes)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}"/>')
        parts.append(_text(LEFT - 10, at + 4, f"{tick:g}", "small", "end"))
    for tick in _ticks(seconds):
        parts.append(_text(x(tick), HEIGHT - BOTTOM + 20, f"{tick:g}", "small", "middle"))
    grid, layers = stacked([cache["samples"] for cache in result["caches"]])
    below = [0.0] * len(grid)
    for style, amounts in zip(("a-used", "a-idle", "b-idle", "b-used"), layers, strict=True):
        above = [low + more for low, more in zip(below, amounts, strict=True)]
        parts.append(f'<path class="{style}" d="{_area(grid, below, above, x, y)}"/>')
        if style.endswith("idle"):
            parts.append(f'<path fill="url(#{style[0]}-stripes)" d="{_area(grid, below, above, x, y)}"/>')
        below = above
    first = [one + other for one, other in zip(layers[0], layers[1], strict=True)]
    parts.append(f'<path class="edge" d="{_line(grid, first, x, y)}"/>')
    parts.append(f'<line class="limit" x1="{LEFT}" y1="{y(limit):.1f}" x2="{WIDTH - RIGHT}" y2="{y(limit):.1f}"/>')
    parts.append(_text(WIDTH - RIGHT, y(limit) - 7, f"limit of the group: {limit / unit_bytes:g} {unit}", "small", "end"))
    parts.append(f'<line class="axis" x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - RIGHT}" y2="{HEIGHT - BOTTOM}"/>')
    parts.append(f'<line class="axis" x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{HEIGHT - BOTTOM}"/>')
    middle = TOP + PLOT_HEIGHT / 2
    parts.append(f'<text class="small" text-anchor="middle" transform="translate(24 {middle:.0f}) rotate(-90)">memory of the GPU in {unit}</text>')
    parts.append(_text(LEFT + PLOT_WIDTH / 2, HEIGHT - 20, "seconds", "small", "middle"))
    label = f"Memory of two elastic caches over {seconds:.1f} seconds, under one limit"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
            f'aria-label="{label}">\n<style>\n{STYLE}\n</style>\n{_stripes()}\n<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="6"/>\n'
            + "\n".join(parts) + "\n</svg>\n")


def stacked(series: list[list[list[float]]]) -> tuple[list[float], list[list[float]]]:
    """Both caches on one row of times: what the first uses and keeps idle, what the second keeps idle and uses.
    A sample holds until the next one."""
    grid = sorted({sample[0] for samples in series for sample in samples})
    layers: list[list[float]] = []
    for samples in series:
        used, idle, at = [], [], -1
        for time in grid:
            while at + 1 < len(samples) and samples[at + 1][0] <= time:
                at += 1
            _, committed, _, held = samples[at] if at >= 0 else (0, 0, 0, 0)
            used.append(committed)
            idle.append(max(held - committed, 0))
        layers += [used, idle]
    layers = [layers[0], layers[1], layers[3], layers[2]]
    # Only where something changes, and at the end.
    rows = list(zip(*layers, strict=True))
    kept = [at for at in range(len(grid)) if at in (0, len(grid) - 1) or rows[at] != rows[at - 1]]
    return [grid[at] for at in kept], [[layer[at] for at in kept] for layer in layers]


def _head(result: dict[str, Any], names: list[str]) -> str:
    rows = [_text(LEFT, 34, "Two models, one limit: memory moves to whoever needs it", "title"),
            _text(LEFT, 55, f"{result['device']}; {result['checks']:,} outputs of attention compared with plain memory, {result['wrong']:,} differ", "small")]
    at = LEFT
    for style, stripes, word in (("a-used", None, f"{names[0]}: in use"), ("a-idle", "a", f"{names[0]}: idle"),
                                 ("b-idle", "b", f"{names[1]}: idle"), ("b-used", None, f"{names[1]}: in use")):
        rows.append(f'<rect class="{style}" x="{at}" y="69" width="14" height="14" rx="2"/>')
        if stripes:
            rows.append(f'<rect fill="url(#{stripes}-stripes)" x="{at}" y="69" width="14" height="14" rx="2"/>')
        rows.append(_text(at + 20, 80, word))
        at += 44 + 7 * len(word)
    return "\n".join(rows)


def _phases(phases: list[dict[str, Any]], seconds: float, x: Any) -> str:
    """Every other phase has a band behind it; each has its name above, where there is room for it."""
    rows = []
    for number, phase in enumerate(phases):
        start = phase["at"]
        end = phases[number + 1]["at"] if number + 1 < len(phases) else seconds
        width = x(end) - x(start)
        if number % 2 == 0:
            rows.append(f'<rect class="band" x="{x(start):.1f}" y="{TOP}" width="{width:.1f}" height="{PLOT_HEIGHT}"/>')
        # A name that is wider than its phase stands above the others.
        line = 8 if width > 7.2 * len(phase["name"]) else 22
        if width > 5.7 * len(phase["name"]):
            rows.append(_text(x(start) + width / 2, TOP - line if number % 2 else TOP - 8, phase["name"], "phase", "middle"))
    return "\n".join(rows)


def _stripes() -> str:
    pattern = ('<pattern id="{0}-stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
               '<line class="{0}-line" x1="0" y1="0" x2="0" y2="6" opacity="0.55"/></pattern>')
    return "<defs>" + pattern.format("a") + pattern.format("b") + "</defs>"


def _ticks(most: float) -> list[float]:
    """About six round numbers from 0 on."""
    step = 10 ** math.floor(math.log10(most / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if most / (step * factor) <= 8)
    return [number * step for number in range(int(most / step + 1e-9) + 1)]


def _steps(grid: list[float], amounts: list[float], x: Any, y: Any) -> list[str]:
    """Corners of a line that changes only where a sample says so."""
    points: list[str] = []
    for number, (time, amount) in enumerate(zip(grid, amounts, strict=True)):
        if number:
            points.append(f"{x(time):.1f},{y(amounts[number - 1]):.1f}")
        points.append(f"{x(time):.1f},{y(amount):.1f}")
    return list(dict.fromkeys(points))


def _line(grid: list[float], amounts: list[float], x: Any, y: Any) -> str:
    return "M" + "L".join(_steps(grid, amounts, x, y))


def _area(grid: list[float], below: list[float], above: list[float], x: Any, y: Any) -> str:
    return "M" + "L".join(_steps(grid, above, x, y) + _steps(grid, below, x, y)[::-1]) + "Z"


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
