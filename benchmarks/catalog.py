# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All programs that scripts/bench measures, by group, and their files: python -m benchmarks.catalog GROUP NAME FOLDER

writes FOLDER/NAME.mlir and FOLDER/NAME.npz, the arguments, in a process of its own: what made them leaves no trace in the one that waits."""
import os
import re
import sys


def groups():
    from benchmarks import model, more, op

    return {"model": model.programs() + model.generated(), "op": op.programs(), "more": more.programs()}


def choose(words):
    """(group, program) of each program that a word chooses: a group's name, or a regular expression for the program's."""
    found = groups()
    return [(group, item) for group, items in found.items() for item in items
            if any(w == group or (w not in found and re.search(w, item.name)) for w in words)]


def find(group, name):
    return next(p for p in groups()[group] if p.name == name)


def write(program, folder):
    from benchmarks import program as bench
    from benchmarks import tools

    text, arguments = bench.text_and_arguments(program)
    with open(os.path.join(folder, program.name + ".mlir"), "w") as file:
        file.write(text)
    tools.save_arguments(os.path.join(folder, program.name + ".npz"), arguments)


if __name__ == "__main__":
    write(find(sys.argv[1], sys.argv[2]), sys.argv[3])
