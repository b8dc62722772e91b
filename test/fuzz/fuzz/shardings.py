# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random meshes and random shardings over them, the same for a value whatever else is left of its program."""
import re
import zlib

import numpy as np

MOST_DEVICES = 16


def axes_of(random, devices):
    """Sizes of one to three axes whose product is `devices`, in any order, now and then with an axis of one device."""
    sizes, rest = [], devices
    while rest > 1 and len(sizes) < 2:
        divisors = [d for d in range(2, rest + 1) if rest % d == 0]
        size = int(random.choice(divisors))
        sizes.append(size)
        rest //= size
    if rest > 1:
        sizes.append(rest)
    if len(sizes) < 3 and random.random() < 0.1:
        sizes.append(1)
    random.shuffle(sizes)
    return sizes


class Shardings:
    """`devices`: how many, or None for a random number of 2 to 16."""

    def __init__(self, seed, index, devices):
        self.seed, self.index = seed, index
        random = np.random.default_rng([seed, index, 7])
        self.devices = devices or int(random.integers(2, MOST_DEVICES + 1))
        self.sizes = dict(zip("abcd", axes_of(random, self.devices)))
        axes = ", ".join(f'"{name}"={size}' for name, size in self.sizes.items())
        ids = ""
        order = random.permutation(self.devices)
        self.ids = list(range(self.devices))
        if index % 4 == 0 and list(order) != sorted(order):
            self.ids = [int(i) for i in order]
            ids = f", device_ids=[{', '.join(str(i) for i in order)}]"
        self.head = f"module attributes {{mhlo.num_partitions = {self.devices} : i32}} {{\n  sdy.mesh @mesh = <[{axes}]{ids}>\n"

    def random(self, text):
        """The same numbers whenever the text is the same."""
        return np.random.default_rng([self.seed, self.index, zlib.crc32(text.encode())])

    def _random(self, value, what):
        return self.random(f"{value.name} {what}")

    def groups(self, axis):
        """Lists of the devices that differ along the axis only."""
        grid = np.array(self.ids).reshape(list(self.sizes.values()))
        return np.moveaxis(grid, list(self.sizes).index(axis), -1).reshape(-1, self.sizes[axis]).tolist()

    def _pieces(self, random):
        """(text, size) of what can be dealt to dimensions: axes, some of them as two sub-axes."""
        pieces = []
        for name, size in self.sizes.items():
            halves = [d for d in range(2, size) if size % d == 0]
            if halves and random.random() < 0.15:
                first = int(random.choice(halves))
                pieces += [(f'"{name}":(1){first}', first), (f'"{name}":({first}){size // first}', size // first)]
            else:
                pieces.append((f'"{name}"', size))
        random.shuffle(pieces)
        return [(str(text), int(size)) for text, size in pieces]

    def _sharding(self, random, value, even, opened):
        """Pieces dealt to dimensions; `even`: only where they divide the dimension. Of what is left, some axes hold summands."""
        shape = value.shape
        dims, left, free = [[] for _ in shape], list(shape), []
        for text, size in self._pieces(random):
            fitting = [d for d, n in enumerate(left) if (n % size == 0 if even else n > 1)]
            # Two parts of an axis in order would have to be written as one.
            fitting = [d for d in fitting if not dims[d] or ":" not in text or dims[d][-1].split(":")[0] != text.split(":")[0]]
            if fitting and random.random() < 0.75:
                d = int(random.choice(fitting))
                dims[d].append(text)
                left[d] = -(-left[d] // size)
            elif ":" not in text:
                free.append(text)
        text = ", ".join("{" + ", ".join(d + (["?"] if opened and random.random() < 0.3 else [])) + "}"
                         + ("p1" if d and opened and random.random() < 0.1 else "") for d in dims)
        whole = ""
        if free and random.random() < 0.1:
            whole = f", replicated={{{free.pop(0)}}}"
        if free and random.random() < 0.15 and re.fullmatch(r"b?f(16|32|64)|u?i(8|16|32|64)|complex<f\d+>", value.dtype):
            apart = sorted(free)[:int(random.integers(1, len(free) + 1))]  # the mesh's axes are in order of their names
            whole += f", unreduced={random.choice(['', '', 'max']) if 'c' not in value.dtype else ''}{{{', '.join(apart)}}}"
        return f"<@mesh, [{text}]{whole}>"

    def attribute(self, value, what="argument"):
        """What follows the type in a signature; sometimes nothing."""
        random = self._random(value, what)
        if random.random() < 0.25:
            return ""
        even = random.random() < 0.6
        return f" {{sdy.sharding = #sdy.sharding{self._sharding(random, value, even, what == 'result')}}}"

    def wish(self, value):
        """The sharding of a constraint after the value's operation, or None."""
        random = self._random(value, "wish")
        even = random.random() < 0.6
        return self._sharding(random, value, even, True) if random.random() < 0.3 else None
