# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains ResNet-50 on fake data in several processes, whose gradients xm.optimizer_step() averages:

    CPU_NUM_DEVICES=2 python3 examples/train_resnet_xla_ddp.py [--model resnet18 --batch_size 8]
"""
import torch_xla
import torch_xla.core.xla_model as xm

import loop
from train_resnet_base import TrainResNetBase, own_flags


class TrainResNetXLADDP(TrainResNetBase):
    def __init__(self, flags):
        super().__init__(flags)
        xm.broadcast_master_param(self.model)

    def update(self):
        xm.optimizer_step(self.optimizer)


def _mp_fn(index):
    TrainResNetXLADDP(loop.flags(128, own_flags)).start_training()


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)
