# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The flags that the training programs of PyTorch/XLA share."""
import argparse
import os

import torch_xla
import torch_xla.distributed.xla_multiprocessing as xmp


def parse(defaults, add=None):
    """The parsed command line. `defaults`: values that a program chooses for itself; `add(parser)` adds its own flags."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--datadir", type=str, help="folder of the data set; with --fake_data none is read")
    parser.add_argument("--logdir", type=str, help="folder for TensorBoard's summaries (needs tensorboardX)")
    parser.add_argument("--num_cores", type=int, help="processes, each with one device (default: as many as CPU_NUM_DEVICES says)")
    parser.add_argument("--batch_size", type=int)
    parser.add_argument("--num_epochs", type=int)
    parser.add_argument("--num_steps", type=int, help="stop an epoch after so many steps (fake data: make so many)")
    parser.add_argument("--num_workers", type=int, default=4, help="processes that read data")
    parser.add_argument("--log_steps", type=int, default=20)
    parser.add_argument("--lr", type=float)
    parser.add_argument("--momentum", type=float)
    parser.add_argument("--target_accuracy", type=float)
    for flag, text in (("drop_last", "leave out the last, smaller batch"), ("tidy", "remove the data afterwards"),
                       ("metrics_debug", "print the metrics after every epoch"), ("async_closures", "print in a thread"),
                       ("debug", "one process, in this one"), ("fake_data", "make up the data"),
                       ("pjrt_distributed", "initialize torch.distributed too"), ("ddp", "DistributedDataParallel")):
        parser.add_argument("--" + flag, action="store_true", help=text)
    if add:
        add(parser)
    parser.set_defaults(**defaults)
    return parser.parse_args()


def launch(flags, fn):
    """Runs fn(index) once per replica: in the processes that torchrun started, or in --num_cores processes that are started here."""
    if "TORCHELASTIC_RUN_ID" in os.environ or flags.debug:
        torch_xla.launch(fn, debug_single_process=flags.debug)
    else:
        xmp.spawn(fn, nprocs=flags.num_cores)
