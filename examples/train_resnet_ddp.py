# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains ResNet-50 on fake data in several processes with PyTorch's DistributedDataParallel:

    CPU_NUM_DEVICES=2 python3 examples/train_resnet_ddp.py [--model resnet18 --batch_size 8]
    torchrun --nproc-per-node=2 examples/train_resnet_ddp.py
"""
import torch.distributed as dist
import torch_xla
import torch_xla.distributed.xla_backend  # noqa: F401
from torch.nn.parallel import DistributedDataParallel as DDP

import loop
from train_resnet_base import TrainResNetBase, own_flags


class TrainResNetDDP(TrainResNetBase):
    def __init__(self, flags):
        dist.init_process_group("xla", init_method="xla://")
        super().__init__(flags)
        self.model = DDP(self.model, gradient_as_bucket_view=True)


def _mp_fn(index):
    TrainResNetDDP(loop.flags(128, own_flags)).start_training()


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)
