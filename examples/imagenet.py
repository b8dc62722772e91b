# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchvision's classifiers and the images of ImageNet: of train_mp_imagenet and train_mp_imagenet_fsdp."""
import inspect
import os

import torch
import torch.nn as nn
import torch.optim as optim
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
import torch_xla.utils.utils as xu

import loop
import torchvision_schemas

torchvision = torchvision_schemas.load()
DEFAULTS = {"datadir": "/tmp/imagenet", "batch_size": 128, "num_epochs": 18, "momentum": 0.9, "lr": 0.1, "target_accuracy": 0.0}


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


def image_size(flags):
    return flags.image_size or (299 if flags.model == "inception_v3" else 224)


def loaders(flags):
    """Batches to train on and to test with."""
    size = image_size(flags)
    if flags.fake_data:
        def fake(batch, images):
            data = (torch.zeros(batch, 3, size, size), torch.zeros(batch, dtype=torch.int64))
            return xu.SampleGenerator(data=data, sample_count=flags.num_steps or images // batch // xr.world_size())
        return fake(flags.batch_size, 1200000), fake(flags.test_set_batch_size, 50000)
    from torchvision import transforms
    normal = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    result = []
    for part, batch, shape in (
            ("train", flags.batch_size, [transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip()]),
            ("val", flags.test_set_batch_size, [transforms.Resize(size + size // 7), transforms.CenterCrop(size)])):
        data = torchvision.datasets.ImageFolder(os.path.join(flags.datadir, part),
                                                transforms.Compose([*shape, transforms.ToTensor(), normal]))
        sampler = None
        if xr.world_size() > 1:
            sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=xr.world_size(),
                                                                      rank=xr.global_ordinal(), shuffle=part == "train")
        result.append(torch.utils.data.DataLoader(data, batch_size=batch, sampler=sampler, drop_last=flags.drop_last,
                                                  shuffle=part == "train" and sampler is None,
                                                  num_workers=flags.num_workers, persistent_workers=True))
    return result


def make_model(flags):
    known = inspect.signature(torchvision.models.get_model_builder(flags.model)).parameters
    # Inception's and GoogLeNet's second heads answer with tuples; the loss below wants one tensor.
    options_ = {"aux_logits": False, "init_weights": True} if flags.model in ("inception_v3", "googlenet") else {}
    assert set(options_) <= set(known) | {"aux_logits", "init_weights"}
    return torchvision.models.get_model(flags.model, num_classes=1000, **options_)


def schedule(flags, optimizer, steps_per_epoch):
    """The factor of the learning rate: a linear start, then division every few epochs."""
    def factor(step):
        epoch = step / max(1, steps_per_epoch)
        if epoch < flags.num_warmup_epochs:
            return max(1e-3, epoch / flags.num_warmup_epochs)
        return flags.lr_scheduler_divisor ** -float(epoch // flags.lr_scheduler_divide_every_n_epochs)
    return optim.lr_scheduler.LambdaLR(optimizer, factor)


def train_imagenet(flags, **more):
    """The best accuracy; `more` as in loop.train_and_test()."""
    xm.master_print("==> Preparing data..")
    torch.manual_seed(42)
    train_and_test = loaders(flags)

    def is_tested(epoch):
        last = epoch == flags.num_epochs
        return last if flags.test_only_at_end else epoch % flags.eval_interval == 0 or last
    return loop.train_and_test(
        flags, make_model(flags), lambda weights: optim.SGD(weights, lr=flags.lr, momentum=flags.momentum, weight_decay=1e-4),
        nn.CrossEntropyLoss(), train_and_test,
        (lambda optimizer: schedule(flags, optimizer, len(train_and_test[0]))) if flags.lr_scheduler_type else None, is_tested, log_tests=True, **more)
