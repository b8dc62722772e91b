# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small language models of transformers with random weights, and prompts for them, shared by the tests of serving."""
import random

import torch
import transformers


def model(kind="Llama", **more):
    """A causal model of two layers and 259 tokens, 0 the padding; `more` are options of its configuration. Equal calls give equal weights."""
    torch.manual_seed(0)
    if kind == "GPT2":
        sizes = dict(vocab_size=259, n_embd=64, n_layer=2, n_head=4, n_positions=256, bos_token_id=1, eos_token_id=None, pad_token_id=0)
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**(sizes | more))).eval()
    sizes = dict(vocab_size=259, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 max_position_embeddings=1024, bos_token_id=1, eos_token_id=None, pad_token_id=0)
    config = getattr(transformers, {"Gemma3": "Gemma3TextConfig"}.get(kind, f"{kind}Config"))(**(sizes | more))
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def prompts(count, longest, seed=1):
    """`count` prompts of 1 to `longest` random tokens, without the special ones."""
    numbers = random.Random(seed)
    return [[numbers.randrange(3, 259) for _ in range(numbers.randint(1, longest))] for _ in range(count)]
