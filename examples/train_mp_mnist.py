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
import torch.optim as optim
import torch_xla.runtime as xr

import loop
import mnist
import options

FLAGS = options.parse(mnist.DEFAULTS)


def train_mnist():
    torch.manual_seed(1)
    lr = FLAGS.lr * xr.world_size()  # the larger the whole batch, the larger the step
    return loop.train_and_test(FLAGS, mnist.MNIST(), lambda weights: optim.SGD(weights, lr=lr, momentum=FLAGS.momentum), nn.NLLLoss(),
                               mnist.loaders(FLAGS))


def _mp_fn(index):
    accuracy = train_mnist()
    if FLAGS.tidy and not FLAGS.fake_data and os.path.isdir(FLAGS.datadir):
        shutil.rmtree(FLAGS.datadir)
    loop.check_accuracy(accuracy, FLAGS)


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
