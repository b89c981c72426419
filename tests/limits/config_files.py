#!/usr/bin/env python3
"""Forms of /etc/vcuda/config.yaml with PyYAML's verdict on each, in config_files.json.

    config_files.py            writes the table
    config_files.py --check    compares it with this machine's PyYAML

`text` is the file, a character for each byte. `verdict` is "error", or the document's top level as PyYAML reads it:
`typed` by its safe loader, `texts` with every scalar as it is written; null where the top level is not a mapping.
"""

import json
import pathlib
import sys

import yaml

TABLE = pathlib.Path(__file__).with_suffix(".json")
KEYS = ["memory_limit", "memoryLimit", "device_name", "target_device_name", "target_device"]
FILES = [
    # Plain lines.
    "memory_limit: 1g\n", "memory_limit: 1g", "memoryLimit: 1536m\n", "memory_limit: 1073741824\n", "memory_limit: 1.5G\n",
    "memory_limit: 50%\n", "memory_limit: \"1g\"\n", "memory_limit: '1g'\n", "memory_limit:   1g   \n", "memory_limit : 1g\n",
    "memory_limit: 1 GiB\n", "memory_limit: 2147483648 bytes\n", "memory_limit: 1.0\n",
    "# a\n\n  # b\nmemory_limit: 1g  # c\n", "---\nmemory_limit: 1g\n", "memory_limit: 1g\r\ndevice_name: Tiny\r\n", "memory_limit: 1g\r",
    "memory_limit: 1g\ndevice_name: NVIDIA H100 (80GB)\n", "device_name: Tiny\n", "target_device: 'a: #b'\nmemory_limit: 1g\n",
    "target_device_name: \"x\"\n", "memory_limit: \"010\"\n", "# \u00e4\nmemory_limit: 1g\n".encode().decode("latin-1"),
    "# \u4e2d\u6587 \U0001f600\nmemory_limit: 1g # \u4e2d\n".encode().decode("latin-1"), "#\tx\nmemory_limit: 1g\n",
    # Other forms of the same.
    "{memory_limit: 1g}\n", "{\"memory_limit\": \"1g\"}\n", "{\"memory_limit\": \"1g\",\n \"device_name\": \"x\"}\n", "\"memory_limit\": 1g\n",
    "'memory_limit': 1g\n", "\xef\xbb\xbfmemory_limit: 1g\n", "memory_limit:\n  1g\n", "? memory_limit\n: 1g\n",
    "memory_limit: |\n  1g\n", "memory_limit: >-\n  1g\n", "memory_limit: &a 1g\n", "&a memory_limit: 1g\n", "x: &a 1g\nmemory_limit: *a\n",
    "memory_limit: !!str 1g\n", "memory_limit: !!str 1024\n", "memory_limit: !x 1g\n", "!!map\nmemory_limit: 1g\n", "  memory_limit: 1g\n",
    "base: &b\n  memory_limit: 1g\n<<: *b\n", "<<: {memory_limit: 1g}\n", "<<: [{memory_limit: 1g}]\n",
    "memory_limit: \"1\\x67\"\n", "memory_limit: \"1\n  g\"\n", "memory_limit: '1g''s'\n", "\"memory\\x5flimit\": 1g\n", "--- {memory_limit: 1g}\n",
    "--- # first\nmemory_limit: 1g\n", "%YAML 1.1\n---\nmemory_limit: 1g\n", "memory_limit: 1g\n...\n", "memory_limit: 1\n  g\n", "memory_limit: 1g\t\n",
    "memory_limit: 1g\t# c\n", "memory_limit:\t1g\n", "memory_limit\t: 1g\n", "\tmemory_limit: 1g\n", "\t\nmemory_limit: 1g\n", "memory_limit: 1g\n \n \t\n",
    "{\"memory_limit\":\"1g\"}", "{memory_limit: 1g, }\n", "{ # c\n memory_limit: 1g}\n", "memory_limit: 1g\rdevice_name: x\r",
    # Numbers of which YAML makes others.
    "memory_limit: 010\n", "memory_limit: 0x400\n", "memory_limit: 1_024\n", "memory_limit: 0b11\n", "memory_limit: 0o10\n", "memory_limit: 1:30\n",
    "memory_limit: 1e9\n", "memory_limit: 1.0e+9\n", "memory_limit: 08\n", "memory_limit: 00\n", "memory_limit: +1024\n", "memory_limit: 01.0\n", "memory_limit: 017g\n",
    "memory_limit: .5g\n", "memory_limit: 1.\n", "memory_limit: 2024-01-01\n",
    # More than one, elsewhere, or none.
    "memory_limit: 1g\nmemory_limit: 2g\n", "memory_limit: 1g\nmemoryLimit: 2g\n", "memory_limit: 1g\n---\nmemory_limit: 2g\n",
    "---\n---\nmemory_limit: 1g\n", "device_name: x\n---\nmemory_limit: 1g\n", "vcuda:\n  memory_limit: 1g\n", "- memory_limit: 1g\n", "memory-limit: 1g\n",
    "Memory_Limit: 1g\n", "memory_limits: 1g\n", "memory_limit:1g\n", "memory_limit 1g\n", "memory_limit=1g\n", "memory_limit: 1g#c\n", "memory_limit: \"1g\"#c\n",
    "memory_limit: 1g # c\n  2g\n", "memory_limit: [1g]\n", "memory_limit: {x: 1g}\n", "memory_limit: 1g, 2g\n", "memory_limit: 1g: 2g\n",
    "memory_limit: 1g\nlog_level: debug\n", "device_name: \"x\nmemory_limit: 1g\"\n", "device_name: |\n  memory_limit: 1g\n", "device_name: x\n  memory_limit: 1g\n",
    "# \u2028memory_limit: 1g\n".encode().decode("latin-1"), "# \u0085memory_limit: 1g\n".encode().decode("latin-1"),
    "device_name: x # \u2028memory_limit: 1g\n".encode().decode("latin-1"), "# \rmemory_limit: 1g\n", "device_name: x\rmemory_limit: 1g\n",
    "memory_limit:\n", "memory_limit: # 1g\n", "memory_limit: ~\n", "memory_limit: null\n", "memory_limit: \"\"\n", "memory_limit: 0\n", "memory_limit: -1\n",
    "memory_limit: lots\n", "memory_limit: yes\n", "memory_limit: 1g\0\n", "memory_limit: 1g\x7f\n", "memory_limit: \xff\n", "\xff\xfem\0e\0m\0", "",
    "\n\n", "   ", "# memory_limit: 1g\n", "---\n", "x\n", "]\n", "memory_limit: 'x\n", "memory_limit: \"x\n", "memory_limit: `1g`\n", "memory_limit: @1g\n",
    "memory_limit: %1g\n", "device_name: ~\n", "device_name: 007\n", "device_name: \"\"\n", "device_name: x\ntarget_device: y\n", "device_name: [x]\n",
    "# " + "x" * 3000 + "\nmemory_limit: 1g\n", "[" * 500, "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\nmemory_limit: 1g\n",
]


def plain(value):
    return value if value is None or isinstance(value, (str, int, float, bool)) else "a " + type(value).__name__


def verdict(text):
    data = text.encode("latin-1")

    def load(loader):
        top = yaml.load(data, loader)
        return {key: plain(top[key]) for key in KEYS if key in top} if isinstance(top, dict) else None

    try:
        return {"typed": load(yaml.SafeLoader), "texts": load(yaml.BaseLoader)}
    except (yaml.YAMLError, ValueError, RecursionError):
        return "error"


def table():
    rows = [json.dumps({"text": text, "verdict": verdict(text)}, sort_keys=True) for text in FILES]
    return "[\n" + ",\n".join(rows) + "\n]\n"


if sys.argv[1:] == ["--check"]:
    if TABLE.read_text(encoding="utf-8") != table():
        sys.exit(f"{TABLE.name} is not what PyYAML {yaml.__version__} says: run {sys.argv[0]}")
else:
    TABLE.write_text(table(), encoding="utf-8")
    print(f"{len(FILES)} files")
