"""Samples of allocators as numbers under names: medians, p90s, ratios, and a table for people."""

import statistics

BESIDE = "async"
OWN = "pool"
OVERS = (("torch", BESIDE), ("cub", BESIDE), ("cub_2", BESIDE), ("rmm", BESIDE), ("rmm_async", BESIDE), ("malloc", BESIDE),
         (OWN, BESIDE), (OWN, "torch"), (OWN, "cub"), (OWN, "rmm"), (OWN, "rmm_async"))
ORDER = (OWN, BESIDE, "torch", "cub", "cub_2", "rmm", "rmm_async", "malloc")
WHAT = {
    OWN: "Millpond's stream-ordered pool", BESIDE: "cuMemAllocAsync, warm", "torch": "torch's caching allocator",
    "cub": "CUB, bins of powers of 8", "cub_2": "CUB, bins of powers of 2", "rmm": "RMM's pool", "rmm_async": "RMM over cuMemAllocAsync",
    "malloc": "cudaMalloc and cudaFree",
}
TWO_STREAMS = {
    "two_streams": "a block of one stream, then one of another: two pairs",
    "recorded": "the same, and the other stream uses the first block",
    "handed": "a block of one stream is freed on another: one pair",
}
GOALS = {
    "pool_over_async": 2.0,
    "mixed_pool_over_async": 2.0,
    "train_pool_over_torch": 1.01,
    "train_replaced_over_torch": 1.01,
}


def p90(samples):
    """The sample that nine of ten are not above."""
    ordered = sorted(samples)
    return ordered[-(-len(ordered) * 9 // 10) - 1]


def ratio(own, theirs):
    """The median over rounds of the medians of a round, one over the other: what was measured side by side is compared."""
    rounds = [statistics.median(one) / statistics.median(other) for one, other in zip(own, theirs) if statistics.median(other) > 0]
    return round(statistics.median(rounds), 4) if rounds else None


def flat(rounds):
    return [sample for one in rounds for sample in one]


def of_row(found, rounds, name_of, over_of):
    """Medians, p90s and ratios of one row of peers into `found`."""
    for name, samples in rounds.items():
        if flat(samples):
            found[name_of(name)] = round(statistics.median(flat(samples)) / 1e3, 4)
            found[name_of(name).removesuffix("_us") + "_p90_us"] = round(p90(flat(samples)) / 1e3, 4)
    for own, theirs in OVERS:
        if rounds.get(own) and rounds.get(theirs):
            found[over_of(own, theirs)] = ratio(rounds[own], rounds[theirs])


def numbers(measured):
    """All numbers of what peers.py has said."""
    found = {}
    for size, rounds in measured["pairs"].items():
        of_row(found, rounds, lambda name: f"{name}_{size}_us", lambda own, theirs: f"{own}_over_{theirs}_{size}")
    # Over all sizes the geometric mean; a size that is missing would make it another number.
    for own, theirs in OVERS:
        ratios = [found.get(f"{own}_over_{theirs}_{size}") for size in measured["pairs"]]
        if ratios and all(ratios):
            found[f"{own}_over_{theirs}"] = round(statistics.geometric_mean(ratios), 4)
    mixed = measured["mixed"]
    found["mixed_used_bytes"], found["mixed_blocks"] = mixed["used_bytes"], mixed["blocks"]
    of_row(found, {name: one.get("rounds", []) for name, one in mixed["peers"].items()}, lambda name: f"mixed_{name}_us",
           lambda own, theirs: f"mixed_{own}_over_{theirs}")
    for name, one in mixed["peers"].items():
        found[f"mixed_{name}_first_us"] = round(one["first_ns"] / 1e3, 4)
        found[f"mixed_{name}_card_bytes"] = one["card_bytes"]
        held = one.get("held_last_bytes") or one.get("held_bytes")
        # Who has no books of its own is judged by the card.
        held = held if held is not None else one["card_bytes"]
        found[f"mixed_{name}_held_bytes"] = held
        found[f"mixed_{name}_held_over_used"] = round(held / mixed["used_bytes"], 4)
    for row, rounds in measured["two_streams"].items():
        of_row(found, rounds, lambda name: f"{row}_{name}_us", lambda own, theirs: f"{row}_{own}_over_{theirs}")
    for size, rounds in measured["known_second"].items():
        of_row(found, rounds, lambda name: f"known_second_{name}_{size}_us", lambda own, theirs: f"known_second_{own}_over_{theirs}_{size}")
    found["calls_ns"] = {name: round(statistics.median(flat(rounds)), 2) for name, rounds in measured["calls"].items() if rounds}
    return found


def judge(found, judged):
    """Each goal with its number, and whether it is met; `None` where there is no number, or no speed is judged."""
    verdicts = {}
    for name, goal in GOALS.items():
        value = found.get(name)
        verdicts[name] = {"value": value, "goal": goal, "ok": value <= goal if judged and value is not None else None}
    return verdicts


def table(found, sizes, absent):
    """Lines for people: peers by sizes, in microseconds for a block out and back."""
    columns = [*sizes, "mixed", "held/used"]
    lines = ["PEER       " + "".join(f"{column:>11}" for column in columns) + "  us for a block out and back; median, below it p90"]
    for name in ORDER:
        if name in absent:
            lines.append(f"{name:11}not measured: {absent[name]}")
            continue
        medians = [found.get(f"{name}_{size}_us") for size in sizes] + [found.get(f"mixed_{name}_us"), found.get(f"mixed_{name}_held_over_used")]
        p90s = [found.get(f"{name}_{size}_p90_us") for size in sizes] + [found.get(f"mixed_{name}_p90_us")]
        for head, values in ((name, medians), ("", p90s)):
            lines.append(f"{head:11}" + "".join(f"{'-':>11}" if value is None else f"{value:11.3f}" for value in values)
                         + (f"  {WHAT[name]}" if head else ""))
    for row, words in TWO_STREAMS.items():
        shown = [f"{name} {found[f'{row}_{name}_us']:.3f}" for name in ORDER if f"{row}_{name}_us" in found]
        if shown:
            lines.append(f"{row}: {', '.join(shown)} us  ({words})")
    seconds = [f"{key.removeprefix('known_second_').removesuffix('_us')} {value:.3f}" for key, value in found.items()
               if key.startswith("known_second_") and key.endswith("_us") and "_p90_" not in key]
    if seconds:
        lines.append(f"one stream, when a second one is known: {', '.join(seconds)} us")
    if found.get("calls_ns"):
        lines.append("single calls: " + ", ".join(f"{name} {value:g}" for name, value in found["calls_ns"].items()) + " ns")
    return lines
