# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The body of a Pallas kernel as a function of values: references become values that are read and replaced, all else stays JAX's.

Numbers that are known while the program is made (the first and the last step of a grid dimension) are computed here, so that
`pl.when(pl.program_id(2) == 0)` is decided and leaves no branch behind. Of other steps a range is known, which decides such a test, too."""
import dataclasses
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core, source_info_util, state
from jax._src.interpreters import mlir
from jax._src.lax import parallel
from jax._src.random import prng
from jax._src.pallas import core as pallas_core
from jax._src.pallas import primitives
from jax._src.pallas.mosaic import primitives as mosaic
from jax._src.pallas.triton import primitives as triton
from jax._src.state import discharge, indexing
from jax._src.state import primitives as state_primitives
from jax._src.state import types as state_types
from jax._src.state import utils as state_utils

from millrace_jax import pallas_operations
from millrace_jax.pallas_slices import place, take


class Carried(Exception):
    """The signal that a cell of the grid reads what another cell wrote to the scratch memory."""


@dataclasses.dataclass
class Ranged:
    """A scalar whose value is known when the program runs, and the bounds of it that are known before: low to high, both included."""
    value: Any
    low: int
    high: int


class Ref:
    """The present value of a reference in a kernel.

    Args:
      aval: Its abstract value, with shape and dtype.
      value: Its array; None: nothing was written.
      make: Computes the array when it is read for the first time; None: nothing does.
      strict: Whether reading nothing raises Carried. Otherwise it reads as NaN, or the smallest integer, as in JAX's interpreter of Pallas.
    """

    def __init__(self, aval: Any, value: Any = None, make: Callable[[], Any] | None = None, strict: bool = False):
        self.aval, self._value, self._make, self.strict, self.written = aval, value, make, strict, False

    def read(self) -> Any:
        """Returns the array.

        Raises:
          Carried: Nothing was written, and the reference is strict.
        """
        if self._value is None:
            if self._make is not None:
                self._value = self._make()
            elif self.strict:
                raise Carried
            else:
                self._value = unset(self.aval.shape, self.aval.dtype)
        return self._value

    def write(self, value: Any) -> None:
        """Replaces the array.

        Args:
          value: The new array.
        """
        self._value, self.written = value, True

    def settle(self) -> None:
        """Computes the array if a function does: now, and not in the loop or branch that reads it first."""
        if self._make is not None:
            self.read()

    def peek(self) -> Any:
        """Returns the array, or None if nothing was read or written."""
        return self._value


def unset(shape: Sequence[int], dtype: Any) -> Any:
    """Returns an array for uninitialized memory; semaphores are 0.

    Args:
      shape: The sizes.
      dtype: The element type, or a type of semaphores.
    """
    if is_semaphore(dtype):
        return jnp.zeros(shape, jnp.int32)
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.zeros((*shape, *dtype._impl.key_shape), jnp.uint32), impl=dtype._impl)
    return primitives.uninitialized_value(tuple(shape), dtype)


def is_semaphore(dtype: Any) -> bool:
    """Returns whether an element type is one of Pallas' types of semaphores.

    Args:
      dtype: The type.
    """
    return jax.dtypes.issubdtype(dtype, pallas_core.semaphore_dtype)


def plain(value: Any) -> Any:
    """Returns the value of a Ranged, and any other value unchanged.

    Args:
      value: The value.
    """
    return value.value if isinstance(value, Ranged) else value


_FOLDED: dict[Any, Callable[..., Any]] = {
    lax.add_p: operator.add, lax.sub_p: operator.sub, lax.mul_p: operator.mul, lax.min_p: min, lax.max_p: max, lax.eq_p: operator.eq,
    lax.ne_p: operator.ne, lax.lt_p: operator.lt, lax.le_p: operator.le, lax.gt_p: operator.gt, lax.ge_p: operator.ge,
    lax.and_p: operator.and_, lax.or_p: operator.or_, lax.neg_p: operator.neg,
    lax.not_p: lambda x: not x if isinstance(x, bool) else ~x,
    lax.div_p: lambda x, y: int(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1),
    lax.rem_p: lambda x, y: abs(x) % abs(y) * (-1 if x < 0 else 1),
}
_INVERSE = {lax.ne_p: lax.eq_p, lax.ge_p: lax.lt_p, lax.gt_p: lax.le_p}


def _bounds(value: Any) -> tuple[int, int] | None:
    if isinstance(value, Ranged):
        return value.low, value.high
    return (int(value), int(value)) if isinstance(value, np.generic) else None


def _compared(primitive: Any, x: Any, y: Any) -> bool | None:
    """What a comparison yields for all numbers of two ranges; None if that differs."""
    if primitive in _INVERSE:
        result = _compared(_INVERSE[primitive], x, y)
        return None if result is None else not result
    bounds, other_bounds = _bounds(x), _bounds(y)
    if bounds is None or other_bounds is None:
        return None
    (low, high), (other_low, other_high) = bounds, other_bounds
    if primitive is lax.eq_p:
        return False if high < other_low or other_high < low else None
    always, never = (high < other_low, low >= other_high) if primitive is lax.lt_p else (high <= other_low, low > other_high)
    return True if always else False if never else None


def _folded(equation: Any, values: Sequence[Any]) -> Any:
    """Returns the result of an equation on numbers that are known, as a number of numpy or a Ranged; None if it is not."""
    out = equation.outvars[0].aval if equation.outvars else None
    if not isinstance(out, core.ShapedArray) or out.shape or getattr(out.dtype, "kind", "V") not in "iub":
        return None
    primitive, known = equation.primitive, all(isinstance(value, np.generic) for value in values)
    if primitive in (lax.convert_element_type_p, primitives.multiple_of_p):
        if known:
            return out.dtype.type(values[0])
        if isinstance(values[0], Ranged) and out.dtype.kind == "i":
            return Ranged(plain(values[0]) if primitive is primitives.multiple_of_p else
                          lax.convert_element_type(plain(values[0]), out.dtype), values[0].low, values[0].high)
        return None
    if primitive is lax.select_n_p and isinstance(values[0], np.generic):
        return values[1 + int(values[0])]
    if primitive not in _FOLDED:
        return None
    if known:
        if primitive in (lax.div_p, lax.rem_p) and not values[1]:
            return None
        result = _FOLDED[primitive](*(value.item() for value in values))
        return np.asarray(result).astype(out.dtype)[()]
    ranges = [bounds for value in values if (bounds := _bounds(value)) is not None]
    if len(ranges) == len(values):
        if out.dtype.kind == "b" and len(values) == 2 and primitive in (lax.eq_p, lax.ne_p, lax.lt_p, lax.le_p, lax.gt_p, lax.ge_p):
            result = _compared(primitive, *values)
            return None if result is None else np.bool_(result)
        if primitive in (lax.add_p, lax.sub_p, lax.min_p, lax.max_p):
            (low, high), (other_low, other_high) = ranges
            if primitive is lax.sub_p:
                other_low, other_high = other_high, other_low
            ends = [_FOLDED[primitive](low, other_low), _FOLDED[primitive](high, other_high)]
            return Ranged(primitive.bind(*(plain(value) for value in values)), *ends)
    if primitive in (lax.and_p, lax.or_p) and out.dtype.kind == "b":  # one operand may determine the result
        for value, other in (values, values[::-1]):
            if isinstance(value, np.bool_):
                return other if bool(value) == (primitive is lax.and_p) else value
    return None


def effect_inputs(jaxpr: core.Jaxpr) -> list[bool]:
    """Returns for every input of a body whether it is a reference that the body writes, or whose memory it may write by a copy.

    Args:
      jaxpr: The body; its constants come before its arguments.
    """
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    written = set()
    for effect in jaxpr.effects:
        if isinstance(effect, (state.WriteEffect, state.AccumEffect)):
            where = getattr(effect, "input", None)
            written.add(inputs.index(where) if isinstance(where, core.Var) else effect.input_index)
    return [index in written for index in range(len(inputs))]


class Body:
    """An evaluator of a kernel's equations.

    Args:
      axes: Per axis of the grid the results of pl.program_id and pl.num_programs.
      names: The results of lax.axis_index for axes that have names.
      name: The name of the kernel, for messages.
      generator: The state of pltpu.prng_seed() and pltpu.prng_random_bits(); None: the kernel draws no numbers.
    """

    def __init__(self, axes: Sequence[tuple[Any, Any]], names: dict[Any, Any], name: str, generator: Ref | None = None):
        self.axes, self.names, self.name, self.generator, self._used = axes, names, name, generator, True

    def run(self, jaxpr: core.Jaxpr, constants: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        """Evaluates a body.

        Args:
          jaxpr: The body.
          constants: The values of its constants.
          arguments: The values of its parameters; a Ref among them is written to.

        Returns:
          The values of its results.

        Raises:
          NotImplementedError: An equation has no form on a CPU.
        """
        values: dict[core.Var, Any] = {}

        def read(atom: Any) -> Any:
            if not isinstance(atom, core.Literal):
                return values[atom]
            if atom.aval.shape == () and getattr(atom.aval.dtype, "kind", "V") in "iub":
                return np.asarray(atom.val).astype(atom.aval.dtype)[()]
            return atom.val

        values.update(zip(jaxpr.constvars, constants, strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))
        used = {atom for equation in jaxpr.eqns for atom in equation.invars if not isinstance(atom, core.Literal)}
        used.update(atom for atom in jaxpr.outvars if not isinstance(atom, core.Literal))
        for equation in jaxpr.eqns:
            self._used = bool(used.intersection(equation.outvars))
            stack = source_info_util.current_name_stack() + equation.source_info.name_stack
            with source_info_util.user_context(equation.source_info.traceback, name_stack=stack), equation.ctx.manager:
                results = self._equation(equation, [read(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def refuse(self, equation: Any, what: str) -> Exception:
        """Returns the error for an equation that has no form on a CPU, with its line in the user's code.

        Args:
          equation: The equation.
          what: The reason.
        """
        return NotImplementedError(f"{source_info_util.summarize(equation.source_info)}: {what}, in the Pallas kernel {self.name}")

    def _equation(self, equation: Any, values: list[Any]) -> list[Any]:
        folded = _folded(equation, values)
        if folded is not None:
            return [folded]
        primitive = equation.primitive
        rule = _RULES.get(primitive)
        if rule is not None:
            return rule(self, equation, values)
        parameters = equation.params
        if primitive.name in ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint",
                              "jaxpr_call"):
            for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
                if name in parameters:
                    inner = parameters[name]
                    if primitive.name == "jaxpr_call":
                        break
                    if isinstance(inner, core.ClosedJaxpr):
                        return self.run(inner.jaxpr, inner.consts, values)
                    return self.run(inner, (), values)
        if any(isinstance(value, Ref) for value in values):
            return self._discharged(equation, values)
        if primitive not in mlir._lowerings and primitive not in mlir._platform_specific_lowerings["cpu"]:
            raise self.refuse(equation, f"{primitive.name} is not supported on CPUs")
        if primitive.name == "threefry2x32":
            # JAX's rules for this primitive require operands of one shape; adding a zero that depends on all operands gives them the cells'
            # dimension.
            given = [plain(value) for value in values]
            zero = sum(value ^ value for value in given)
            values = [value + zero for value in given]
        bound = primitive.get_bind_params(parameters)
        subfunctions, bound = bound if isinstance(bound, tuple) else ((), bound)
        results = primitive.bind(*subfunctions, *(plain(value) for value in values), **bound)
        return list(results) if primitive.multiple_results else [results]

    def _discharged(self, equation: Any, values: list[Any]) -> list[Any]:
        """Evaluates an equation on references by JAX's rule, which turns it into one on values."""
        primitive = equation.primitive
        now = [value.read() if isinstance(value, Ref) else plain(value) for value in values]
        types_in, types_out = [atom.aval for atom in equation.invars], [variable.aval for variable in equation.outvars]
        if primitive in discharge._discharge_rules:
            after, results = discharge._discharge_rules[primitive](types_in, types_out, *now, **equation.params)
        elif primitive in discharge._partial_discharge_rules:
            are_refs = [isinstance(value, Ref) for value in values]
            after, results = discharge._partial_discharge_rules[primitive](are_refs, types_in, types_out, *now, **equation.params)
        else:
            raise self.refuse(equation, f"{primitive.name} on a reference is not supported on CPUs")
        for value, new in zip(values, after, strict=True):
            if isinstance(value, Ref) and new is not None:
                value.write(new)
        return list(results) if primitive.multiple_results else [results]


def _transforms_of(equation: Any, values: list[Any]) -> list[Any]:
    """The transforms of state's get, swap and addupdate."""
    skipped = 1 if equation.primitive is state_primitives.get_p else 2
    return list(jax.tree_util.tree_unflatten(equation.params["tree"], [plain(value) for value in values[skipped:]]))


def _is_whole(transforms: Sequence[Any]) -> bool:
    return not transforms or (len(transforms) == 1 and isinstance(transforms[0], indexing.NDIndexer) and
                              discharge._is_trivial_indexer(transforms[0]))


def _present(index: Any) -> Any:
    """An index of a reference: scalars that the kernel closes over are references themselves."""
    if isinstance(index, indexing.Slice):
        ends = {name: value.read() for name in ("start", "size") if isinstance(value := getattr(index, name), Ref)}
        return dataclasses.replace(index, **ends) if ends else index
    return index.read() if isinstance(index, Ref) else index


def _window(transforms: Sequence[Any]) -> tuple[list[Any], list[int], list[int]] | None:
    """Returns (starts, sizes, dimensions that vanish) of a reference's window; None where it is none, or there is more than one transform."""
    if len(transforms) != 1 or not isinstance(transforms[0], indexing.NDIndexer):
        return None
    starts, sizes, scalars = [], [], []
    for dimension, index in enumerate(map(_present, transforms[0].indices)):
        if isinstance(index, indexing.Slice):
            if index.stride != 1 or not isinstance(index.size, int):
                return None
            starts.append(index.start)
            sizes.append(index.size)
        elif np.shape(index) == ():
            starts.append(index)
            sizes.append(1)
            scalars.append(dimension)
        else:
            return None
    return starts, sizes, scalars


# Names of transforms have changed after JAX 0.9; older ones have no transposition of references.
_BITCASTS = tuple(getattr(state_types, name) for name in ("BitcastTransform", "RefBitcaster") if hasattr(state_types, name))
_RESHAPES = tuple(getattr(state_types, name) for name in ("ReshapeTransform", "RefReshaper") if hasattr(state_types, name))
_TRANSPOSITIONS = tuple(getattr(state_types, name) for name in ("TransposeTransform",) if hasattr(state_types, name))


def _seen(value: Any, transform: Any) -> Any:
    """What one transform of a reference shows of its value."""
    window = _window([transform])
    if window is not None:
        starts, sizes, scalars = window
        return lax.squeeze(take(value, starts, sizes), scalars)
    if isinstance(transform, _BITCASTS):
        return state_utils.bitcast(value, transform.dtype)
    if isinstance(transform, _RESHAPES):
        return value.reshape(transform.shape)
    if isinstance(transform, _TRANSPOSITIONS):
        return value.transpose(transform.permutation)
    return discharge.transform_array(value, [_with_arrays(transform)])


def _with_arrays(transform: Any) -> Any:
    """An indexer whose scalars are arrays, as JAX's functions expect; any other transform unchanged."""
    if not isinstance(transform, indexing.NDIndexer):
        return transform
    indices = tuple(index if isinstance(index, indexing.Slice) else jnp.asarray(index) for index in map(_present, transform.indices))
    return dataclasses.replace(transform, indices=indices)


def _loaded(value: Any, transforms: Sequence[Any]) -> Any:
    """What a reference's transforms read of its value."""
    for transform in transforms:
        value = _seen(value, transform)
    return value


def _stored(value: Any, transforms: Sequence[Any], new: Any) -> Any:
    """The reference's value after `new` was written through its transforms."""
    if not transforms:
        return new
    transform, *others = transforms
    if others:
        new = _stored(_seen(value, transform), others, new)
    window = _window([transform])
    if window is not None:
        starts, _, scalars = window
        return place(value, lax.expand_dims(new, scalars), starts)
    if isinstance(transform, _BITCASTS):
        return state_utils.bitcast(new, value.dtype)
    if isinstance(transform, _RESHAPES):
        return new.reshape(value.shape)
    if isinstance(transform, _TRANSPOSITIONS):
        return new.transpose(np.argsort(transform.permutation))
    return discharge.transform_swap_array(value, [_with_arrays(transform)], new)[1]


def _get(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [_loaded(values[0].read(), _transforms_of(equation, values))]


def _add(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    ref, transforms = values[0], _transforms_of(equation, values)
    ref.write(_stored(ref.read(), transforms, _loaded(ref.read(), transforms) + plain(values[1])))
    return []


def _slice(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [take(plain(values[0]), [plain(value) for value in values[1:]], equation.params["slice_sizes"])]


def _update(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [place(jnp.asarray(plain(values[0])), jnp.asarray(plain(values[1])), [plain(value) for value in values[2:]])]


def _put(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    ref, value = values[0], plain(values[1])
    if _is_whole(_transforms_of(equation, values)):
        old = ref.read() if body._used else None  # memory whose old value is not used is not read
        ref.write(jnp.asarray(value))
        return [old]
    transforms = _transforms_of(equation, values)
    old = _loaded(ref.read(), transforms) if body._used else None
    ref.write(_stored(ref.read(), transforms, jnp.asarray(value)))
    return [old]


def _indexed(transforms: Any, ref: Ref) -> tuple[list[Any], indexing.NDIndexer]:
    """Returns a reference's transforms as those before an indexer and the indexer, whose scalars are arrays."""
    transforms = list(transforms or ())
    if not transforms or not isinstance(transforms[-1], indexing.NDIndexer):
        shape = _loaded(ref.read(), transforms).shape if transforms else ref.aval.shape
        return transforms, indexing.NDIndexer.make_trivial_indexer(shape)
    return transforms[:-1], _with_arrays(transforms[-1])


def _is_inside(indexer: indexing.NDIndexer) -> bool:
    """Returns whether all reads are in bounds, as far as is known here."""
    return all(isinstance(index, indexing.Slice) and isinstance(index.start, int) and
               index.start + index.size * index.stride <= size for index, size in zip(indexer.indices, indexer.shape, strict=True))


def _masked(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """pl.load, pl.store and pl.swap with masks. Elements beyond the array may be masked: they are neither read nor written."""
    is_load = equation.primitive is primitives.load_p
    given = equation.params["args_tree"].unflatten([plain(value) for value in values])
    ref, transforms, first, second = given
    value, mask, other = (None, first, second) if is_load else (first, second, None)
    before, indexer = _indexed(transforms, ref)
    if mask is not None and not _is_inside(indexer):
        return body._discharged(equation, [jnp.asarray(v) if isinstance(v, np.generic) else v for v in values])
    where = [*before, indexer]
    if is_load:
        loaded = _loaded(ref.read(), where)
        return [loaded if mask is None or other is None else jnp.where(mask, loaded, other)]
    if mask is None and _is_whole(where):
        old = ref.read() if body._used else None
        ref.write(jnp.asarray(value))
        return [old]
    old = _loaded(ref.read(), where)
    if mask is not None:
        value, old = jnp.where(mask, value, old), jnp.where(mask, old, value)
    ref.write(_stored(ref.read(), where, jnp.asarray(value)))
    return [old]


def _atomic(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """Triton's atomic operations: cells that write the same memory run one after the other, so that reading and writing are enough."""
    ref, transforms, value, mask = equation.params["args_tree"].unflatten([plain(value) for value in values])
    before, indexer = _indexed(transforms, ref)
    view, value = _loaded(ref.read(), before), jnp.asarray(value)
    old, view = pallas_operations.atomic(equation.params["atomic_type"].value, view, indexer, value, mask, _window([indexer]))
    ref.write(_stored(ref.read(), before, view))
    return [old]


def _new_ref(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """jax.new_ref() and jax.empty_ref(): memory of the kernel."""
    return [Ref(equation.outvars[0].aval, *(jnp.asarray(plain(value)) for value in values))]


def _freeze(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [values[0].read()]


def _seed(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    _generator(body).write(pallas_operations.seeded([plain(value) for value in values]))
    return []


def _random_bits(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    generator = _generator(body)
    bits, state_ = pallas_operations.random_bits(generator.read(), equation.params["shape"])
    generator.write(state_)
    return [bits]


def _has_tpu_key(equation: Any) -> bool:
    """Returns whether an equation computes with a key whose numbers are those of a TPU's core (pltpu.to_pallas_key)."""
    dtype = getattr(equation.invars[0].aval, "dtype", None) if equation.invars else None
    return isinstance(dtype, prng.KeyTy) and dtype._impl.name in ("pallas_tpu", "_pallas_internal_stateful")


def _keyed(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """jax.random's primitives: those of a TPU's keys are functions of the kernel's own generator."""
    values = [plain(value) for value in values]
    if not _has_tpu_key(equation):
        return [equation.primitive.bind(*values, **equation.params)]
    implementation = equation.invars[0].aval.dtype._impl
    if equation.primitive is prng.random_bits_p:
        function = partial(implementation.random_bits, bit_width=equation.params["bit_width"], shape=equation.params["shape"])
    else:
        function = implementation.fold_in
    traced = jax.make_jaxpr(lambda *given: function(*given))(*values)
    made, = body.run(traced.jaxpr, traced.consts, values)
    wanted = equation.outvars[0].aval.dtype  # a TPU's bits have the same type with and without a sign
    return [made if made.dtype == wanted else lax.bitcast_convert_type(made, wanted)]


def _generator(body: Body) -> Ref:
    if body.generator is None:
        raise RuntimeError("the kernel draws random numbers, and has no state for them")
    return body.generator


def draws(jaxpr: core.Jaxpr) -> bool:
    """Returns whether a body uses the random generator of a TPU's core.

    Args:
      jaxpr: The body.
    """
    return any(equation.primitive in (mosaic.prng_seed_p, mosaic.prng_random_bits_p) or
               (equation.primitive is prng.random_bits_p and _has_tpu_key(equation)) or
               any(draws(inner) for inner in core.jaxprs_in_params(equation.params)) for equation in jaxpr.eqns)


def _copy_parts(equation: Any, values: list[Any]) -> list[Any]:
    """Returns (source, its transforms), (destination, its transforms), (semaphore, ...), (remote semaphore, ...), remote device."""
    now = [plain(value) for value in values]
    parts = mosaic._dma_unflatten(equation.params["tree"], now)
    if len(parts) == 9:  # JAX before 0.9 keeps references and their transforms apart
        return [parts[place:place + 2] for place in range(0, 8, 2)] + [parts[8]]
    return [mosaic._get_ref_and_transforms(part) for part in parts[:4]] + [parts[4]]


def _read(ref: Any, transforms: Sequence[Any]) -> Any:
    """The value of a reference, of one that is seen through others, or of the one that pl.select_ref() takes."""
    if isinstance(ref, state_types.TransformedRef):
        return _loaded(_read(ref.ref, ref.transforms), transforms)
    if isinstance(ref, (tuple, list)):
        return lax.select_n(_number(transforms[0].idx, len(ref)), *(_read(each, ()) for each in ref))
    return _loaded(ref.read(), transforms)


def _write(ref: Any, transforms: Sequence[Any], value: Any) -> None:
    """Writes what _read() reads."""
    if isinstance(ref, state_types.TransformedRef):
        _write(ref.ref, ref.transforms, _stored(_read(ref.ref, ref.transforms), transforms, value))
    elif isinstance(ref, (tuple, list)):
        chosen = _number(transforms[0].idx, len(ref))
        for index, each in enumerate(ref):
            _write(each, (), jnp.where(chosen == index, value, _read(each, ())))
    elif _is_whole(transforms):
        ref.write(value)
    else:
        ref.write(_stored(ref.read(), transforms, value))


def _number(index: Any, count: int) -> Any:
    return jnp.clip(jnp.asarray(plain(index), jnp.int32), 0, count - 1)


def _has_open_size(transforms: Sequence[Any]) -> bool:
    return any(isinstance(index, indexing.Slice) and not isinstance(index.size, int)
               for transform in transforms if isinstance(transform, indexing.NDIndexer) for index in transform.indices)


def _start_copy(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """A copy is done when it starts: what it brings may not be read before the wait, so that the difference is not visible."""
    (source, from_where), (destination, to_where), _, _, device = _copy_parts(equation, values)
    if device is not None:
        raise body.refuse(equation, "a copy to another device's memory (make_async_remote_copy) is not supported on CPUs: use jax.lax's "
                                    "collectives around the kernel")
    is_sum = bool(equation.params.get("add"))
    if _has_open_size(from_where) or _has_open_size(to_where):
        # The sizes of both are known when the program runs.
        *from_before, given = from_where or [None]
        *to_before, taken = to_where or [None]
        if not isinstance(given, indexing.NDIndexer) or not isinstance(taken, indexing.NDIndexer):
            raise body.refuse(equation, "a copy whose size only a run knows expects slices of source and destination")
        now = _read(destination, to_before)
        _write(destination, to_before, pallas_operations.copied(_read(source, from_before), _with_arrays(given), now, _with_arrays(taken), is_sum))
        return []
    value = _read(source, from_where)
    _write(destination, to_where, value + _read(destination, to_where) if is_sum else value)
    return []


def _wait_for_copy(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    if _copy_parts(equation, values)[4] is not None:
        raise body.refuse(equation, "a copy from another device's memory (make_async_remote_copy) is not supported on CPUs: use jax.lax's "
                                    "collectives around the kernel")
    return []


def _semaphore(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """Signals count up, waits down: nothing waits here, for what is waited for has been done before."""
    given = equation.params["args_tree"].unflatten([plain(value) for value in values])
    ref, transforms = given[0], given[1]
    if equation.primitive is primitives.semaphore_read_p:
        return [_loaded(ref.read(), transforms).astype(jnp.int32)]
    if equation.primitive is primitives.semaphore_signal_p and len(given) > 3 and given[3] is not None:
        raise body.refuse(equation, "a signal to another device's semaphore is not supported on CPUs")
    count = jnp.asarray(given[2], jnp.int32)
    if equation.primitive is primitives.semaphore_wait_p:
        count = -count
    now = _loaded(ref.read(), transforms)
    ref.write(_stored(ref.read(), transforms, now + count))
    return []


def _scoped(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """pl.run_scoped: memory for the time of a function. Its values are undefined before they are written."""
    inner = equation.params["jaxpr"]
    if equation.params.get("collective_axes"):
        raise body.refuse(equation, "memory that several cells share (collective_axes) is not supported on CPUs")
    return body.run(inner, values, [Ref(variable.aval) for variable in inner.invars])


def _axis(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    which = 0 if equation.primitive is primitives.program_id_p else 1
    return [body.axes[equation.params["axis"]][which]]


def _named_axis(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """lax.axis_index: of the grid, or of what is around the kernel."""
    name = equation.params["axis_name"]
    return [body.names[name] if name in body.names else lax.axis_index(name)]


class _Region:
    """A loop or a branch: references that it writes are values that it takes and yields, others stay what they are."""

    def __init__(self, body: Body, values: Sequence[Any], writes: Sequence[bool], jaxprs: Sequence[core.Jaxpr]):
        self.body, self.values = body, values
        self.refs: list[Ref] = []
        self.generator = body.generator if body.generator is not None and any(map(draws, jaxprs)) else None
        for value, writes_it in zip(values, writes, strict=True):
            if isinstance(value, Ref):
                value.settle()
            if writes_it and isinstance(value, Ref) and value not in self.refs:
                self.refs.append(value)
        if self.generator is not None:
            self.refs.append(self.generator)

    def carried(self) -> list[Any]:
        """Returns the values of the references before the region."""
        return [ref.read() for ref in self.refs]

    def inside(self, carried: Sequence[Any]) -> tuple[dict[int, Ref], list[Ref]]:
        """References of the region, by the identity of those outside, and as a list."""
        made = [Ref(ref.aval, value) for ref, value in zip(self.refs, carried, strict=True)]
        if self.generator is not None:
            self.body.generator = made[-1]
        return {id(ref): new for ref, new in zip(self.refs, made, strict=True)}, made

    def finish(self, carried: Sequence[Any]) -> None:
        """Writes what the region yields."""
        if self.generator is not None:
            self.body.generator = self.generator
        for ref, value in zip(self.refs, carried, strict=True):
            ref.write(value)


def _exchange(values: Sequence[Any], by: dict[int, Ref]) -> list[Any]:
    return [by.get(id(value), value) if isinstance(value, Ref) else value for value in values]


def _arrays(values: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
    """Returns values as arrays of the variables' types."""
    return [jnp.asarray(plain(value), dtype=variable.aval.dtype) for value, variable in zip(values, variables, strict=True)]


def _branch(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    branches, (index, *operands) = equation.params["branches"], values
    if isinstance(index, np.generic):
        chosen = branches[min(max(int(index), 0), len(branches) - 1)]
        return body.run(chosen.jaxpr, chosen.consts, operands)
    if isinstance(index, Ranged) and index.low == index.high:
        chosen = branches[min(max(index.low, 0), len(branches) - 1)]
        return body.run(chosen.jaxpr, chosen.consts, operands)
    writes = [any(flags) for flags in zip(*(effect_inputs(branch.jaxpr) for branch in branches), strict=True)] or []
    region = _Region(body, operands, writes, [branch.jaxpr for branch in branches])
    outvars = branches[0].jaxpr.outvars

    def of(branch: Any) -> Callable[[list[Any]], list[Any]]:
        def function(carried: list[Any]) -> list[Any]:
            by, refs = region.inside(carried)
            results = body.run(branch.jaxpr, branch.consts, _exchange(operands, by))
            return _arrays(results, outvars) + [ref.read() for ref in refs]
        return function

    results = lax.switch(plain(index), [of(branch) for branch in branches], region.carried())
    region.finish(results[len(outvars):])
    return results[:len(outvars)]


def _while(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    condition, step = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    first, second = equation.params["cond_nconsts"], equation.params["cond_nconsts"] + equation.params["body_nconsts"]
    condition_constants, step_constants, start = values[:first], values[first:second], values[second:]
    region = _Region(body, step_constants, effect_inputs(step.jaxpr)[:len(step_constants)], [step.jaxpr])
    variables = step.jaxpr.outvars

    def test(state_: Any) -> Any:
        numbers, carried = state_
        by, _ = region.inside(carried)
        return jnp.asarray(plain(body.run(condition.jaxpr, condition.consts, _exchange(condition_constants, by) + numbers)[0]))

    def advance(state_: Any) -> Any:
        numbers, carried = state_
        by, refs = region.inside(carried)
        results = body.run(step.jaxpr, step.consts, _exchange(step_constants, by) + numbers)
        return _arrays(results, variables), [ref.read() for ref in refs]

    results, carried = lax.while_loop(test, advance, (_arrays(start, variables), region.carried()))
    region.finish(carried)
    return list(results)


def _scan(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    parameters, step = equation.params, equation.params["jaxpr"]
    first, second = parameters["num_consts"], parameters["num_consts"] + parameters["num_carry"]
    constants, start, scanned = values[:first], values[first:second], values[second:]
    region = _Region(body, constants, effect_inputs(step.jaxpr)[:first], [step.jaxpr])
    variables = step.jaxpr.outvars[:parameters["num_carry"]]

    def advance(state_: Any, elements: list[Any]) -> Any:
        numbers, carried = state_
        by, refs = region.inside(carried)
        results = body.run(step.jaxpr, step.consts, _exchange(constants, by) + numbers + elements)
        made = [jnp.asarray(plain(value)) for value in results[len(variables):]]
        return (_arrays(results[:len(variables)], variables), [ref.read() for ref in refs]), made

    (results, carried), made = lax.scan(advance, (_arrays(start, variables), region.carried()), [plain(value) for value in scanned],
                                        length=parameters["length"], reverse=parameters["reverse"], unroll=parameters["unroll"])
    region.finish(carried)
    return [*results, *made]


def _broadcast(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [jnp.broadcast_to(plain(values[0]), equation.params["shape"])]  # JAX's primitive of indices has no rule for jax.vmap


def _same(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [values[0]]


def _reciprocal(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return [1 / plain(values[0])]  # the exact reciprocal stands for the approximation


def _repeat(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    value, counts = plain(values[0]), [1] * len(equation.invars[0].aval.shape)
    counts[equation.params["axis"]] = equation.params["repeats"]
    return [jnp.tile(value, counts)]


def _roll(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    """pltpu.roll: with a stride, each slice along the stride's axis is moved by so much more than the one before it."""
    value, shift, axis = plain(values[0]), plain(values[1]), equation.params["axis"]
    if equation.params["stride"] is None:
        return [jnp.roll(value, shift, axis)]
    shape, other = equation.invars[0].aval.shape, equation.params["stride_axis"]
    from_where = lax.broadcasted_iota(jnp.int32, shape, axis) - shift - equation.params["stride"] * lax.broadcasted_iota(jnp.int32, shape, other)
    return [jnp.take_along_axis(value, jnp.mod(from_where, shape[axis]), axis)]


def _computed(function: Callable[..., Any]) -> Callable[[Body, Any, list[Any]], list[Any]]:
    """The rule of an operation on values: function(*values, **parameters)."""
    return lambda body, equation, values: function(*(plain(value) for value in values), **equation.params)


def _nothing(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    return []


def _jaxpr_call(body: Body, equation: Any, values: list[Any]) -> list[Any]:
    raise body.refuse(equation, "a call between kernels (jaxpr_call) is not supported on CPUs")


# Primitives are looked up by module and name, for not every version of JAX has all of them.
_BY_NAME: list[tuple[Any, str, Callable[[Body, Any, list[Any]], list[Any]]]] = [
    (state_primitives, "get_p", _get), (state_primitives, "swap_p", _put), (state_primitives, "addupdate_p", _add),
    (state_primitives, "broadcast_to_p", _broadcast), (lax, "dynamic_slice_p", _slice), (lax, "dynamic_update_slice_p", _update),
    (primitives, "load_p", _masked), (primitives, "swap_p", _masked), (mosaic, "dma_start_p", _start_copy),
    (mosaic, "dma_wait_p", _wait_for_copy), (primitives, "semaphore_read_p", _semaphore), (primitives, "semaphore_signal_p", _semaphore),
    (primitives, "semaphore_wait_p", _semaphore), (primitives, "run_scoped_p", _scoped), (primitives, "program_id_p", _axis),
    (primitives, "num_programs_p", _axis), (lax, "axis_index_p", _named_axis), (parallel, "axis_index_p", _named_axis), (primitives, "delay_p", _nothing), (mosaic, "delay_p", _nothing),
    (primitives, "multiple_of_p", _same), (primitives, "max_contiguous_p", _same), (primitives, "reciprocal_p", _reciprocal),
    (mosaic, "repeat_p", _repeat), (mosaic, "roll_p", _roll), (primitives, "jaxpr_call_p", _jaxpr_call), (lax, "cond_p", _branch), (lax, "while_p", _while), (lax, "scan_p", _scan),
    (core, "ref_p", _new_ref), (core, "empty_ref_p", _new_ref), (core, "freeze_p", _freeze), (core, "free_ref_p", _nothing),
    (mosaic, "touch_p", _nothing), (mosaic, "trace_value_p", _nothing), (mosaic, "prng_seed_p", _seed), (mosaic, "prng_random_bits_p", _random_bits),
    (prng, "random_bits_p", _keyed), (prng, "random_fold_in_p", _keyed), (mosaic, "split_key_p", _computed(pallas_operations.key_words)), (mosaic, "join_key_p", _computed(pallas_operations.key_of_words)),
    (mosaic, "stochastic_round_p", _computed(pallas_operations.stochastic_round)),
    (mosaic, "pack_elementwise_p", _computed(pallas_operations.packed)), (mosaic, "unpack_elementwise_p", _computed(pallas_operations.unpacked)),
    (triton, "atomic_rmw_p", _atomic), (triton, "debug_barrier_p", _nothing), (triton, "max_contiguous_p", _same),
]
_RULES = {getattr(module, name): rule for module, name, rule in _BY_NAME if hasattr(module, name)}
