"""The part of torch that attention.py needs, in numpy, so that the program can be tried where torch is not installed. It
says nothing about torch."""

import types

import numpy

__version__ = "stand-in"
float32 = numpy.float32


class Tensor:
    def __init__(self, array):
        self.array = array

    def __iter__(self):
        return map(Tensor, self.array)

    @property
    def nbytes(self):
        return self.array.nbytes

    def copy_(self, other):
        self.array[...] = other.array

    def index_select(self, axis, table):
        return Tensor(self.array.take(table.array, axis))

    def view(self, shape):
        seen = self.array.reshape(shape)
        if not numpy.shares_memory(seen, self.array):
            raise RuntimeError("that would be a copy")
        return Tensor(seen)

    def transpose(self, one, other):
        return Tensor(self.array.swapaxes(one, other))


class Generator:
    def __init__(self, _device):
        self.random = None

    def manual_seed(self, seed):
        self.random = numpy.random.default_rng(seed)
        return self


def from_dlpack(thing):
    return Tensor(numpy.from_dlpack(thing))


def empty(shape, dtype, device):
    return Tensor(numpy.empty(shape, dtype))


def randn(shape, dtype, device, generator):
    return Tensor(generator.random.standard_normal(shape, dtype=dtype))


def randperm(count, device, generator):
    return Tensor(generator.random.permutation(count))


def equal(one, other):
    return numpy.array_equal(one.array, other.array)


def _attention(query, keys, values):
    scores = query.array @ numpy.ascontiguousarray(keys.array.swapaxes(2, 3))
    weights = numpy.exp(scores / numpy.float32(query.array.shape[-1] ** 0.5))
    return Tensor(weights / weights.sum(-1, keepdims=True) @ numpy.ascontiguousarray(values.array))


nn = types.SimpleNamespace(functional=types.SimpleNamespace(scaled_dot_product_attention=_attention))
