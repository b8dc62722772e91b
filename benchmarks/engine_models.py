# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that people run for inference, with random weights, which benchmarks.engines gives to every engine: PyTorch modules of
torchvision, timm and transformers at their own sizes, and a few that have no package."""
import dataclasses
import os
import sys
from typing import Any, Callable

import torch
import torch.nn as nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "examples"))
import torchvision_schemas  # noqa: E402

WORDS = 30000  # of a vocabulary


@dataclasses.dataclass(frozen=True)
class Model:
    """`make()` gives the module in evaluation mode, `inputs(batch)` its positional arguments."""
    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[torch.Tensor, ...]]


class FirstTensor(nn.Module):
    """A module of transformers as a function of tensors: `names` are its keyword arguments, and the result is its first one."""

    def __init__(self, model: nn.Module, *names: str, **fixed: Any):
        super().__init__()
        self.model, self.names, self.fixed = model, names, fixed

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.model(**dict(zip(self.names, inputs)), **self.fixed)[0]


class UNet(nn.Module):
    """Two levels down, two up, with group norm, SiLU and attention at the bottom, as diffusion models are built."""

    class Block(nn.Module):
        def __init__(self, before: int, after: int):
            super().__init__()
            self.norms = nn.ModuleList([nn.GroupNorm(8, before), nn.GroupNorm(8, after)])
            self.convolutions = nn.ModuleList([nn.Conv2d(before, after, 3, padding=1), nn.Conv2d(after, after, 3, padding=1)])
            self.skip = nn.Conv2d(before, after, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x
            for norm, convolution in zip(self.norms, self.convolutions):
                y = convolution(nn.functional.silu(norm(y)))
            return y + self.skip(x)

    def __init__(self, width: int = 64):
        super().__init__()
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down = nn.ModuleList([self.Block(width, width), self.Block(width, 2 * width)])
        self.middle = self.Block(2 * width, 2 * width)
        self.attention = nn.MultiheadAttention(2 * width, 4, batch_first=True)
        self.up = nn.ModuleList([self.Block(4 * width, width), self.Block(2 * width, width)])
        self.leave = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, kept = self.enter(x), []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = nn.functional.avg_pool2d(x, 2)
        x = self.middle(x)
        rows = x.flatten(2).transpose(1, 2)
        x = x + self.attention(rows, rows, rows, need_weights=False)[0].transpose(1, 2).reshape(x.shape)
        for block in self.up:
            x = block(torch.cat([nn.functional.interpolate(x, scale_factor=2.0), kept.pop()], 1))
        return self.leave(x)


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.Module]):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(1000, 256), kind(256, 512, 2, batch_first=True), nn.Linear(512, 1000)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embed(ids))[0])


class Recommender(nn.Module):
    """DLRM: embeddings of categories and a bottom MLP of dense features meet in pairwise products."""

    def __init__(self, tables: int = 26, rows: int = 10000, size: int = 64):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, size) for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, size), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(pairs + size, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1), nn.Sigmoid())
        self.register_buffer("rows", torch.tril_indices(tables + 1, tables + 1, -1)[0])
        self.register_buffer("columns", torch.tril_indices(tables + 1, tables + 1, -1)[1])

    def forward(self, dense: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        low = self.bottom(dense)
        all_of = torch.stack([low] + [table(categories[:, i]) for i, table in enumerate(self.tables)], 1)
        return self.top(torch.cat([low, torch.bmm(all_of, all_of.transpose(1, 2))[:, self.rows, self.columns]], 1))


def _images(size: int = 224) -> Callable[[int], tuple[torch.Tensor, ...]]:
    return lambda batch: (torch.randn(batch, 3, size, size),)


def _ids(length: int, words: int = WORDS) -> Callable[[int], tuple[torch.Tensor, ...]]:
    return lambda batch: (torch.randint(0, words, (batch, length)),)


def _torchvision(name: str, **options: Any) -> Model:
    def make() -> nn.Module:
        return torchvision_schemas.load().models.get_model(name, weights=None, **options)
    return Model(make, _images(299 if name == "inception_v3" else 224))


def _timm(name: str, size: int = 224) -> Model:
    def make() -> nn.Module:
        torchvision_schemas.load()  # timm imports torchvision
        import timm
        return timm.create_model(name, pretrained=False)
    return Model(make, _images(size))


def _transformers(kind: str, config: str, options: dict[str, Any], inputs: Callable[[int], tuple[torch.Tensor, ...]], *names: str,
                  **fixed: Any) -> Model:
    def make() -> nn.Module:
        torchvision_schemas.load()  # transformers imports torchvision
        import transformers
        return FirstTensor(getattr(transformers, kind)(getattr(transformers, config)(**options)), *(names or ("input_ids",)), **fixed)
    return Model(make, inputs)


def _whisper() -> nn.Module:
    torchvision_schemas.load()
    import transformers
    whole = transformers.WhisperModel(transformers.WhisperConfig(
        d_model=384, encoder_layers=4, decoder_layers=1, encoder_attention_heads=6, encoder_ffn_dim=1536))
    return FirstTensor(whole.encoder, "input_features")


_LLAMA = {"vocab_size": WORDS, "hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 8, "num_attention_heads": 12}

MODELS: dict[str, Model] = {
    **{name: _torchvision(name) for name in (
        "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "mobilenet_v2", "mobilenet_v3_large", "densenet121", "efficientnet_b0",
        "regnet_y_800mf", "squeezenet1_1", "shufflenet_v2_x1_0", "mnasnet1_0", "vgg16", "convnext_tiny", "swin_t", "vit_b_16")},
    "inception_v3": _torchvision("inception_v3", init_weights=False),
    **{f"timm.{name}": _timm(name) for name in (
        "vit_small_patch16_224", "deit_tiny_patch16_224", "mixer_s32_224", "mobilenetv4_conv_small", "tf_efficientnetv2_b0", "convnextv2_atto",
        "ghostnet_100", "edgenext_x_small", "levit_128s", "poolformer_s12", "repvgg_a0")},
    "bert_base": _transformers("BertModel", "BertConfig", {"vocab_size": WORDS}, _ids(128)),
    "distilbert": _transformers("DistilBertModel", "DistilBertConfig", {"vocab_size": WORDS}, _ids(128)),
    "minilm": _transformers("BertModel", "BertConfig", {"vocab_size": WORDS, "hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
                            _ids(128)),
    "albert": _transformers("AlbertModel", "AlbertConfig", {"vocab_size": WORDS, "hidden_size": 768, "num_attention_heads": 12,
                                                             "intermediate_size": 3072}, _ids(128)),
    "gpt2": _transformers("GPT2Model", "GPT2Config", {"vocab_size": WORDS}, _ids(128), use_cache=False),
    "llama": _transformers("LlamaForCausalLM", "LlamaConfig", _LLAMA, _ids(128), use_cache=False),
    "qwen2": _transformers("Qwen2ForCausalLM", "Qwen2Config", {**_LLAMA, "num_key_value_heads": 4}, _ids(128), use_cache=False),
    "t5_encoder": _transformers("T5EncoderModel", "T5Config", {"vocab_size": WORDS}, _ids(128)),
    "whisper_encoder": Model(_whisper, lambda batch: (torch.randn(batch, 80, 3000),)),
    "wav2vec2": _transformers("Wav2Vec2Model", "Wav2Vec2Config", {"num_hidden_layers": 6}, lambda batch: (torch.randn(batch, 16000),),
                              "input_values"),
    "unet": Model(UNet, lambda batch: (torch.randn(batch, 4, 64, 64),)),
    "lstm": Model(lambda: Recurrent(nn.LSTM), _ids(64, 1000)),
    "gru": Model(lambda: Recurrent(nn.GRU), _ids(64, 1000)),
    "dlrm": Model(Recommender, lambda batch: (torch.randn(64 * batch, 13), torch.randint(0, 10000, (64 * batch, 26)))),
}


def make(name: str, batch: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """(the module in evaluation mode, its arguments), the same in every process."""
    torch.manual_seed(0)
    module = MODELS[name].make().eval().requires_grad_(False)
    return module, MODELS[name].inputs(batch)
