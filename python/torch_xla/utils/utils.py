# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.utils (xu): fake data for example programs, walks over nested data, small helpers."""
import contextlib
import copy
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class Cleaner:
    """An object that calls a function when it is deleted, or at the end of the process.

    Args:
      func: The function.
    """

    def __init__(self, func: Callable[[], Any]) -> None:
        self.func = func

    def __del__(self):
        self.func()


class LazyProperty:
    """A value that a function computes when it is read for the first time.

    Args:
      gen_fn: The function; an exception of it leaves the value uncomputed.
    """

    def __init__(self, gen_fn: Callable[[], Any]) -> None:
        self._generate, self._lock = gen_fn, threading.Lock()
        self._values: list[Any] = []

    @property
    def value(self) -> Any:
        """The value; it is made once, whatever the number of threads."""
        with self._lock:
            if not self._values:
                self._values.append(self._generate())
        return self._values[0]


class TmpFolder:
    """A temporary folder that lives as long as this object, or the `with` block."""

    def __init__(self):
        self.name = tempfile.mkdtemp()
        self._cleaner = Cleaner(lambda name=self.name: shutil.rmtree(name, ignore_errors=True))

    def __enter__(self):
        return self.name

    def __exit__(self, *exception):
        self._cleaner.func()


class SampleGenerator:
    """Iterates over the same batch several times; every loop begins anew.

    Args:
      data: The batch.
      sample_count: The number of times.
    """

    def __init__(self, data: Any, sample_count: int) -> None:
        self._data, self._sample_count, self._count = data, sample_count, 0

    def __iter__(self):
        return SampleGenerator(self._data, self._sample_count)

    def __len__(self):
        return self._sample_count

    def __next__(self):
        return self.next()

    def next(self) -> Any:
        """Returns the next batch.

        Raises:
          StopIteration: All have been returned.
        """
        if self._count >= self._sample_count:
            raise StopIteration
        self._count += 1
        return self._data


class FnDataGenerator:
    """Generates pairs (data, func(data)); every loop begins anew.

    Args:
      func: Returns the targets for data.
      batch_size: The first argument of `gen_tensor`.
      gen_tensor: Returns data, called as gen_tensor(batch_size, *dims), such as torch.randn.
      dims: The further sizes; None: [1].
      count: The number of pairs.
    """

    def __init__(self, func: Callable[[Any], Any], batch_size: int, gen_tensor: Callable[..., Any], dims: Sequence[int] | None = None,
                 count: int = 1) -> None:
        self._func, self._batch_size, self._generate = func, batch_size, gen_tensor
        self._dims, self._count, self._emitted = list(dims) if dims else [1], count, 0

    def __iter__(self):
        return FnDataGenerator(self._func, self._batch_size, self._generate, dims=self._dims, count=self._count)

    def __len__(self):
        return self._count

    def __next__(self):
        return self.next()

    def next(self) -> tuple[Any, Any]:
        """Returns the next pair (data, target).

        Raises:
          StopIteration: All have been returned.
        """
        if self._emitted >= self._count:
            raise StopIteration
        self._emitted += 1
        data = self._generate(self._batch_size, *self._dims)
        return data, self._func(data)


class DataWrapper:
    """The base class of batches whose tensors a loader cannot find: subclasses return their tensors, and are made again from uploaded ones."""

    def get_tensors(self) -> list[Any]:
        """Returns the tensors of this object.

        Raises:
          NotImplementedError: The subclass does not define this method.
        """
        raise NotImplementedError("a subclass of DataWrapper defines get_tensors()")

    def from_tensors(self, tensors: list[Any]) -> Any:
        """Returns an object like this one with other tensors.

        Args:
          tensors: The new tensors, in the order of get_tensors().

        Raises:
          NotImplementedError: The subclass does not define this method.
        """
        raise NotImplementedError("a subclass of DataWrapper defines from_tensors()")


def as_list(t: Any) -> list[Any]:
    """Returns the elements of a tuple or list as a list, and anything else as a list of one."""
    return list(t) if isinstance(t, (tuple, list)) else [t]


def getenv_as(name: str, type: type[Any], defval: Any = None) -> Any:
    """Returns an environment variable, converted to a type.

    Args:
      name: The variable.
      type: The type. A bool is true for 1, t, true, y, yes and on.
      defval: The result where the variable is not set.

    Raises:
      ValueError: The value does not convert.
    """
    text = os.environ.get(name)
    if text is None:
        return defval
    return text.lower() in ("1", "t", "true", "y", "yes", "on") if type is bool else type(text)


def check_env_flag(name: str, default: str = "") -> bool:
    """Returns whether an environment variable is ON, 1, YES, TRUE or Y, in any case.

    Args:
      name: The variable.
      default: The value where the variable is not set.
    """
    return os.environ.get(name, default).upper() in ("ON", "1", "YES", "TRUE", "Y")


def for_each_instance(value: Any, select_fn: Callable[[Any], bool], fn: Callable[[Any], Any]) -> None:
    """Calls a function for the selected values in nested data, once for each object.

    It looks into dicts, lists, tuples, sets, DataWrapper and the attributes of objects; what is selected is not looked into.

    Args:
      value: The data.
      select_fn: Returns whether a value is selected.
      fn: The function that is called with a selected value.
    """
    seen: set[int] = set()

    def walk(value):
        if id(value) in seen:
            return
        seen.add(id(value))
        if select_fn(value):
            fn(value)
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(key)
                walk(item)
        elif isinstance(value, (list, tuple, set)):
            for item in value:
                walk(item)
        elif isinstance(value, DataWrapper):
            walk(value.get_tensors())
        elif _has_state(value):
            for item in vars(value).values():
                walk(item)

    walk(value)


def for_each_instance_rewrite(value: Any, select_fn: Callable[[Any], bool], fn: Callable[[Any], Any]) -> Any:
    """Returns a copy of nested data with the selected values replaced.

    Two places that hold the same object hold the same object in the copy. What contains nothing selected is not copied.

    Args:
      value: The data: dicts, lists, tuples, sets, DataWrapper, and objects with attributes.
      select_fn: Returns whether a value is selected.
      fn: Returns the replacement of a selected value.
    """
    made: dict[int, tuple[Any, Any]] = {}

    def walk(value):
        if id(value) not in made:
            made[id(value)] = (rewrite(value), value)  # the original is kept alive, so that no other object gets its id
        return made[id(value)][0]

    def rewrite(value):
        if select_fn(value):
            return fn(value)
        if isinstance(value, dict):
            items = {walk(key): walk(item) for key, item in value.items()}
            if all(a is b for pair in zip(items.items(), value.items()) for a, b in zip(*pair)):
                return value
            if type(value) is dict:
                return items
            result = copy.copy(value)
            result.clear()
            result.update(items)
            return result
        if isinstance(value, (list, tuple, set)):
            items = [walk(item) for item in value]
            if all(a is b for a, b in zip(items, value)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, DataWrapper):
            return value.from_tensors(walk(value.get_tensors()))
        if _has_state(value):
            made[id(value)] = (value, value)  # an object may hold itself
            state = {name: walk(item) for name, item in vars(value).items()}
            if any(state[name] is not item for name, item in vars(value).items()):
                result = copy.copy(value)
                result.__dict__.update(state)
                return result
        return value

    return walk(value)


def _has_state(value):
    """Objects of users' classes; not functions, classes, modules or tensors."""
    import torch
    return hasattr(value, "__dict__") and not isinstance(value, (type, type(sys), torch.Tensor, torch.Generator)) and \
        not callable(value)


def shape(inputs: Any) -> list[int]:
    """Returns the sizes of nested lists, by their first elements."""
    sizes: list[int] = []
    while isinstance(inputs, (list, tuple)):
        sizes.append(len(inputs))
        if not inputs:
            break
        inputs = inputs[0]
    return sizes


def flatten_nested_tuple(inputs: Iterable[Any]) -> tuple:
    """Returns the elements of nested tuples and lists as one tuple."""
    result: list[Any] = []
    for item in inputs:
        result.extend(flatten_nested_tuple(item) if isinstance(item, (tuple, list)) else [item])
    return tuple(result)


def list_copy_append(ilist: Iterable[Any], item: Any) -> list[Any]:
    """Returns a list of the elements of `ilist`, followed by `item`.

    Args:
      ilist: The elements, which stay as they are.
      item: The last element.
    """
    return list(ilist) + [item]


def null_print(*args: Any, **kwargs: Any) -> None:
    """Prints nothing; stands for print() where no output is wanted.

    Args:
      *args: Have no effect.
      **kwargs: Have no effect.
    """


def eprint(*args: Any, **kwargs: Any) -> None:
    """Prints to standard error.

    Args:
      *args: The values, as for print().
      **kwargs: Further arguments of print(), but `file`.
    """
    print(*args, file=sys.stderr, **kwargs)


def get_print_fn(debug: bool | None = None) -> Callable[..., Any]:
    """Returns eprint if `debug` is true, else null_print. The environment variable DEBUG decides by default."""
    return eprint if (getenv_as("DEBUG", bool, False) if debug is None else debug) else null_print


def timed(fn: Callable[[], Any], msg: str = "", printfn: Callable[..., Any] = eprint) -> Any:
    """Calls a function, prints the time that it took in seconds, and returns its result.

    Args:
      fn: The function.
      msg: The text before the time.
      printfn: Prints the line.
    """
    with TimedScope(msg=msg, printfn=printfn):
        return fn()


class TimedScope:
    """A context manager that prints the time of its `with` block in seconds, and the exception that ended it.

    Args:
      msg: The text before the time.
      printfn: Prints the line.
    """

    def __init__(self, msg: str = "", printfn: Callable[..., Any] = eprint) -> None:
        self._message = msg if not msg or msg.endswith(" ") else msg + " "
        self._print = printfn
        self._error: Any = None

    def set_error(self, error: Any) -> None:
        """Records that the block has failed, for the message."""
        self._error = error

    def __enter__(self):
        self._start = time.monotonic()
        return self

    def __exit__(self, kind, value, trace):
        if self._error is None and value is not None:
            self.set_error(value)
        failed = f" (failed: {self._error})" if self._error is not None else ""
        self._print(f"{self._message}{time.monotonic() - self._start:.3f}s{failed}")


def get_free_tcp_ports(n: int = 1) -> list[int]:
    """Returns `n` different ports on which no server listens at the moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(n)]
        for one in sockets:
            one.bind(("", 0))
        return [one.getsockname()[1] for one in sockets]


def parallel_work(num_workers: int, fn: Callable[..., Any], *args: Iterable[Any]) -> list[Any]:
    """Calls a function with many arguments in threads.

    Args:
      num_workers: The number of threads.
      fn: The function.
      *args: One iterable per parameter; the shortest one decides about the number of calls.

    Returns:
      The results in the order of the arguments.

    Raises:
      Exception: What a call raised; that of the first argument for which one did.
    """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(max_workers=num_workers) as executor:
        return list(executor.map(fn, *args))
