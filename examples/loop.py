# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The training loop of train_resnet_base and train_decoder_only_base: one device, fake data, a line every ten steps."""
import argparse
import time

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.utils.utils as xu


def flags(batch_size, add=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=batch_size)
    parser.add_argument("--num_epochs", type=int, default=1)
    parser.add_argument("--num_steps", type=int, default=300)
    if add:
        add(parser)
    return parser.parse_args()


class Trainer:
    """`step(data, target)` records one step and returns its loss; `sample` is the batch that every step gets."""

    def __init__(self, flags, model, optimizer, loss_fn, sample):
        self.flags, self.device = flags, torch_xla.device()
        self.model = model.to(self.device)
        self.optimizer, self.loss_fn = optimizer(self.model.parameters()), loss_fn
        loader = xu.SampleGenerator(data=sample, sample_count=flags.num_steps)
        self.loader = pl.MpDeviceLoader(loader, self.device)
        torch_xla.sync(wait=True)  # the weights are there before the clock runs

    def step(self, data, target):
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(data), target)
        loss.backward()
        self.optimizer.step()
        return loss

    def print_update(self, epoch, step, loss, tracker):
        print(f"epoch: {epoch}, step: {step}, loss: {loss.item()}, rate: {tracker.rate()}", flush=True)

    def train_loop_fn(self, loader, epoch):
        tracker = xm.RateTracker()
        self.model.train()
        for step, (data, target) in enumerate(loader):
            loss = self.step(data, target)
            tracker.add(self.flags.batch_size)
            if step % 10 == 0:
                xm.add_step_closure(self.print_update, args=(epoch, step, loss, tracker))

    def start_training(self):
        print(time.strftime("%l:%M%p %Z on %b %d, %Y").strip(), flush=True)
        for epoch in range(1, self.flags.num_epochs + 1):
            self.train_loop_fn(self.loader, epoch)
            xm.wait_device_ops()
            print(f"Epoch {epoch} train end {time.strftime('%l:%M%p %Z')}", flush=True)


def images(batch_size, size=224):
    """A batch of fake images and their classes."""
    return torch.zeros(batch_size, 3, size, size), torch.zeros(batch_size, dtype=torch.int64)
