# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small convolutional network and the digits of MNIST: of train_mp_mnist and train_mp_mnist_fsdp_with_ckpt."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla.runtime as xr
import torch_xla.utils.utils as xu

import torchvision_schemas

DEFAULTS = {"datadir": "/tmp/mnist-data", "batch_size": 128, "momentum": 0.5, "lr": 0.01, "target_accuracy": 98.0, "num_epochs": 18}


class MNIST(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(10, 20, 5), nn.BatchNorm2d(20), nn.ReLU(), nn.MaxPool2d(2))
        self.classes = nn.Sequential(nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10))

    def forward(self, x):
        return F.log_softmax(self.classes(self.features(x)), dim=1)


def loaders(flags):
    """Batches to train on and to test with."""
    if flags.fake_data:
        batch = (torch.zeros(flags.batch_size, 1, 28, 28), torch.zeros(flags.batch_size, dtype=torch.int64))
        steps = flags.num_steps or 60000 // flags.batch_size // xr.world_size()
        return (xu.SampleGenerator(data=batch, sample_count=steps),
                xu.SampleGenerator(data=batch, sample_count=max(1, steps // 6)))
    torchvision = torchvision_schemas.load()
    from torchvision import transforms
    convert = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    result = []
    for train in (True, False):
        data = torchvision.datasets.MNIST(os.path.join(flags.datadir, str(xr.global_ordinal())), train=train, download=True,
                                          transform=convert)
        sampler = None
        if train and xr.world_size() > 1:
            sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=xr.world_size(),
                                                                      rank=xr.global_ordinal(), shuffle=True)
        result.append(torch.utils.data.DataLoader(data, batch_size=flags.batch_size, sampler=sampler,
                                                  drop_last=flags.drop_last, shuffle=train and sampler is None,
                                                  num_workers=flags.num_workers))
    return result
