"""Rows: a number beside its floor, its ratio and its goal; errors and skips are rows too."""

import statistics
import traceback

MORE_IS_BETTER = {"GB/s", "1/s"}


class Skipped(Exception):
    """Something that cannot be measured here, with the reason."""


def median(samples):
    return statistics.median(samples)


class Rows:
    """All rows of a run, in order."""

    def __init__(self, soft=False, say=print):
        self.rows = []
        self.soft = soft
        self.say = say

    def add(self, name, what, value, unit, *, floor=None, floor_what=None, ratio_goal=None,
            value_goal=None, gpu_only=True, samples=None, note=None):
        """A measured row. Of times and sizes a goal is an upper limit, of speeds a lower one.

        `gpu_only`: on the software driver the goal is shown but judges nothing.
        """
        more = unit in MORE_IS_BETTER
        ratio = value / floor if floor else None
        words, judged = [], []
        if ratio_goal is not None:
            words.append(f"at {'least' if more else 'most'} {ratio_goal:g}x")
            # A goal that has nothing to be compared with is not met in silence.
            judged.append(ratio is not None and (ratio >= ratio_goal if more else ratio <= ratio_goal))
        if value_goal is not None:
            words.append(f"{'at least' if more else 'at most'} {value_goal:g} {unit}")
            judged.append(value >= value_goal if more else value <= value_goal)
        ok = all(judged) if judged and not (gpu_only and self.soft) else None
        row = {
            "name": name, "what": what, "value": rounded(value), "unit": unit,
            "rounds": len(samples) if samples else 1,
            "floor": rounded(floor), "floor_what": floor_what, "ratio": rounded(ratio),
            "goal": ", ".join(words) or None, "ok": ok,
        }
        if samples and len(samples) > 1:
            row["samples"] = [rounded(sample) for sample in samples]
        if note:
            row["note"] = note
        return self._keep(row)

    def failed(self, name, what, error, peer=False):
        """Something that was to be measured and could not be."""
        return self._keep({
            "name": name, "what": what, "value": None, "unit": None, "rounds": 0, "floor": None,
            "floor_what": None, "ratio": None, "goal": None, "ok": None if peer else False,
            "error": str(error), "peer": peer,
        })

    def skipped(self, name, what, reason):
        """Something that there is no way to measure here."""
        return self._keep({
            "name": name, "what": what, "value": None, "unit": None, "rounds": 0, "floor": None,
            "floor_what": None, "ratio": None, "goal": None, "ok": None, "skipped": str(reason),
        })

    def attempt(self, name, what, measure, peer=False):
        """Calls `measure()`; whatever it raises becomes a row of that name. Gives its result."""
        try:
            return measure()
        except Skipped as reason:
            self.skipped(name, what, reason)
        except Exception as error:  # every failure is a row, none ends the run
            if not peer:
                self.say(traceback.format_exc().rstrip())
            self.failed(name, what, f"{type(error).__name__}: {error}", peer)
        return None

    def _keep(self, row):
        self.rows.append(row)
        self.say("  " + line(row))
        return row

    def value(self, name):
        """The value of the row of that name, or None."""
        return self._of(name, "value")

    def ratio(self, name):
        """The ratio of the row of that name, or None."""
        return self._of(name, "ratio")

    def _of(self, name, key):
        for row in self.rows:
            if row["name"] == name:
                return row[key]
        return None

    def counts(self):
        """(measured, failed of our own, failed peers, skipped, goals missed)"""
        errors = [row for row in self.rows if "error" in row]
        return {
            "measured": sum(row["value"] is not None for row in self.rows),
            "errors": sum(not row["peer"] for row in errors),
            "peer_errors": sum(row["peer"] for row in errors),
            "skipped": sum("skipped" in row for row in self.rows),
            "missed": sum(row["ok"] is False and "error" not in row for row in self.rows),
        }


def rounded(value):
    """Four digits that mean something."""
    return None if value is None else float(f"{value:.4g}")


def line(row):
    """One row for people."""
    if "error" in row:
        return f"{row['name']:<28} {'PEER ' if row['peer'] else ''}ERROR: {row['error'].splitlines()[-1][:300]}"
    if "skipped" in row:
        return f"{row['name']:<28} not measured: {row['skipped']}"
    show = lambda value: "-" if value is None else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    met = {True: "yes", False: "NO", None: "-"}[row["ok"]]
    return (f"{row['name']:<28} {show(row['value']) + ' ' + row['unit']:>16} "
            f"{show(row['floor']):>10} {show(row['ratio']):>8}   {row['goal'] or '-':<28} {met:<4} {row['what']}")


def table(rows):
    """All rows for people."""
    head = f"{'NAME':<28} {'MEDIAN':>16} {'FLOOR':>10} {'RATIO':>8}   {'GOAL':<28} {'MET':<4} WHAT"
    return "\n".join([head] + [line(row) for row in rows])
