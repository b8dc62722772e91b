# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's databases of operators, modules and optimizers, as subjects with cases (torch_samples.py).

A subject has a `name` and `cases(dtype, what)`, which yields cases or nothing where it does not apply.
"""
import copy
import re
import unittest.mock

from torch_samples import Case, gradients, moved, weights_for

# Their values come from a generator or from uninitialized memory.
RANDOM = re.compile(r"^(_refs\.)?(.*rand.*|.*normal|normal\..*|nn\.functional\..*dropout.*|bernoulli|multinomial|(new_)?empty.*|uniform|cauchy|"
                    r"exponential|geometric|log_normal|.*lowrank|nn\.functional\.(fractional.*|rrelu)|"
                    r"nn\.functional\.(multi_head_attention_forward|scaled_dot_product_attention)\.dropout)$")
# Results of a layout that is not one of this device.
SPARSE = {"to_sparse"}
# The lazy ones are initialized where they run.
RANDOM_MODULES = re.compile(r"Dropout|RReLU|FractionalMaxPool|Transformer")


def _ordered(positions, sample):
    """The elements in that order."""
    import torch
    dim = sample.kwargs.get("dim", sample.args[0] if sample.args else -1)
    return torch.gather(sample.input.detach(), dim, positions) if sample.input.dim() else positions


def _values(results, sample, dimAt):
    """Positions of equal elements may differ: values, and the elements at the positions."""
    import torch
    if len(results) < 2 or sample.input.dim() == 0:
        return results[:1]
    dim = sample.kwargs.get("dim", sample.args[dimAt] if len(sample.args) > dimAt else -1)
    positions = results[1] if results[1].dim() == sample.input.dim() else results[1].unsqueeze(dim)
    return [results[0], torch.gather(sample.input.detach(), dim, positions)]


def _byParts(values):
    """Complex numbers in an order that rounding errors do not change."""
    import torch
    key = values.real.round(decimals=2) * 1000 + values.imag
    return values.gather(-1, torch.argsort(key, -1))


# Runs of the CPU's factorizations may differ by a factor of size one per vector, and by the order of equal values: what is
# the same for all of them is compared instead.
UNIQUE_PART = {
    "linalg.svd": lambda r, sample: [r[1], (r[0] * r[1].unsqueeze(-2).to(r[0].dtype)) @ r[2]] if r[0].shape[-1] == r[2].shape[-2] else [r[1]],
    "svd": lambda r, sample: [r[1], (r[0] * r[1].unsqueeze(-2).to(r[0].dtype)) @ r[2].mH] if r[0].shape[-1] == r[2].shape[-1] else [r[1]],
    "linalg.qr": lambda r, sample: [r[0] @ r[1]] if r[0].numel() else [r[1].abs()],
    "qr": lambda r, sample: [r[0] @ r[1]] if r[0].numel() else [r[1].abs()],
    "linalg.eigh": lambda r, sample: [r[0], (r[1] * r[0].unsqueeze(-2).to(r[1].dtype)) @ r[1].mH],
    "linalg.eig": lambda r, sample: [(r[1] * r[0].unsqueeze(-2)) @ r[1].pinverse()],
    "linalg.eigvals": lambda r, sample: [_byParts(r[0])],
    "geqrf": lambda r, sample: [r[0].triu().abs()],
    "linalg.ldl_factor": lambda r, sample: [r[0].diagonal(dim1=-2, dim2=-1), r[1]],
    "argsort": lambda r, sample: [_ordered(r[0], sample)],
    "kthvalue": lambda r, sample: _values(r, sample, 1),
    "topk": lambda r, sample: _values(r, sample, 1),
    "sort": lambda r, sample: _values(r, sample, 0),
    "median": lambda r, sample: _values(r, sample, 0),
    "nanmedian": lambda r, sample: _values(r, sample, 0),
}


def _leaves(tree):
    from torch.utils._pytree import tree_leaves
    return tree_leaves(tree)


def _differentiable(tree):
    import torch
    return [t for t in _leaves(tree) if isinstance(t, torch.Tensor) and t.requires_grad]


class Operator:
    """An entry of op_db and of its relatives."""
    WHATS = ("forward", "backward", "inplace", "out", "errors", "export")

    def __init__(self, op):
        self.op = op
        self.name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")

    def cases(self, dtype, what):
        import torch
        op = self.op
        if self.name in SPARSE:
            return
        if what == "errors":
            if op.error_inputs_func is not None and dtype == torch.float32:
                for error in op.error_inputs("cpu"):
                    yield Case(self._preparing(error.sample_input, self._results), errorType=error.error_type, errorWords=error.error_regex)
            return
        backward = what == "backward"
        if dtype not in (op.supported_backward_dtypes("cpu") if backward else op.supported_dtypes("cpu")):
            return
        if (backward and not op.supports_autograd) or (what == "inplace" and op.inplace_variant is None) or (what == "out" and not op.supports_out):
            return
        run = {"forward": self._results, "backward": self._gradients, "inplace": self._inPlace, "out": self._out, "export": self._results}[what]
        for sample in op.sample_inputs("cpu", dtype, requires_grad=backward):
            if what == "inplace" and sample.broadcasts_input:
                continue
            unique = UNIQUE_PART.get(self.name) if what in ("forward", "out", "export") else None
            yield Case(self._exporting(sample) if what == "export" else self._preparing(sample, run), isRandom=self._isRandom(sample),
                       unique=unique and (lambda results, sample=sample: unique(results, sample)))

    def _isRandom(self, sample):
        dropout = sample.args[9] if self.op.name == "nn.functional.multi_head_attention_forward" else 0
        return dropout > 0 or bool(RANDOM.match(self.name))

    def _preparing(self, sample, run):
        def prepare(device):
            if self.op.name == "tensor_split":  # PyTorch wants positions on the CPU
                inputs = (*moved((sample.input,), device), tuple(sample.args), dict(sample.kwargs))
            else:
                inputs = moved((sample.input, tuple(sample.args), dict(sample.kwargs)), device)
            return lambda: run(sample, inputs)
        return prepare

    def _exporting(self, sample):
        """On the device: what torch.export makes of the operator, as StableHLO. RuntimeError if it makes nothing of it."""
        onCpu = self._preparing(sample, self._results)

        def prepare(device):
            if device == "cpu":
                return onCpu("cpu")
            import torch
            from torch_xla.stablehlo import exported_program_to_stablehlo
            from torch_xla.utils.stablehlo_test_utils import wrap_func_as_nn_module
            inputs = moved((sample.input, tuple(sample.args), dict(sample.kwargs)), "cpu")
            args = (inputs[0], *inputs[1])
            if not all(isinstance(t, torch.Tensor) for t in _leaves(self.op(*args, **inputs[2]))):
                raise RuntimeError("a result is no tensor")
            try:
                with torch.no_grad():
                    program = torch.export.export(wrap_func_as_nn_module(self.op), args, inputs[2])
            except Exception as error:
                raise RuntimeError(f"torch.export: {error}") from error
            return lambda: _leaves(sample.output_process_fn_grad(exported_program_to_stablehlo(program)(*args, **inputs[2])))
        return prepare

    def _results(self, sample, inputs):
        return _leaves(sample.output_process_fn_grad(self.op(inputs[0], *inputs[1], **inputs[2])))

    def _gradients(self, sample, inputs):
        return gradients(self._results(sample, inputs), _differentiable(inputs))

    def _inPlace(self, sample, inputs):
        import torch
        made = self.op.inplace_variant(inputs[0], *inputs[1], **inputs[2])
        if isinstance(inputs[0], torch.Tensor) and made is not inputs[0]:
            raise AssertionError("the result of an operator in place is not its argument")
        return _leaves(inputs[0])

    def _out(self, sample, inputs):
        import torch
        expected = _leaves(self.op(inputs[0], *inputs[1], **inputs[2]))
        targets = [torch.zeros_like(t) for t in expected]
        made = self.op(inputs[0], *inputs[1], **inputs[2], out=targets[0] if len(targets) == 1 else tuple(targets))
        return targets + _leaves(made)


class Module:
    """An entry of module_db: forward, or forward and the gradients of inputs and parameters."""
    WHATS = ("forward", "backward", "errors")

    def __init__(self, info):
        self.info, self.name = info, info.name

    def cases(self, dtype, what):
        import torch
        info = self.info
        if dtype not in info.supported_dtypes("cpu"):
            return
        if what == "errors":
            if info.module_error_inputs_func is not None and dtype == torch.float32:
                for error in info.module_error_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=False):
                    yield Case(self._preparing(error.module_error_input, dtype, False, what), errorType=error.error_type, errorWords=error.error_regex)
            return
        for training in (True, False):
            for given in info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=what == "backward", training=training):
                yield Case(self._preparing(given, dtype, training, what), isRandom="Lazy" in self.name or (training and bool(RANDOM_MODULES.search(self.name))))

    def _preparing(self, given, dtype, training, what):
        import torch

        def construct():
            torch.manual_seed(0)
            made = given.constructor_input
            return self.info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)

        def prepare(device):
            if what == "errors":
                return lambda: self._run(construct().to(device), moved((given.forward_input.args, given.forward_input.kwargs), device), "forward") if given.forward_input else construct()
            module = construct().to(device)
            inputs = moved((given.forward_input.args, given.forward_input.kwargs) if given.forward_input else ((), {}), device)
            return lambda: self._run(module, inputs, what)
        return prepare

    @staticmethod
    def _run(module, inputs, what):
        import torch
        # The CPU's fast path of encoders leaves zeros where a mask hides a place; the layers compute there, on this device as on the CPU.
        isEncoder, isFast = "Transformer" in type(module).__name__, torch.backends.mha.get_fastpath_enabled()
        with torch.set_grad_enabled(what == "backward"), unittest.mock.patch("torch.backends.mha._is_fastpath_enabled", isFast and not isEncoder):
            outputs = _leaves(module(*inputs[0], **inputs[1]))
        results = outputs + list(module.buffers())
        if what == "forward":
            return results
        made = gradients(outputs, _differentiable(inputs) + [p for p in module.parameters() if p.requires_grad])
        return None if made is None else results + made


class Optimizer:
    """An entry of optim_db: parameters and state after some steps, with every flag; the CPU runs without foreach and capturable."""
    WHATS = ("forward",)
    STEPS = 4

    def __init__(self, info):
        self.info, self.name = info, info.name

    def cases(self, dtype, what):
        info = self.info
        if info.only_supports_sparse_grads or not dtype.is_floating_point:
            return
        for flag in ({}, {"foreach": True}, {"foreach": False}, {"differentiable": True}):
            if not set(flag) <= set(info.supported_impls):
                continue
            for given in info.optim_inputs_func("cuda"):
                kwargs = {**given.kwargs, **flag}
                if kwargs.get("capturable") and kwargs.get("foreach"):
                    continue  # PyTorch leaves xla out there
                if kwargs.get("fused") or (flag.keys() & given.kwargs.keys()) or ("differentiable" in flag and kwargs.get("capturable")):
                    continue
                yield Case(self._preparing(kwargs, dtype), computedIn="bfloat16" if self.name == "Muon" else None)

    def _preparing(self, kwargs, dtype):
        def prepare(device):
            own = copy.deepcopy(kwargs)
            if device == "cpu":
                own.pop("capturable", None)
                if own.get("foreach"):
                    own["foreach"] = False
            run = self._differentiated if own.get("differentiable") else self._trained
            return lambda: run(own, dtype, device)
        return prepare

    def _parameters(self, dtype, device):
        import torch
        generator = torch.Generator().manual_seed(1)
        sizes = [(2, 3), (3, 2)] if self.name == "Muon" else [(2, 3), (3,), (3, 2), ()]
        return [torch.randn(size, generator=generator, dtype=torch.float64).to(dtype).to(device).requires_grad_() for size in sizes]

    def _state(self, optimizer, parameters):
        import torch
        made = list(parameters)
        for parameter in parameters:
            state = optimizer.state[parameter]
            made += [v for k in sorted(state) for v in _leaves(state[k]) if isinstance(v, torch.Tensor)]
        return made

    def _trained(self, kwargs, dtype, device):
        parameters = self._parameters(dtype, device)
        weights = weights_for(parameters)
        optimizer = self.info.optim_cls(parameters, **kwargs)

        def closure():
            optimizer.zero_grad()
            loss = sum((((p - w) ** 2 + 1).sqrt()).sum() for p, w in zip(parameters, weights))
            loss.backward()
            return loss
        for _ in range(self.STEPS):
            if self.info.step_requires_closure:
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
        return self._state(optimizer, parameters)

    def _differentiated(self, kwargs, dtype, device):
        leaves = self._parameters(dtype, device)
        parameters = [p.clone() for p in leaves]
        slopes = [(w * 0.5).requires_grad_() for w in weights_for(leaves)]
        for parameter, slope in zip(parameters, slopes):
            parameter.grad = slope
        optimizer = self.info.optim_cls(parameters, **kwargs)
        optimizer.step()
        return self._state(optimizer, parameters) + gradients(parameters, leaves + slopes)


def _operators(*names):
    from torch.testing._internal import common_methods_invocations as source
    return [Operator(op) for name in names for op in getattr(source, name)]


def _modules():
    from torch.testing._internal.common_modules import module_db
    return [Module(info) for info in module_db]


def _optimizers():
    from torch.testing._internal.common_optimizers import optim_db
    return [Optimizer(info) for info in optim_db]


DATABASES = {
    "op": lambda: _operators("op_db"),
    "foreach": lambda: _operators("foreach_unary_op_db", "foreach_binary_op_db", "foreach_pointwise_op_db", "foreach_reduce_op_db", "foreach_other_op_db"),
    "refs": lambda: _operators("python_ref_db"),
    "module": _modules,
    "optim": _optimizers,
}
