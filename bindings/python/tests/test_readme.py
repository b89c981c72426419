"""The README's Python lines are run as they stand, on a machine without a GPU.

`python test_readme.py` runs it without pytest.
"""

import os
import pathlib
import re
import tempfile

from models_side import main, on_gpu, skip

import millpond
import make_checkpoint
from model import Shape

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"


def test_the_python_lines_of_the_readme_work():
    if on_gpu():
        skip("the lines are for the software driver; their comments say what a GPU needs")
    section = README.read_text().split("\n## Python\n")[1].split("\n## ")[0]
    (lines,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        make_checkpoint.write(os.path.join(folder, "dir"), Shape(layers=1, width=64), 1, shards=2)
        millpond.load("llama", os.path.join(folder, "dir"), version="v1", activate=True)
    try:
        names = {}
        exec(compile(lines, str(README), "exec"), names)
        assert names["model"].version == "v1"
        assert names["weights"]["wte"].shape == (256, 64)
        assert names["u"].numpy().tolist() == [[1, 1, 1], [1, 1, 1]]
        assert names["t"].ptr != 0 and names["u"].readonly
        names.clear()
    finally:
        millpond.delete("acts/x")


if __name__ == "__main__":
    main(globals())
