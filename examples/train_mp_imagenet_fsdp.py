# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a classifier of torchvision on ImageNet, split among processes.

    python3 examples/train_mp_imagenet_fsdp.py --fake_data --num_cores=2 --model=resnet18 --batch_size=8 --num_epochs=1 --num_steps=10 \\
        --use_nested_fsdp --use_gradient_checkpointing
"""
import imagenet
import loop
import fsdp_options
import options


def own_flags(parser):
    imagenet.own_flags(parser)
    fsdp_options.add(parser)


FLAGS = options.parse(imagenet.DEFAULTS, own_flags)


def wrap(model):
    """Residual blocks are the parts of a ResNet; of other models, their direct parts with parameters."""
    blocks = [path for path, part in model.named_modules() if type(part).__name__ in ("BasicBlock", "Bottleneck")]
    return fsdp_options.wrap(FLAGS, model, blocks or [name for name, part in model.named_children() if list(part.parameters())])


def _mp_fn(index):
    accuracy = imagenet.train_imagenet(FLAGS, wrap=wrap, at_end=lambda model, optimizer: fsdp_options.save(FLAGS, model, optimizer))
    loop.check_accuracy(accuracy, FLAGS)


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
