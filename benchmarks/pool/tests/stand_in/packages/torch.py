"""The part of torch that peers.py needs. It says nothing about torch."""

import types

__version__ = "stand-in"


def empty(_count, device):
    return None


cuda = types.SimpleNamespace(
    synchronize=lambda: None, current_device=lambda: 0, get_device_name=lambda _device: "stand-in",
    empty_cache=lambda: None, reset_peak_memory_stats=lambda: None, max_memory_reserved=lambda: 0)
