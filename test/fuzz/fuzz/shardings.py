# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random shardings over a mesh of two or three axes, the same for a value whatever else is left of its program."""
import zlib

import numpy as np

MESHES = {2: (2, 1), 3: (3,), 4: (2, 2), 5: (5,), 6: (2, 3), 8: (4, 2), 12: (2, 3, 2), 16: (2, 4, 2)}


class Shardings:
    def __init__(self, seed, index, devices):
        self.seed, self.index, self.sizes = seed, index, dict(zip("abc", MESHES[devices]))
        axes = ", ".join(f'"{name}"={size}' for name, size in self.sizes.items())
        ids = ""
        order = np.random.default_rng([seed, index, 7]).permutation(devices)
        if index % 4 == 0 and list(order) != sorted(order):
            ids = f", device_ids=[{', '.join(str(i) for i in order)}]"
        self.head = f"module attributes {{mhlo.num_partitions = {devices} : i32}} {{\n  sdy.mesh @mesh = <[{axes}]{ids}>\n"

    def _random(self, value, what):
        return np.random.default_rng([self.seed, self.index, zlib.crc32(f"{value.name} {what}".encode())])

    def _sharding(self, random, shape, even, opened):
        """Axes dealt to dimensions; `even`: only where they divide the dimension."""
        dims = [[] for _ in shape]
        axes = list(self.sizes)
        random.shuffle(axes)
        left = list(shape)
        for axis in axes:
            fitting = [d for d, size in enumerate(left) if not even or (size % self.sizes[axis] == 0)]
            if fitting and random.random() < 0.75:
                d = int(random.choice(fitting))
                dims[d].append(f'"{axis}"')
                left[d] //= self.sizes[axis]
        text = ", ".join("{" + ", ".join(d + (["?"] if opened and random.random() < 0.3 else [])) + "}" for d in dims)
        return f"<@mesh, [{text}]>"

    def attribute(self, value, what="argument"):
        """What follows the type in a signature; sometimes nothing."""
        random = self._random(value, what)
        if random.random() < 0.25:
            return ""
        return f" {{sdy.sharding = #sdy.sharding{self._sharding(random, value.shape, True, what == 'result')}}}"

    def wish(self, value):
        """The sharding of a constraint after the value's operation, or None."""
        random = self._random(value, "wish")
        return self._sharding(random, value.shape, random.random() < 0.9, True) if random.random() < 0.3 else None
