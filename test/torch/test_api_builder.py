# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the user's own: torch_xla.core.xla_builder and xla_op_registry against PyTorch on the CPU, and functions of JAX."""
import pytest
import torch
import torch.nn.functional as F

import torch_xla
import torch_xla.core.xla_builder as xb
import torch_xla.core.xla_op_registry as xor
import torch_xla.debug.metrics as met


def _zero(x):
    return xb.Op.zero(x.builder(), dtype=x.shape().dtype)


def _add(a, b):
    return a + b


def _branch(k, a, b):
    return (k > xb.Op.scalar(k.builder(), 0.5)).mkconditional((a, b), lambda a, b: a + b, lambda a, b: a - b)


def _loop(a, b):
    number = lambda value: xb.Op.scalar(a.builder(), value, dtype=xb.Type.S32)  # noqa: E731
    made = xb.Op.mkwhile((number(0), a, b), lambda n, a, b: n < xb.Op.scalar(n.builder(), 5, dtype=xb.Type.S32),
                         lambda n, a, b: (n + xb.Op.one(n.builder(), dtype=xb.Type.S32), a + b, b))
    return made.get_tuple_element(1)


def _rand(*sizes):
    return torch.rand(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


CASES = {
    "scalars are spread": (lambda a: a * xb.Op.scalar(a.builder(), 2.5) - a.ones_like(), lambda a: a * 2.5 - 1, [_rand(3, 4)]),
    "branch taken": (_branch, lambda k, a, b: a + b, [torch.tensor(0.9), _rand(2, 2), _rand(2, 2)]),
    "branch not taken": (_branch, lambda k, a, b: a - b, [torch.tensor(0.1), _rand(2, 2), _rand(2, 2)]),
    "loop": (_loop, lambda a, b: a + 5 * b, [_rand(2, 2), _rand(2, 2)]),
    "reduce": (lambda a: a.reduce(_zero(a), _add, [1]), lambda a: a.sum(1), [_rand(3, 4)]),
    "windows": (lambda a: a.reduce_window(_zero(a), _add, [2, 3], [2, 3]), lambda a: F.avg_pool2d(a[None], (2, 3))[0] * 6, [_rand(4, 6)]),
    "pooling": (lambda a: a.max_pool([1, 1, 3, 3], [1, 1, 2, 2], 0, 1, [2, 3]), lambda a: F.max_pool2d(a, 3, 2), [_rand(2, 3, 9, 9)]),
    "movement": (lambda a: a.slice_in_dim(1, 4, 1, 2).transpose([1, 0]).rev([0]).reshape([6]), lambda a: a[:, 1:4:2].t().flip(0).reshape(6),
                 [_rand(3, 4)]),
    "pad": (lambda a: a.pad(_zero(a), [(1, 2, 0), (0, 0, 1)]),
            lambda a: F.pad(torch.stack([a[:, 0], a[:, 0] * 0, a[:, 1]], 1), (0, 0, 1, 2)), [_rand(2, 2)]),
    "slices at run time": (lambda a, i: a.dynamic_update_slice(a.dynamic_slice([i, i], [2, 2]), [_zero(i), _zero(i)]),
                           lambda a, i: torch.cat([torch.cat([a[1:3, 1:3], a[:2, 2:]], 1), a[2:]]), [_rand(4, 4), torch.tensor(1)]),
    "gather": (lambda a, i: a.gather(i, [1], [0], [0], 1), lambda a, i: a[i[:, 0]], [_rand(5, 3), torch.tensor([[4], [0]])]),
    "scatter": (lambda a, i, u: a.scatter(i, u, _add, [1], [0], [0], 1), lambda a, i, u: a.index_add(0, i[:, 0], u),
                [_rand(5, 3), torch.tensor([[4], [0], [4]]), _rand(3, 3)]),
    "convolution": (lambda a, k: a.conv_general_dilated(k, [2, 1], [(1, 1), (2, 0)], [1, 1], [1, 2], 0, 1, 1, 0, 0, 1, [2, 3], [2, 3], [2, 3]),
                    lambda a, k: F.conv2d(F.pad(a, (2, 0, 1, 1)), k, stride=(2, 1), dilation=(1, 2)), [_rand(2, 3, 8, 8), _rand(4, 3, 3, 2)]),
    "sort": (lambda a: xb.Op.sort([a], lambda x, y: x > y, 1), lambda a: a.sort(1, descending=True).values, [_rand(3, 7)]),
    "map": (lambda a: xb.Op.map([a], lambda x: x.sin() + x.erfinf(), [0]), lambda a: a.sin() + torch.erfinv(a), [_rand(7)]),
    "triangle": (lambda b, a: a.triangualr_solve(b, True, False, False, False), lambda b, a: torch.linalg.solve_triangular(a, b, upper=True),
                 [_rand(3, 2), _rand(3, 3).triu() + torch.eye(3)]),
    "select and scatter": (lambda a, s: a.select_and_scatter(s, _zero(a), [2], [2], lambda x, y: x >= y, _add),
                           lambda a, s: torch.tensor([0.0, 5, 7, 0]), [torch.tensor([1.0, 3, 2, 0]), torch.tensor([5.0, 7])]),
    "call twice": (lambda a: xb.Op.call(lambda x: x * x, [a]) + xb.Op.call(lambda x: x * x, [a]), lambda a: 2 * a * a, [_rand(3)]),
    "parts of complex numbers": (lambda a: a.real() / a.imag(), lambda a: a.real / a.imag, [torch.complex(_rand(3), _rand(4)[1:])]),
    "integers": (lambda a, b: ((a << b) | (a >> b)) % b, lambda a, b: torch.fmod((a << b) | (a >> b), b), [torch.tensor([8, -9]), torch.tensor([3, 2])]),
    "constants": (lambda a: a + xb.Op.constant(a.builder(), torch.tensor([0.1, -0.0, 1e-40])), lambda a: a + torch.tensor([0.1, -0.0, 1e-40]), [_rand(3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_operation(name):
    function, reference, tensors = CASES[name]
    made = xor.register(name.replace(" ", "_"), function)(*[tensor.to("xla") for tensor in tensors])
    torch.testing.assert_close(made.cpu(), reference(*tensors))


def test_several_results_of_other_types():
    made = xor.register("pair", lambda a: xb.Op.tuple((a, a.cast(xb.Type.BF16), a > _zero(a))))(torch.tensor([1.5, -2.0], device="xla"))
    assert [m.dtype for m in made] == [torch.float32, torch.bfloat16, torch.bool]
    assert [m.tolist() for m in made] == [[1.5, -2.0], [1.5, -2.0], [True, False]]


def test_it_is_one_operation_of_the_graph():
    op = xor.register("mix", lambda a, b, scale=1.0: (a + b) * xb.Op.scalar(a.builder(), scale))
    x = torch.ones(3, device="xla")
    torch_xla.sync()
    assert "xla::_op_mix" in torch_xla._XLAC._get_xla_tensors_text([op(x + 1, x, scale=2.0)])
    met.clear_all()
    for _ in range(3):
        made = op(x, x, scale=2.0)
        torch_xla.sync()
    assert (met.counter_value("UncachedCompile"), met.counter_value("CachedCompile")) == (1, 2) and made.tolist() == [4, 4, 4]
    assert op(x, x, scale=3.0).tolist() == [6, 6, 6]


def test_computations_and_their_text():
    shape = xb.tensor_shape(torch.ones(3))
    made = xb.create_computation("spread", lambda a, b: xb.Op.tuple([xb.Op.max(a, b) - xb.Op.min(a, b)]), [shape, shape])
    text = xb.get_computation_hlo(made)
    assert "HloModule spread" in text and "maximum(" in text and "subtract(" in text
    given = [torch.tensor(v, device="xla") for v in ([1.0, 5, 2], [4.0, 1, 2])]
    assert torch_xla._XLAC._xla_user_computation("xla::spread", given, made)[0].tolist() == [3, 4, 0]
    with pytest.raises((RuntimeError, ValueError), match=r"expects f32\[3\] as tensor 1, but got f32\[2\]"):
        torch_xla._XLAC._xla_user_computation("xla::spread", [given[0], given[1][:2]], made)
    assert xb.computation_from_module_proto("again", made.text()).text() == made.text()


def test_what_does_not_fit_is_said():
    with pytest.raises(RuntimeError, match="one type, but got f32 and f64"):
        xor.register("types", lambda a, b: a + b)(torch.ones(2, device="xla"), torch.ones(2, dtype=torch.float64, device="xla"))
    with pytest.raises(RuntimeError, match="equal sizes"):
        xor.register("sizes", lambda a, b: a + b)(torch.ones(2, device="xla"), torch.ones(3, device="xla"))
    with pytest.raises(RuntimeError, match="no operation 'Frobnicate'"):
        xor.register("name", lambda a: xb.mkop("Frobnicate", (a.op,)))(torch.ones(2, device="xla"))


def test_functions_of_jax():
    jax = pytest.importorskip("jax")
    a = torch.rand(3, 3, device="xla")
    made = xb.call_jax(lambda given, k: {"sum": given["a"] + jax.numpy.sin(given["b"]) * k, "sorted": jax.numpy.sort(given["a"])},
                       ({"a": a, "b": a},), {"k": 2.0}, "mine")
    torch.testing.assert_close(made["sum"].cpu(), a.cpu() + a.cpu().sin() * 2)
    torch.testing.assert_close(made["sorted"].cpu(), a.cpu().sort().values)
    whole = torch.tensor([7, 2**40], device="xla")
    assert xb.call_jax(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + i, x), (whole,)).tolist() == [10, 2**40 + 3]


def test_functions_of_jax_under_other_configurations():
    jax = pytest.importorskip("jax")
    traced = []

    def product(a):
        traced.append(jax.config.jax_default_matmul_precision)
        return a @ a
    a = torch.rand(3, 3, device="xla")
    before = xb._jax_to_xla_computation_cache_elements()
    for precision in (None, "bfloat16", None, "float32", "bfloat16"):
        with jax.default_matmul_precision(precision):
            made = xb.call_jax(product, (a,))
        torch.testing.assert_close(made.cpu(), (a @ a).cpu(), rtol=1e-4, atol=1e-5)
    assert traced == [None, "bfloat16", "float32"] and xb._jax_to_xla_computation_cache_elements() == before + 3
    with jax.enable_x64(True):
        wide = xb.call_jax(lambda a: a.astype("float64") / 3, (a,))
    assert wide.dtype == torch.float64


def test_functions_of_jax_that_draw_random_numbers():
    jax = pytest.importorskip("jax")
    a = torch.zeros(100, device="xla")

    def fixed(a):
        return a + jax.random.uniform(jax.random.key(0), a.shape)
    assert torch.equal(xb.call_jax(fixed, (a,)).cpu(), xb.call_jax(fixed, (a,)).cpu())

    def keyed(a, words):
        return a + jax.random.uniform(jax.random.wrap_key_data(words), a.shape)
    words = [torch.tensor([0, n], dtype=torch.uint32, device="xla") for n in (1, 2)]
    one, two, again = (xb.call_jax(keyed, (a, w)).cpu() for w in (*words, words[0]))
    assert torch.equal(one, again) and not torch.equal(one, two) and 0 <= one.min() and one.max() < 1


def test_general_products():
    dot = torch_xla._XLAC._xla_dot_general
    x, w = torch.rand(4, 2, 3), torch.rand(4, 3, 5)
    for dims in (([2], [1]), ([0], [0])), (([-1], [-2]), ([0], [0])):
        torch.testing.assert_close(dot(x.to("xla"), w.to("xla"), dims).cpu(), x @ w)
    torch.testing.assert_close(dot(x.to("xla"), w[0].t().to("xla"), (([2], [1]), ())).cpu(), x @ w[0])
    small = torch.randint(-128, 128, (4, 2, 3), dtype=torch.int8)
    made = dot(small.to("xla"), small.to("xla"), (([2], [2]), ([0], [0])), preferred_element_type=torch.int32)
    assert torch.equal(made.cpu(), small.int() @ small.int().transpose(1, 2))
    with pytest.raises(RuntimeError, match="equal sizes"):
        dot(x.to("xla"), w.to("xla"), (([1], [1]), ()))


def test_steps_are_counted():
    for step in (torch_xla.sync, lambda: torch_xla.compile(lambda: torch.ones(3, device="xla"))(),
                 lambda: torch_xla._XLAC._xla_step_marker("xla:0", [], True)):
        met.clear_all()
        step()
        assert met.counter_value("MarkStep") == 1


def test_names_of_the_compiled_part():
    xlac = torch_xla._XLAC
    xlac._xla_set_use_full_mat_mul_precision(use_full_mat_mul_precision=True)
    assert xlac._xla_get_mat_mul_precision() == torch_xla.backends.get_mat_mul_precision() == "highest"
    xlac._xla_set_mat_mul_precision("default")
    with pytest.raises(ValueError, match="'default', 'high' or 'highest'"):
        torch_xla.backends.set_mat_mul_precision("exact")
    x = torch.ones(3, 2, dtype=torch.half, device="xla")
    assert xlac._get_xla_tensor_dimension_size(x, 0).item() == 3 and xlac._get_xla_tensor_shape_type(x) == "f16"
    xlac._xla_increment_counter("Mine", 2)
    assert met.counter_value("Mine") == 2
    for _ in range(2):
        xlac._init_xla_lazy_backend()
    assert met.counter_value("RegisterXLAFunctions") == 1
    assert len(xlac._xla_custom_call([x], "target", [(2,)], [torch.float32], False, "", 0)) == 1
    computation = xb.create_computation("f", lambda a: -a, [xb.tensor_shape(x)])
    assert "negate(" in xlac._xla_computation_text(computation)


def test_types_by_name():
    kinds = {value for name, value in vars(xb.Type).items() if not name.startswith("_")}
    assert set(xb._XLA_PT_TYPE_MAP) == kinds and all(xb._PT_XLA_TYPE_MAP[xb._XLA_PT_TYPE_MAP[kind]] == kind for kind in kinds)
    assert xb._XLA_PT_TYPE_MAP[xb.Type.S64] is torch.int64 and xb._PT_XLA_TYPE_MAP[torch.bool] == xb.Type.PRED
    for dtype, kind in xb._PT_XLA_TYPE_MAP.items():
        assert xb.tensor_shape(torch.zeros(2, dtype=dtype).to("xla")).dtype == kind


def test_methods_describe_their_parameters():
    made = [name for name, value in vars(xb.Op).items() if getattr(value, "__qualname__", "").startswith("_method.")]
    assert len(made) > 60 and {"reshape", "conv_general_dilated", "__add__", "exp"} <= set(made)
    assert all(vars(xb.Op)[name].__doc__.startswith("Records XLA's operation ") for name in made)
    assert xb.Op.exp.__doc__ == "Records XLA's operation Exp on this value, and returns its result."
    assert xb.Op.pad.__doc__.endswith("\n\nArgs:\n  value: The scalar that is filled in, an Op.\n"
                                      "  config: Per dimension a triple: elements before, after, and between two elements.")
