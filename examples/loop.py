# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loops of the training programs: Trainer, of train_resnet_base and train_decoder_only_base (one device, fake data, a line every
ten steps), and train_and_test(), of train_mp_mnist and train_mp_imagenet (a replica per device, a test after every epoch)."""
import argparse
import sys
import time

import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_backend  # noqa: F401
import torch_xla.test.test_utils as test_utils
import torch_xla.utils.utils as xu
from torch_xla.debug.meter import Meter, count_flops


def flags(batch_size, add=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=batch_size)
    parser.add_argument("--num_epochs", type=int, default=1)
    parser.add_argument("--num_steps", type=int, default=300)
    parser.add_argument("--meter", action="store_true", help="print time, utilization and memory every ten steps")
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
        self.flops = count_flops(lambda: self.step(*(part.to(self.device) for part in sample))) if flags.meter else None
        torch_xla.sync(wait=True)  # the weights are there before the clock runs

    def step(self, data, target):
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(data), target)
        loss.backward()
        self.update()
        return loss

    def update(self):
        """From the gradients of this replica to new weights."""
        self.optimizer.step()

    def print_update(self, epoch, step, loss, tracker):
        print(f"epoch: {epoch}, step: {step}, loss: {loss.item()}, rate: {tracker.rate()}", flush=True)

    def train_loop_fn(self, loader, epoch):
        tracker = xm.RateTracker()
        self.model.train()
        meter = Meter(self.model, self.optimizer, flops_per_step=self.flops) if self.flags.meter else None
        for step, (data, target) in enumerate(loader):
            loss = self.step(data, target)
            tracker.add(self.flags.batch_size)
            if meter:
                meter.step(self.flags.batch_size)
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


def train_and_test(flags, model, make_optimizer, loss_fn, loaders, make_scheduler=None, is_tested=lambda epoch: True,
                   log_tests=False, wrap=None, at_end=None):
    """The epochs of a classifier on this replica's device. `loaders`: batches (data, class) to train on and to test with;
    `make_scheduler(optimizer)`, or None, is stepped after every batch; `log_tests`: a line every few batches of a test, too;
    `wrap(model)`: a module whose backward pass reduces gradients; `at_end(model, optimizer)`: called after the last epoch. Returns the best
    accuracy of the tests, in percent."""
    device = torch_xla.device()
    model = wrap(model) if wrap else model.to(device)
    if flags.ddp or flags.pjrt_distributed:
        dist.init_process_group("xla", init_method="xla://")
    if flags.ddp:
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = make_optimizer(model.parameters())
    scheduler = make_scheduler(optimizer) if make_scheduler else None
    writer = test_utils.get_summary_writer(flags.logdir) if xm.is_master_ordinal() else None
    train_loader, test_loader = (pl.MpDeviceLoader(loader, device) for loader in loaders)

    def print_training(step, loss, tracker, epoch):
        test_utils.print_training_update(device, step, loss.item(), tracker.rate(), tracker.global_rate(), epoch,
                                         summary_writer=writer)

    def train_epoch(epoch):
        tracker = xm.RateTracker()
        model.train()
        for step, (data, target) in enumerate(train_loader):
            if flags.num_steps and step == flags.num_steps:
                break
            optimizer.zero_grad()
            loss = loss_fn(model(data), target)
            loss.backward()
            if flags.ddp or wrap:  # which has averaged the gradients
                optimizer.step()
            else:
                xm.optimizer_step(optimizer)
            tracker.add(flags.batch_size)
            if scheduler:
                scheduler.step()
            if step % flags.log_steps == 0:
                xm.add_step_closure(print_training, args=(step, loss, tracker, epoch), run_async=flags.async_closures)

    def test_epoch(epoch):
        model.eval()
        total, correct = 0, torch.zeros((), dtype=torch.int64, device=device)
        with torch.no_grad():
            for step, (data, target) in enumerate(test_loader):
                correct += (model(data).argmax(1) == target).sum()
                total += data.size(0)
                if log_tests and step % flags.log_steps == 0:
                    xm.add_step_closure(test_utils.print_test_update, args=(device, None, epoch, step),
                                        run_async=flags.async_closures)
        return xm.mesh_reduce("test_accuracy", 100.0 * correct.item() / total, lambda values: sum(values) / len(values))

    best = 0.0
    for epoch in range(1, flags.num_epochs + 1):
        xm.master_print(f"Epoch {epoch} train begin {test_utils.now()}")
        train_epoch(epoch)
        xm.master_print(f"Epoch {epoch} train end {test_utils.now()}")
        if is_tested(epoch):
            accuracy = test_epoch(epoch)
            xm.master_print(f"Epoch {epoch} test end {test_utils.now()}, Accuracy={accuracy:.2f}")
            best = max(best, accuracy)
            test_utils.write_to_summary(writer, epoch, dict_to_write={"Accuracy/test": accuracy}, write_xla_metrics=True)
        if flags.metrics_debug:
            xm.master_print(met.metrics_report())
    test_utils.close_summary_writer(writer)
    if at_end:
        at_end(model, optimizer)
    xm.master_print(f"Max Accuracy: {best:.2f}%")
    return best


def check_accuracy(accuracy, flags):
    """Ends the process with status 21 if the accuracy is below --target_accuracy."""
    if accuracy < flags.target_accuracy:
        print(f"Accuracy {accuracy} is below target {flags.target_accuracy}")
        sys.exit(21)
