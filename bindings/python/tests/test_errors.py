"""One family of exceptions."""

import pickle
import time

import pytest

import millpond


def classes():
    return [one for one in vars(millpond).values() if isinstance(one, type) and issubclass(one, millpond.Error)]


def test_every_error_is_one_of_the_family():
    names = {one.__name__ for one in classes()}
    assert {"NotFound", "NotReady", "Exists", "GpuFull", "Denied", "Timeout", "NoPond"} <= names
    assert {"DriverError", "ForkError", "ReadOnlyError", "ClosedError", "Invalid"} <= names
    for one in classes():
        assert one.__module__ == "millpond" and one.__doc__
        made = one("mine")
        assert str(made) == "mine" and made.code and made.remedy and made.hint is None


def test_what_is_not_found_says_what_is_like_it(name):
    millpond.create(name, 1, "uint8", zero=True).close()
    with pytest.raises(millpond.NotFound) as caught:
        millpond.get(name + "x")
    error = caught.value
    assert isinstance(error, LookupError)
    assert (error.code, error.remedy) == ("not_found", "change")
    assert name in error.similar and f"'{name}x' not found" in error.message
    assert str(error).startswith(error.message)
    millpond.delete(name)


def test_what_has_ended_says_how_long_ago(name):
    assert millpond.NotFound("mine").ended_ago_ms is None
    with pytest.raises(millpond.NotFound) as caught:
        millpond.get(name + "-never")
    assert caught.value.ended_ago_ms is None
    millpond.create(name, 1, "uint8", zero=True, ttl=0.01).close()
    deadline = time.monotonic() + 30
    while True:
        try:
            millpond.get(name).close()
        except millpond.NotFound as error:
            assert error.ended_ago_ms >= 0 and "ended" in error.message
            break
        assert time.monotonic() < deadline, "it does not end"


def test_a_full_gpu_says_who_holds_it(name):
    big = millpond.create(name, 100 << 20, "uint8")
    # Whole slabs of 2 MiB.
    everything = millpond.status().devices[0].capacity_bytes >> 21 << 21
    with pytest.raises(millpond.GpuFull, match="has no room") as caught:
        millpond.create(None, everything, "uint8")
    error = caught.value
    assert isinstance(error, MemoryError)
    assert error.requested == everything <= error.capacity and 0 < error.free < everything
    assert "millpond.gc()" in error.hint
    assert error.holders[0].bytes >= 100 << 20 and error.holders[0].tensors >= 1
    assert "Holder(user=" in repr(error.holders[0])
    # As from a worker process to the one that waits for it.
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is millpond.GpuFull and str(again) == str(error)
    assert (again.code, again.free) == ("gpu_full", error.free)
    assert again.holders[0].bytes == error.holders[0].bytes
    millpond.delete(big)
    with pytest.raises(millpond.GpuFull, match="never fits") as caught:
        millpond.create(None, everything + (2 << 20), "uint8")
    assert "millpond.status()" in caught.value.hint
    assert caught.value.requested > everything and not caught.value.holders


def test_no_pond_says_how_to_start_one(tmp_path):
    with pytest.raises(millpond.NoPond, match="millpond serve") as caught:
        millpond.Pond(tmp_path)
    assert isinstance(caught.value, ConnectionError)
    hint = f"start one with `millpond serve --runtime-dir {tmp_path}`"
    assert (caught.value.code, caught.value.hint) == ("no_pond", hint)


def test_bad_arguments_are_told_before_anything_happens():
    for name in ("", "a b", "/x", "a//b"):
        with pytest.raises(millpond.Invalid):
            millpond.create(name, 1, "uint8")
    with pytest.raises(millpond.Invalid, match="no audience 'all'"):
        millpond.create("x", 1, "uint8", audience="all")
    with pytest.raises(ValueError, match="ttl cannot be"):
        millpond.create("x", 1, "uint8", ttl=-1)
    with pytest.raises(TypeError):
        millpond.get(5)
    with pytest.raises(millpond.Error, match="no user 'nobody-has-this-name'"):
        millpond.get("~nobody-has-this-name/x")


def test_a_pond_that_is_closed_says_so(pond):
    own = millpond.Pond(pond.runtime_dir, program="test")
    t = own.create(None, 1, "uint8")
    with pytest.raises(millpond.Invalid, match="still in use"):
        own.close()
    assert own.live_leases() == 1 and own.live_bytes() == 1
    own.delete(t)
    t.close()
    own.close()
    assert own.closed and not pond.closed
    with pytest.raises(millpond.ClosedError):
        own.status()
    with millpond.Pond(pond.runtime_dir, program="test") as other:
        other.status()
    assert other.closed


def test_an_error_that_is_made_in_python_has_what_others_have(name):
    with pytest.raises(millpond.NotFound) as caught:
        millpond.get(name)
    assert type(caught.value.similar) is type(millpond.NotFound("x").similar) is type(millpond.Error.similar)
    full = millpond.GpuFull("x")
    assert (full.requested, full.free, full.capacity, full.holders) == (None, None, None, ())
    assert millpond.InUse("x").holders == ()


def test_hints_name_arguments_and_never_flags(name, model, tmp_path):
    hints = []

    def refused(call, *args, **kwargs):
        with pytest.raises(millpond.Error) as caught:
            call(*args, **kwargs)
        assert str(caught.value) == f"{caught.value.message}\nhint: {caught.value.hint}"
        hints.append(caught.value.hint)
        return caught.value.hint

    writing = millpond.create(name, 4, "uint8")
    assert f'millpond.delete("{name}")' in refused(millpond.create, name, 5, "uint8")
    assert "replace=True" in refused(millpond.put, name, b"abcd")
    assert "wait=SECONDS" in refused(millpond.get, name)
    path = tmp_path / "saved.safetensors"
    assert millpond.save(model, path) == [str(path)]
    assert refused(millpond.save, model, path) == "force=True writes over it"
    assert millpond.save(model, path, force=True) == [str(path)]
    assert "version=" in refused(millpond.load, model, path, "v1")
    assert "version=" in refused(millpond.stage, model, "v1", like="v1")
    assert f'millpond.swap("{model}", VERSION)' in refused(millpond.retire, model, "v1")
    assert refused(millpond.set_group, "nobody-made-this", 1 << 30, create=False) == "create=True makes it"
    writing.publish()
    file = tmp_path / "bytes"
    assert millpond.download(name, file) == 4
    assert refused(millpond.download, name, file) == "force=True writes over it"
    assert millpond.download(name, file, force=True) == 4
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []
    assert not [hint for hint in hints if "--" in hint]
    millpond.delete(name)
    writing.close()


def test_a_file_name_where_a_model_is_wanted_leads_to_load(tmp_path):
    (tmp_path / "own").write_bytes(b"")
    for given in ("model.safetensors", "./model.safetensors", str(tmp_path / "own")):
        for call in (millpond.attach, lambda name: millpond.safe_open(name, framework="np")):
            with pytest.raises(millpond.Error) as caught:
                call(given)
            assert caught.value.hint == f'is it a file? millpond.load(NAME, "{given}") loads it first'


def test_a_tensor_that_the_model_lacks_has_names_like_it(model):
    with millpond.attach(model) as attached:
        with pytest.raises(millpond.NoTensor) as caught:
            attached["smae"]
        assert caught.value.similar == ("same",)
        assert caught.value.hint == "did you mean 'same'? list(model) has all names"
        with pytest.raises(millpond.NoTensor) as caught:
            attached["nothing like that"]
        assert caught.value.similar == () and caught.value.hint == "list(model) has all names"


def test_sizes_are_shown_in_units(model):
    import re

    with millpond.attach(model) as attached:
        assert re.fullmatch(r"Model\('.*@v1', \d+ tensors, \d+(\.\d)? (B|[KMG]iB)\)", repr(attached))
        assert re.search(r"\(\d+(\.\d)? (B|[KMG]iB), 0 tensors differ", repr(millpond.verify(model)))


def test_a_wait_that_is_over_says_what_it_waited_for(name):
    with pytest.raises(millpond.Timeout, match=rf"waited 20 ms, but tensor '{name}' not found"):
        millpond.get(name, wait=0.02)
    writing = millpond.create(name, 1, "uint8")
    with pytest.raises(millpond.Timeout, match=r"waited 20 ms, but tensor .* is still being written"):
        millpond.get(name, wait=0.02)
    with pytest.raises(millpond.NotReady):
        millpond.get(name, wait=0)
    millpond.delete(name)
    writing.close()
