"""Eight processes race for 1.5 GiB each under 10 GiB; what a killed one held is there again."""

import time

from ground import MIB, Nvml, Watch, check, end, eventually

KINDS = {"cuMemAlloc": "linear", "cuMemCreate": "handle", "cuMemAllocAsync": "async", "own pools": "pool"}
PROCESSES = 8


def race(ground, tenants, watch, kind, limit):
    """All at once; the winners, and the most that NVML saw of them."""
    size = ground.gib(1.5)
    watch.start([tenant.pid for tenant in tenants])
    for tenant in tenants:
        tenant.tell(f"alloc {kind} {size}")
    answers = [tenant.answer() for tenant in tenants]
    seen = watch.stop()
    bad = [answer for answer in answers if not answer.startswith(("ok", "error 2 "))]
    check(not bad, f"{kind}: {bad}")
    check(seen["peak"] <= limit, f"{kind}: {seen['peak']} bytes were held under {limit}")
    return sum(answer.startswith("ok") for answer in answers), seen


def rooms(tenants, ground):
    """How many of them can have 1.5 GiB beside everybody's context."""
    free, _ = map(int, tenants[0].ask("info").split())
    return free // ground.gib(1.5)


def races(ground):
    """The same processes again and again, all four ways."""
    limit, out = ground.gib(10), {}
    watch = Watch(ground)
    tenants = ground.tenants(PROCESSES, ground.group(limit))
    try:
        for name, kind in KINDS.items():
            begun, peaks, samples, winners = time.monotonic(), [], 0, set()
            for _ in range(ground.trials):
                expected = rooms(tenants, ground)
                won, seen = race(ground, tenants, watch, kind, limit)
                check(won == expected, f"{name}: {won} had room, {expected} must have")
                peaks.append(seen["peak"])
                samples += seen["samples"]
                winners.add(won)
                for tenant in tenants:
                    tenant.ask("free all")
                    tenant.ask("sync")
            out[name] = {"trials": ground.trials, "peak": max(peaks), "limit": limit, "winners": sorted(winners),
                         "samples": samples, "seconds": round(time.monotonic() - begun, 1)}
    finally:
        end(tenants)
        watch.close()
    return out


def fresh_races(ground):
    """New processes in each trial: their contexts race too."""
    limit, out = ground.gib(10), {}
    watch = Watch(ground)
    try:
        for name, kind in KINDS.items():
            peaks = []
            for _ in range(max(1, ground.trials // 25)):
                tenants = ground.tenants(PROCESSES, ground.group(limit))
                try:
                    expected = rooms(tenants, ground)
                    won, seen = race(ground, tenants, watch, kind, limit)
                    check(won == expected, f"{name}: {won} had room, {expected} must have")
                    peaks.append(seen["peak"])
                finally:
                    end(tenants)
            out[name] = {"trials": len(peaks), "peak": max(peaks), "limit": limit}
    finally:
        watch.close()
    return out


def contexts(ground):
    """More processes than there is room for their contexts: the rest is refused, and told so."""
    limit = ground.gib(2)
    tenants = [ground.tenant(ground.group(limit))]
    one = limit - int(tenants[0].ask("info").split()[0])
    end(tenants)
    if not one:
        return {"context": 0}
    from ground import Tenant
    started = [Tenant([ground.tenant_program], environment, wait=False)
               for environment in [ground.group(limit)] * (limit // one + 3)]
    lines = [tenant.process.stdout.readline().strip() for tenant in started]
    held = sum(Nvml(ground).processes().get(tenant.pid, 0) for tenant in started)
    end(started)
    ready = sum(line.startswith("ready") for line in lines)
    others = [line for line in lines if not line.startswith(("ready", "error 2 "))]
    check(not others, f"contexts: {others}")
    check(held <= limit, f"contexts: {held} bytes were held under {limit}")
    check(1 <= ready <= limit // one, f"contexts: {ready} of {one} bytes under {limit}")
    return {"context": one, "started": ready, "refused": len(lines) - ready, "held": held}


def kills(ground):
    """Everything is taken and its holder killed: who asks then gets it, as soon as the driver has it."""
    nvml, limit, out = Nvml(ground), ground.gib(10), {}
    for name, kind in KINDS.items():
        rows = []
        for _ in range(max(3, ground.trials // 10)):
            environment = ground.group(limit)
            # Of many threads, as programs are: what it held comes back later than its end.
            other, holder = ground.tenants(2, environment, "--threads", "8")
            try:
                size = rooms([other], ground) * ground.gib(1.5)
                idle = nvml.used()
                check(holder.takes(kind, size), f"{name}: {size} bytes")
                check(not other.takes("linear", size), f"{name}: it is all taken")
                begun = time.monotonic()
                holder.kill()
                refused = 0
                other.tell(f"alloc linear {size}")
                while not (said := other.answer()).startswith("ok"):
                    check(said.startswith("error 2 "), f"{name}: {said}")
                    refused += 1
                    check(time.monotonic() - begun < 30, f"{name}: never there again")
                    other.tell(f"alloc linear {size}")
                usable = time.monotonic() - begun
                held = nvml.used()
                check(held <= idle + size + 64 * MIB, f"{name}: {held - idle} bytes more than before the kill, {size} of them right")
                rows.append({"usable_ms": round(usable * 1e3, 1), "refused": refused})
            finally:
                end([other, holder])
                eventually("an empty card", lambda: nvml.used() <= idle)
        out[name] = rows
    return out
