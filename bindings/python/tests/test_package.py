"""The package: its stubs say what is there."""

import ast
import inspect
import pathlib
import re
import shutil
import typing

import pytest

import millpond

FOLDER = pathlib.Path(millpond.__file__).parent
TYPES_ONLY = {"SupportsDLPack"}


def members(node):
    return [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]


def parameters(function, drop_self):
    args = function.args
    names = [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names[1:] if drop_self else names


def stubs():
    return ast.parse((FOLDER / "__init__.pyi").read_text())


def promised():
    return {one.name: one for one in members(stubs()) if one.name not in TYPES_ONLY}


def test_every_public_name_has_a_stub_and_the_other_way_round():
    public = {one for one in millpond.__all__}
    assert public == set(promised())
    assert (FOLDER / "py.typed").exists()


@pytest.mark.parametrize("name", promised())
def test_a_stub_has_the_parameters_and_members_of_the_thing(name):
    stub, thing = promised()[name], getattr(millpond, name)
    if isinstance(stub, ast.FunctionDef):
        assert parameters(stub, False) == list(inspect.signature(thing).parameters)
        return
    for member in members(stub):
        there = thing if member.name == "__init__" else getattr(thing, member.name)
        is_property = any(getattr(one, "id", "") == "property" for one in member.decorator_list)
        if is_property:
            assert not callable(there), member.name
        elif not member.name.startswith("__") or member.name == "__dlpack__":
            found = [one for one in inspect.signature(there).parameters if one != "self"]
            assert parameters(member, True) == found, member.name
    is_final = any(getattr(one, "id", "") == "final" for one in stub.decorator_list)
    try:
        type("Own", (thing,), {})
    except TypeError:
        assert is_final
    if issubclass(thing, millpond.Error):
        bases = [base.id for base in stub.bases]
        assert bases == [base.__name__ for base in thing.__bases__]


def attributes(stub):
    declared = (one for one in stub.body if isinstance(one, ast.AnnAssign))
    return {one.target.id for one in declared}


def values():
    """The classes whose attributes are all that there is to them; those of errors are set one by one."""
    classes = {name: stub for name, stub in promised().items() if isinstance(stub, ast.ClassDef)}
    return [name for name in classes if attributes(classes[name]) and not issubclass(getattr(millpond, name), Exception)]


@pytest.mark.parametrize("name", values())
def test_a_value_has_the_attributes_of_its_stub(name):
    there = vars(getattr(millpond, name)).items()
    there = {one for one, what in there if type(what).__name__ == "getset_descriptor"}
    assert there == attributes(promised()[name])


def aliases():
    assigned = [one for one in stubs().body if isinstance(one, ast.Assign)]
    return {one.targets[0].id: one.value for one in assigned if not one.targets[0].id.startswith("_")}


def test_what_annotations_are_written_with_can_be_imported():
    names = TYPES_ONLY | set(aliases())
    assert {"Dtype", "Mode", "Audience"} < names <= set(dir(millpond))
    for name in names:
        exec(f"from millpond import {name}", {})
    for name, value in aliases().items():
        if getattr(value, "value", None) is not None and getattr(value.value, "id", "") == "Literal":
            assert typing.get_args(getattr(millpond, name)) == ast.literal_eval(value.slice), name
    assert not names & set(millpond.__all__)
    with pytest.raises(AttributeError, match="no attribute 'dtype_of'"):
        millpond.dtype_of


USE = """
import millpond

t = millpond.create("x", shape=(2, 3), dtype="bfloat16")
reveal_type(t)
reveal_type(millpond.get("x", wait=5).shape)
reveal_type(t.numpy())
reveal_type(millpond.list())
with millpond.stage("m", version="v1", like="v0") as w:
    reveal_type(w["a"].copy_(b""))
model = millpond.attach("m")
reveal_type(model["a"])
try:
    pass
except millpond.GpuFull as error:
    reveal_type(error.holders)
"""


def test_a_type_checker_understands_the_stubs(tmp_path):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    (tmp_path / "millpond").mkdir()
    cache = ["--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    # As one's own files: of an installed package's it reports nothing.
    copies = [shutil.copy(one, tmp_path / "millpond") for one in FOLDER.glob("*.pyi")]
    assert len(copies) == 4
    out, _, status = api.run([*cache, *map(str, copies)])
    assert status == 0, out
    shutil.rmtree(tmp_path / "millpond")
    (tmp_path / "use.py").write_text(USE)
    out, _, status = api.run([*cache, str(tmp_path / "use.py")])
    assert status == 0, out
    seen = [line.split('"')[1] for line in out.splitlines() if "Revealed type" in line]
    wanted = "Tensor", "tuple[int, ...]", "ndarray[Any, Any]", "list[TensorInfo]"
    wanted = (*wanted, "ModelTensor", "ModelTensor", "tuple[Holder, ...]")
    assert [re.sub(r"[a-z._]+\.(?=[A-Za-z])|builtins\.|, fallback=.*", "", one) for one in seen] == [*wanted]


def test_the_version_is_the_wheels():
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("millpond")
    except PackageNotFoundError:
        pytest.skip("the package is used from its folder, not from a wheel")
    assert installed == millpond.__version__


def test_nothing_of_the_packages_own_is_public():
    public = {one for one in dir(millpond) if not one.startswith("_")}
    known = set(millpond.__all__) | set(aliases()) | TYPES_ONLY | {"aio", "torch", "cuda_core", "PondMemoryResource"}
    assert public - known == set()
    assert not hasattr(millpond, "annotations") and not hasattr(millpond, "Path")
