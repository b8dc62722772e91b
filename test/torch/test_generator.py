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
    # PyTorch calls the device's kernel for these, because of the generator.
    x = torch.rand(4)
    for function in (lambda: torch.rand(3, generator=generator), lambda: torch.randn(3, generator=generator),
                     lambda: torch.randperm(5, generator=generator), lambda: torch.randint(5, (3,), generator=generator),
                     lambda: x.uniform_(generator=generator), lambda: x.normal_(generator=generator), lambda: x.random_(generator=generator),
                     lambda: x.bernoulli_(0.5, generator=generator), lambda: x.bernoulli_(x, generator=generator),
                     lambda: torch.bernoulli(x, generator=generator), lambda: x.exponential_(generator=generator),
                     lambda: x.cauchy_(generator=generator), lambda: x.geometric_(0.5, generator=generator),
                     lambda: x.log_normal_(generator=generator), lambda: torch.multinomial(x, 2, generator=generator),
                     lambda: torch.poisson(x, generator=generator), lambda: torch.normal(x, 1.0, generator=generator),
                     lambda: list(torch.utils.data.DataLoader([1, 2, 3], shuffle=True, generator=generator))):
        with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'xla'"):
            function()
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


def test_seeds_of_loaders():
    """PyTorch's loaders draw on the CPU: the device's seed and its draws change nothing there, nor do loaders here."""
    dataset = torch.utils.data.TensorDataset(torch.arange(20))

    def order():
        return [value for batch in torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True) for value in batch[0].tolist()]
    torch.manual_seed(5)
    first, second = order(), order()
    torch.manual_seed(5)
    assert order() == first
    state = torch_xla._XLAC._rng_state()
    assert order() == second and torch_xla._XLAC._rng_state() == state
    torch.manual_seed(5)
    torch_xla.manual_seed(9)
    torch.rand(3, device="xla").cpu()
    assert order() == first
    import torch_xla.distributed.parallel_loader as pl
    torch.manual_seed(5)
    loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3))
    made = [batch[0].tolist() for batch in pl.MpDeviceLoader(loader, "xla")]
    loader.generator.manual_seed(3)
    assert made == [batch[0].tolist() for batch in loader]


def test_samplers_where_the_device_is_the_default_one():
    """Samplers make generators of the CPU and expect to draw there."""
    dataset = torch.utils.data.TensorDataset(torch.arange(9))
    on_cpu = torch.randperm(9, generator=torch.Generator().manual_seed(4)).tolist()
    assert torch.randperm(9, generator=torch.Generator().manual_seed(4), device="xla").tolist() == on_cpu
    made = torch.randint(3, 7, (2, 3), generator=torch.Generator().manual_seed(4), device="xla", dtype=torch.int32)
    assert made.device.type == "xla" and torch.equal(made.cpu(), torch.randint(3, 7, (2, 3), generator=torch.Generator().manual_seed(4), dtype=torch.int32))
    for draw in (lambda g: torch.randperm(50, generator=g, device="xla"), lambda g: torch.randint(99, (50,), generator=g, device="xla"),
                 lambda g: torch.randint(9, 99, (5, 10), generator=g, device="xla")):
        first, again = (draw(torch.Generator(device="xla").manual_seed(7)) for _ in range(2))
        assert first.dtype == torch.int64 and torch.equal(first.cpu(), again.cpu())

    def orders(**options):
        torch.manual_seed(3)
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, **options)
        return [[int(batch[0]) for batch in loader] for _ in range(2)]
    torch.set_default_device("xla")
    try:
        first, second = orders(shuffle=True)
        assert sorted(first) == sorted(second) == list(range(9)) and first != second and orders(shuffle=True) == [first, second]
        replaced = orders(sampler=torch.utils.data.RandomSampler(dataset, replacement=True))
        assert set(sum(replaced, [])) <= set(range(9)) and len(replaced[0]) == 9
        distributed = torch.utils.data.DistributedSampler(dataset, 1, 0, seed=4)
        assert orders(sampler=distributed)[0] == on_cpu
        assert [len(part) for part in torch.utils.data.random_split(dataset, [4, 5])] == [4, 5]
    finally:
        torch.set_default_device(None)
