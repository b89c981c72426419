"""The parts of the run, in their order: what matters most is first."""

import part_attach
import part_loads
import part_peers
import part_workers
import pond as ponds


def start(ground):
    """Writes the checkpoints that every part uses, and starts a pond."""
    extra = ground.extra
    extra["dense_bytes"] = ground.checkpoint("dense-v1", ground.dense)
    # The next version: equal but for one tensor, so that one slab differs.
    ground.checkpoint("dense-v2", ground.dense | {"differ": ["lm_head.weight"], "base": ground.path("dense-v1")})
    ground.pond = ponds.Pond(ground.program, ground.soft, parent=ground.given)
    extra["versions"] = {"millpond": ground.pond.cli("version").text.strip().splitlines()[0]}


PARTS = {
    "loads": part_loads.run,
    "memory": part_loads.memory,
    "safetensors": part_peers.safetensors,
    "attach": part_attach.run,
    "refresh": part_attach.refresh,
    "many": part_attach.many,
    "handover": part_attach.handover,
    "workers": part_workers.run,
    "peers": part_peers.run,
}
