# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.Generator(device="xla"): numbers of its own, state, one program for all draws."""
import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm

DRAWS = {
    "rand": lambda g: torch.rand(5, device="xla", generator=g),
    "randn": lambda g: torch.randn(5, device="xla", generator=g),
    "randint": lambda g: torch.randint(0, 1000, (5,), device="xla", generator=g),
    "randperm": lambda g: torch.randperm(50, device="xla", generator=g),
    "bernoulli": lambda g: torch.bernoulli(torch.full((64,), 0.5, device="xla"), generator=g),
    "multinomial": lambda g: torch.multinomial(torch.ones(100, device="xla"), 20, generator=g),
    "cauchy_": lambda g: torch.empty(5, device="xla").cauchy_(generator=g),
    "rrelu": lambda g: torch.ops.aten.rrelu_with_noise(-torch.ones(9, device="xla"), torch.ones(9, device="xla"), 0.1, 0.9, True, g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_depend_on_the_generator_only(name):
    draw, generator = DRAWS[name], torch.Generator(device="xla")
    generator.manual_seed(7)
    state = torch.xla.get_rng_state()
    first, second = draw(generator).cpu(), draw(generator).cpu()
    assert torch.equal(torch.xla.get_rng_state(), state), "the process's generator was not asked"
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    torch.rand(2, device="xla").cpu()
    assert torch.equal(draw(generator.manual_seed(7)).cpu(), first)
    assert not torch.equal(draw(torch.Generator("xla").manual_seed(8)).cpu(), first)


def test_state():
    generator = torch.Generator(device="xla")
    assert generator.device.type == "xla" and generator.manual_seed(5).initial_seed() == 5
    torch.rand(3, device="xla", generator=generator)
    state = generator.get_state()
    want = torch.rand(3, device="xla", generator=generator).cpu()
    other = torch.Generator(device="xla")
    other.set_state(state)
    assert torch.equal(torch.rand(3, device="xla", generator=other).cpu(), want)
    assert torch.equal(torch.rand(3, device="xla", generator=generator.clone_state()).cpu(),
                       torch.rand(3, device="xla", generator=generator).cpu())
    assert generator.seed() == generator.initial_seed()
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        generator.set_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(TypeError, match="RNG state must be a torch.ByteTensor"):
        generator.set_state(torch.zeros(16))


def test_wrong_generators():
    with pytest.raises(RuntimeError, match="Expected a 'xla' device type for generator but found 'cpu'"):
        torch.rand(3, device="xla", generator=torch.Generator())
    generator = torch.Generator(device="xla")
    compiled = torch_xla.compile(lambda: torch.rand(3, device="xla", generator=generator), full_graph=True)
    assert not torch.equal(compiled().cpu(), compiled().cpu())


def test_one_program_for_all_draws():
    generator = torch.Generator(device="xla").manual_seed(1)
    draws = [torch.randn(4, device="xla", generator=generator).cpu()]
    before = torch_xla._XLAC._compilations()
    for _ in range(3):
        draws.append(torch.randn(4, device="xla", generator=generator).cpu())
    assert torch_xla._XLAC._compilations() == before
    assert len({tuple(draw.tolist()) for draw in draws}) == 4


def test_state_as_one_number_continues_where_it_was_taken():
    xm.set_rng_state(7)
    assert xm.get_rng_state() == 7
    torch.rand(3, device="xla")
    state = xm.get_rng_state()
    first = torch.rand(3, device="xla").tolist()
    assert state != 7 and xm.get_rng_state() != state
    xm.set_rng_state(state)
    assert torch.rand(3, device="xla").tolist() == first
