# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How to measure a training step: the first steps compile and are left out, then recording (Python and PyTorch) and the whole step are
timed apart. python3 examples/train_resnet_benchmark.py [--model resnet18 --batch_size 8 --num_steps 20]"""
import statistics
import time

import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met

import loop
from train_resnet_base import TrainResNetBase, own_flags

WARMUP = 3


class TrainResNetBenchmark(TrainResNetBase):
    def train_loop_fn(self, loader, epoch):
        self.model.train()
        recorded, whole = [], []
        for index, (data, target) in enumerate(loader):
            if index == WARMUP:
                xm.wait_device_ops()
                met.clear_all()
            start = time.perf_counter()
            self.step(data, target)
            recorded.append(time.perf_counter() - start)
            torch_xla.sync(wait=True)
            whole.append(time.perf_counter() - start)
        if len(whole) <= WARMUP:
            raise SystemExit(f"expects more than {WARMUP} steps, but got {len(whole)}")
        for name, times in (("recording", recorded[WARMUP:]), ("step", whole[WARMUP:])):
            print(f"{name}: median {1e3 * statistics.median(times):.3f} ms, best {1e3 * min(times):.3f} ms")
        print(f"rate: {self.flags.batch_size / statistics.median(whole[WARMUP:]):.2f} images/s")
        print(f"compilations after step {WARMUP}: {met.counter_value('UncachedCompile') or 0}")


if __name__ == "__main__":
    TrainResNetBenchmark(loop.flags(128, own_flags)).start_training()
