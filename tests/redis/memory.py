"""Opens memory by its 64 bytes with the driver alone: `memory.py HANDLE-IN-BASE64 [DEVICE]`, then lines on standard input.

    fill BYTES VALUE    fills its beginning
    sum BYTES           the sum of its first bytes
"""

import base64
import ctypes
import os
import sys


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


def main():
    cuda = ctypes.CDLL(os.environ.get("CUDA_LIBRARY", "libcuda.so.1"))

    def must(name, *arguments):
        answer = getattr(cuda, name)(*arguments)
        if answer:
            text = ctypes.c_char_p()
            cuda.cuGetErrorName(answer, ctypes.byref(text))
            print(f"{name}: {(text.value or b'?').decode()}", flush=True)
            sys.exit(1)

    device, context, address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    must("cuInit", 0)
    must("cuDeviceGet", ctypes.byref(device), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    must("cuCtxSetCurrent", context)
    cuda.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]
    must("cuIpcOpenMemHandle_v2", ctypes.byref(address), Handle.from_buffer_copy(base64.b64decode(sys.argv[1])), 1)
    print("opened", flush=True)
    for line in sys.stdin:
        word, *numbers = line.split()
        count, *value = map(int, numbers)
        if word == "fill":
            must("cuMemsetD8_v2", address, ctypes.c_ubyte(*value), ctypes.c_size_t(count))
            must("cuCtxSynchronize")
            print("filled", flush=True)
        else:
            copy = (ctypes.c_ubyte * count)()
            must("cuMemcpyDtoH_v2", copy, address, ctypes.c_size_t(count))
            print(sum(copy), flush=True)


if __name__ == "__main__":
    main()
