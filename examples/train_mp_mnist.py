# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small convolutional network on MNIST, one process per device.

    PJRT_DEVICE=CPU python3 examples/train_mp_mnist.py --fake_data
    PJRT_DEVICE=CPU python3 examples/train_mp_mnist.py --fake_data --num_cores=2 --ddp
    PJRT_DEVICE=CPU torchrun --nproc-per-node=2 examples/train_mp_mnist.py --fake_data
"""
import os
import shutil

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch_xla.runtime as xr
import torch_xla.utils.utils as xu

import loop
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
    lr = FLAGS.lr * xr.world_size()  # the larger the whole batch, the larger the step
    return loop.train_and_test(FLAGS, MNIST(), lambda weights: optim.SGD(weights, lr=lr, momentum=FLAGS.momentum), nn.NLLLoss(), loaders())


def _mp_fn(index):
    accuracy = train_mnist()
    if FLAGS.tidy and not FLAGS.fake_data and os.path.isdir(FLAGS.datadir):
        shutil.rmtree(FLAGS.datadir)
    loop.check_accuracy(accuracy, FLAGS)


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
