"""Every spelling of a dtype."""

import ml_dtypes
import numpy
import pytest

import millpond
from millpond import _millpond


@pytest.mark.parametrize(
    ("spelling", "wanted"),
    [
        ("F32", "float32"),
        ("f32", "float32"),
        ("float", "float32"),
        ("half", "float16"),
        ("torch.bfloat16", "bfloat16"),
        ("torch.long", "int64"),
        ("F8_E4M3", "float8_e4m3fn"),
        ("fp8", "float8_e4m3fn"),
        (numpy.float64, "float64"),
        (numpy.dtype("uint16"), "uint16"),
        (numpy.bool_, "bool"),
        (bool, "bool"),
        (numpy.complex64, "complex64"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (numpy.dtype(ml_dtypes.float8_e5m2), "float8_e5m2"),
    ],
)
def test_names_of_all_libraries_mean_the_same(spelling, wanted):
    assert _millpond._dtype_name(spelling) == wanted


def test_what_is_no_dtype_is_told(name):
    with pytest.raises(millpond.Invalid, match="unknown dtype 'f33'; known are"):
        millpond.create(name, 1, "f33")
    with pytest.raises(millpond.Invalid, match="other order of bytes"):
        millpond.create(name, 1, numpy.dtype(">f4"))
    with pytest.raises(millpond.Invalid, match="unknown dtype 'complex128'"):
        millpond.create(name, 1, numpy.complex128)
    # It is 64 bits to numpy and 32 to torch.
    with pytest.raises(TypeError, match="no size of its own"):
        millpond.create(name, 1, float)
