"""The loop of the thread that calls callbacks of swaps."""


def watch(swaps):
    """Calls whoever is to be told, until nobody is left."""
    while _tell(swaps, swaps.next()):
        pass


def _tell(swaps, told):
    # Nothing of this may stay while the next swap is waited for: callbacks may hold their model.
    if told is None:
        return False
    tag, callbacks = told
    for callback in callbacks:
        try:
            callback(tag)
        except BaseException as error:
            swaps.raised(error, callback)
    return True
