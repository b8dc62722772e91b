# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' continuous batching on the device: generate_batch(), and the manager with its own signatures and results."""
import asyncio
import time

import pytest
import torch
import torch_xla.debug.metrics as met

transformers = pytest.importorskip("transformers")
pytest.importorskip("transformers.generation.continuous_batching")
from language_models import model, prompts  # noqa: E402
from transformers import ContinuousBatchingConfig, GenerationConfig  # noqa: E402
from transformers.generation.continuous_batching.requests import GenerationOutput, RequestStatus  # noqa: E402

KINDS = [("Llama", {}), ("GPT2", {}), ("Gemma3", dict(head_dim=16, sliding_window=32, layer_types=["sliding_attention", "full_attention"]))]
WAIT_S = 300.0  # longer than any step takes; what waits so long has failed


def alone(reference, given, **options):
    """What generate() gives for one prompt after the other."""
    options = dict(do_sample=False) | options
    return [reference.generate(torch.tensor([p]), attention_mask=torch.ones(1, len(p), dtype=torch.long), **options)[0, len(p):].tolist() for p in given]


def results_of(manager, names):
    """The results of requests, which come in any order."""
    found, end = {}, time.monotonic() + WAIT_S
    while len(found) < len(names):
        result = manager.get_result(timeout=1)
        assert time.monotonic() < end and manager.is_running()
        if result is not None:
            found[result.request_id] = result
    return [found[name] for name in names]


@pytest.mark.parametrize("kind, more", KINDS)
def test_tokens_are_those_of_generate(kind, more, no_fallback):
    given, ours = prompts(6, 90), model(kind, **more).train().to("xla")
    attention = ours.config._attn_implementation
    wants = alone(model(kind, **more), given, max_new_tokens=9)
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=9, do_sample=False)) as manager:
        names = manager.add_requests(given, record_timestamps=True)
        results = results_of(manager, names)
        late = manager.add_request(given[2], request_id="late", max_new_tokens=3)
        assert results_of(manager, [late])[0].generated_tokens == wants[2][:3]
    assert names == [f"req_{number}" for number in range(6)] and all(type(result) is GenerationOutput for result in results)
    assert [result.generated_tokens for result in results] == wants and [result.prompt_ids for result in results] == given
    assert all(result.status == RequestStatus.FINISHED and result.error is None and len(result.timestamps) == 9 for result in results)
    assert all(result.created_time <= result.lifespan[0] <= result.timestamps[0] <= result.lifespan[1] for result in results)
    assert not manager.is_running() and manager.get_result(timeout=1) is None
    assert ours.training and ours.config._attn_implementation == attention and all(p.requires_grad for p in ours.parameters())


def test_generate_batch():
    """The names of results, copies of a prompt, and an end of the sequence."""
    given, ours = prompts(5, 60), model().to("xla")
    wants = alone(model(), given, max_new_tokens=9)
    results = ours.generate_batch(given, generation_config=GenerationConfig(max_new_tokens=9, do_sample=False), record_timestamps=True)
    assert list(results) == [f"req_{number}" for number in range(5)] and [result.generated_tokens for result in results.values()] == wants
    ends = ours.generate_batch(given, generation_config=GenerationConfig(max_new_tokens=9, do_sample=False, eos_token_id=[wants[0][4], wants[1][2]]))
    stops = (wants[0][4], wants[1][2])
    assert [result.generated_tokens for result in ends.values()] == [
        want[:next((place + 1 for place, token in enumerate(want) if token in stops), 9)] for want in wants]
    copies = ours.generate_batch(given[:1], generation_config=GenerationConfig(max_new_tokens=9, do_sample=True, num_return_sequences=3))
    assert list(copies) == ["req_0__child#0", "req_0__child#1", "req_0"] and len({tuple(result.generated_tokens) for result in copies.values()}) > 1
    assert ours.generate_batch([]) == {}


def test_sampled_tokens_depend_on_the_seed_only():
    given, ours = prompts(4, 30), model().to("xla")
    config = GenerationConfig(max_new_tokens=6, do_sample=True, temperature=1.5, top_k=50)

    def tokens(seed):
        results = ours.generate_batch(given, generation_config=config, continuous_batching_config=ContinuousBatchingConfig(seed=seed))
        return [result.generated_tokens for result in results.values()]
    assert tokens(5) == tokens(5) != tokens(6)


@pytest.mark.parametrize("options", [dict(repetition_penalty=1.7), dict(no_repeat_ngram_size=1), dict(eos_token_id=9, min_new_tokens=6, sequence_bias={(9,): 50.0}),
                                     dict(suppress_tokens=list(range(3, 200))), dict(forced_eos_token_id=7)])
def test_processors_of_logits_are_those_of_generate(options):
    given = prompts(4, 40)
    wants = alone(model(), given, max_new_tokens=9, **options)
    assert wants != alone(model(), given, max_new_tokens=9)
    results = model().to("xla").generate_batch(given, generation_config=GenerationConfig(max_new_tokens=9, do_sample=False, **options))
    assert [result.generated_tokens for result in results.values()] == wants


def test_log_probabilities():
    given = prompts(3, 40)
    outs = [model().generate(torch.tensor([p]), attention_mask=torch.ones(1, len(p), dtype=torch.long), max_new_tokens=5, do_sample=False,
                             return_dict_in_generate=True, output_scores=True) for p in given]
    wants = [torch.stack([torch.log_softmax(score[0], -1).max() for score in out.scores]) for out in outs]
    results = model().to("xla").generate_batch(given, generation_config=GenerationConfig(max_new_tokens=5, do_sample=False),
                                               continuous_batching_config=ContinuousBatchingConfig(return_logprobs=True))
    for result, want in zip(results.values(), wants):
        torch.testing.assert_close(torch.tensor(result.logprobs), want, rtol=1e-4, atol=1e-4)


def test_streaming_and_iteration():
    given, ours = prompts(3, 40), model().to("xla")
    wants = alone(model(), given, max_new_tokens=7)
    manager = ours.init_continuous_batching(generation_config=GenerationConfig(max_new_tokens=7, do_sample=False))
    manager.start()
    name = manager.add_request(given[0], streaming=True)
    seen = [(result.generated_tokens, result.is_finished()) for result in manager.request_id_iter(name)]
    assert seen == [(wants[0][:count], count == 7) for count in range(1, 8)]
    names, found = manager.add_requests(given[1:]), {}
    for result in manager:
        found[result.request_id] = result.generated_tokens
        if len(found) == 2:
            break
    assert [found[name] for name in names] == wants[1:]

    async def handled():
        outputs, done = [], asyncio.Event()

        def take(output):
            outputs.append(output.generated_tokens)
            if output.is_finished():
                done.set()
        manager.register_result_handler("handled", take)
        manager.add_request(given[0], request_id="handled", streaming=True)
        await asyncio.wait_for(done.wait(), WAIT_S)
        return outputs
    assert asyncio.run(handled()) == [wants[0][:count] for count in range(1, 8)]
    manager.stop()


def test_a_cancelled_request_frees_its_pages():
    ours = model().to("xla")
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=200, do_sample=False)) as manager:
        name = manager.add_request([5] * 20, streaming=True)
        assert not next(iter(manager.request_id_iter(name))).is_finished()
        manager.cancel_request(name)
        manager.cancel_request("nobody")
        while any(result.request_id == name for result in iter(lambda: manager.get_result(timeout=0.5), None)):
            pass  # what was there already
        other = manager.add_request([6] * 20, max_new_tokens=2)
        assert results_of(manager, [other])[0].is_finished()
        assert manager.batch_processor.engine.pool.used == 0 and not manager.batch_processor.has_pending_requests()


def test_a_bad_request_fails_alone():
    given, ours = prompts(2, 30), model().to("xla")
    wants = alone(model(), given, max_new_tokens=4)
    batching = ContinuousBatchingConfig(per_request_processors=True)
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=4, do_sample=False),
                                                  continuous_batching_config=batching) as manager:
        first = manager.add_request(given[0])
        bad = {manager.add_request(ids, max_new_tokens=count, **more): message for ids, count, more, message in (
            ([], 4, {}, "at least one token"), ([5] * 1000, 100, {}, "at most 1024 tokens"), ([5, 300], 4, {}, "0 to 258"), (["a"], 4, {}, "invalid literal"),
            ([5], 0, {}, "max_tokens"), ([5], 4, dict(temperature="hot"), "temperature of type float"), ([5], 4, dict(beams=3), "but got beams"))}
        second = manager.add_request(given[1])
        results = results_of(manager, [first, *bad, second])
        assert [results[0].generated_tokens, results[-1].generated_tokens] == wants
        for result, message in zip(results[1:-1], bad.values()):
            assert result.status == RequestStatus.FAILED and message in result.error, result
        assert manager.is_running()
    plain = ours.generate_batch([given[0], []], generation_config=GenerationConfig(max_new_tokens=4, do_sample=True, num_return_sequences=2))
    assert [result.error is None for result in plain.values()] == [True, True, False, False]


def test_a_processor_that_fails_ends_its_request_only():
    """One is refused when a request is taken, one fails with the first token."""
    ours, given = model().to("xla"), prompts(1, 20)[0]
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=4, do_sample=True, top_k=5),
                                                  continuous_batching_config=ContinuousBatchingConfig(per_request_processors=True)) as manager:
        bad, good = manager.add_request(given, top_k=-1), manager.add_request(given, top_k=1)
        failed, result = results_of(manager, [bad, good])
        assert failed.status == RequestStatus.FAILED and "top_k" in failed.error
        assert result.generated_tokens == alone(model(), [given], max_new_tokens=4)[0]
    config = GenerationConfig(max_new_tokens=4, do_sample=False, sequence_bias={(500,): 1.0})
    with ours.continuous_batching_context_manager(generation_config=config) as manager:
        failed = results_of(manager, manager.add_requests([given, given[:3]]))
        assert all(result.status == RequestStatus.FAILED and "500" in result.error and not result.generated_tokens for result in failed)
        assert manager.is_running() and manager.batch_processor.engine.pool.used == 0


def test_own_options_of_a_request_need_the_configuration():
    ours = model().to("xla")
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=4, do_sample=True)) as manager:
        failed = results_of(manager, [manager.add_request([5], temperature=0.5)])[0]
    assert failed.status == RequestStatus.FAILED and "per_request_processors=True" in failed.error


def test_stop_and_start():
    """A hard stop fails what is left; a manager goes on after a stop; one that is kept compiles nothing new."""
    given, ours = prompts(3, 30), model().to("xla")
    wants = alone(model(), given, max_new_tokens=6)
    config = GenerationConfig(max_new_tokens=6, do_sample=False)
    manager = ours.init_continuous_batching(generation_config=config)
    manager.start()
    left = manager.add_request([5] * 9, max_new_tokens=240, streaming=True)
    assert manager.get_result(timeout=WAIT_S).request_id == left
    manager.stop(hard_stop=True)
    outputs = list(iter(lambda: manager.output_router.output_queue.get(block=False) if manager.output_router.output_queue.qsize() else None, None))
    assert outputs[-1].status == RequestStatus.FAILED and "before this request completed" in outputs[-1].error and outputs[-1].generated_tokens
    assert manager.add_request(given[0]) is None, "it takes no more"
    manager.start()
    assert [result.generated_tokens for result in results_of(manager, manager.add_requests(given))] == wants
    manager.stop(keep_for_next_session=True)
    before = met.counter_value("UncachedCompile") or 0
    again = ours.init_continuous_batching(generation_config=config)
    assert again is manager and ours.config._attn_implementation != "paged_xla"
    again.start()
    assert [result.generated_tokens for result in results_of(again, again.add_requests(given))] == wants
    assert (met.counter_value("UncachedCompile") or 0) == before
    again.stop()
    ours.destroy_cached_continuous_batching_manager()
    other = ours.init_continuous_batching(generation_config=config)
    assert other is not manager


def test_weights_change_in_a_pause():
    """Inside, the model computes by itself; keys and values that were shared before are not those of the new weights."""
    given, ours, other = [7] * 40, model().to("xla"), model()
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)) * 0.1)
    want, later = alone(model(), [given], max_new_tokens=6)[0], alone(other, [given], max_new_tokens=6)[0]
    assert want != later
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=6, do_sample=False)) as manager:
        assert results_of(manager, [manager.add_request(given)])[0].generated_tokens == want
        with manager.pause():
            ours.load_state_dict(other.state_dict())
            assert alone(ours, [given], max_new_tokens=6)[0] == later
        assert results_of(manager, [manager.add_request(given)])[0].generated_tokens == later


def test_sizes_are_those_of_the_configuration():
    """Few pages: requests wait and are computed again; the tokens stay."""
    given = prompts(8, 60)
    wants = alone(model(), given, max_new_tokens=20)
    batching = ContinuousBatchingConfig(page_size=32, num_blocks=8, max_batch_tokens=32, max_requests_per_batch=4, allow_block_sharing=False)
    ours = model().to("xla")
    with ours.continuous_batching_context_manager(generation_config=GenerationConfig(max_new_tokens=20, do_sample=False),
                                                  continuous_batching_config=batching) as manager:
        engine = manager.batch_processor.engine
        assert [result.generated_tokens for result in results_of(manager, manager.add_requests(given))] == wants
        assert results_of(manager, [manager.add_request(given[0])])[0].generated_tokens == wants[0]
        assert engine.pool.pages == 17 and engine.max_running == 4 and engine.shared_tokens == 0 and engine.most_pages <= 16


def test_what_is_not_known_is_refused():
    ours = model().to("xla")
    with pytest.raises(NotImplementedError, match="num_beams=4"):
        ours.init_continuous_batching(generation_config=GenerationConfig(num_beams=4))
    with pytest.raises(NotImplementedError, match="temperature=0.5"):
        ours.generate_batch([[5]], temperature=0.5)
    assert ours.config._attn_implementation != "paged_xla"
