# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small convolutional network on MNIST, split among processes; its shards become one checkpoint, which is tested at the end.

    python3 examples/train_mp_mnist_fsdp_with_ckpt.py --fake_data --num_cores=2 --batch_size 16 --drop_last --num_epochs 2 \\
        --use_nested_fsdp --use_gradient_checkpointing
"""
import torch
import torch.nn as nn
import torch.optim as optim
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl

import fsdp_options
import loop
import mnist
import options

FLAGS = options.parse(dict(mnist.DEFAULTS, ckpt_prefix="/tmp/mnist-fsdp/final_ckpt"), fsdp_options.add)
PARTS = ["features.0", "features.4", "classes.1", "classes.3"]


def test_whole(state_dict, loader):
    """The accuracy of the model that was never wrapped, with the weights that were put together."""
    model = mnist.MNIST()
    model.load_state_dict(state_dict)
    model = model.to("xla").eval()
    right = total = 0
    with torch.no_grad():
        for data, target in pl.MpDeviceLoader(loader, "xla"):
            right += (model(data).argmax(1) == target).sum().item()
            total += len(target)
    return 100.0 * right / total


def _mp_fn(index):
    torch.manual_seed(1)
    loaders = mnist.loaders(FLAGS)
    accuracy = loop.train_and_test(
        FLAGS, mnist.MNIST(), lambda weights: optim.SGD(weights, lr=FLAGS.lr, momentum=FLAGS.momentum), nn.NLLLoss(), loaders,
        wrap=lambda model: fsdp_options.wrap(FLAGS, model, PARTS), at_end=at_end)
    loop.check_accuracy(accuracy, FLAGS)


def at_end(model, optimizer):
    state_dict = fsdp_options.save(FLAGS, model, optimizer)
    if state_dict is not None:
        print(f"the whole model: Accuracy={test_whole(state_dict, mnist.loaders(FLAGS)[1]):.2f}")
    xm.rendezvous("the whole model was tested")


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
