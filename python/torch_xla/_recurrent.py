# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nn.LSTM, nn.GRU and nn.RNN on the device: one loop of the program per layer and direction, however many steps there are.

The input's products stand before the loop, as one; the gradient of the weight behind the state is one product after the loop
that runs backwards. Packed sequences are padded: where one has ended, the state stays what it was. What the loop is not made for
(one step, tensors of torch.compile, transforms of torch.func, forward-mode gradients) runs PyTorch's own definition, a copy of
the cell per step."""
import dataclasses
from typing import Any, Callable

import torch
import torch.nn.functional as F

from . import _load
from .experimental import _control_flow
from .experimental.scan import Joint

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_library = None


#===-- Cells: from both products and the state to the new state --------------===


def _lstm(x, h, state):
    i, f, g, o = (x + h).chunk(4, -1)
    cell = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return [o.sigmoid() * cell.tanh(), cell]


def _gru(x, h, state):
    (rx, zx, nx), (rh, zh, nh) = x.chunk(3, -1), h.chunk(3, -1)
    new = (nx + (rx + rh).sigmoid() * nh).tanh()
    return [(state[0] - new) * (zx + zh).sigmoid() + new]


def _tanh(x, h, state):
    return [(x + h).tanh()]


def _relu(x, h, state):
    return [(x + h).relu()]


@dataclasses.dataclass(frozen=True)
class _Kind:
    cell: Callable
    states: int = 1
    sums: bool = True  # the cell reads only the sum of both contractions, so that both have one gradient


_KINDS = {"lstm": _Kind(_lstm, states=2), "gru": _Kind(_gru, sums=False), "rnn_tanh": _Kind(_tanh), "rnn_relu": _Kind(_relu)}


#===-- One layer in one direction --------------------------------------------===


@dataclasses.dataclass
class _Plan:
    """step(weight, projection, *state, *slices) -> [*state, output]; the slices are those of the input's product, of what is
    added to the state's product (for cells that do not sum), and of the mask (of padded sequences)."""
    step: Callable
    states: int
    length: int
    reverse: bool
    product: int  # the sequence whose gradient is that of the state's contraction
    joint: Joint | None = None


class _Loop(torch.autograd.Function):
    """(plan, weight, *state, *sequences[, projection]) -> (*last state, outputs)"""

    @staticmethod
    def forward(ctx, plan, weight, *tensors):
        count = len(tensors) - len(plan.joint.variables)
        made = _XLAC._scan(plan.joint.forward, [t.detach() for t in tensors[:plan.states]],
                           [t.detach() for t in tensors[plan.states:count]], plan.length, plan.reverse, [weight.detach()])
        ctx.plan, ctx.inputs = plan, len(tensors)
        ctx.like = [(m.shape, m.dtype) for m in made[:plan.states + 1]]
        ctx.save_for_backward(weight, *tensors, *made[plan.states:])
        return tuple(made[:plan.states + 1])

    @staticmethod
    def backward(ctx, *gradients):
        plan, states, joint = ctx.plan, ctx.plan.states, ctx.plan.joint
        weight, *tensors = ctx.saved_tensors
        tensors, (outputs, *saved) = tensors[:ctx.inputs], tensors[ctx.inputs:]
        if torch.is_grad_enabled():
            return None, *_differentiable_gradient(plan, [weight, *tensors], gradients, ctx.needs_input_grad[1:])
        full = [torch.zeros(shape, dtype=dtype, device="xla") if g is None else g
                for g, (shape, dtype) in zip(gradients, ctx.like)]
        sums = [torch.zeros_like(variable) for variable in joint.variables]
        made = _XLAC._scan(joint.backward, full[:states] + sums, full[states:] + saved, plan.length, not plan.reverse,
                           [weight.detach()])
        of_sequences = made[states + len(sums):]
        first = tensors[0].unsqueeze(0)
        before = torch.cat([outputs[1:], first] if plan.reverse else [first, outputs[:-1]])
        products = of_sequences[plan.product].flatten(0, 1)
        of_weight = products.t() @ before.flatten(0, 1).to(products.dtype)
        made = [of_weight, *made[:states], *of_sequences, *made[states:states + len(sums)]]
        return None, *[gradient if needed else None for gradient, needed in zip(made, ctx.needs_input_grad[1:])]


def _differentiable_gradient(plan, tensors, gradients, needed):
    """Returns the gradient, with gradients of its own: through the steps one after the other."""
    with torch.enable_grad():
        weight, *rest = tensors
        projection = rest.pop() if plan.joint.variables else None
        state, sequences, outputs = rest[:plan.states], rest[plan.states:], [None] * plan.length
        for t in reversed(range(plan.length)) if plan.reverse else range(plan.length):
            *state, outputs[t] = plan.step(weight, projection, *state, *[s[t] for s in sequences])
        pairs = [(o, g) for o, g in zip([*state, torch.stack(outputs)], gradients) if g is not None and o.requires_grad]
        made = iter(torch.autograd.grad([o for o, _ in pairs], [t for t, wanted in zip(tensors, needed) if wanted],
                                        [g for _, g in pairs], create_graph=True, allow_unused=True))
    return [next(made) if wanted else None for wanted in needed]


_joints: dict[Any, Joint] = {}  # recorded bodies by what they depend on; the next training step finds them here
_MOST_JOINTS = 256


def _joint(kind, step, weight, projection, state, sequences):
    """Returns the body of the loop, with its gradient: without a projection, a function of the cell and of sizes and types alone."""
    watched = torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack() > 0  # a dispatch mode must see the recorded operations
    key = None
    if projection is None and not watched:
        key = (kind, *[(t.shape, t.dtype) for t in (weight, *state)], *[(s.shape[1:], s.dtype) for s in sequences])
        known = _joints.get(key)
        if known is not None:
            _XLAC._forget_views()  # as recording does, so that every step has the same program
            return known
    variable = None if projection is None else projection.detach().requires_grad_()

    def like(shape, tensor):
        return torch.empty(shape, dtype=tensor.dtype, device="xla", requires_grad=tensor.is_floating_point())
    joint = Joint(lambda *now: step(now[-1], variable, *now[:-1]), [like(s.shape, s) for s in state],
                  [like(s.shape[1:], s) for s in sequences], [weight])
    if key is not None:
        if len(_joints) >= _MOST_JOINTS:
            _joints.clear()
        _joints[key] = joint
    return joint


def _layer(kind, x, state, params, has_biases, reverse, mask):
    """Returns (outputs, last state) of x [length, batch, features] with state [batch, hidden] each."""
    w_input, weight, *rest = params
    biases, projection = (rest[:2], rest[2:]) if has_biases else (None, rest)
    projection = projection[0] if projection else None
    if biases is None:
        products = F.linear(x, w_input)
    else:
        products = F.linear(x, w_input, biases[0] + biases[1] if kind.sums else biases[0])
    weight = weight.to(products.dtype)  # autocast's type, if autocast is on
    added = None if kind.sums or biases is None else biases[1].to(products.dtype)
    with torch.autocast("xla", enabled=False):
        differentiable = torch.is_grad_enabled() and any(
            t is not None and t.requires_grad for t in [products, weight, added, projection, *state])
        sequences = [products]
        if differentiable and not kind.sums:
            zero = products.new_zeros(products.shape[-1]) if added is None else added
            sequences.append(zero.expand(products.shape))
        if mask is not None:
            sequences.append(mask)

        def step(weight, projection, *now):
            before, (product, *others) = now[:kind.states], now[kind.states:]
            h = F.linear(before[0].to(weight.dtype), weight)
            if differentiable and not kind.sums:
                h = h + others.pop(0)
            elif added is not None:
                h = h + added
            new = kind.cell(product, h, before)
            if projection is not None:
                new[0] = F.linear(new[0].to(projection.dtype), projection)
            new = [n.to(b.dtype) for n, b in zip(new, before)]
            if others:
                new = [torch.where(others[0], n, b) for n, b in zip(new, before)]
            return [*new, new[0].clone()]
        length = x.shape[0]
        if not differentiable:
            made = _control_flow.scan(lambda *now: step(weight, projection, *now), list(state), sequences, length, reverse)
        else:
            plan = _Plan(step, kind.states, length, reverse, product=0 if kind.sums else 1)
            plan.joint = _joint(kind, step, weight, projection, state, sequences)
            made = _Loop.apply(plan, weight, *state, *sequences, *([] if projection is None else [projection]))
    return made[kind.states], list(made[:kind.states])


#===-- All layers ------------------------------------------------------------===


def _network(kind, x, states, params, has_biases, layers, dropout, train, bidirectional, mask=None):
    """Returns (outputs [length, batch, directions * hidden], one stack of last states per state)"""
    directions = 2 if bidirectional else 1
    count = len(params) // (layers * directions)
    last = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            out, state = _layer(kind, x, [s[index] for s in states], params[index * count:(index + 1) * count], has_biases,
                                direction == 1, mask)
            outputs.append(out)
            last.append(state)
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and layer < layers - 1:
            x = F.dropout(x, dropout, train)
    return x, [torch.stack([state[k] for state in last]) for k in range(kind.states)]


def _is_for_loop(kind, x, length, states, params, has_biases, layers, bidirectional):
    if length == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    tensors = [x, *states, *params]
    if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
        return False
    if any(type(t) not in (torch.Tensor, torch.nn.Parameter) or t.device.type != "xla" for t in tensors):
        return False
    slots = layers * (2 if bidirectional else 1)
    per_slot = {2 + 2 * has_biases + more for more in ((0, 1) if kind.cell is _lstm else (0,))}
    return (length > 1 and x.numel() > 0 and len(states) == kind.states and all(s.dim() == 3 and s.shape[0] == slots for s in states)
            and len(params) % slots == 0 and len(params) // slots in per_slot)


def _of_input(name, kind):
    plain = getattr(torch.ops.aten, name).input

    def run(x, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first):
        states = list(hx) if kind.states > 1 else [hx]
        if x.dim() != 3 or not _is_for_loop(kind, x, x.shape[1 if batch_first else 0], states, params, has_biases, layers,
                                            bidirectional):
            return plain.decompose(x, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first)
        out, last = _network(kind, x.transpose(0, 1) if batch_first else x, states, params, has_biases, layers, dropout, train,
                             bidirectional)
        return (out.transpose(0, 1) if batch_first else out, *last)
    return run


def _of_packed(name, kind):
    plain = getattr(torch.ops.aten, name).data

    def run(data, batch_sizes, hx, params, has_biases, layers, dropout, train, bidirectional):
        states = list(hx) if kind.states > 1 else [hx]
        if data.dim() != 2 or not _is_for_loop(kind, data, len(batch_sizes), states, params, has_biases, layers, bidirectional):
            return plain.decompose(data, batch_sizes, hx, params, has_biases, layers, dropout, train, bidirectional)
        sizes = batch_sizes.cpu()
        length, batch = len(sizes), int(sizes[0])
        there = torch.arange(batch) < sizes.unsqueeze(1)  # [length, batch], on the CPU: sizes are values that it knows
        rows = there.flatten().nonzero().flatten().to("xla")
        padded = data.new_zeros(length * batch, data.shape[1]).index_copy(0, rows, data).unflatten(0, (length, batch))
        out, last = _network(kind, padded, states, params, has_biases, layers, dropout, train, bidirectional,
                             there.unsqueeze(2).to("xla"))
        return (out.flatten(0, 1).index_select(0, rows), *last)
    return run


def install():
    """Once, at the import of torch_xla."""
    global _library
    torch.nn.GRU._orig = torch.nn.GRU  # PyTorch/XLA replaces the class and keeps PyTorch's under this name, which programs use
    _library = torch.library.Library("aten", "IMPL")
    for name, kind in _KINDS.items():
        for key in ("XLA", "AutogradXLA"):
            # torch.compile calls this function between its graphs, too, and would trace it.
            _library.impl(f"{name}.input", torch._disable_dynamo(_of_input(name, kind)), key)
            _library.impl(f"{name}.data", torch._disable_dynamo(_of_packed(name, kind)), key)
