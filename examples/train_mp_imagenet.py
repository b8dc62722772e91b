# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains any classifier of torchvision on ImageNet, one process per device.

    python3 examples/train_mp_imagenet.py --fake_data --model=resnet18 --batch_size=16 --num_epochs=1 --num_steps=10
    torchrun --nproc-per-node=2 examples/train_mp_imagenet.py --fake_data --model=resnet18 --batch_size=16 --num_epochs=1 --num_steps=10 --ddp
"""
import imagenet
import loop
import options

FLAGS = options.parse(imagenet.DEFAULTS, imagenet.own_flags)


def _mp_fn(index):
    loop.check_accuracy(imagenet.train_imagenet(FLAGS), FLAGS)


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
