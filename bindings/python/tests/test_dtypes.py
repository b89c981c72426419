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
        ("torch.float", "float32"),
        ("F4", "float4_e2m1fn"),
        ("I8", "int8"),
        ("U8", "uint8"),
        ("f16", "float16"),
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


# Each of them has another size, or another sign, in numpy or in torch; two words that have not.
AMBIGUOUS = {
    "f4": ("float32", "F4"),
    "i8": ("int64", "I8"),
    "u8": ("uint64", "U8"),
    "f8": ("float64", "F8_E4M3"),
    "i4": ("int32", "I32"),
    "u4": ("uint32", "U32"),
    "f2": ("float16", "F16"),
    "i2": ("int16", "I16"),
    "u2": ("uint16", "U16"),
    "i1": ("int8", "I8"),
    "u1": ("uint8", "U8"),
    "b1": ("bool", "BOOL"),
    "c8": ("complex64", "C64"),
    "<f4": ("float32", "F32"),
    "=i8": ("int64", "I64"),
    "float": ("float32", "float64"),
    "int": ("int32", "int64"),
    "byte": ("uint8", "int8"),
}


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_a_word_that_numpy_or_torch_read_differently_is_refused_with_two_that_can_be_read_in_one_way(word):
    with pytest.raises(millpond.Invalid) as caught:
        millpond.create(None, 8, word)
    one, other = AMBIGUOUS[word]
    assert caught.value.hint == f'say "{one}" or "{other}"'
    for good in (one, other):
        assert _millpond._dtype_name(good)
    if word not in ("float", "int", "byte"):
        assert _millpond._dtype_name(one) == _millpond._dtype_name(numpy.dtype(word))
