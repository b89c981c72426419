"""A program that knows Redis and CUDA's driver and nothing of Millpond: a tensor's life by commands of a list.

    redis_tensor.py SOCKET make NAME BYTES VALUE     creates it, opens its memory, checks that it is zeroes, fills it
    redis_tensor.py SOCKET check NAME BYTES VALUE    gets it for as long as this process lives, opens it, checks what is in it
    redis_tensor.py SOCKET delete NAME               gives one hold up

Prints the count of holds afterwards. SOCKET is Redis' unix socket.
"""

import base64
import ctypes
import json
import os
import sys
import uuid

import redis


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


class Memory:
    def __init__(self, tensor):
        self.cuda = ctypes.CDLL(os.environ.get("CUDA_LIBRARY", "libcuda.so.1"))
        self.cuda.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]
        device, context, self.address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
        self.must("cuInit", 0)
        self.must("cuDeviceGet", ctypes.byref(device), tensor["device"])
        self.must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.must("cuCtxSetCurrent", context)
        handle = Handle.from_buffer_copy(base64.b64decode(tensor["ipc_handle"]))
        self.must("cuIpcOpenMemHandle_v2", ctypes.byref(self.address), handle, 1)
        self.begin = ctypes.c_uint64(self.address.value + tensor["offset"])

    def must(self, name, *arguments):
        answer = getattr(self.cuda, name)(*arguments)
        if answer:
            sys.exit(f"{name}: error {answer}")

    def check(self, count, value):
        copy = (ctypes.c_ubyte * count)()
        self.must("cuMemcpyDtoH_v2", copy, self.begin, ctypes.c_size_t(count))
        if bytes(copy) != bytes([value]) * count:
            sys.exit(f"other bytes than {value}")

    def fill(self, count, value):
        self.must("cuMemsetD8_v2", self.begin, ctypes.c_ubyte(value), ctypes.c_size_t(count))
        self.must("cuCtxSynchronize")

    def close(self):
        self.must("cuIpcCloseMemHandle", self.address)


def ask(connection, **command):
    id_ = uuid.uuid4().hex
    reply = f"tensor:reply:{id_}"
    connection.lpush("tensor:cmd", json.dumps({**command, "id": id_, "reply": reply}))
    answer = connection.brpop([reply], timeout=30)
    if answer is None:
        sys.exit("no answer")
    answer = json.loads(answer[1])
    if answer["status"] != "ok":
        sys.exit(json.dumps(answer))
    return answer["tensor"]


def main():
    socket, what, name, *numbers = sys.argv[1:]
    connection = redis.Redis(unix_socket_path=socket)
    if what == "delete":
        print(ask(connection, op="delete", name=name)["refcount"])
        return
    count, value = map(int, numbers)
    if what == "make":
        tensor = ask(connection, op="create", name=name, dtype="u8", shape=[count], device=0)
        memory = Memory(tensor)
        memory.check(count, 0)
        memory.fill(count, value)
    else:
        tensor = ask(connection, op="get", name=name, pid=os.getpid())
        memory = Memory(tensor)
        memory.check(count, value)
    memory.close()
    print(tensor["refcount"])


if __name__ == "__main__":
    main()
