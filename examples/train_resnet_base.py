# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains ResNet-50 on fake data on one device: python3 examples/train_resnet_base.py [--model resnet18 --batch_size 8]"""
import torch

import loop
import torchvision_schemas


def own_flags(parser):
    parser.add_argument("--model", default="resnet50", help="a name of torchvision.models")
    parser.add_argument("--image_size", type=int, default=224)


class TrainResNetBase(loop.Trainer):
    def __init__(self, flags):
        torch.manual_seed(42)
        super().__init__(flags, torchvision_schemas.load().models.get_model(flags.model),
                         lambda weights: torch.optim.SGD(weights, lr=0.01, weight_decay=1e-4), torch.nn.CrossEntropyLoss(),
                         loop.images(flags.batch_size, flags.image_size))


if __name__ == "__main__":
    TrainResNetBase(loop.flags(128, own_flags)).start_training()
