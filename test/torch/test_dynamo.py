# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="openxla"), torch_xla.compile and eager mode. Counters say what was traced, compiled and run."""
import copy
import ctypes
import mmap
import warnings

import pytest
import torch
import torch_xla
import torch_xla.core.dynamo_bridge as bridge
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch.utils import _pytree as pytree
from torch_xla import _XLAC
from torch_xla._dynamo import dynamo_bridge
from torch_xla.experimental import eager_mode, eager_mode_context, is_eager_mode
from torch_xla.utils import dlpack


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch_xla.sync(wait=True)
    met.clear_all()


def samples(name):
    return (met.metric_data(name) or (0,))[0]


def on_device(*shape):
    made = torch.randn(*shape).to("xla")
    torch_xla.sync()
    return made


@pytest.mark.parametrize("backend", ["openxla", "torchxla_trace_once", "aot_torchxla_trace_once"])
def test_inference_traces_once(backend):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).eval()
    moved = copy.deepcopy(model).to("xla")
    compiled = torch.compile(moved, backend=backend)
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x.to("xla")).cpu(), model(x))
        met.clear_all()
        recorded = _XLAC._recorded()
        y = torch.randn(3, 4)
        moved_y = y.to("xla")
        for _ in range(5):
            got = compiled(moved_y)
        assert _XLAC._recorded() == recorded, "the second call records operations"
        assert samples("CompileTime") == 0 and samples("ExecuteTime") == 5
        assert samples("RunCachedGraphInputData") == samples("RunCachedGraphOutputData") == 5
        torch.testing.assert_close(got.cpu(), model(y))
        assert met.counter_value("DynamoSyncInputExecuteTime") is None


def test_pending_arguments_are_computed_alone():
    f = torch.compile(lambda x, y: x.cos() + y.sin(), backend="openxla")
    x, y = on_device(3), on_device(3)
    f(x, y)
    met.clear_all()
    pending, doubled = x + 1, x * 2
    torch.testing.assert_close(f(doubled, y).cpu(), (x.cpu() * 2).cos() + y.cpu().sin())
    assert met.counter_value("DynamoSyncInputExecuteTime") == 1 and samples("ExecuteTime") == 2
    torch_xla.sync()  # `pending` was still to be computed
    assert samples("ExecuteTime") == 3
    torch.testing.assert_close(pending.cpu(), x.cpu() + 1)


def test_arguments_on_the_cpu_move_inside():
    def add(a, b):
        return a.to(xm.xla_device()) + b.to(xm.xla_device())
    f = torch.compile(add, backend="openxla")
    for _ in range(2):
        a, b = torch.randn(10), torch.randn(10)
        got = f(a, b)
        assert got.device.type == "xla"
        torch.testing.assert_close(got.cpu(), a + b)
    assert met.counter_value("DynamoExtractCompiledGraph") == 1
    assert torch.compile(lambda d: torch.full((4, 4), 0.5, device=d) + torch.arange(4, device=d), backend="openxla")(
        torch.device("xla")).cpu()[1].tolist() == [0.5, 1.5, 2.5, 3.5]


def test_in_place_and_aliases():
    def f(cache, at, new):
        cache.index_copy_(0, at, new)
        return cache[1:], cache, new.t(), new * 2, None, 3
    cache, at, new = on_device(5, 3), torch.tensor([4, 0]).to("xla"), on_device(2, 3)
    want = cache.cpu()
    g = torch.compile(f, backend="openxla", fullgraph=True)
    for round in range(3):
        got = g(cache, at, new)
        expected = f(want, at.cpu(), new.cpu())
        executed = samples("ExecuteTime")
        torch_xla.sync()
        assert samples("ExecuteTime") == executed, "the update left operations behind"
        for a, b in zip(got[:4], expected[:4]):
            torch.testing.assert_close(a.cpu(), b)
        assert got[1] is cache and got[4:] == (None, 3)
        got[0].add_(1)  # shows the cache
        want[1:].add_(1)
        torch.testing.assert_close(cache.cpu(), want)


def test_the_bridge_itself():
    """Graphs with in-place operations, views as arguments and tensors of their own, without AOTAutograd before it."""
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x, y):
            self.count.copy_(x * 0 + self.count + 1)
            x.mul_(2)
            return {"sum": x + y + self.count, "same": y}
    module = Counter().to("xla")
    graph = torch.fx.symbolic_trace(module)
    x, y = on_device(3), on_device(4, 3)
    run = bridge.extract_compiled_graph(graph, (x, y[1]))
    for i in (1, 2, 3):
        before, row = x.cpu(), y[1]
        got = run(x, row)
        assert got["same"] is row
        torch.testing.assert_close(got["sum"].cpu(), before * 2 + row.cpu() + i)
        torch.testing.assert_close(x.cpu(), before * 2)
    assert module.count.cpu().tolist() == graph.count.cpu().tolist() == [3.0] * 3
    assert met.counter_value("DynamoExtractCompiledGraph") == 1
    # What is overwritten gives its memory to its new value; what somebody else shows does not.
    kept = x.detach().clone()
    torch_xla.sync()
    before = kept.cpu()
    run(kept, row)
    other = x + 0
    torch_xla.sync()
    run(x, row)
    torch.testing.assert_close(other.cpu() * 2, x.cpu())
    torch.testing.assert_close(kept.cpu(), before * 2)


def test_other_sizes_and_numbers():
    f = torch.compile(lambda x, n: x.cos() * n + x.shape[0], backend="openxla")
    for shape in ((5,), (7,), (5,)):
        for n in (2, 2.5):
            x = on_device(*shape)
            torch.testing.assert_close(f(x, n).cpu(), x.cpu().cos() * n + shape[0])


def test_open_sizes_are_one_program():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SiLU(), torch.nn.LayerNorm(8))
    moved = copy.deepcopy(model).to("xla")

    def f(model, x, y):
        z = torch.softmax(model(x) @ y.t(), -1)
        return z.mean(0), torch.cat([x, x * x.shape[0]]).reshape(-1), x.shape[0] + 1
    g = torch.compile(f, backend="openxla", dynamic=True)
    with torch.no_grad():
        for n, m in ((5, 6), (9, 3), (30, 41)):
            x, y = torch.randn(n, 4), torch.randn(m, 8)
            moved_x, moved_y = x.to("xla"), y.to("xla")
            for a, b in zip(g(moved, moved_x, moved_y), f(model, x, y)):
                torch.testing.assert_close(a.cpu() if isinstance(a, torch.Tensor) else a, b, rtol=1e-4, atol=1e-5)
    assert samples("CompileTime") == 1 and met.counter_value("DynamoStaticShapes") is None
    h = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5), backend="openxla", dynamic=True)
    for n in (50, 60):
        assert h(on_device(n)).shape == (n,)
    assert met.counter_value("DynamoStaticShapes") == 2  # random numbers: a program per size


def test_sizes_that_come_often_get_programs_of_their_own(monkeypatch):
    monkeypatch.setattr(dynamo_bridge, "_MOST_OWN_PROGRAMS", 2)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    moved = copy.deepcopy(model).to("xla")
    # A mean over all rows: a program of run-time shapes.
    g = torch.compile(lambda x: (moved(x) - moved(x).mean(0), x.shape[0] * 2), backend="openxla", dynamic=True)

    def call(n):
        x = torch.randn(n, 4)
        with torch.no_grad():
            y, number = g(x.to("xla"))
            torch.testing.assert_close(y.cpu(), model(x) - model(x).mean(0), rtol=1e-4, atol=1e-5)
        assert number == 2 * n
    for n in (5, 7, 5, 9, 5):
        call(n)
    assert samples("CompileTime") == 1 and met.counter_value("DynamoOftenUsedShapes") is None
    for n in (5, 5, 7, 7, 7, 5):
        call(n)
    assert samples("CompileTime") == 3 and met.counter_value("DynamoOftenUsedShapes") == 2
    for n in (9, 9, 9, 9, 11):  # no more than that
        call(n)
    assert samples("CompileTime") == 3 and met.counter_value("DynamoOftenUsedShapes") == 2


class Rows(torch.nn.Module):
    """Rows of ids through an embedding, attention, a convolution and products: none of them reads another row."""

    def __init__(self):
        super().__init__()
        self.embedding, self.inner, self.outer = torch.nn.Embedding(50, 32), torch.nn.Linear(32, 96), torch.nn.Linear(32, 40)
        self.norm, self.conv = torch.nn.LayerNorm(32), torch.nn.Conv1d(32, 32, 3, padding=1)

    def forward(self, ids):
        x = self.embedding(ids)
        q, k, v = self.inner(self.norm(x)).view(*ids.shape, 4, 24).transpose(1, 2).chunk(3, -1)
        x = x + torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        y = self.conv(x.transpose(1, 2)).relu().amax(2)
        return self.outer(x), torch.softmax(self.outer(y), -1), ids.shape[0] * 3


def test_rows_are_one_program_up_to_a_bound():
    model = Rows().eval()
    moved = copy.deepcopy(model).to("xla")
    compiled = torch.compile(moved, backend="openxla", dynamic=True)
    sizes = [5, 2, 13, 120, 3, 64, 12, 97, 7, 119, 5, 5, 5, 5, 5, 130, 480]
    with torch.no_grad():
        for n in sizes:
            ids = torch.randint(0, 50, (n, 6))
            moved_ids = ids.to("xla")
            torch._dynamo.mark_static(moved_ids, 1)
            for made, want in zip(compiled(moved_ids), model(ids)):
                if isinstance(made, torch.Tensor):
                    torch.testing.assert_close(made.cpu(), want, rtol=1e-3, atol=1e-4)
                else:
                    assert made == want
    assert samples("CompileTime") == 2, "one program for up to 120 rows, one for up to 480"
    assert met.counter_value("DynamoStaticShapes") is None and met.counter_value("DynamoOftenUsedShapes") is None


def test_masks_at_positions_of_rows_are_programs_for_rows():
    """transformers writes masks as functions of positions: `segments[row, q] == segments[row, k]`."""
    def mask(x):
        rows, places = torch.arange(x.shape[0], device=x.device)[:, None, None], torch.arange(x.shape[1], device=x.device)
        return torch.where(x[rows, places[None, :, None]] == x[rows, places[None, None, :]], 0.5, -2.0).softmax(-1)
    compiled = torch.compile(mask, backend="openxla", dynamic=True)
    for n in (5, 9, 2, 130):
        x = torch.randint(0, 3, (n, 6))
        torch.testing.assert_close(compiled(x.to("xla")).cpu(), mask(x))
    assert samples("CompileTime") == 2, "one program for up to 120 rows, one for up to 480"
    assert met.counter_value("DynamoStaticShapes") is None


def test_images_of_open_sizes_are_one_program():
    """Sizes behind strides are quotients of the image's."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, stride=2, padding=2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
                                torch.nn.Conv2d(8, 8, 3, stride=2), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 4)).eval()
    moved = copy.deepcopy(model).to("xla")
    compiled = torch.compile(moved, backend="openxla", dynamic=True)
    with torch.no_grad():
        for n, height, width in ((2, 32, 40), (3, 41, 33), (2, 64, 50), (5, 35, 47), (4, 38, 39)):
            x = torch.randn(n, 3, height, width)
            torch.testing.assert_close(compiled(x.to("xla")).cpu(), model(x), rtol=1e-3, atol=1e-4)
    assert samples("CompileTime") <= 2, "one program for rows of the first images, one of run-time shapes"
    assert met.counter_value("DynamoStaticShapes") is None


def test_a_dimension_in_parts_is_one_program():
    def f(x):
        parts = x.reshape(x.shape[0] // 4, 4, -1)
        return parts.amax(1), parts - parts.mean((0, 1))
    compiled = torch.compile(f, backend="openxla", dynamic=True)
    for n, m in ((12, 5), (20, 7), (32, 6), (44, 3)):
        x = torch.randn(n, m)
        for got, want in zip(compiled(x.to("xla")), f(x)):
            torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)
    assert samples("CompileTime") == 1 and met.counter_value("DynamoStaticShapes") is None


def test_a_length_beside_rows_is_that_of_the_first_call():
    layer = torch.nn.Linear(6, 5)
    moved = copy.deepcopy(layer).to("xla")
    compiled = torch.compile(lambda x: moved(x).sum(1), backend="openxla", dynamic=True)
    with torch.no_grad():
        for n, length in ((9, 4), (30, 4), (2, 4), (9, 7), (5, 8), (70, 4)):
            x = torch.randn(n, length, 6)
            torch.testing.assert_close(compiled(x.to("xla")).cpu(), layer(x).sum(1), rtol=1e-4, atol=1e-5)
    assert samples("CompileTime") == 2, "one program for rows of length 4, one of run-time shapes for the others"


def guarded(values, held):
    """The values in memory that ends where a page begins that nobody may touch. `held` keeps it."""
    size = values.numel() * values.element_size()
    pages = -(-size // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    end = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), mmap.PAGESIZE, 0) == 0
    held.append(memory)
    made = torch.frombuffer(memory, dtype=values.dtype, count=values.numel(), offset=pages * mmap.PAGESIZE - size).view(values.shape)
    return made.copy_(values)


def test_rows_are_read_where_they_are_and_not_behind_the_last_one():
    layers = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.LayerNorm(96), torch.nn.Linear(96, 10))
    moved = copy.deepcopy(layers).to("xla")
    compiled = torch.compile(moved, backend="openxla", dynamic=True)
    held = []
    with torch.no_grad():
        for n in (5, 3, 12, 13, 20, 61, 100, 119, 120):
            x = torch.randn(n, 64)
            got = compiled(dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(guarded(x, held))))
            torch.testing.assert_close(got.cpu(), layers(x), rtol=1e-3, atol=1e-4)
    assert samples("CompileTime") == 1


def test_what_lies_behind_the_last_row_is_not_read():
    layer = torch.nn.Linear(6, 5)
    moved = copy.deepcopy(layer).to("xla")
    compiled = torch.compile(lambda x: torch.softmax(moved(x), -1), backend="openxla", dynamic=True)
    with torch.no_grad():
        for n, value in ((100, float("nan")), (3, 1.0), (90, float("inf")), (17, 2.0)):
            x = torch.full((n, 6), value)
            torch.testing.assert_close(compiled(x.to("xla")).cpu(), torch.softmax(layer(x), -1), equal_nan=True)


@pytest.mark.parametrize("mix", [lambda x: x - x.mean(0), lambda x: x / x.shape[0], lambda x: x.flip(0), lambda x: x @ x.t(),
                                 lambda x: x.cumsum(0), lambda x: x[1:], lambda x: torch.cat([x, x]), lambda x: x.t().contiguous(),
                                 lambda x: x + torch.arange(x.shape[0], device=x.device).sum(), lambda x: x.roll(1, 0), lambda x: x.sort(0).values])
def test_programs_that_mix_rows_are_right(mix):
    compiled = torch.compile(lambda x: mix(x.sin()), backend="openxla", dynamic=True)
    for n in (5, 9, 30):
        x = torch.randn(n, 4)
        torch.testing.assert_close(compiled(x.to("xla")).cpu(), mix(x.sin()), rtol=1e-4, atol=1e-5)


def test_random_numbers_differ_between_calls():
    f = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5), backend="openxla")
    x = torch.ones(1000).to("xla")
    torch_xla.manual_seed(1)
    first, second = f(x).cpu(), f(x).cpu()
    assert not torch.equal(first, second) and 350 < (first == 0).sum() < 650
    torch_xla.manual_seed(1)
    assert torch.equal(f(x).cpu(), first)


def test_operators_on_the_cpu_cut_the_graph():
    library = torch.library.Library("millrace_test", "FRAGMENT")  # an operator that nobody can emit
    library.define("halve(Tensor x) -> Tensor")
    library.impl("halve", lambda x: x / 2, "CPU")
    library.impl("halve", torch.empty_like, "Meta")

    def f(x):
        y = x * 2
        values = torch.ops.millrace_test.halve(y @ y.t())
        return values * 3, y
    x = on_device(4, 4)
    with pytest.warns(UserWarning, match="halve"):
        g = torch.compile(f, backend="openxla")
        g(x)
    met.clear_all()
    values, y = g(x)
    want = f(x.cpu())
    torch.testing.assert_close(values.cpu(), want[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(y.cpu(), want[1])
    assert samples("CompileTime") == 0 and samples("RunCachedGraphInputData") == 2
    assert any("halve" in name for name in met.counter_names())


def test_operators_on_the_cpu_cut_graphs_of_open_sizes():
    library = torch.library.Library("millrace_open_test", "FRAGMENT")
    library.define("halve(Tensor x) -> Tensor")
    library.impl("halve", lambda x: x / 2, "CPU")
    library.impl("halve", torch.empty_like, "Meta")
    f = torch.compile(lambda x: torch.ops.millrace_open_test.halve(x * 2) + 1, backend="openxla", dynamic=True)
    with pytest.warns(UserWarning, match="halve.* the graph is split there"):
        assert [f(torch.ones(size, device="xla")).tolist() for size in (3, 5)] == [[2.0] * 3, [2.0] * 5]


def test_assertions_do_not_cut_a_graph():
    @torch.compile(backend="openxla", fullgraph=True)
    def f(x, lengths):
        torch._assert_async((lengths > 0).all(), "lengths are positive")
        y = x * 2
        torch._assert_async(y.sum() != 0, "there is no sum")
        return y + lengths.sum()
    x, lengths = on_device(3), torch.tensor([1, 2], device="xla")
    for sizes in (x, on_device(5), on_device(6)):  # the latter of open sizes
        torch.testing.assert_close(f(sizes, lengths).cpu(), sizes.cpu() * 2 + 3)
        with pytest.raises(RuntimeError, match="lengths are positive"):
            f(sizes, lengths - 1)
        with pytest.raises(RuntimeError, match="there is no sum"):
            f(sizes * 0, lengths)
    assert met.counter_value("DynamoPartitionedGraph") is None and not any("aten::" in name for name in met.counter_names())
    z = torch.ones(3, device="xla", requires_grad=True)
    f(z, lengths).sum().backward()
    assert z.grad.tolist() == [2.0] * 3


@pytest.mark.parametrize("backend, device", [("aot_eager", "cpu"), ("openxla", "xla")])
def test_writes_of_a_graph_whose_assertion_fails(backend, device):
    """None is seen, as with PyTorch's own compilers."""
    written = torch.nn.BatchNorm1d(3, affine=False, momentum=1.0).to(device)

    def f(x, holds):
        x.add_(1)
        torch._assert_async(holds.all(), "it does not hold")
        written.running_mean.add_(10)
        return x.add_(100) * 2
    f = torch.compile(f, backend=backend, fullgraph=True)
    x, holds = torch.zeros(3, device=device), torch.tensor([True], device=device)
    for call in range(4):
        if call % 2:
            with pytest.raises(RuntimeError, match="it does not hold"):
                f(x, ~holds)
        else:
            assert f(x, holds).tolist() == [202.0 * (call // 2 + 1)] * 3
        assert x.tolist() == [101.0 * (call // 2 + 1)] * 3 and written.running_mean.tolist() == [10.0 * (call // 2 + 1)] * 3


def test_an_operator_with_effects_is_named():
    # PyTorch calls the check for a singular matrix through with_effects.
    solve = torch.compile(lambda a: torch.linalg.solve(a, torch.ones(2, 1, device="xla")), backend="openxla")
    with pytest.warns(UserWarning, match="_linalg_check_errors.* the graph is split there"):
        assert solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]], device="xla")).cpu().tolist() == [[0.5], [0.25]]
    with pytest.raises(RuntimeError, match="singular"):
        solve(torch.zeros(2, 2, device="xla"))


def train(model, x, target, optimizer=None):
    loss = torch.nn.functional.cross_entropy(model(x), target)
    loss.backward()
    if optimizer is not None:
        optimizer.step()
        optimizer.zero_grad()
    return loss


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def test_training_is_three_graphs():
    model = make_model()
    moved = copy.deepcopy(model).to("xla")
    x, target = torch.randn(5, 6), torch.randint(0, 3, (5,))
    moved_x, moved_target = x.to("xla"), target.to("xla")
    torch_xla.sync(wait=True)
    met.clear_all()
    step = torch.compile(train, backend="openxla")
    for _ in range(4):
        for m in (model, moved):
            m.zero_grad(set_to_none=True)
        got, want = step(moved, moved_x, moved_target), train(model, x, target)
        torch.testing.assert_close(got.cpu().detach(), want.detach(), rtol=1e-4, atol=1e-5)
    # forward, the gradient of the loss that backward starts with, backward
    assert samples("CompileTime") == 3 and samples("ExecuteTime") == 4 * 3
    assert samples("RunCachedGraphInputData") == 4 * 2
    for (name, p), q in zip(model.named_parameters(), moved.parameters()):
        torch.testing.assert_close(q.grad.cpu(), p.grad, rtol=1e-3, atol=1e-5, msg=name)


def test_running_statistics():
    model = make_model()
    moved = copy.deepcopy(model).to("xla")
    compiled = torch.compile(moved, backend="openxla")
    for _ in range(3):
        x = torch.randn(5, 6)
        torch.testing.assert_close(compiled(x.to("xla")).detach().cpu(), model(x).detach(), rtol=1e-4, atol=1e-5)
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        torch.testing.assert_close(getattr(moved[1], name).cpu(), getattr(model[1], name), rtol=1e-4, atol=1e-5)
    assert met.executed_fallback_ops() == []


def test_a_whole_step_is_one_graph():
    model = make_model()
    moved = copy.deepcopy(model).to("xla")
    x, target = torch.randn(5, 6), torch.randint(0, 3, (5,))
    moved_x, moved_target = x.to("xla"), target.to("xla")
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, moved)]
    step = torch_xla.compile(train, full_graph=True)
    for round in range(5):
        torch_xla.sync(wait=True)
        met.clear_all()
        got = step(moved, moved_x, moved_target, optimizers[1])
        assert samples("ExecuteTime") == 1 and samples("CompileTime") == (1 if round < 2 else 0)
        want = train(model, x, target, optimizers[0])
        torch.testing.assert_close(got.cpu().detach(), want.detach(), rtol=1e-4, atol=1e-5)


def test_compile_as_function_decorator_and_region():
    def sin_cos(x):
        return x.sin() + x.cos()

    @torch_xla.compile()
    def decorated(x):
        return sin_cos(x)
    x = on_device(4)
    want = sin_cos(x.cpu())
    for f in (torch_xla.compile(sin_cos), decorated, torch_xla.experimental.compile(sin_cos)):
        met.clear_all()
        torch.testing.assert_close(f(x).cpu(), want)
        assert samples("ExecuteTime") == 1
    with torch_xla.compile(name="region"):
        y = sin_cos(x)
    assert "device_data" in _XLAC._get_xla_tensors_text([y]) and "aten::" not in _XLAC._get_xla_tensors_text([y])
    peeks = torch_xla.compile(lambda x: x * x.sum().item(), full_graph=True)
    with pytest.raises(RuntimeError, match="Unexpected execution happens inside the compiled function, exiting"):
        peeks(x)
    assert _XLAC._get_allow_execution()
    with pytest.raises(TypeError, match="expects a function"):
        torch_xla.compile(3)


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("f", [lambda x: x * 2, lambda x: x.conj(), lambda x: (x * 2).mT.conj(), lambda x: (x.conj().imag, x.conj().real + 1), lambda x: (x * 2).conj().imag])
def test_lazily_conjugated_and_negated_tensors(f, is_dynamic):
    """They are what they show, as arguments and as results."""
    compiled = torch.compile(f, backend="openxla", dynamic=is_dynamic)
    for rows in (3, 5, 7):
        x = torch.randn(rows, 4, dtype=torch.complex64)
        for given, shown in ((x.to("xla"), x), (x.to("xla").conj(), x.conj()), (x.to("xla"), x)):
            for made, want in zip(pytree.tree_leaves(compiled(given)), pytree.tree_leaves(f(shown)), strict=True):
                torch.testing.assert_close(made.cpu(), want.resolve_conj().resolve_neg())


def test_writes_through_a_lazily_conjugated_argument():
    x = torch.randn(4, dtype=torch.complex64)
    for device in ("xla", "cpu"):
        whole = x.to(device, copy=True)
        torch.compile(lambda view: view.add_(1j), backend="openxla" if device == "xla" else "eager")(whole.conj())
        torch.testing.assert_close(whole.cpu(), x - 1j)


def test_a_region_ends_as_it_began():
    region = torch_xla.step()
    for is_eager in (False, True):
        with eager_mode_context(is_eager):
            with region:
                assert not is_eager_mode()
                with region:
                    assert not is_eager_mode()
            assert is_eager_mode() is is_eager
            with pytest.raises(ZeroDivisionError), torch_xla.compile(full_graph=True):
                assert not is_eager_mode() and not _XLAC._get_allow_execution()
                1 / 0
            assert is_eager_mode() is is_eager and _XLAC._get_allow_execution()

    @torch_xla.step()
    def power(x, n):
        """x to the n, by functions that each call the next."""
        return x * power(x, n - 1) if n else torch.ones_like(x)
    x = on_device(4)
    torch.testing.assert_close(power(x, 3).cpu(), x.cpu() ** 3)
    assert power.__doc__ == "x to the n, by functions that each call the next."


@pytest.mark.parametrize("option", ["num_different_graphs_allowed", "max_different_graphs"])
def test_number_of_graphs(option):
    f = torch_xla.compile(lambda x: x * 2, **{option: 1})
    for _ in range(3):
        f(on_device(3))
    with pytest.raises(RuntimeError, match="Maximum number of different graphs allowed per function exceeded: 1"):
        f(on_device(4))


def test_eager_mode():
    assert not is_eager_mode()
    with eager_mode_context(True):
        assert is_eager_mode()
        x = torch.randn(5, 5, device="xla")
        made = samples("EagerOpExecuteTime")
        x *= 5
        assert samples("EagerOpExecuteTime") == made + 1
        largest, at = x.max(dim=1)
        assert samples("EagerOpExecuteTime") == made + 2 and "aten::" not in _XLAC._get_xla_tensors_text([largest, at])
        x[1:3].zero_()
        assert x.cpu()[1:3].abs().sum() == 0
        y = torch_xla.compile(lambda t: t.cos().sin())(x)
        assert samples("ExecuteTime") == 1 and samples("CompileTime") == 1 and is_eager_mode()
        torch.testing.assert_close(y.cpu(), x.cpu().cos().sin())
        executed = samples("EagerOpExecuteTime")
        torch_xla.sync()
        assert samples("EagerOpExecuteTime") == executed and samples("ExecuteTime") == 1
        model = torch.nn.Linear(5, 2).to("xla")
        model(x).sum().backward()
        torch.testing.assert_close(model.weight.grad.cpu(), x.cpu().sum(0).expand(2, 5), rtol=1e-4, atol=1e-4)
    assert not is_eager_mode()
    eager_mode(True)
    eager_mode(False)
    assert "aten::" in _XLAC._get_xla_tensors_text([x + 1])


def test_debugging_output(monkeypatch, capsys):
    from torch_xla._dynamo import dynamo_bridge
    monkeypatch.setattr(dynamo_bridge, "_debugging", True)
    torch.compile(lambda x: x * 2, backend="openxla")(torch.ones(3, device="xla"))
    printed = capsys.readouterr().out
    assert "arguments: float32[3]@xla:0" in printed and "stablehlo.multiply" in printed


def test_memory_given_up_in_the_graph():
    from torch_xla.experimental import dynamo_set_buffer_donor  # noqa: F401

    def twice(x):
        torch.ops.xla.dynamo_set_buffer_donor_(x, True)
        return x * 2
    x = torch.ones(4).to("xla")
    assert torch.compile(twice, backend="openxla")(x).tolist() == [2.0] * 4
    assert "Data Handle: Deleted" in torch_xla._XLAC._get_xla_tensor_debug_info(x) and torch_xla._XLAC._get_buffer_donation(x)

    def in_place(x):
        torch.ops.xla.dynamo_set_buffer_donor_(x, True)
        x.mul_(3)
    y = torch.ones(4).to("xla")
    compiled = torch.compile(in_place, backend="openxla")
    compiled(y), compiled(y)
    assert y.tolist() == [9.0] * 4 and not torch_xla._XLAC._get_buffer_donation(y)


def test_only_later_calls_refuse_pending_arguments(monkeypatch):
    from torch_xla._dynamo import config
    monkeypatch.setattr(config, "skip_input_data_check", True)
    compiled = torch.compile(lambda x: x.cos().sin(), backend="openxla")
    compiled(torch.ones(3, device="xla") + 1)
    with pytest.raises(RuntimeError, match="can not be a pending ir"):
        compiled(torch.ones(3, device="xla") + 1)


def test_a_graph_of_the_cpu_stays_there():
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    with warnings.catch_warnings(record=True) as raised, torch.no_grad():
        warnings.simplefilter("always")
        got = torch.compile(model, backend="openxla")(x)
    assert torch.equal(got, model(x)) and not met.counter_names()
    found = [str(w.message) for w in raised if "Found tensor with shape torch.Size" in str(w.message)]
    assert len(found) == 3 and all("on cpu" in text for text in found)


def test_ids_of_inputs_are_those_of_their_tensors():
    a, b = on_device(4), on_device(4)
    ids, leaves = _XLAC._get_tensors_xla_device_data_node([(a + b) * b])
    assert sorted(ids) == sorted(map(_XLAC._xla_get_tensor_id, (a, b))) and len(leaves) == 2
    other = a.detach().clone()
    assert _XLAC._xla_get_tensor_id(other) != _XLAC._xla_get_tensor_id(a)


def test_lists_of_copies_in_a_graph():
    x = torch.arange(12.0).reshape(3, 4)
    functions = (lambda x: torch.split_copy(x, 3, 1), lambda x: torch.split_with_sizes_copy(x, [1, 3], 1), lambda x: torch.unbind_copy(x, 1))
    for function in functions:
        met.clear_all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a cut of the graph is told
            made = torch.compile(function, backend="openxla", fullgraph=True)(x.to("xla"))
        assert met.executed_fallback_ops() == []
        given = x.to("xla")
        alone = function(given)
        given.add_(1)
        for compiled, eager, expected in zip(made, alone, function(x), strict=True):
            assert torch.equal(compiled.cpu(), expected) and torch.equal(eager.cpu(), expected)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.eps, self.scale = torch.nn.Linear(4, 4), 1e-6, 0.3

    def forward(self, x):
        y = self.inner(x)
        return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + self.eps) * self.scale


def test_numbers_of_a_module_and_open_sizes_are_one_program():
    torch.manual_seed(0)
    model = Scaled()
    inputs = [torch.randn(rows, 4) for rows in (5, 1, 12, 2, 40, 3, 7, 99, 17, 26)]
    with torch.no_grad():
        wants = [model(x) for x in inputs]
        compiled = torch.compile(model.to("xla"), backend="openxla", dynamic=True)
        before = torch_xla._XLAC._compilations()
        for x, want in zip(inputs, wants):
            torch.testing.assert_close(compiled(x.to("xla")).cpu(), want, rtol=1e-4, atol=1e-5)
        assert torch_xla._XLAC._compilations() - before <= 2  # Dynamo takes size 1 for a case of its own
        model.scale = 2.0
        torch.testing.assert_close(compiled(inputs[0].to("xla")).cpu(), wants[0] / 0.3 * 2, rtol=1e-4, atol=1e-5)
