"""docs/python.md: every call is on it, and its lines about watching the pond are run as they stand."""

import ast
import gc
import pathlib
import re

import pytest

import millpond

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"


@pytest.fixture
def page():
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    return PAGE.read_text()


def test_every_call_is_on_the_page(page):
    missing = [one for one in millpond._FUNCTIONS if f"`{one}(" not in page]
    assert missing == []
    classes = [one for one in vars(millpond).values() if isinstance(one, type) and issubclass(one, millpond.Error)]
    assert [one.__name__ for one in classes if f"`{one.__name__}`" not in page and one is not millpond.Error] == []


def test_its_lines_are_python(page):
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        ast.parse(block)


def test_its_lines_about_elastic_caches_work(page):
    pytest.importorskip("numpy", reason="numpy is not installed")
    section = page.split("\n## Elastic caches\n")[1].split("\n## ")[0]
    lines, callback = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {}
    exec(compile(lines, str(PAGE), "exec"), names)
    assert names["blocks"] == [0, 1, 2, 3] and names["cache"].stats().committed_blocks == 0
    exec(compile(callback, str(PAGE), "exec"), names)
    names["cache"].close()
    names.clear()
    gc.collect()
    millpond.remove_group("serving")


def test_its_lines_about_watching_the_pond_work(page, capsys, name):
    millpond.put(name, b"abcd")
    section = page.split("\n## Watch the pond\n")[1].split("\n## ")[0]
    (lines,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {}
    exec(compile(lines, str(PAGE), "exec"), names)
    assert f"tensor_published {name}" in capsys.readouterr().out and names["event"] is None
    millpond.delete(name)
