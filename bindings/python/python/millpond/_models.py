"""Models in other libraries' types: lazy dicts, safetensors' ``safe_open``, plans.

Nothing here imports numpy, torch or JAX before it is asked for.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, MutableMapping

from . import _millpond, _views

__all__ = ["Plan", "SafeOpen", "Slice"]


class Lazy(_millpond._Made, MutableMapping):
    """Tensors that are made when they are asked for, and then kept: a name stays one tensor.

    What is set or deleted is so here only.
    """

    def __init__(self, _source, _makes):
        # Names that the source does not have; a dict keeps them in order.
        self._added = {}

    def __setitem__(self, name, tensor):
        self._made[name] = tensor
        self._deleted.discard(name)
        if name not in self._source:
            self._added[name] = None

    def __delitem__(self, name):
        if name not in self:
            raise KeyError(name)
        self._made.pop(name, None)
        self._added.pop(name, None)
        if name in self._source:
            self._deleted.add(name)

    def __contains__(self, name):
        return name in self._made or (name in self._source and name not in self._deleted)

    def __iter__(self):
        names = iter(self._source)
        if self._deleted:
            names = (name for name in names if name not in self._deleted)
        return itertools.chain(names, list(self._added)) if self._added else names

    def __len__(self):
        return len(self._source) - len(self._deleted) + len(self._added)

    def __repr__(self):
        return f"<{len(self)} tensors of {self._source!r}, {len(self._made)} made>"

    def copy(self):
        """A dict of its own, with the same tensors."""
        return dict(self)


class Converted:
    """The tensors of a source by name, each converted."""

    def __init__(self, source, convert):
        self._source = source
        self._convert = convert

    def __getitem__(self, name):
        return self._convert(self._source[name])


def torch_tensors(model):
    # It imports torch: without that there is nothing to be lazy about.
    take, version = _views.torch_taker()
    converted = Converted(model, _views.as_torch)
    return Lazy(model, model._taken(take, version, converted.__getitem__))


def numpy_arrays(model):
    import numpy  # noqa: F401

    return Lazy(model, Converted(model, _views.as_numpy))


_FRAMEWORKS = {
    **dict.fromkeys(("pt", "torch", "pytorch"), ("torch", _views.as_torch)),
    **dict.fromkeys(("np", "numpy"), ("numpy", _views.as_numpy)),
    **dict.fromkeys(("jax", "flax"), ("jax", _views.as_jax)),
}


class Slice:
    """A part of a tensor is a view of that part."""

    __module__ = "millpond"

    def __init__(self, view, convert):
        self._view = view
        self._convert = convert

    def get_shape(self):
        return list(self._view.shape)

    def get_dtype(self):
        """In safetensors' spelling."""
        return self._view._code

    def __getitem__(self, index):
        return self._convert(self._view)[index]


class SafeOpen:
    """A model in the manner of safetensors' ``safe_open``."""

    __module__ = "millpond"

    def __init__(self, framework, device=None):
        try:
            self._module, self._make = _FRAMEWORKS[framework]
        except (KeyError, TypeError):
            known = ", ".join(sorted(_FRAMEWORKS))
            message = f"there is no framework {framework!r}; it is one of {known}"
            error = _millpond.Invalid(message)
            error.message = message
            raise error from None
        __import__(self._module)
        self._device = device
        self._model = None

    def _begin(self, model):
        self._model = model

    def _convert(self, view):
        made = self._make(view)
        if self._device is None or self._module == "numpy":
            return made
        if self._module == "torch":
            # A copy only where it is not there already.
            return made.to(self._device)
        import jax

        device = self._device
        if isinstance(device, str):
            kind, _, number = device.partition(":")
            device = jax.devices({"cuda": "gpu"}.get(kind, kind))[int(number or 0)]
        return jax.device_put(made, device)

    def keys(self):
        return list(self._model)

    def offset_keys(self):
        """In the order of their place in the arena, which is the order of names."""
        return list(self._model)

    def metadata(self):
        return self._model.metadata

    def get_tensor(self, name):
        return self._convert(self._model[name])

    def get_tensors(self, names=None):
        """Several at once, all of them unless said, by name."""
        return {name: self.get_tensor(name) for name in (self._model if names is None else names)}

    def get_slice(self, name):
        return Slice(self._model[name], self._convert)

    def get_shape(self, name):
        return list(self._model[name].shape)

    def get_dtype(self, name):
        """In safetensors' spelling."""
        return self._model[name]._code

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._model.close()

    def __repr__(self):
        return f"SafeOpen({self._model!r}, {self._module})"


class Plan:
    """Which part of a checkpoint is loaded, for tensor-parallel ranks."""

    __module__ = "millpond"

    def __init__(self, rules=(), *, rank=0, world=1, rest="replicate"):
        pairs = rules.items() if isinstance(rules, Mapping) else rules
        listed = [{"match": pattern, "split": split} for pattern, split in pairs]
        if rest not in (None, "replicate"):
            listed.append({"match": "*", "split": rest})
        otherwise = "skip" if rest is None else "replicate"
        self._text = json.dumps({"rank": rank, "world": world, "rules": listed, "otherwise": otherwise})
        _millpond._check_plan(self._text)

    def __repr__(self):
        return f"Plan({self._text})"
