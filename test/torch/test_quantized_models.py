# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose weights other libraries have quantized: torchao's configurations, GGUF files that transformers loads. Skipped without them."""
import copy
import json

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met


def programs():
    return torch_xla._XLAC._compilations()


def perceptron(inputs):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(inputs, 96), torch.nn.ReLU(), torch.nn.Linear(96, 33)).eval()


def configurations(q):
    group = q.PerGroup(32)
    return {
        "Int8WeightOnly": q.Int8WeightOnlyConfig(),
        "Int8WeightOnly in groups": q.Int8WeightOnlyConfig(granularity=group),
        "Int8DynamicActivationInt8Weight": q.Int8DynamicActivationInt8WeightConfig(),
        "IntxWeightOnly of 4 bits": q.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=group),  # Int4WeightOnly's wants CUDA
        "IntxWeightOnly of 2 bits": q.IntxWeightOnlyConfig(weight_dtype=torch.int2, granularity=group),
        "Int8DynamicActivationIntxWeight": q.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=group),
        "Float8WeightOnly": q.Float8WeightOnlyConfig(),
    }


NAMES = ["Int8WeightOnly", "Int8WeightOnly in groups", "Int8DynamicActivationInt8Weight", "IntxWeightOnly of 4 bits", "IntxWeightOnly of 2 bits",
         "Int8DynamicActivationIntxWeight", "Float8WeightOnly"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_torchao(name, no_fallback):
    q = pytest.importorskip("torchao.quantization", reason="torchao is not installed (pip install --no-deps torchao==0.18.0)")
    config, plain = configurations(q)[name], perceptron(64)
    x = torch.randn(5, 64)
    on_cpu, there = copy.deepcopy(plain), copy.deepcopy(plain).to("xla")
    q.quantize_(on_cpu, config)
    q.quantize_(there, config)  # on the device itself
    with torch.no_grad():
        want, exact = on_cpu(x), plain(x)
        moved = copy.deepcopy(on_cpu).to("xla")
        assert (want - exact).abs().max() > 1e-6  # something was rounded
        for model in (moved, there):
            given = x.to("xla")
            torch_xla.sync(wait=True)
            ran, read = (met.metric_data("ExecuteTime") or (0,))[0], (met.metric_data("TransferFromDeviceTime") or (0,))[0]
            got = model(given)
            torch_xla.sync()
            assert (met.metric_data("ExecuteTime") or (0,))[0] == ran + 1  # nothing is read on the way
            assert (met.metric_data("TransferFromDeviceTime") or (0,))[0] == read
            torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


def gguf_file(gguf, path, type_):
    """A Llama of two layers with random weights; matrices of `type_`."""
    import numpy
    generator = numpy.random.default_rng(0)
    layers, hidden, heads, key_heads, inner, words = 2, 64, 4, 2, 128, 64
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_key_length(hidden // heads)
    writer.add_value_length(hidden // heads)
    writer.add_rope_dimension_count(hidden // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(words)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([f"t{i}" for i in range(words)])
    writer.add_token_types([1] * words)
    writer.add_token_merges(["t 1"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def matrix(name, rows, columns):
        values = (generator.standard_normal((rows, columns)) / columns ** 0.5).astype(numpy.float32)
        writer.add_tensor(name, gguf.quants.quantize(values, type_), raw_dtype=type_)

    def vector(name, size):
        writer.add_tensor(name, (1 + 0.1 * generator.standard_normal(size)).astype(numpy.float32))
    matrix("token_embd.weight", words, hidden)
    vector("output_norm.weight", hidden)
    matrix("output.weight", words, hidden)
    for layer in range(layers):
        for name, rows, columns in (("attn_q", hidden, hidden), ("attn_k", hidden // 2, hidden), ("attn_v", hidden // 2, hidden),
                                    ("attn_output", hidden, hidden), ("ffn_gate", inner, hidden), ("ffn_up", inner, hidden),
                                    ("ffn_down", hidden, inner)):
            matrix(f"blk.{layer}.{name}.weight", rows, columns)
        vector(f"blk.{layer}.attn_norm.weight", hidden)
        vector(f"blk.{layer}.ffn_norm.weight", hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("type_", ["Q8_0", "Q4_0"])
def test_gguf(type_, tmp_path, no_fallback):
    gguf = pytest.importorskip("gguf", reason="gguf is not installed (pip install gguf==0.19.0)")
    transformers = pytest.importorskip("transformers")
    gguf_file(gguf, tmp_path / "model.gguf", getattr(gguf.GGMLQuantizationType, type_))
    model = transformers.AutoModelForCausalLM.from_pretrained(str(tmp_path), gguf_file="model.gguf", dtype=torch.float32).eval()
    ids = torch.randint(3, 64, (1, 7), generator=torch.Generator().manual_seed(0))
    options = dict(attention_mask=torch.ones_like(ids), max_new_tokens=12, min_new_tokens=12, do_sample=False, pad_token_id=0)
    want = model.generate(ids, **options)
    before = programs()
    model.to("xla")
    assert torch.equal(model.generate(ids, **options), want)
    assert programs() - before <= 2, json.dumps(met.counter_names())
