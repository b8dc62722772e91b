# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One sample on the xla device and on the CPU: what is compared, and how exactly.

A Case has a function `prepare(device)`: it moves the inputs there and returns a function without arguments, which computes
a list of results. What comes of a case is one of
  passed     values, types and shapes agree, and no operator ran on the CPU meanwhile
  wrong      another value, type, shape, number of results, or another error
  fallback   an `aten::` counter rose: names of the operators
  exception  the device raised what the CPU did not
  skipped    not applicable: the CPU itself cannot run it, or the device has no such tensors (sparse ones)
"""
import re

TOLERANCE = {"float64": (1e-7, 1e-7), "float32": (1e-3, 1e-4), "bfloat16": (5e-2, 2e-2), "float16": (1e-2, 5e-3),
             "complex64": (1e-3, 1e-4), "complex128": (1e-7, 1e-7)}


class Case:
    """`isRandom`: only types and shapes are compared. `unique(results)`: the part of them that is determined.
    `computedIn`: the type that limits their accuracy, if it is another one."""

    def __init__(self, prepare, isRandom=False, unique=None, computedIn=None, errorType=None, errorWords=None):
        self.prepare, self.isRandom, self.unique, self.computedIn = prepare, isRandom, unique, computedIn
        self.errorType, self.errorWords = errorType, errorWords


def moved(inputs, device):
    """Copies of the inputs (arguments and last the named ones) on the device; tensors that require a gradient do so there too."""
    import torch
    from torch.utils._pytree import tree_map

    def move(value):
        if isinstance(value, torch.Tensor):
            return value.detach().clone().to(device).requires_grad_(value.requires_grad)
        if isinstance(value, torch.device) and value.type == "cpu":
            return torch.device(device)
        return value
    made = tree_map(move, inputs)
    if isinstance(made[-1], dict) and str(made[-1].get("device", "")) == "cpu":
        made[-1]["device"] = device
    return made


def weights_for(outputs):
    """Fixed numbers in the shapes of the outputs: what their gradients start from."""
    import torch
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(t.shape, generator=generator, dtype=torch.complex128 if t.is_complex() else torch.float64)
            .to(t.dtype).to(t.device) for t in outputs]


def gradients(outputs, leaves):
    """Of `leaves`, for fixed weights of those outputs that are differentiable; None if none is."""
    import torch
    outputs = [t for t in outputs if isinstance(t, torch.Tensor) and t.requires_grad]
    if not leaves or not outputs:
        return None
    return list(torch.autograd.grad(outputs, leaves, weights_for(outputs), allow_unused=True))


def difference(got, want, case, dtype):
    """What is not equal, or None."""
    import torch
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for a, b in zip(got, want):
        if not isinstance(b, torch.Tensor) or not isinstance(a, torch.Tensor):
            near = isinstance(b, (float, complex)) and isinstance(a, (float, complex)) and (abs(a - b) < 1e-4 or (a != a and b != b))
            if type(a) is not type(b) or (a != b and not near):
                return f"{a} instead of {b}"
        elif a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
    if case.isRandom:
        return None
    if case.unique and all(isinstance(b, torch.Tensor) for b in want):
        try:
            got, want = case.unique(got), case.unique(want)
        except (IndexError, RuntimeError, TypeError):
            pass  # a result that was processed already
    for a, b in zip(got, want):
        if isinstance(b, torch.Tensor):
            rtol, atol = TOLERANCE.get(str(b.dtype)[6:], (0, 0))
            if case.computedIn:
                rtol, atol = TOLERANCE[case.computedIn]
            if str(b.dtype)[6:] == "float32" and dtype in ("bfloat16", "float16"):
                rtol, atol = TOLERANCE[dtype]
            try:
                torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
            except AssertionError as error:
                return " ".join(str(error).split())[:300]
    return None


def _kept(values):
    import torch
    return [t.detach().to("cpu", copy=True).resolve_conj().resolve_neg() if isinstance(t, torch.Tensor) else t for t in values]


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def outcome(case, dtype):
    """(how, why) of a case that should work."""
    import torch
    import torch_xla.debug.metrics as met
    try:
        onDevice = case.prepare("xla")
    except (NotImplementedError, RuntimeError) as error:
        return "skipped", f"not on this device: {_first_line(error)[:100]}"
    try:
        torch.manual_seed(0)
        want = case.prepare("cpu")()
        if want is None:
            return "skipped", "nothing to differentiate"
        if any(isinstance(t, torch.Tensor) and t.layout != torch.strided for t in want):
            return "skipped", "a sparse layout, which is not one of this device"
        want = _kept(want)
    except Exception as error:
        return "skipped", f"the CPU: {_first_line(error)[:100]}"
    met.clear_all()
    try:
        torch.manual_seed(0)
        got = onDevice()
        if got is None:
            return "wrong", "nothing to differentiate"
        got = _kept(got)
    except Exception as error:
        ran = met.executed_fallback_ops()
        return "exception", f"{type(error).__name__}: {_first_line(error)[:200]}" + (f" (after {' '.join(ran)})" if ran else "")
    ran = met.executed_fallback_ops()
    why = difference(got, want, case, dtype)
    if why:
        return "wrong", why + (f" (after {' '.join(ran)})" if ran else "")
    return ("fallback", " ".join(ran)) if ran else ("passed", "")


def _raised(run):
    """The error of `run` or of reading its results, or None."""
    try:
        _kept(run() or [])
    except Exception as error:
        return error
    return None


def error_outcome(case):
    """(how, why) of a case that PyTorch refuses: the same type, and the words that PyTorch's own tests ask for."""
    try:
        onDevice = case.prepare("xla")
    except (NotImplementedError, RuntimeError) as error:
        return "skipped", f"not on this device: {_first_line(error)[:100]}"
    want = _raised(case.prepare("cpu"))
    if want is None:
        return "skipped", "the CPU raises nothing"
    got = _raised(onDevice)
    expected = f"{type(want).__name__}: {_first_line(want)[:150]}"
    if got is None:
        return "wrong", f"nothing instead of {expected}"
    sameType = isinstance(got, case.errorType or type(want)) and (case.errorType is not Exception or type(got) is type(want))
    sameWords = re.search(case.errorWords or "", str(got)) or str(got) == str(want)
    if not sameType or (not sameWords and re.search(case.errorWords or "", str(want))):
        return "wrong", f"{type(got).__name__}: {_first_line(got)[:150]} instead of {expected}"
    return "passed", ""
