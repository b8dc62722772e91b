# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of the tables that the seeds print (PyTorch/XLA's guides on torch.compile), as programs of benchmarks.torch_steps; and two language
models. Names are those of the tables, with "_inference" or "_training" behind. Weights and data are random: only the time counts.

MILLRACE_SEEDS_IMAGE is the size of the images (224), MILLRACE_SEEDS_WORDS the length of the texts (128), MILLRACE_SEEDS_LAYERS the number of layers
of the language models (0: as published)."""
from __future__ import annotations

import functools
import os
from collections.abc import Callable

import torch
from torch import nn

from benchmarks.torch_programs import inference, training

IMAGE, WORDS, LAYERS = (int(os.environ.get(f"MILLRACE_SEEDS_{name}", default)) for name, default in (("IMAGE", 224), ("WORDS", 128), ("LAYERS", 0)))
# name in the tables: (torchvision's name, batch of inference, batch of training)
VISION = {"resnet18": ("resnet18", 4, 4), "resnet50": ("resnet50", 4, 4), "resnext50_32x4d": ("resnext50_32x4d", 4, 4), "alexnet": ("alexnet", 8, 8),
          "mobilenet_v2": ("mobilenet_v2", 4, 4), "mnasnet1_0": ("mnasnet1_0", 4, 4), "vgg16": ("vgg16", 2, 2), "squeezenet1_1": ("squeezenet1_1", 4, 4),
          "timm_vision_transformer": ("vit_b_16", 2, 2)}
TEN = ("resnet18", "resnet50", "resnext50_32x4d", "alexnet", "mobilenet_v2", "mnasnet1_0", "vgg16", "BERT_pytorch", "squeezenet1_1", "timm_vision_transformer")
CLASSES = 1000
LANGUAGE_BATCH = 2


def _schemas():
    """torchvision, and transformers, which imports it, need operators that torch declares only where torchvision is built for it."""
    import torchvision_schemas
    return torchvision_schemas.load()


def _vision(name: str) -> nn.Module:
    model = _schemas().models.get_model(VISION[name][0], **({"image_size": IMAGE} if name == "timm_vision_transformer" else {}))
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # random numbers of devices differ, and the results of the ways are compared
    return model


def _bert() -> nn.Module:
    _schemas()
    import transformers
    sizes = {"num_hidden_layers": LAYERS} if LAYERS else {}
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=3000, num_labels=10, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager", **sizes))


def language(name: str) -> nn.Module:
    """GPT-2 (124 million numbers) or a Llama of SmolLM2-135M's sizes, with random weights and without dropout."""
    _schemas()
    import transformers
    if name == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, **({"n_layer": LAYERS} if LAYERS else {})))
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=LAYERS or 30, num_attention_heads=9, num_key_value_heads=3,
        max_position_embeddings=2048, tie_word_embeddings=True, use_cache=False))


class _Loss(nn.Module):
    """Next-word loss of a language model: [batch, words] -> []."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        logits = self.model(input_ids=words).logits
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), words[:, 1:].flatten())


def _sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-3)


def vision_program(name: str, trains: bool, device: str, compile: Callable) -> Callable:
    model, batch = _vision(name), VISION[name][2 if trains else 1]
    images = torch.randn(batch, 3, IMAGE, IMAGE)
    if not trains:
        return inference(model, device, compile, images)
    return training(model, device, compile, nn.functional.cross_entropy, _sgd, images, torch.randint(0, CLASSES, (batch,)))


def bert_program(trains: bool, device: str, compile: Callable) -> Callable:
    model, words = _bert(), torch.randint(0, 3000, (LANGUAGE_BATCH, WORDS))
    if not trains:
        return inference(model, device, compile, words, result=lambda r: r.logits)
    return training(model, device, compile, lambda out, target: nn.functional.cross_entropy(out.logits, target), _sgd, words,
                    torch.randint(0, 10, (LANGUAGE_BATCH,)))


def language_program(name: str, device: str, compile: Callable) -> Callable:
    model = _Loss(language(name))
    words = torch.randint(0, 3000, (LANGUAGE_BATCH, WORDS))
    return training(model, device, compile, lambda loss, target: loss, _sgd, words, words)


PROGRAMS: dict[str, Callable] = {}
for _name in TEN:
    for _trains in (False, True):
        _make = functools.partial(bert_program, _trains) if _name == "BERT_pytorch" else functools.partial(vision_program, _name, _trains)
        PROGRAMS[f"{_name}_{'training' if _trains else 'inference'}"] = _make
for _name in ("gpt2", "llama"):
    PROGRAMS[f"{_name}_tokens"] = functools.partial(language_program, _name)


def flops_per_token(model: nn.Module, words: int) -> float:
    """Of a training step, as model FLOP/s utilization counts them: six per weight (embeddings that are looked up do not multiply, tied ones do once),
    and the products of attention, forward and backward, over a causal context."""
    config = model.config
    weights = sum(p.numel() for p in model.parameters())
    looked_up = sum(m.weight.numel() for m in model.modules() if isinstance(m, nn.Embedding))
    if config.tie_word_embeddings:  # the same matrix multiplies at the end
        looked_up -= model.get_input_embeddings().weight.numel()
    return 6.0 * (weights - looked_up) + 6.0 * config.num_hidden_layers * config.hidden_size * words
