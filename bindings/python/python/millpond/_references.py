"""Tensors and models that travel to another process by pickle: as references, not as bytes."""

from . import _millpond


def _gone(error, label):
    """Whoever unpickles it has not asked for anything, so it is told what came and is not there."""
    message = f"{label} was pickled as a reference, and is gone: {error.message}"
    hint = "whoever pickles it keeps it until the other process has it"
    raised = type(error)(f"{message}\nhint: {hint}")
    raised.message, raised.hint = message, hint
    return raised


def tensor(folder, identity, name, mode):
    """The tensor, mapped in this process in the same way."""
    try:
        return _millpond.Pond(folder).get(identity, mode=mode)
    except (_millpond.NotFound, _millpond.Lost) as error:
        label = identity if name is None else f"tensor '{name}'"
        raise _gone(error, label) from None


def model(folder, identity, label):
    """The same version of the model, mapped in this process."""
    try:
        return _millpond.Pond(folder).attach(identity)
    except (_millpond.NotFound, _millpond.Retired, _millpond.Lost) as error:
        raise _gone(error, f"version {label}") from None
