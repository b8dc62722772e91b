# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout of a parameter's shards, one per rank. The files of PyTorch/XLA's checkpoints have this layout, too."""
import dataclasses
import math

import torch
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Layout:
    """Shards of one size among `world` ranks. `size`: of the whole parameter. Flat: its elements as a vector, behind which zeros make the shards a
    multiple of `multiple` elements. Else (`on_dim_0`): rows of its first dim, behind which rows of zeros make them even."""
    size: torch.Size
    world: int
    multiple: int = 1
    on_dim_0: bool = False

    @property
    def padded(self) -> torch.Size:
        """The size of all shards joined."""
        if self.on_dim_0:
            return torch.Size((-(-self.size[0] // self.world) * self.world, *self.size[1:]))
        grain = self.world * self.multiple
        return torch.Size((max(-(-self.size.numel() // grain), 1) * grain,))  # of a parameter without elements, too: ranks exchange something

    @property
    def shard(self) -> torch.Size:
        """The size of a shard."""
        return torch.Size((self.padded[0] // self.world, *self.padded[1:]))

    def cut(self, tensor: torch.Tensor, rank: int) -> torch.Tensor:
        """Returns the shard of `rank` of a whole tensor, a copy of its own."""
        rows = tensor if self.on_dim_0 else tensor.reshape(-1)
        count, there = self.shard[0], rows.size(0)
        piece = rows[min(rank * count, there):min((rank + 1) * count, there)]
        return self._extended(piece, count).clone()

    def pad(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a whole tensor, in the size of all shards joined."""
        return self._extended(tensor if self.on_dim_0 else tensor.reshape(-1), self.padded[0])

    def whole(self, joined: torch.Tensor) -> torch.Tensor:
        """Returns a view of all shards joined that has the size of the parameter."""
        if self.on_dim_0:
            return joined if joined.size(0) == self.size[0] else joined[:self.size[0]]
        count = math.prod(self.size)
        return (joined if joined.size(0) == count else joined[:count]).view(self.size)

    def _extended(self, tensor, rows):
        missing = rows - tensor.size(0)
        return F.pad(tensor, [0, 0] * (tensor.dim() - 1) + [0, missing]) if missing else tensor
