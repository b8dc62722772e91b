# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small convolutional network on MNIST, one process per device.

    PJRT_DEVICE=CPU python3 examples/train_mp_mnist.py --fake_data
"""
import os
import shutil
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
import torch_xla.test.test_utils as test_utils
import torch_xla.utils.utils as xu

import options
import torchvision_schemas

FLAGS = options.parse({"datadir": "/tmp/mnist-data", "batch_size": 128, "momentum": 0.5, "lr": 0.01,
                       "target_accuracy": 98.0, "num_epochs": 18})


class MNIST(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(10, 20, 5), nn.BatchNorm2d(20), nn.ReLU(), nn.MaxPool2d(2))
        self.classes = nn.Sequential(nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10))

    def forward(self, x):
        return F.log_softmax(self.classes(self.features(x)), dim=1)


def loaders():
    """Batches to train on and to test with."""
    if FLAGS.fake_data:
        batch = (torch.zeros(FLAGS.batch_size, 1, 28, 28), torch.zeros(FLAGS.batch_size, dtype=torch.int64))
        steps = FLAGS.num_steps or 60000 // FLAGS.batch_size // xr.world_size()
        return (xu.SampleGenerator(data=batch, sample_count=steps),
                xu.SampleGenerator(data=batch, sample_count=max(1, steps // 6)))
    torchvision = torchvision_schemas.load()
    from torchvision import transforms
    convert = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    result = []
    for train in (True, False):
        data = torchvision.datasets.MNIST(os.path.join(FLAGS.datadir, str(xr.global_ordinal())), train=train, download=True,
                                          transform=convert)
        sampler = None
        if train and xr.world_size() > 1:
            sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=xr.world_size(),
                                                                      rank=xr.global_ordinal(), shuffle=True)
        result.append(torch.utils.data.DataLoader(data, batch_size=FLAGS.batch_size, sampler=sampler,
                                                  drop_last=FLAGS.drop_last, shuffle=train and sampler is None,
                                                  num_workers=FLAGS.num_workers))
    return result


def train_mnist():
    torch.manual_seed(1)
    train_loader, test_loader = loaders()
    lr = FLAGS.lr * xr.world_size()  # the larger the whole batch, the larger the step
    device = torch_xla.device()
    model = MNIST().to(device)
    writer = test_utils.get_summary_writer(FLAGS.logdir) if xm.is_master_ordinal() else None
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=FLAGS.momentum)
    loss_fn = nn.NLLLoss()
    train_device_loader, test_device_loader = pl.MpDeviceLoader(train_loader, device), pl.MpDeviceLoader(test_loader, device)

    def print_update(step, loss, tracker, epoch):
        test_utils.print_training_update(device, step, loss.item(), tracker.rate(), tracker.global_rate(), epoch,
                                         summary_writer=writer)

    def train_epoch(epoch):
        tracker = xm.RateTracker()
        model.train()
        for step, (data, target) in enumerate(train_device_loader):
            if FLAGS.num_steps and step == FLAGS.num_steps:
                break
            optimizer.zero_grad()
            loss = loss_fn(model(data), target)
            loss.backward()
            xm.optimizer_step(optimizer)
            tracker.add(FLAGS.batch_size)
            if step % FLAGS.log_steps == 0:
                xm.add_step_closure(print_update, args=(step, loss, tracker, epoch), run_async=FLAGS.async_closures)

    def test_epoch():
        model.eval()
        total, correct = 0, torch.zeros((), dtype=torch.int64, device=device)
        with torch.no_grad():
            for data, target in test_device_loader:
                correct += (model(data).argmax(1) == target).sum()
                total += data.size(0)
        return xm.mesh_reduce("test_accuracy", 100.0 * correct.item() / total, lambda values: sum(values) / len(values))

    accuracy, best = 0.0, 0.0
    for epoch in range(1, FLAGS.num_epochs + 1):
        xm.master_print(f"Epoch {epoch} train begin {test_utils.now()}")
        train_epoch(epoch)
        xm.master_print(f"Epoch {epoch} train end {test_utils.now()}")
        accuracy = test_epoch()
        xm.master_print(f"Epoch {epoch} test end {test_utils.now()}, Accuracy={accuracy:.2f}")
        best = max(best, accuracy)
        test_utils.write_to_summary(writer, epoch, dict_to_write={"Accuracy/test": accuracy}, write_xla_metrics=True)
        if FLAGS.metrics_debug:
            xm.master_print(met.metrics_report())
    test_utils.close_summary_writer(writer)
    xm.master_print(f"Max Accuracy: {best:.2f}%")
    return best


def _mp_fn(index):
    accuracy = train_mnist()
    if FLAGS.tidy and not FLAGS.fake_data and os.path.isdir(FLAGS.datadir):
        shutil.rmtree(FLAGS.datadir)
    if accuracy < FLAGS.target_accuracy:
        print(f"Accuracy {accuracy} is below target {FLAGS.target_accuracy}")
        sys.exit(21)


if __name__ == "__main__":
    torch_xla.launch(_mp_fn, debug_single_process=FLAGS.debug)
