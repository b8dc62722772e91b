# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes per device of a training step, for each way to share the work, beside the least that the way allows.

  PYTHONPATH=python:. python -m benchmarks.training_memory [--models gpt2,llama,resnet50] [--ways ddp,zero1,...] [--counts 1,2,4,8]

gpt2: GPT-2 (124M) with the vocabulary padded to 50304, which devices divide, 1 x 128 words per device. llama: 4 layers of the shapes of Llama-3.2-1B, vocabulary 8192, 1 x 128 words. resnet50: 2 images of 224.
AdamW. Ways: ddp (replicas), zero1 (ZeroRedundancyOptimizer), zero2 and zero3 (XlaFullyShardedDataParallel), fsdpv2 and tensor (SPMD on virtual
devices of one process: all parameters split; those of attention and MLP split as Megatron-LM does). Every cell is a job of its own, in which each process
or device does three steps; the peak is what the allocator of the first device counted.

The least, with P bytes of parameters, U of the largest wrapper's own, N devices, and for every moment of the backward pass A bytes of activations that
PyTorch's autograd still keeps for the batch of one device and G bytes of gradients that are there: what a step begins and ends with, and the larger of
the largest sum of A and gradients during the backward pass and of what a rank has at its end (gradients; what it has of the whole at once).
ZeRO-1 has the share of the parameters that a rank updates beside the parameters, as PyTorch/XLA's class does.
  ddp: 3 P + max(A + G)    zero1: P + 3 P / N + max(A + G, P + P / N)    zero2: 3 P / N + P + max(A + G / N, P / N + U)
  zero3, fsdpv2: 3 P / N + U + max(A + G / N, P / N + U)    tensor: 3 P' + max(A' + G'), where X' of what Megatron-LM splits is 1 / N and of the
rest the whole. It splits heads, what lies between the two products of attention and of the MLP, and words of embeddings and logits; residual streams, what goes
into the first products, norms and biases of the second ones are whole on every device. Of ResNet-50, for which it has no way, X' is X / N, which is not reached:
a convolution of a part of the channels reads all of its inputs'"""
import argparse
import os
import sys
from typing import Any, Iterator, NamedTuple

from benchmarks import torch_processes

MODELS, WAYS, COUNTS = ["gpt2", "llama", "resnet50"], ["ddp", "zero1", "zero2", "zero3", "fsdpv2", "tensor"], [1, 2, 4, 8]
STEPS, WORDS, IMAGES = 3, 128, 2
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def model_of(name: str) -> tuple[Any, set[type], Any]:
    """(the model on the CPU, the classes of its parts that are wrapped, its inputs for one device)."""
    import torch
    torch.manual_seed(0)
    if name == "resnet50":
        sys.path.insert(0, os.path.join(ROOT, "examples"))
        import torchvision_schemas
        models = torchvision_schemas.load().models
        return models.resnet50(num_classes=1000), {models.resnet.Bottleneck}, torch.randn(IMAGES, 3, 224, 224)
    import transformers
    if name == "gpt2":
        config = transformers.GPT2Config(vocab_size=50304, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=4, num_attention_heads=32, num_key_value_heads=8,
                                          vocab_size=8192, use_cache=False)
        model = transformers.LlamaForCausalLM(config)
    layers = model.transformer.h if name == "gpt2" else model.model.layers
    return model, {type(layers[0])}, torch.randint(0, 8192, (1, WORDS))


def loss_of(name: str, model: Any, inputs: Any) -> Any:
    import torch
    if name == "resnet50":
        return torch.nn.functional.cross_entropy(model(inputs), torch.arange(len(inputs), device=inputs.device))
    return model(input_ids=inputs, labels=inputs).loss


class Sizes(NamedTuple):
    """Of a model, in bytes: its parameters, those of the largest wrapper's own, and (activations, gradients) at every moment of the backward pass."""
    parameters: int
    wrapper: int
    backward: list[tuple[int, int]]
    whole_parameters: int  # of these those that tensor parallelism leaves whole on every device
    whole_backward: list[tuple[int, int]]

    def most(self, activations: float = 1.0, gradients: float = 1.0) -> float:
        """The largest sum of these shares of activations and gradients."""
        return max(activations * a + gradients * g for a, g in self.backward)

    def tensor(self, count: int) -> float:
        """The least peak of tensor parallelism."""
        def of(everything: int, whole: int) -> float:
            return whole + (everything - whole) / count
        step = max(of(a, whole_a) + of(g, whole_g) for (a, g), (whole_a, whole_g) in zip(self.backward, self.whole_backward))
        return 3 * of(self.parameters, self.whole_parameters) + step


def sizes(name: str) -> Sizes:
    """A training step on the CPU, the activations of which are counted while autograd keeps them."""
    import torch
    model, classes, inputs = model_of(name)
    parameters = {id(p): p.numel() * p.element_size() for p in model.parameters()}
    wrapped = [part for part in model.modules() if type(part) in classes]
    parts = [sum(p.numel() * p.element_size() for p in part.parameters()) for part in wrapped]
    parts.append(sum(parameters.values()) - sum(parts))  # what the outermost wrapper holds itself
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    readers: dict[int, int] = {}  # how often autograd keeps each storage
    now, backward = [0, 0], []
    whole_now, whole_backward = [0, 0], []
    whole_storages: set[int] = set()
    places = list(megatron_places(model))
    split = {id(getattr(part, own)) for part, _, names in places for own in names} if name != "resnet50" else set(parameters)
    is_split = [name == "resnet50"]  # what is computed now: between the first and the second product

    def pack(tensor):
        storage = tensor.untyped_storage()
        at = storage.data_ptr()
        if at not in weights:
            if readers.get(at, 0) == 0:
                now[0] += storage.nbytes()
                if not is_split[0]:
                    whole_storages.add(at)
                    whole_now[0] += storage.nbytes()
            readers[at] = readers.get(at, 0) + 1
        return tensor

    def unpack(tensor):
        storage = tensor.untyped_storage()
        at = storage.data_ptr()
        if at not in weights:
            readers[at] -= 1
            if readers[at] == 0:
                now[0] -= storage.nbytes()
                if at in whole_storages:
                    whole_storages.remove(at)
                    whole_now[0] -= storage.nbytes()
        return tensor

    def noted():
        backward.append((now[0], now[1]))
        whole_backward.append((whole_now[0], whole_now[1]))

    def accumulated(parameter):
        now[1] += parameter.numel() * parameter.element_size()
        whole_now[1] += parameter.numel() * parameter.element_size() * (id(parameter) not in split)
        noted()
    for part, role, _ in places if name != "resnet50" else ():
        if role != "words":
            part.register_forward_hook(lambda *_, begins=role == "columns": is_split.__setitem__(0, begins))
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = loss_of(name, model, inputs)
    noted()
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(accumulated)
    loss.backward()
    whole = sum(size for key, size in parameters.items() if key not in split)
    return Sizes(sum(parameters.values()), max(parts), backward, whole, whole_backward)


def least(way: str, size: Sizes, count: int) -> float:
    """The least peak, in bytes."""
    p, u, own = size.parameters, size.wrapper, size.parameters / count
    step = max(size.most(1, 1 / count), own + u)  # of a rank that keeps its share of the gradients
    return {"ddp": 3 * p + size.most(), "zero1": p + 3 * own + max(size.most(), p + own), "zero2": 3 * own + p + step, "zero3": 3 * own + u + step,
            "fsdpv2": 3 * own + u + step, "tensor": size.tensor(count)}[way]


def megatron_places(model: Any) -> Iterator[tuple[Any, str, list[str]]]:
    """(part, role, names of its parameters that are split) of what tensor parallelism splits: "columns" of the first products of attention and MLP and of the
    last one, "rows" of the second ones, "words" of embeddings, "channels" of convolutions. A parameter that an earlier part has is not named again."""
    import torch.nn as nn
    roles = {**dict.fromkeys(("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "c_attn", "c_fc", "lm_head"), "columns"),
             **dict.fromkeys(("o_proj", "down_proj", "c_proj"), "rows")}
    seen = set()
    for path, part in model.named_modules():
        role = roles.get(path.rpartition(".")[2])
        if role is None:
            role = "words" if isinstance(part, nn.Embedding) else "channels" if isinstance(part, nn.Conv2d) else None
        if role is not None:
            names = [name for name in ("weight", "bias") if (name == "weight" or role == "columns" and part.bias is not None) and getattr(part, name) not in seen]
            seen.update(getattr(part, name) for name in names)
            yield part, role, names


def move_as_megatron(model: Any, mesh: Any) -> Any:
    """The model on the device, split where devices divide what megatron_places() names. Part by part: a part is whole on the first device until it is split."""
    import torch.nn as nn
    import torch_xla.distributed.spmd as xs
    for part, role, names in list(megatron_places(model)):
        if names:
            part.to("xla")
        for parameter in (getattr(part, name) for name in names):
            is_transposed = role in ("columns", "rows") and not isinstance(part, nn.Linear) and parameter.dim() == 2  # transformers' Conv1D
            along = 1 if (role == "rows") != is_transposed else 0
            if parameter.size(along) % mesh.size() == 0:
                xs.mark_sharding(parameter, mesh, tuple("x" if dim == along else None for dim in range(parameter.dim())))
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    return model.to("xla")


def prepared(way: str, name: str) -> tuple[Any, Any, Any]:
    """(the model as the way splits it, its optimizer, the inputs of this process)."""
    import functools

    import torch
    import torch_xla.core.xla_model as xm
    model, classes, inputs = model_of(name)
    adam = functools.partial(torch.optim.AdamW, lr=1e-4)
    if way in ("fsdpv2", "tensor"):
        import numpy as np
        import torch_xla.distributed.spmd as xs
        import torch_xla.runtime as xr
        count = xr.global_runtime_device_count()
        batch = inputs.repeat(count if way == "fsdpv2" else 1, *[1] * (inputs.dim() - 1))
        if way == "fsdpv2":
            from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
            from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel
            mesh = xs.Mesh(np.arange(count), (count,), ("fsdp",))

            def shard_output(output, mesh):
                first = output if isinstance(output, torch.Tensor) else output.get("logits") if hasattr(output, "get") else output[0]
                xs.mark_sharding(first, mesh, ("fsdp", *[None] * (first.dim() - 1)))
            model = SpmdFullyShardedDataParallel(model, mesh, shard_output,
                                                 auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=classes))
            spec = xs.ShardingSpec(mesh, ("fsdp", *[None] * (inputs.dim() - 1)))
            batch, = xm.send_cpu_data_to_device([batch], "xla", spec)
        else:
            model, batch = move_as_megatron(model, xs.Mesh(np.arange(count), (count,), ("x",))), batch.to("xla")
        return model, adam(model.parameters()), batch
    if way in ("zero2", "zero3"):
        from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel
        from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy
        policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=classes)
        model = XlaFullyShardedDataParallel(model, auto_wrap_policy=policy, reshard_after_forward=way == "zero3")
        return model, adam(model.parameters()), inputs.to("xla")
    model = model.to("xla")
    if way == "zero1":
        from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer
        return model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, grad_clipping=False, lr=1e-4), inputs.to("xla")
    return model, adam(model.parameters()), inputs.to("xla")


def worker(way: str, name: str) -> None:
    """One process of a job."""
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.runtime as xr
    if way in ("fsdpv2", "tensor"):
        xr.use_spmd()
    model, optimizer, inputs = prepared(way, name)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(name, model, inputs)
        loss.backward()
        if way == "ddp":
            xm.optimizer_step(optimizer)
        else:
            optimizer.step()
        torch_xla.sync()
        xm.wait_device_ops()
    torch_processes.write({"peak": xm.get_memory_info()["peak_bytes_used"], "used": xm.get_memory_info()["bytes_used"], "loss": loss.item()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.models)
        return
    counts = [int(count) for count in options.counts.split(",")]
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in options.models.split(","):
        size = sizes(name)
        print(f"\n{name}: P {size.parameters / 1e6:.0f} MB, U {size.wrapper / 1e6:.0f} MB, A {size.backward[0][0] / 1e6:.0f} MB, "
              f"A + G {size.most() / 1e6:.0f} MB; MB per device (times the least)\n")
        print(f"| | {' | '.join(f'{count} device{chr(115) * (count > 1)}' for count in counts)} |\n|---|{'---:|' * len(counts)}")
        for way in options.ways.split(","):
            cells = []
            for count in counts:
                bound = least(way, size, count)
                if bound * count * 1.3 > available * 0.8:
                    cells.append(f"needs {bound * count / 1e9:.0f} GB")
                    continue
                print(f"training_memory: {name}, {way}, {count}", file=sys.stderr)
                processes, devices = (1, count) if way in ("fsdpv2", "tensor") else (count, 1)
                result = torch_processes.run("benchmarks.training_memory", way, processes, [f"--models={name}"], CPU_NUM_DEVICES=str(devices))[0]
                cells.append(f"{result['peak'] / 1e6:.0f} ({result['peak'] / bound:.2f})")
            print(f"| {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
