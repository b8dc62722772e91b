# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the table of PyTorch's compiled shape functions, for csrc/MetaKernels.cpp: `meta_kernels.py TORCH_FOLDER OUTPUT`.

An operator that PyTorch calls "structured" has a function in C++ (namespace at::meta) that gives the types of its results. The
dispatcher does not reach it: the key Meta is taken by functions in Python, which import torch._dynamo at their first call (a second
of every process), and which have words of their own for an error. The headers of the PyTorch at hand name these functions and the
schemas of all operators; a line of the table pairs the two whose signatures are the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

DECLARATION = re.compile(r"^TORCH_API (?P<result>.+?) (?P<name>\w+)\((?P<parameters>.*)\);$", re.MULTILINE)
SCHEMA = re.compile(
    r"struct TORCH_API (?P<struct>\w+) \{\s*using schema = (?P<result>.+?) \((?P<parameters>[^;]*)\);.*?"
    r'schema_str = "(?P<name>\w+)(?:\.(?P<overload>\w+))?\(',
    re.DOTALL,
)


def split(parameters: str) -> list[str]:
    """Returns the parameters of a declaration, which commas outside of template arguments separate.

    Args:
      parameters: The text between the parentheses.
    """
    parts, depth = [""], 0
    for letter in parameters:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def type_of(parameter: str) -> str:
    """Returns the type of a declared parameter, without its name and default.

    Args:
      parameter: The declaration.
    """
    return re.sub(r"\s*\w+$", "", parameter.split("=")[0].rstrip())


def signature(result: str, types: list[str]) -> str:
    """Returns the types of a function as text without spaces, by which two declarations are compared.

    Args:
      result: The type of the result.
      types: The types of the parameters.
    """
    return re.sub(r"\s+", "", f"{result}({','.join(types)})")


def lines(operators: Path) -> Iterator[tuple[str, str]]:
    """Yields for each operator that has a function in at::meta the stem of the header and the line of the table.

    Args:
      operators: PyTorch's folder include/ATen/ops.
    """
    for header in sorted(operators.glob("*_meta_dispatch.h")):
        stem = header.name.removesuffix("_meta_dispatch.h")
        functions = {
            signature(found["result"], [type_of(part) for part in split(found["parameters"])]) + found["name"]: found["name"]
            for found in DECLARATION.finditer(header.read_text())
        }
        for found in SCHEMA.finditer((operators / f"{stem}_ops.h").read_text()):
            own = signature(found["result"], split(found["parameters"]))
            for name in (found["name"], found["name"] + "_symint"):
                # The table has no operators that write to an argument: their functional forms stand for them.
                if own + name in functions and "at::Tensor&(" not in own:
                    operator = "aten::" + found["name"] + (f".{found['overload']}" if found["overload"] else "")
                    yield stem, f'    {{"{operator}", kernel<at::_ops::{found["struct"]}>(&at::meta::{name})}},'


def main() -> int:
    """Writes the file if its text changes, and returns the exit status: 1 if PyTorch has no such function."""
    torch_folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    table = list(lines(torch_folder / "include/ATen/ops"))
    if not table:
        print(f"meta_kernels.py: no operator of {torch_folder} has a function in at::meta", file=sys.stderr)
        return 1
    includes = [f"#include <ATen/ops/{stem}_{kind}.h>" for stem in dict(table) for kind in ("meta_dispatch", "ops")]
    text = "\n".join(["// Written by meta_kernels.py from the headers of PyTorch.", *includes, "", "#define MILLRACE_META_KERNELS \\"])
    text += "\n" + " \\\n".join(line for _, line in table) + "\n"
    if not output.exists() or output.read_text() != text:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
