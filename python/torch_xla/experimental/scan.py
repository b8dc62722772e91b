# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scan(): a loop over the slices of tensors as one loop of the program, with gradients.

The body is recorded once together with its gradient. What the gradient needs of the forward part is stacked, one slice per
iteration, and read by a second loop that runs backwards; what is the same in all iterations (a transposed weight) is computed
anew instead."""
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .. import _load
from ._control_flow import _to_device, recorded_step, scan as _plain_scan

_XLAC = _load.sys.modules["torch_xla._XLAC"]
# From a pure function to its recordings (_Recorded) by what they depend on; an entry lives as long as its function.
_SCAN_COMPUTATION_CACHE: Any = weakref.WeakKeyDictionary()


def default_partition(*args: Any, **kwargs: Any) -> Any:
    """The partition function that scan() uses by default: everything that the gradient needs is kept.

    A call does what AOTAutograd's function of this name does.

    Args:
      *args: Its positional arguments, the joint graph and its inputs.
      **kwargs: Its keyword arguments.

    Returns:
      The forward graph and the backward graph.
    """
    from functorch.compile import default_partition as partition
    return partition(*args, **kwargs)


def _keeps_all(partition_fn):
    return partition_fn is default_partition or (getattr(partition_fn, "__name__", "") == "default_partition" and
                                                 getattr(partition_fn, "__module__", "").startswith(("torch._functorch", "functorch")))


def _wants_gradient(tensor):
    return isinstance(tensor, torch.Tensor) and tensor.requires_grad


def _can_have_gradient(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def leaf_variables(output: torch.Tensor) -> list[torch.Tensor]:
    """Returns the leaf variables that a tensor depends on, itself included.

    Args:
      output: The tensor.
    """
    if output.grad_fn is None:
        return [output] if output.requires_grad else []
    found, seen, stack = [], set(), [output.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        stack.extend(next_node for next_node, _ in node.next_functions)
    return found


def _among(tensor, tensors):
    return any(tensor is t for t in tensors)


class Joint:
    """A function and its gradient, recorded together.

    Args:
      run: The function: run(*carried, *others) returns len(carried) new values, and any number of other results.
      carried: Arguments that a loop replaces by the first results.
      others: The other arguments.
      constants: Tensors without gradients. `run` gets stand-ins for them as last arguments, and _scan() takes the tensors of its loop, so that
        one Joint serves several loops.

    Raises:
      RuntimeError: `run` changed an argument in place.
    """

    def __init__(self, run: Callable[..., Sequence[Any]], carried: Sequence[torch.Tensor], others: Sequence[torch.Tensor],
                 constants: Sequence[torch.Tensor] = ()) -> None:
        count = len(carried)
        arguments = list(carried) + list(others)
        scope, stand_ins = _XLAC._body_begin(True, [a.detach() for a in arguments])
        try:
            fixed = _XLAC._body_constants(scope, [c.detach() for c in constants])
            with torch.enable_grad():
                # A carried value may need no gradient at first, and depend on what needs one after the first iteration.
                inputs = [s.detach().requires_grad_() if _wants_gradient(a) or (i < count and _can_have_gradient(a)) else s
                          for i, (s, a) in enumerate(zip(stand_ins, arguments))]
                versions = [i._version for i in inputs]
                outputs = [_to_device(o) for o in run(*inputs, *fixed)]
            if [i._version for i in inputs] != versions:
                raise RuntimeError("an argument of the function was changed by an in-place operation: return the new value instead")
            self.carried, self.results = count, len(outputs) - count
            self.needs = [_wants_gradient(a) for a in arguments]
            behind = [leaf_variables(o) for o in outputs]
            self.variables: list[torch.Tensor] = []
            for leaf in (leaf for leaves in behind for leaf in leaves):
                if not _among(leaf, inputs) and not _among(leaf, self.variables):
                    self.variables.append(leaf)
            needed = self.variables + [i for i, needs in zip(inputs, self.needs) if needs]
            while more := [i for i, leaves in zip(inputs[:count], behind)
                           if i.requires_grad and not _among(i, needed) and any(_among(leaf, needed) for leaf in leaves)]:
                needed += more
            self.differentiable = [any(_among(leaf, needed) for leaf in leaves) for leaves in behind]
            sums = [v.detach() for v in self.variables]
            # Gradients come as: those of carried values, sums for captured variables, those of the other results.
            like = [o.detach() for o in outputs]
            rest = _XLAC._body_more(scope, like[:count] + sums + like[count:])
            of_outputs, so_far = rest[:count] + rest[count + len(sums):], rest[count:count + len(sums)]
            pairs = [(o, g) for o, g, d in zip(outputs, of_outputs, self.differentiable) if d]
            wanted = [i for i in inputs if _among(i, needed)] + self.variables
            made = iter(torch.autograd.grad([o for o, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True)
                        if pairs else [None] * len(wanted))
            of_inputs = [next(made) if _among(i, needed) else None for i in inputs]
            of_inputs = [torch.zeros_like(i) if g is None else g for i, g in zip(inputs, of_inputs)]
            of_variables = [s.clone() if g is None else s + g for s, g in zip(so_far, made)]
            results = [o.detach() for o in outputs] + of_inputs[:count] + of_variables + of_inputs[count:]
            self.forward, self.backward, self.saved = _XLAC._body_end_split(scope, len(arguments), results, len(outputs))
        finally:
            _XLAC._body_abort(scope)


class Scan(torch.autograd.Function):
    """A loop over a recorded Joint as an autograd function; scan() calls it."""
    @staticmethod
    def forward(ctx: Any, joint: Joint, length: int, count: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns the last carried values and the stacked results of a loop.

        Args:
          joint: The recorded body.
          length: The number of iterations.
          count: The number of carried values.
          *tensors: The first carried values, the sequences, and the variables that the body captures.
        """
        init, xs = tensors[:count], tensors[count:len(tensors) - len(joint.variables)]
        made = _XLAC._scan(joint.forward, [t.detach() for t in init], [t.detach() for t in xs], length, False)
        outputs = joint.carried + joint.results
        ctx.joint, ctx.length, ctx.count, ctx.sequences = joint, length, count, len(xs)
        ctx.save_for_backward(*made[outputs:])
        ctx.like = [(m.shape, m.dtype) for m in made[:outputs]]
        plain = [m for m, d in zip(made, joint.differentiable) if not d]
        ctx.mark_non_differentiable(*plain)
        return tuple(made[:outputs])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients for the arguments of forward(), which a second loop computes from the last iteration to the first.

        Args:
          *gradients: Those of the results of forward(); None stands for zeros.
        """
        joint, count = ctx.joint, ctx.count
        full = [torch.zeros(shape, dtype=dtype, device="xla") if g is None else g
                for g, (shape, dtype) in zip(gradients, ctx.like)]
        sums = [torch.zeros_like(v) for v in joint.variables]
        made = _XLAC._scan(joint.backward, full[:count] + sums, full[count:] + list(ctx.saved_tensors), ctx.length, True)
        of_init, of_variables = made[:count], made[count:count + len(sums)]
        of_xs = made[count + len(sums):]
        of_arguments = [g if needed else None for g, needed in zip(list(of_init) + list(of_xs), joint.needs)]
        return (None, None, None, *of_arguments, *of_variables)


def tree_flatten_none(tree: Any) -> tuple[list[Any], Callable[[Iterable[Any]], Any]]:
    """Flattens a pytree that may have None in the place of tensors.

    Args:
      tree: The pytree.

    Returns:
      The leaves that are not None, and a function that makes a tree of the same structure from as many leaves.
    """
    leaves, spec = pytree.tree_flatten(tree)
    present = [leaf is not None for leaf in leaves]

    def unflatten(values):
        values = iter(values)
        return pytree.tree_unflatten([next(values) if there else None for there in present], spec)
    return [leaf for leaf in leaves if leaf is not None], unflatten


class _Parts:
    """One iteration of a scan in the two parts that a partition function of AOTAutograd makes, on flat lists of tensors."""

    def __init__(self, fn, init, xs, partition_fn):
        from torch._functorch.aot_autograd import aot_function, make_boxed_func
        from torch._subclasses.fake_tensor import FakeTensorMode
        carried, self.carry_tree = tree_flatten_none(init)
        sequences, self.x_tree = tree_flatten_none(xs)
        self.carried, graphs, layout = len(carried), {}, {}

        def flat(*given):
            carry, y = fn(self.carry_tree(given[:len(carried)]), self.x_tree(given[len(carried):]))
            new, layout["carry"] = tree_flatten_none(carry)
            results, layout["y"] = tree_flatten_none(y)
            made = []
            for value in [*new, *results]:  # AOTAutograd gives those that share memory no gradient of their own
                made.append(value.clone() if value._is_view() or _among(value, given) or _among(value, made) else value)
            return made

        def keep(name):
            def compiler(graph, _):
                graphs[name] = graph
                return make_boxed_func(graph.forward)
            return compiler
        with FakeTensorMode(), torch.enable_grad():
            def fake(shape, like, needed):
                return torch.empty(shape, dtype=like.dtype, device="xla", requires_grad=needed)
            given = [fake(c.shape, c, _can_have_gradient(c)) for c in carried] + [fake(x.shape[1:], x, x.requires_grad) for x in sequences]
            outputs = aot_function(flat, keep("forward"), keep("backward"), partition_fn=partition_fn)(*given)
            wanted = [o for o in outputs if o.requires_grad]
            if not wanted:
                raise ValueError("expects a result that requires a gradient")
            torch.autograd.backward(wanted, [torch.ones_like(o) for o in wanted])  # makes the backward graph
        self.differentiable, self.layout = [o.requires_grad for o in outputs], layout
        self._forward, self._backward = graphs["forward"], graphs["backward"]

    def forward(self, given):
        """Returns (results, saved values)."""
        made = self._forward(*given)
        return list(made[:len(self.differentiable)]), tuple(made[len(self.differentiable):])

    def backward(self, gradients, saved):
        """Gradients of the arguments; None where one needs none."""
        return self._backward(*saved, *[g for g, needed in zip(gradients, self.differentiable) if needed])


def value_and_grad_partitioned(fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any,
                               partition_fn: Callable[..., Any] = default_partition) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns one iteration of scan(fn, init, xs) as a forward and a backward function.

    Args:
      fn: The body: fn(carry, x) returns the next carry and a result. It must not use variables that are no arguments.
      init: The first carry, a pytree of tensors.
      xs: The sequences, a pytree of tensors.
      partition_fn: AOTAutograd's function that decides what the forward function keeps for the backward function.

    Returns:
      forward(carry, x), which returns (carry, (y, saved)), and backward(gradient of the carry, (gradient of y, saved)), which returns the
      gradients of carry and x, with None where nothing requires one.

    Raises:
      ValueError: No result requires a gradient.
    """
    parts = _Parts(fn, init, xs, partition_fn)

    def forward(carry, x):
        results, saved = parts.forward([*tree_flatten_none(carry)[0], *tree_flatten_none(x)[0]])
        return parts.layout["carry"](results[:parts.carried]), (parts.layout["y"](results[parts.carried:]), saved)

    def backward(grad_carry, rest):
        made = parts.backward([*tree_flatten_none(grad_carry)[0], *tree_flatten_none(rest[0])[0]], rest[1])
        return parts.carry_tree(made[:parts.carried]), parts.x_tree(made[parts.carried:])
    return forward, backward


class _Partitioned(torch.autograd.Function):
    """scan() in these two parts."""

    @staticmethod
    def forward(ctx, parts, length, *tensors):
        def step(*given):
            results, saved = parts.forward(given)
            return [*results, *saved]
        made = _plain_scan(step, tensors[:parts.carried], tensors[parts.carried:], length)
        outputs = len(parts.differentiable)
        ctx.parts, ctx.length = parts, length
        ctx.save_for_backward(*made[outputs:])
        ctx.mark_non_differentiable(*[m for m, d in zip(made, parts.differentiable) if not d])
        return tuple(made[:outputs])

    @staticmethod
    def backward(ctx, *gradients):
        parts, outputs = ctx.parts, len(gradients)

        def step(*given):
            made = parts.backward(given[:outputs], given[outputs:])
            of_carry = [torch.zeros_like(g) if new is None else new for g, new in zip(given, made[:parts.carried])]
            return of_carry + list(made[parts.carried:])
        made = _plain_scan(step, list(gradients[:parts.carried]), [*gradients[parts.carried:], *ctx.saved_tensors], ctx.length, reverse=True)
        return (None, None, *[g if needed else None for g, needed in zip(made, ctx.needs_input_grad[2:])])


class _Recorded:
    """The body of a scan: a Joint, or without a gradient the body alone; and how its results are nested."""

    def __init__(self, joint, step, layout):
        self.joint, self.step, self.layout = joint, step, list(layout)


def _recorded_for(tensors, *trees):
    """What the recording of a body depends on besides its function."""
    return (tuple(map(repr, trees)), tuple((t.shape, t.dtype, t.requires_grad) for t in tensors), torch.is_grad_enabled(),
            torch.is_autocast_enabled("xla") and torch.get_autocast_dtype("xla"))


def _record(fn, run, layout, carried, slices, is_pure, what):
    """Returns the body of a loop, recorded now or, of a pure function, once for all loops over tensors of these types. What depends on
    variables from outside is recorded anew: their values are part of it."""
    try:
        known = _SCAN_COMPUTATION_CACHE.setdefault(fn, {}) if is_pure else {}
    except TypeError:  # the function cannot be weakly referenced
        known = {}
    if what in known:
        return known[what]
    joint = Joint(run, carried, slices) if torch.is_grad_enabled() else None
    step = None
    if joint is None or not (any(joint.needs) or joint.variables):
        joint = None
        with torch.no_grad():
            step = recorded_step(run, [*carried, *slices])
    made = _Recorded(joint, step, layout)
    if joint is None or not joint.variables:
        known[what] = made
    return made


def scan(fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, partition_fn: Callable[..., Any] = default_partition,
         is_fn_pure: bool = False) -> tuple[Any, Any]:
    """Calls a function for every slice of `xs` along dimension 0, and carries a value from call to call. The semantics are jax.lax.scan's.

    The loop is one operation of the program. Gradients flow to `init`, `xs` and variables that `fn` uses.

    Args:
      fn: The body: carry, y = fn(carry, x). It runs once, in the calling thread, to be recorded.
      init: The first carry: a tensor of the device, or nested lists, tuples and dicts of them.
      xs: The sequences, of the same form; all have equally many elements along dimension 0, and at least one.
      partition_fn: AOTAutograd's function that decides what is kept for the backward pass, such as min_cut_rematerialization_partition, which
        keeps less and computes more again. With another one than the default, gradients flow to `init` and `xs` only.
      is_fn_pure: A promise that `fn` depends on its arguments only, so that it is recorded once for all loops over tensors of these types.

    Returns:
      The last carry, and the results y stacked along a new dimension 0.

    Raises:
      ValueError: `fn` is no function, `xs` has no tensor or no element, or the lengths differ.
      TypeError: `fn` does not return a pair, or a carry of another structure.
      RuntimeError: `fn` changes an argument in place.
    """
    if not callable(fn):
        raise ValueError(f"expects a function, but got {type(fn).__name__}")
    carried, carry_spec = pytree.tree_flatten(init)
    sequences, x_spec = pytree.tree_flatten(xs)
    if not sequences:
        raise ValueError("expects xs to have at least one tensor")
    length = sequences[0].shape[0]
    if any(x.shape[0] != length for x in sequences):
        raise ValueError(f"expects all of xs to have {length} elements, but got {[x.shape[0] for x in sequences]}")
    if length == 0:
        raise ValueError("expects xs not to be empty")
    layout: list[Any] = []

    def run(*flat):
        carry = pytree.tree_unflatten(list(flat[:len(carried)]), carry_spec)
        made = fn(carry, pytree.tree_unflatten(list(flat[len(carried):]), x_spec))
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise TypeError("expects fn to return the carry and a result")
        new, new_spec = pytree.tree_flatten(made[0])
        results, result_spec = pytree.tree_flatten(made[1])
        if new_spec != carry_spec:
            raise TypeError(f"expects fn to return a carry like {carry_spec}, but got {new_spec}")
        layout[:] = [result_spec, [r is not None for r in results]]
        return list(new) + [r for r in results if r is not None]
    if not _keeps_all(partition_fn) and torch.is_grad_enabled() and any(_wants_gradient(t) for t in carried + sequences):
        parts = _Parts(fn, init, xs, partition_fn)
        made = _Partitioned.apply(parts, length, *carried, *sequences)
        return parts.carry_tree(made[:parts.carried]), parts.layout["y"](made[parts.carried:])
    slices = [x[0] for x in sequences]
    body = _record(fn, run, layout, carried, slices, is_fn_pure, _recorded_for([*carried, *slices], carry_spec, x_spec))
    if body.joint is not None:
        made = Scan.apply(body.joint, length, len(carried), *carried, *sequences, *body.joint.variables)
    else:
        with torch.no_grad():
            made = _XLAC._scan(body.step, list(carried), list(sequences), length, False)
    spec, present = body.layout
    results = iter(made[len(carried):])
    return (pytree.tree_unflatten(list(made[:len(carried)]), carry_spec),
            pytree.tree_unflatten([next(results) if there else None for there in present], spec))
