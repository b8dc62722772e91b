# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fine-tunes a language model with LoRA adapters of Hugging Face's PEFT, offline and with random weights.

    python3 examples/lora.py                                  a tiny Qwen2 for a few steps
    python3 examples/lora.py --precision int4 --block 32      packed base weights (QLoRA); also int8, bf16
    python3 examples/lora.py --accumulate 4 --clip 1.0        four batches per step of the optimizer, gradients clipped
    python3 examples/lora.py --checkpoint                     layers are computed again in the backward pass
    python3 examples/lora.py --model qwen2.5-0.5b --batch 2 --length 256
"""
import argparse
import os
import time
from typing import Any, Callable

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402

SIZES = {  # as in the configurations of the models
    "tiny": dict(vocab_size=512, hidden_size=64, intermediate_size=176, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2),
    "qwen2.5-0.5b": dict(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
                         num_key_value_heads=2, tie_word_embeddings=True),
}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def make_model(name: str, precision: str = "f32", rank: int = 8, block: int = -1, layers: int | None = None) -> torch.nn.Module:
    """A Qwen2 of these sizes on the CPU with frozen weights of `precision` and adapters of f32."""
    import peft
    import transformers
    torch.manual_seed(0)
    sizes = dict(SIZES[name], max_position_embeddings=2048, use_cache=False, attention_dropout=0.0)
    if layers:
        sizes["num_hidden_layers"] = layers
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**sizes))
    config = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=TARGETS, lora_dropout=0.0)
    if precision == "bf16":
        model = model.to(torch.bfloat16)
    elif precision in ("int8", "int4"):
        from torch_xla.experimental.xla_quantized_matmul import lora_layers, quantize_linears
        quantize_linears(model, bits=int(precision[3:]), block_size=block)
        config._register_custom_module(lora_layers())
    model = peft.get_peft_model(model, config)
    for name, parameter in model.named_parameters():  # B is zero at first; then A has no gradient in the first step
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.02)
    return model.train()


def make_batches(model: torch.nn.Module, count: int, batch: int, length: int) -> list[torch.Tensor]:
    """Arithmetic sequences of words, of which there is something to learn."""
    words = min(model.config.vocab_size, 512)
    numbers = torch.Generator().manual_seed(1)
    return [(torch.randint(0, words, (batch, 1), generator=numbers) + 3 * torch.arange(length)) % words for _ in range(count)]


def make_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, accumulate: int = 1, clip: float = 0.0,
              barrier: Callable[[], Any] = lambda: None) -> Callable[[list[torch.Tensor]], torch.Tensor]:
    """One step of the optimizer on `accumulate` batches; gives the loss. On the device it is one program, or one per batch."""
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def step(batches: list[torch.Tensor]) -> torch.Tensor:
        total = None
        for ids in batches:
            loss = model(input_ids=ids, labels=ids).loss / accumulate
            loss.backward()
            total = loss.detach() if total is None else total + loss.detach()
            if accumulate > 1:
                barrier()  # the memory of one batch, not of all
        if clip:
            torch.nn.utils.clip_grad_norm_(adapters, clip)
        optimizer.step()
        # In place: the gradients of the next step are added to these, so that the first batch is the program of the others.
        optimizer.zero_grad(set_to_none=accumulate == 1)
        barrier()
        return total
    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(SIZES), default="tiny")
    parser.add_argument("--layers", type=int, help="fewer layers than the model has")
    parser.add_argument("--precision", choices=["f32", "bf16", "int8", "int4"], default="f32", help="of the frozen weights")
    parser.add_argument("--block", type=int, default=-1, help="inputs that share a scale (int8, int4)")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rate", type=float, default=5e-3)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--clip", type=float, default=0.0)
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--device", choices=["xla", "cpu"], default="xla")
    arguments = parser.parse_args()
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.debug.metrics as met
    import torchvision_schemas
    torchvision_schemas.load()  # transformers imports it
    model = make_model(arguments.model, arguments.precision, arguments.rank, arguments.block, arguments.layers)
    if arguments.checkpoint:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    batches = [ids.to(arguments.device) for ids in make_batches(model, arguments.accumulate, arguments.batch, arguments.length)]
    model = model.to(arguments.device)
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    print(f"trained: {sum(p.numel() for p in adapters)} of {sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(adapters, lr=arguments.rate)
    on_device = arguments.device == "xla"
    step = make_step(model, optimizer, arguments.accumulate, arguments.clip, torch_xla.sync if on_device else lambda: None)
    compiled, start, warm = 0, 0.0, min(2, arguments.steps - 1)
    if on_device:
        xm.reset_peak_memory()
    for number in range(arguments.steps):
        if number == warm:
            if on_device:
                xm.wait_device_ops()
            compiled, start = met.counter_value("UncachedCompile") or 0, time.perf_counter()
        loss = step(batches)
        if number in (0, arguments.steps - 1):
            print(f"step {number}: loss {loss.item():.4f}", flush=True)
    if on_device:
        xm.wait_device_ops()
    seconds = time.perf_counter() - start
    tokens = (arguments.steps - warm) * arguments.accumulate * arguments.batch * arguments.length
    print(f"rate: {tokens / seconds:.0f} tokens/s")
    if on_device:
        print(f"peak memory: {xm.get_memory_info()['peak_bytes_used'] / 2 ** 20:.0f} MiB")
        print(f"compilations after step {warm}: {(met.counter_value('UncachedCompile') or 0) - compiled}")


if __name__ == "__main__":
    main()
