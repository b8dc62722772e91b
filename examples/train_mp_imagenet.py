# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains any classifier of torchvision on ImageNet, one process per device.

    python3 examples/train_mp_imagenet.py --fake_data --model=resnet18 --batch_size=16 --num_epochs=1 --num_steps=10
    torchrun --nproc-per-node=2 examples/train_mp_imagenet.py --fake_data --model=resnet18 --batch_size=16 --num_epochs=1 --num_steps=10 --ddp
"""
import inspect
import os

import torch
import torch.nn as nn
import torch.optim as optim
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
import torch_xla.utils.utils as xu

import loop
import options
import torchvision_schemas

torchvision = torchvision_schemas.load()


def own_flags(parser):
    parser.add_argument("--model", type=str, default="resnet50", help="a name of torchvision.models")
    parser.add_argument("--test_set_batch_size", type=int, default=64)
    parser.add_argument("--image_size", type=int, help="edge of the (square) images; default: what the model was made for")
    parser.add_argument("--lr_scheduler_type", type=str, choices=["WarmupAndExponentialDecayScheduler"])
    parser.add_argument("--lr_scheduler_divide_every_n_epochs", type=int, default=20)
    parser.add_argument("--lr_scheduler_divisor", type=int, default=10)
    parser.add_argument("--num_warmup_epochs", type=float, default=0.9)
    parser.add_argument("--eval_interval", type=int, default=1)
    parser.add_argument("--test_only_at_end", action="store_true")


FLAGS = options.parse({"datadir": "/tmp/imagenet", "batch_size": 128, "num_epochs": 18, "momentum": 0.9, "lr": 0.1,
                       "target_accuracy": 0.0}, own_flags)


def image_size():
    return FLAGS.image_size or (299 if FLAGS.model == "inception_v3" else 224)


def loaders():
    """Batches to train on and to test with."""
    size = image_size()
    if FLAGS.fake_data:
        def fake(batch, images):
            data = (torch.zeros(batch, 3, size, size), torch.zeros(batch, dtype=torch.int64))
            return xu.SampleGenerator(data=data, sample_count=FLAGS.num_steps or images // batch // xr.world_size())
        return fake(FLAGS.batch_size, 1200000), fake(FLAGS.test_set_batch_size, 50000)
    from torchvision import transforms
    normal = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    result = []
    for part, batch, shape in (
            ("train", FLAGS.batch_size, [transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip()]),
            ("val", FLAGS.test_set_batch_size, [transforms.Resize(size + size // 7), transforms.CenterCrop(size)])):
        data = torchvision.datasets.ImageFolder(os.path.join(FLAGS.datadir, part),
                                                transforms.Compose([*shape, transforms.ToTensor(), normal]))
        sampler = None
        if xr.world_size() > 1:
            sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=xr.world_size(),
                                                                      rank=xr.global_ordinal(), shuffle=part == "train")
        result.append(torch.utils.data.DataLoader(data, batch_size=batch, sampler=sampler, drop_last=FLAGS.drop_last,
                                                  shuffle=part == "train" and sampler is None,
                                                  num_workers=FLAGS.num_workers, persistent_workers=True))
    return result


def make_model():
    known = inspect.signature(torchvision.models.get_model_builder(FLAGS.model)).parameters
    # Inception's and GoogLeNet's second heads answer with tuples; the loss below wants one tensor.
    options_ = {"aux_logits": False, "init_weights": True} if FLAGS.model in ("inception_v3", "googlenet") else {}
    assert set(options_) <= set(known) | {"aux_logits", "init_weights"}
    return torchvision.models.get_model(FLAGS.model, num_classes=1000, **options_)


def schedule(optimizer, steps_per_epoch):
    """The factor of the learning rate: a linear start, then division every few epochs."""
    def factor(step):
        epoch = step / max(1, steps_per_epoch)
        if epoch < FLAGS.num_warmup_epochs:
            return max(1e-3, epoch / FLAGS.num_warmup_epochs)
        return FLAGS.lr_scheduler_divisor ** -float(epoch // FLAGS.lr_scheduler_divide_every_n_epochs)
    return optim.lr_scheduler.LambdaLR(optimizer, factor)


def train_imagenet():
    xm.master_print("==> Preparing data..")
    torch.manual_seed(42)
    train_and_test = loaders()

    def is_tested(epoch):
        last = epoch == FLAGS.num_epochs
        return last if FLAGS.test_only_at_end else epoch % FLAGS.eval_interval == 0 or last
    return loop.train_and_test(
        FLAGS, make_model(), lambda weights: optim.SGD(weights, lr=FLAGS.lr, momentum=FLAGS.momentum, weight_decay=1e-4),
        nn.CrossEntropyLoss(), train_and_test,
        (lambda optimizer: schedule(optimizer, len(train_and_test[0]))) if FLAGS.lr_scheduler_type else None, is_tested, log_tests=True)


def _mp_fn(index):
    loop.check_accuracy(train_imagenet(), FLAGS)


if __name__ == "__main__":
    options.launch(FLAGS, _mp_fn)
