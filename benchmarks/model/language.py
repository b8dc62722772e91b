# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models of Hugging Face's transformers with random weights: a prompt, one more token with its cache, a step of training."""
from benchmarks.model.torch_source import model, transformers

CACHED = 512  # tokens before the one that is decoded


def gpt2():
    t = transformers()
    return t.GPT2LMHeadModel(t.GPT2Config())


def llama():
    """The sizes of SmolLM2-135M."""
    t = transformers()
    return t.LlamaForCausalLM(t.LlamaConfig(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
                                            num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True))


def gemma():
    """The sizes of Gemma 3 270M, with an eighth of its words."""
    t = transformers()
    return t.Gemma3ForCausalLM(t.Gemma3TextConfig(vocab_size=32768, hidden_size=640, intermediate_size=2048, num_hidden_layers=18,
                                                  num_attention_heads=4, num_key_value_heads=1, head_dim=256, tie_word_embeddings=True))


def prefill(make, length=128):
    def program(torch, t):
        class Logits(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.network = make()

            def forward(self, ids, mask):
                return self.network(input_ids=ids, attention_mask=mask, use_cache=False).logits

        network = Logits()
        ids = torch.randint(0, network.network.config.vocab_size, (1, length))
        return t.inference(network, ids, torch.ones_like(ids))
    return program


def decode(make):
    """One token in; its logits and the caches with its keys and values out."""

    def program(torch, t):
        network, transformer = make().eval().requires_grad_(False), transformers()
        config = network.config
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        filled = [tuple(torch.randn(1, heads, CACHED - 1, size) for _ in range(2)) for _ in range(config.num_hidden_layers)]
        token = torch.randint(0, config.vocab_size, (1, 1))

        def cache(filled):
            made = transformer.DynamicCache()
            for keys, values in filled:
                layer = transformer.cache_utils.DynamicLayer()
                layer.keys, layer.values, layer.dtype, layer.device, layer.is_initialized = keys, values, keys.dtype, keys.device, True
                made.layers.append(layer)
            return made

        def run(call, token, filled):
            made = cache(filled)
            out = call(token, past_key_values=made, use_cache=True)
            return out.logits, [(layer.keys, layer.values) for layer in made.layers]

        def function(weights, token, filled):
            return run(lambda *a, **k: torch.func.functional_call(network, weights, a, k), token, filled)

        def start(compile):
            forward = compile(network)

            def step():
                with torch.no_grad():
                    return run(forward, token, filled)
            return step

        return t.TorchProgram(function, (t.tensors_of(network), token, filled), start)
    return program


def small_transformer_training(torch, t):
    from benchmarks.torch_programs import Language
    ids = torch.randint(0, 1000, (8, 64))
    return t.training(Language(), lambda out, ids: torch.nn.functional.cross_entropy(out.flatten(0, 1), ids.flatten()), t.Adam(1e-4), ids, ids)


PROGRAMS = [
    model("gpt2_prefill_l12_1x128_f32", prefill(gpt2), "transformers' GPT-2"),
    model("llama_prefill_l30_1x128_f32", prefill(llama), "transformers' Llama, sizes of SmolLM2-135M"),
    model("llama_decode_l30_1x512_f32", decode(llama), "transformers' Llama, sizes of SmolLM2-135M"),
    model("gemma_prefill_l18_1x128_f32", prefill(gemma), "transformers' Gemma 3, sizes of 270M"),
    model("gemma_decode_l18_1x512_f32", decode(gemma), "transformers' Gemma 3, sizes of 270M"),
    model("transformer_train_l2_8x64x256_f32", small_transformer_training, "a language model of two layers, a step of Adam", rtol=1e-2),
]
