# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and times of models that meet many sizes, by torch.compile(backend="openxla", dynamic=True) on the device `xla`.

    PYTHONPATH=python:. python -m benchmarks.open_sizes [--sizes 100] [--timed 5] [--rounds 20] [CASE …]

Every case runs its model at so many batch sizes or lengths, 1, 2, 3, …, checks the results of some against eager PyTorch on the CPU and
counts the programs that were compiled. Then, at `--timed` of the sizes, the program for all sizes and one that was compiled for this size alone take
turns: the last columns are the largest quotient of their least times and these times at each of the sizes. An own program that comes where a size
comes often is switched off meanwhile."""
import argparse
import os
import sys
import time
from typing import Any, Callable

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "examples"))
WORDS = 1000


def _mlp() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.Linear(512, 10))


class _First(torch.nn.Module):
    """A model of transformers whose result is its first tensor."""

    def __init__(self, model: torch.nn.Module, **options: Any):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids, **self.options)[0]


def _bert() -> torch.nn.Module:
    import transformers
    return _First(transformers.BertModel(transformers.BertConfig(vocab_size=WORDS, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                                                                 intermediate_size=1024)))


def _llama() -> torch.nn.Module:
    import transformers
    return _First(transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=WORDS, hidden_size=256, intermediate_size=688, num_hidden_layers=2,
                                                                         num_attention_heads=4, num_key_value_heads=2)), use_cache=False)


def _resnet() -> torch.nn.Module:
    import torchvision
    return torchvision.models.resnet18(num_classes=10)


def _ids(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, WORDS, (batch, length))


# name -> (model, its input for a size, the only dimension that is open; None: all that vary)
CASES: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[int], torch.Tensor], int | None]] = {
    "mlp_batch": (_mlp, lambda n: torch.randn(n, 256), None),
    "bert_batch": (_bert, lambda n: _ids(n, 16), None),
    "bert_length": (_bert, lambda n: _ids(2, n), None),
    "llama_batch": (_llama, lambda n: _ids(n, 16), None),
    "llama_length": (_llama, lambda n: _ids(2, n), None),
    "resnet18_batch": (_resnet, lambda n: torch.randn(n, 3, 32, 32), 0),
    # Sizes behind strides, in a program of run-time shapes.
    "resnet18_image": (_resnet, lambda n: torch.randn(2, 3, 63 + n, 64 + 3 * n), None),
}


def _least(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def run(name: str, count: int, timed: int, rounds: int) -> tuple[int, float, dict[int, tuple[float, float]]]:
    """(programs, largest difference to the CPU, for some sizes the seconds of the program for all sizes and of the one for this size alone)"""
    import torch_xla
    import torch_xla.core.xla_model as xm
    from torch_xla._dynamo import dynamo_bridge
    make, input_of, dimension = CASES[name]
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = make().eval().requires_grad_(False)
    inputs = [input_of(size) for size in range(1, count + 1)]
    checked = inputs[::max(1, count // 10)]
    wants = [model(x) for x in checked]
    model.to("xla")
    placed = [x.to("xla") for x in inputs]
    if dimension is not None:
        for x in placed[1:]:
            torch._dynamo.mark_dynamic(x, dimension)
    compiled = torch.compile(model, backend="openxla", dynamic=None if dimension is not None else True)
    xm.wait_device_ops()
    before = torch_xla._XLAC._compilations()
    for x in placed:
        compiled(x)
    xm.wait_device_ops()
    programs = torch_xla._XLAC._compilations() - before
    difference = max((compiled(x.to("xla")).cpu() - want).abs().max().item() for x, want in zip(checked, wants))
    times = {}
    often, dynamo_bridge._FEW_CALLS = dynamo_bridge._FEW_CALLS, sys.maxsize
    for size in range(2, count + 1)[::max(1, (count - 1) // timed)][:timed]:
        x = placed[size - 1]
        torch._dynamo.reset()
        alone = torch.compile(model, backend="openxla", dynamic=False)

        def one(f: Callable[..., Any], x: torch.Tensor = x) -> None:
            f(x)
            xm.wait_device_ops()
        one(alone)
        static_s = _least(lambda: one(alone), rounds)
        torch._dynamo.reset()
        again = torch.compile(model, backend="openxla", dynamic=None if dimension is not None else True)
        for other in placed[1:3]:
            one(again, other)
        open_s = _least(lambda: one(again), rounds)
        times[size] = (open_s, static_s)
    dynamo_bridge._FEW_CALLS = often
    return programs, difference, times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--sizes", type=int, default=100)
    parser.add_argument("--timed", type=int, default=5, help="sizes at which times are compared")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    if unknown := [case for case in arguments.cases if case not in CASES]:
        parser.error(f"unknown: {', '.join(unknown)}")
    import torchvision_schemas
    torchvision_schemas.load()  # transformers imports torchvision
    print(f"{'case':18}{'sizes':>8}{'programs':>10}{'difference':>12}{'open / static time':>20}")
    failed = False
    for case in arguments.cases or CASES:
        programs, difference, times = run(case, arguments.sizes, arguments.timed, arguments.rounds)
        worst = max(open_s / static_s for open_s, static_s in times.values())
        each = ", ".join(f"{size}: {open_s * 1e3:.3g}/{static_s * 1e3:.3g}" for size, (open_s, static_s) in times.items())
        print(f"{case:18}{arguments.sizes:8}{programs:10}{difference:12.1e}{worst:20.2f}   {each} ms", flush=True)
        failed = failed or programs > 2 or difference > 1e-3
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
