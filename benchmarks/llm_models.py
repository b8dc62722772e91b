# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shapes of language models that benchmarks measure, with random weights: as models of transformers and as GGUF files for llama.cpp."""
import dataclasses
import os
import sys
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@dataclasses.dataclass(frozen=True)
class Shape:
    """`kind`: llama, qwen2 or gemma3. Embedding and head are tied."""
    kind: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    vocabulary: int
    window: int | None = None  # of five in six layers

    def reduced(self) -> "Shape":
        """A few million weights of the same kind: rows stay multiples of what quantization groups."""
        hidden = -(-self.hidden // 256) * 64
        heads = max(1, self.heads // 4) if self.kind == "gemma3" else hidden // self.head_dim
        return dataclasses.replace(self, hidden=hidden, layers=2, heads=heads, kv_heads=max(1, self.kv_heads // 4), inner=self.inner // 256 * 64,
                                   vocabulary=4096, window=self.window and 64)

    def linear_weights(self) -> int:
        """Weights that a token's step reads: of all products, the head's included."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.inner) + self.hidden * self.vocabulary

    def cache_elements(self, tokens: int) -> int:
        """Elements of keys and values of so many tokens."""
        return 2 * self.layers * self.kv_heads * self.head_dim * tokens


SHAPES = {
    "llama-1b": Shape("llama", 2048, 16, 32, 8, 64, 8192, 128256),  # Llama-3.2-1B
    "qwen-0.5b": Shape("qwen2", 896, 24, 14, 2, 64, 4864, 151936),  # Qwen2.5-0.5B
    "gemma-1b": Shape("gemma3", 1152, 26, 4, 1, 256, 6912, 262144, window=512),  # Gemma-3-1B
}


def import_transformers() -> Any:
    """transformers, whose import of torchvision fails beside some builds of PyTorch: nothing here needs it."""
    if "transformers" not in sys.modules and "torch_xla" not in sys.modules:
        sys.modules.setdefault("torchvision", None)  # type: ignore[arg-type]
    import transformers
    return transformers


def make(shape: Shape, length: int, seed: int = 0) -> Any:
    """A model of transformers with weights drawn by `seed`, f32, for sequences of `length`."""
    import torch
    transformers = import_transformers()
    sizes = dict(vocab_size=shape.vocabulary, hidden_size=shape.hidden, intermediate_size=shape.inner, num_hidden_layers=shape.layers,
                 num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads, max_position_embeddings=length, tie_word_embeddings=True,
                 bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.02 if shape.hidden >= 512 else 0.05)
    if shape.kind == "llama":
        config, family = transformers.LlamaConfig(head_dim=shape.head_dim, rms_norm_eps=1e-5, **sizes), transformers.LlamaForCausalLM
    elif shape.kind == "qwen2":
        config, family = transformers.Qwen2Config(rms_norm_eps=1e-6, **sizes), transformers.Qwen2ForCausalLM
    else:
        kinds = ["full_attention" if (layer + 1) % 6 == 0 else "sliding_attention" for layer in range(shape.layers)]
        config = transformers.Gemma3TextConfig(head_dim=shape.head_dim, sliding_window=shape.window, layer_types=kinds,
                                               query_pre_attn_scalar=shape.head_dim, **sizes)
        family = transformers.Gemma3ForCausalLM
    torch.manual_seed(seed)
    model = family(config).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.normal_(0, 0.02)
    return model


def write_gguf(model: Any, shape: Shape, precision: str, path: str) -> None:
    """The model as a file of llama.cpp, products in `precision`: f32, bf16, q8_0, q4_0 or q4_k (of which the package gguf writes no codes: these
    are random bytes with small scales). Rows that the blocks of 256 do not divide are Q8_0, as llama.cpp's own quantizer does.

    Raises:
      ModuleNotFoundError: The package gguf is not installed.
    """
    import gguf
    import numpy
    kinds = gguf.GGMLQuantizationType
    architecture = shape.kind
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(model.config.max_position_embeddings)
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(1000000.0 if shape.kind == "gemma3" else 10000.0)
    writer.add_layer_norm_rms_eps(model.config.rms_norm_eps)
    writer.add_vocab_size(shape.vocabulary)
    if shape.window:
        writer.add_sliding_window(shape.window)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([f"<{token}>" for token in range(shape.vocabulary)])
    writer.add_token_types([1] * shape.vocabulary)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    generator = numpy.random.default_rng(0)

    def add(name: str, tensor: Any) -> None:
        values = tensor.detach().float().numpy()
        if values.ndim == 1 or precision == "f32":
            writer.add_tensor(name, values)
            return
        kind = {"bf16": kinds.BF16, "q8_0": kinds.Q8_0, "q4_0": kinds.Q4_0, "q4_k": kinds.Q4_K}[precision]
        if kind == kinds.Q4_K and values.shape[1] % 256:
            kind = kinds.Q8_0
        if kind == kinds.Q4_K:
            blocks = generator.integers(0, 256, (values.shape[0], values.shape[1] // 256, 144), dtype=numpy.uint8)
            scales = numpy.array([0.02 * 0.5 / 32 / 8, 0.02 * 0.5 / 4], numpy.float16).view(numpy.uint8)
            blocks[..., :4] = scales
            codes = blocks.reshape(values.shape[0], -1)
        else:
            codes = gguf.quants.quantize(values, kind)
        writer.add_tensor(name, codes, raw_dtype=kind)

    def paired(weight: Any, heads: int) -> Any:
        """Llama's rows of q and k in llama.cpp's order of rotation: pairs, not halves."""
        if shape.kind != "llama":
            return weight
        return weight.view(heads, 2, shape.head_dim // 2, -1).transpose(1, 2).reshape(weight.shape)

    def norm(weight: Any) -> Any:
        return weight + 1 if shape.kind == "gemma3" else weight
    add("token_embd.weight", model.model.embed_tokens.weight)
    add("output_norm.weight", norm(model.model.norm.weight))
    for number, layer in enumerate(model.model.layers):
        attention, mlp, head = layer.self_attn, layer.mlp, f"blk.{number}."
        add(head + "attn_norm.weight", norm(layer.input_layernorm.weight))
        add(head + "attn_q.weight", paired(attention.q_proj.weight, shape.heads))
        add(head + "attn_k.weight", paired(attention.k_proj.weight, shape.kv_heads))
        add(head + "attn_v.weight", attention.v_proj.weight)
        if shape.kind == "qwen2":
            for letter in "qkv":
                add(f"{head}attn_{letter}.bias", getattr(attention, f"{letter}_proj").bias)
        add(head + "attn_output.weight", attention.o_proj.weight)
        if shape.kind == "gemma3":
            add(head + "attn_q_norm.weight", norm(attention.q_norm.weight))
            add(head + "attn_k_norm.weight", norm(attention.k_norm.weight))
            add(head + "post_attention_norm.weight", norm(layer.post_attention_layernorm.weight))
            add(head + "ffn_norm.weight", norm(layer.pre_feedforward_layernorm.weight))
            add(head + "post_ffw_norm.weight", norm(layer.post_feedforward_layernorm.weight))
        else:
            add(head + "ffn_norm.weight", layer.post_attention_layernorm.weight)
        add(head + "ffn_gate.weight", mlp.gate_proj.weight)
        add(head + "ffn_up.weight", mlp.up_proj.weight)
        add(head + "ffn_down.weight", mlp.down_proj.weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
