# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.utils (xu): the generator of fake data that the example programs use."""


class SampleGenerator:
    """`sample_count` times the same batch."""

    def __init__(self, data, sample_count):
        self._data, self._sample_count, self._count = data, sample_count, 0

    def __iter__(self):
        return SampleGenerator(self._data, self._sample_count)

    def __len__(self):
        return self._sample_count

    def __next__(self):
        if self._count >= self._sample_count:
            raise StopIteration
        self._count += 1
        return self._data

    next = __next__
