# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' generate() on the device: the tokens of PyTorch's CPU, one program for a size class of prompts and one for all later tokens."""
import os
import warnings

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch_xla._size_classes import size_class

transformers = pytest.importorskip("transformers")

SIZES = dict(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=256, pad_token_id=0, bos_token_id=1, eos_token_id=2)
TOKENS = 24


def make(kind):
    torch.manual_seed(0)
    if kind == "Llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).eval()
    if kind == "Qwen":
        return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SIZES)).eval()
    if kind == "Gemma":
        layers = ["sliding_attention", "full_attention"]
        return transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**SIZES, head_dim=8, sliding_window=16, layer_types=layers)).eval()
    if kind == "Mistral":
        return transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, sliding_window=16)).eval()
    if kind == "GPT-2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=96, n_embd=32, n_layer=2, n_head=4, n_positions=256, bos_token_id=1,
                                                                    eos_token_id=2, pad_token_id=0)).eval()
    if kind == "T5":
        return transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                                                             decoder_start_token_id=0)).eval()
    return transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=96, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_source_positions=50, max_target_positions=128, num_mel_bins=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None)).eval()


def prompt(kind="Llama", length=9, batch=2):
    generator = torch.Generator().manual_seed(length)
    if kind == "Whisper":
        return dict(input_features=torch.randn(batch, 16, 100, generator=generator))
    ids = torch.randint(3, 96, (batch, length), generator=generator)
    return dict(input_ids=ids, attention_mask=torch.ones_like(ids))


def programs():
    return torch_xla._XLAC._compilations()


def executions():
    return (met.metric_data("ExecuteTime") or (0,))[0]


def on(device, inputs):
    return {name: value.to(device) for name, value in inputs.items()}


def both(run, *models):
    """What `run` gives on the CPU and on the device, and the programs that were compiled there."""
    want = run(*models)
    models = [model.to("xla") for model in models]
    before = programs()
    return want, run(*models), programs() - before


DECODERS = ["Llama", "Qwen", "Gemma", "Mistral", "GPT-2"]
KINDS = [*DECODERS, "T5", "Whisper"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_program_for_prompts_and_one_for_tokens(kind, no_fallback):
    model, options = make(kind), dict(max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False)
    inputs = prompt(kind)
    want = model.generate(**inputs, **options)
    model.to("xla")
    before, ran = programs(), executions()
    assert torch.equal(model.generate(**inputs, **options), want)
    of_features = kind == "Whisper"  # they are made a float tensor of the device
    assert programs() - before <= 2 + of_features
    assert executions() - ran == TOKENS + of_features
    before, ran = programs(), executions()
    got = model.generate(**on("xla", inputs), **options)
    assert got.device.type == "xla" and torch.equal(got.cpu(), want)
    if kind != "Whisper":  # which computes with its tensors on the device before and after
        assert programs() == before and executions() - ran == TOKENS


@pytest.mark.parametrize("kind", ["Llama", "Gemma", "T5"])
def test_lengths_of_a_size_class_share_their_programs(kind):
    model, options = make(kind), dict(max_new_tokens=6, do_sample=False)
    lengths = [3, 7, 9, 16]
    wants = [model.generate(**prompt(kind, length), **options) for length in lengths]
    model.to("xla")
    before = programs()
    for length, want in zip(lengths, wants):
        assert torch.equal(model.generate(**prompt(kind, length), **options), want)
    assert programs() - before <= 3  # 16 tokens and 6 more need the next cache


def test_masked_prompts_and_random_tokens():
    inputs = prompt(length=11)
    inputs["attention_mask"][0, :4] = 0

    def run(model):
        torch.manual_seed(5)
        return model.generate(**inputs, max_new_tokens=12, do_sample=True, top_k=10, temperature=0.8, repetition_penalty=1.2)
    want, got, count = both(run, make("Llama"))
    assert torch.equal(got, want) and count <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_static_caches_by_name(kind):
    """The tokens that generate() has with that cache on the CPU, by the programs of the other cache."""
    options = dict(max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False)
    want, got, count = both(lambda model: model.generate(**prompt(kind), **options, cache_implementation="static"), model := make(kind))
    assert torch.equal(got, want) and count <= 2 + (kind == "Whisper")
    before = programs()
    assert torch.equal(model.generate(**prompt(kind), **options), want) and programs() == before


@pytest.mark.parametrize("kind", KINDS)
def test_beams(kind):
    want, got, count = both(lambda model: model.generate(**prompt(kind), max_new_tokens=12, num_beams=3, do_sample=False), make(kind))
    assert torch.equal(got, want) and count <= 3 + (kind == "Whisper")  # a first token, a second one, later ones: with the order of beams


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_tokens(kind):
    def run(model):
        torch.manual_seed(5)
        return model.generate(**prompt(kind), max_new_tokens=12, min_new_tokens=12, do_sample=True, top_k=10, temperature=0.8)
    want, got, count = both(run, make(kind))
    assert torch.equal(got, want) and count <= 2 + (kind == "Whisper")


@pytest.mark.parametrize("kind", DECODERS)
def test_assisted_decoding(kind):
    helper = make(kind)
    with torch.no_grad():
        for parameter in helper.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.01)
    want, got, count = both(lambda model, helper: model.generate(**prompt(kind, batch=1), max_new_tokens=30, do_sample=False, assistant_model=helper),
                            make(kind), helper)
    assert torch.equal(got, want) and count <= 8  # of two models: a prompt, a token, candidates, and again in larger caches


@pytest.mark.parametrize("kind", DECODERS)
def test_candidates_from_the_prompt(kind):
    inputs = {name: value.repeat(1, 3) for name, value in prompt(kind, batch=1).items()}  # which has what it may go on with
    options = dict(max_new_tokens=TOKENS, do_sample=False, prompt_lookup_num_tokens=4)
    want, got, count = both(lambda model: model.generate(**inputs, **options), make(kind))
    assert torch.equal(got, want) and count <= 4  # a prompt, a token, candidates of two size classes


def test_a_cache_of_the_user_goes_on():
    def run(model):
        cache = transformers.DynamicCache(config=model.config)
        first = model.generate(**prompt(batch=1), max_new_tokens=8, do_sample=False, past_key_values=cache)
        assert cache.get_seq_length() == first.shape[1] - 1 and type(cache.layers[0]).__name__ == "DynamicLayer"
        return model.generate(first, max_new_tokens=8, do_sample=False, past_key_values=cache), cache.layers[1].keys.cpu()
    (want, keys), (got, sized), _ = both(run, make("Llama"))
    assert torch.equal(got, want)
    torch.testing.assert_close(sized, keys, rtol=1e-4, atol=1e-5)


def test_scores_are_those_of_the_cpu():
    def run(model):
        out = model.generate(**prompt(), max_new_tokens=6, do_sample=False, return_dict_in_generate=True, output_scores=True)
        assert isinstance(out.past_key_values, transformers.DynamicCache)
        return torch.stack(out.scores)
    want, got, _ = both(run, make("Llama"))
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(os.environ.get("MILLRACE_LONG") != "1", reason="takes long: a program for each size")
def test_hidden_states_and_growing_ids_without_a_cache():
    def run(model):
        out = model.generate(**prompt(), max_new_tokens=4, do_sample=False, return_dict_in_generate=True, output_hidden_states=True)
        plain = model.generate(**prompt(), max_new_tokens=4, do_sample=False, use_cache=False)
        return torch.cat([state.cpu().flatten() for step in out.hidden_states for state in step]), plain
    (want, plain), (got, own), _ = both(run, make("Llama"))
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    assert torch.equal(own, plain)


def test_the_model_is_where_it_was():
    model = make("Llama").to("xla")
    with pytest.raises(Exception, match="max_new_tokens"):
        model.generate(**prompt(), max_new_tokens=-1)
    assert model.device.type == "xla" and "forward" not in vars(model)
    assert model(**on("xla", prompt())).logits.device.type == "xla"


def test_a_loop_that_compiles_for_each_token_is_warned_of_once():
    from torch_xla import _generate
    _generate._calls.has_warned = False
    model = make("Llama").to("xla")

    def loop(tokens):
        cache = transformers.DynamicCache(config=model.config)
        given = prompt(batch=1)["input_ids"].to("xla")
        with torch.no_grad():
            for _ in range(tokens):
                given = model(given, past_key_values=cache).logits[:, -1:].argmax(-1)  # here
        return given.cpu()
    with pytest.warns(UserWarning, match="grows by one token in each step") as caught:
        loop(7)
    warned = [one for one in caught if "grows by one token" in str(one.message)]
    assert len(warned) == 1 and warned[0].filename == __file__
    with open(__file__) as file:
        assert file.readlines()[warned[0].lineno - 1].endswith("# here\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop(6)
        _generate._calls.has_warned = False
        model.generate(**prompt(), max_new_tokens=8, do_sample=False)  # its caches do not grow


def test_size_classes():
    assert [size_class(n) for n in (1, 16, 17, 25, 33, 49, 65, 100, 129, 193, 1000)] == [16, 16, 32, 32, 48, 64, 96, 128, 192, 256, 1024]


def test_other_models_and_caches():
    """A cache of a state, which takes no rows behind the tokens, and a mask of which the model makes more."""
    torch.manual_seed(0)
    options = dict(max_new_tokens=6, min_new_tokens=6, do_sample=False)
    bloom = transformers.BloomForCausalLM(transformers.BloomConfig(vocab_size=96, hidden_size=32, n_layer=2, n_head=4, pad_token_id=0, bos_token_id=1,
                                                                   eos_token_id=2)).eval()
    mamba = transformers.Mamba2ForCausalLM(transformers.Mamba2Config(vocab_size=96, hidden_size=16, num_hidden_layers=2, state_size=8, head_dim=8,
                                                                     num_heads=4, n_groups=1, chunk_size=8, pad_token_id=0, bos_token_id=1,
                                                                     eos_token_id=2)).eval()
    for model in (bloom, mamba):
        want, got, count = both(lambda model: model.generate(**prompt(), **options), model)
        assert torch.equal(got, want) and count <= 2


def sampled(model, **options):
    from torch_xla.experimental.sampling import sample_on_device
    with sample_on_device():
        torch_xla.manual_seed(7)
        return model.generate(**prompt(), max_new_tokens=8, do_sample=True, **options)


@pytest.mark.parametrize("options", [dict(top_k=5), dict(top_k=0, top_p=0.7), dict(top_k=0), dict(top_k=20, top_p=0.8, min_p=0.02, temperature=0.7)])
def test_tokens_are_sampled_on_the_device(options):
    model = make("Llama").to("xla")
    first = sampled(model, **options)
    compiled = programs()
    torch.manual_seed(100)  # the CPU's numbers take no part
    assert torch.equal(sampled(model, **options), first)
    assert programs() == compiled
    if "temperature" in options:  # a number of the step, not of its program
        assert not torch.equal(sampled(model, **{**options, "temperature": 3.0, "min_p": 0.0001}), first)
        assert programs() == compiled


def test_the_only_possible_token_is_the_greedy_one():
    model = make("Qwen")
    want = model.generate(**prompt(), max_new_tokens=8, do_sample=False)
    model.to("xla")
    for options in (dict(top_k=1), dict(top_k=0, top_p=1e-6), dict(top_k=0, temperature=1e-4)):
        assert torch.equal(sampled(model, **options), want), options


def test_tokens_have_their_shares():
    """Of 4000 rows with the same logits, tokens come as often as their shares say, and those beyond top-p never."""
    from torch_xla._sampling import Sampler
    torch_xla.manual_seed(3)
    shares = torch.tensor([0.05, 0.4, 0.3, 0.15, 0.1])
    logits = shares.log().expand(4000, 5).to("xla")
    for sampler, kept in ((Sampler(), [0, 1, 2, 3, 4]), (Sampler(top_p=0.8), [1, 2, 3]), (Sampler(top_k=2), [1, 2]), (Sampler(min_p=0.3), [1, 2, 3]),
                          (Sampler(temperature=0.5, top_k=3, top_p=0.95), [1, 2, 3])):
        want = torch.zeros(5)
        want[kept] = shares[kept] ** (1 / (sampler.temperature or 1))
        want /= want.sum()
        got = torch.bincount(sampler.choose(logits).cpu(), minlength=5) / 4000
        assert (got - want).abs().max() < 0.04 and not got[want == 0].any(), (sampler, got, want)


def test_other_processors_choose_on_the_cpu():
    from torch_xla import _sampling
    model = make("Llama").to("xla")
    torch.manual_seed(5)
    want = model.generate(**prompt(), max_new_tokens=4, do_sample=True, repetition_penalty=1.3)
    _sampling._State.has_warned = False
    torch.manual_seed(5)
    with pytest.warns(UserWarning, match="because of RepetitionPenaltyLogitsProcessor"):
        assert torch.equal(sampled(model, repetition_penalty=1.3)[:, :want.shape[1]], want)
