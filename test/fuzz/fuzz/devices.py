# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/fuzz --devices: programs on one device against the same programs on many, in one process of build/bin/fuzz-devices."""
import collections
import glob
import os
import re
import struct
import subprocess

import numpy as np

from fuzz import dtypes

# What no program here contains, and why; everything else in dialects/stablehlo is expected to be counted.
ABSENT = {
    "input and output of whole programs": "infeed outfeed recv send",
    "sizes that only a run knows": "compute_reshape_shape cstr_reshapable set_dimension_size",
    "no operations of their own": "return trace",
    "calls of other people's code, also later: test/e2e, test/jax": "async_done async_start",
}


def known_operations(root):
    names = set()
    for path in glob.glob(os.path.join(root, "dialects", "stablehlo", "*Ops.td")):
        with open(path) as file:
            names.update(re.findall(r'^def StableHLO_\w*Op\s*:[^"{]*"([\w-]+)"', file.read(), re.M))
    return names


class Grid:
    """Runs both sides of a case; a process that dies is replaced."""

    def __init__(self, build, flags=()):
        self.command, self.process = [os.path.join(build, "bin", "fuzz-devices"), *flags], None

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def _start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def _read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise EOFError
        return data

    def _number(self):
        return struct.unpack("<Q", self._read(8))[0]

    def pair(self, case):
        """(one device's results, None, many devices' results, None), or a message in place of results."""
        if self.process is None:
            self._start()
        parts = []
        for text in (case.text(), case.text(case.spread)):
            parts += [struct.pack("<Q", len(text.encode())), text.encode()]
        parts.append(struct.pack("<Q", len(case.arrays)))
        for array in case.arrays:
            data = np.ascontiguousarray(array).tobytes()
            parts += [struct.pack("<Q", len(data)), data]
        try:
            self.process.stdin.write(b"".join(parts))
            self.process.stdin.flush()
            if self._number():
                message = self._read(self._number()).decode(errors="replace")
                return (None, message, None, None) if message.startswith(("one device", "does not parse")) else ([], None, None, message)
            sides = [], []
            for index in range(self._number()):
                result = case.results[index]
                for side in sides:
                    data = self._read(self._number())
                    side.append(np.frombuffer(data, dtypes.NUMPY[result.dtype]).reshape(result.shape))
            return sides[0], None, sides[1], None
        except (EOFError, BrokenPipeError):
            self.process.kill()
            last = self.process.stderr.read().decode(errors="replace").strip().splitlines()
            self.process.wait()
            self.process = None
            return [], None, None, "crashed: " + " | ".join(line for line in last if line.strip())[:800]

    def values(self, case):
        """One device's results of a case without shardings."""
        one, message, _, _ = self.pair(case)
        return one, message


class Coverage:
    """How often each operation of StableHLO stood in a program, and on how many devices programs ran."""

    def __init__(self, root):
        self.root, self.operations, self.devices = root, collections.Counter(), collections.Counter()

    def add(self, case):
        text = case.text(case.spread)
        self.operations.update(re.findall(r'"?\bstablehlo\.([\w-]+)"?[ (]', text))
        self.devices[case.spread.devices] += 1

    def missing(self):
        absent = {name for names in ABSENT.values() for name in names.split()}
        return sorted(known_operations(self.root) - absent - set(self.operations))

    def print(self):
        names = sorted(known_operations(self.root) & set(self.operations))
        print("\noperations in programs:")
        for start in range(0, len(names), 4):
            print("  " + "".join(f"{name:>24} {self.operations[name]:6}" for name in names[start:start + 4]))
        print("devices: " + ", ".join(f"{n}: {count}" for n, count in sorted(self.devices.items())))
        for reason, listed in ABSENT.items():
            print(f"not in programs ({reason}): {listed}")
        if self.missing():
            print(f"not seen: {' '.join(self.missing())}")
