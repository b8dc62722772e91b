# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of sharding annotations. Each names the tensor as the program does, the line, the expected and the actual value."""
import ast
import contextlib
import functools
import itertools
import linecache
import os
import sys
import threading

_LIBRARIES = tuple(os.path.dirname(os.path.realpath(str(sys.modules[name].__file__))) + os.sep for name in ("torch", "torch_xla"))

_TENSORS = ("t", "tensor", "torch_tensor", "local_tensor")  # the names of the parameters that are the annotated tensor


class ShardingError(ValueError, AssertionError, RuntimeError):
    """A sharding that cannot be. (PyTorch/XLA raises any of the three, depending on the mistake.)"""


class ShardingDimError(ShardingError, IndexError):
    """A dim that a tensor does not have."""


class ShardingUnsupported(ShardingError, NotImplementedError):
    """A placement that tensors of the device cannot have."""


def _user_frame():
    frame = sys._getframe(1)
    # (A dataclass's constructor is in no file.)
    while frame and (frame.f_code.co_filename == "<string>" and frame.f_code.co_name == "__init__" or
                     os.path.realpath(frame.f_code.co_filename).startswith(_LIBRARIES)):
        frame = frame.f_back
    return frame


_acting = threading.local()  # .place: "f.py:3", the line of the program for which this thread works


def user_place():
    """"f.py:3", the line of the program that calls; "" if there is none."""
    frame = _user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


@contextlib.contextmanager
def acting_for(place):
    """Errors of this thread name this line (of user_place()): a thread in the background has none of the program's in its stack."""
    _acting.place = place
    try:
        yield
    finally:
        del _acting.place


def _subject(frame, is_method):
    """Returns the text of the first argument of the call that the frame is in (of a method: of its object); None if its source is not at hand."""
    lines = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    if None in lines:
        return None
    first, last, begin, end = lines
    text = [linecache.getline(frame.f_code.co_filename, number) for number in range(first, last + 1)]
    if not all(text):
        return None
    text[-1] = text[-1].encode()[:end].decode()
    text[0] = text[0].encode()[begin:].decode()
    source = "".join(text).strip()
    try:
        call = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call):
        return None
    if is_method:
        return ast.get_source_segment(source, call.func.value) if isinstance(call.func, ast.Attribute) else None
    first = call.args[0] if call.args else next((keyword.value for keyword in call.keywords if keyword.arg in _TENSORS), None)
    return first and ast.get_source_segment(source, first)


@functools.lru_cache(maxsize=16)
def _calls(source):
    try:
        return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    except SyntaxError:
        return []


def annotated_at(file, line):
    """Returns the text of the tensor that is annotated on the line; None if that does not say."""
    source = "".join(linecache.getlines(file))
    for call in _calls(source):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if call.lineno <= line <= call.end_lineno and name in ("mark_sharding", "annotate_custom_sharding", "xla_distribute_tensor",
                                                               "distribute_tensor", "mark_sharding_with_gradients"):
            return ast.get_source_segment(source, call.args[0])
    return None


def describe(tensor, is_method=False):
    """Returns a tensor in a message: "model.fc1.weight (float32[8, 4])". `is_method`: the user has called a method of it."""
    frame = None if hasattr(_acting, "place") else _user_frame()
    name = _subject(frame, is_method) if frame else None
    kind = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    return f"{name} ({kind})" if name else f"a tensor {kind}"


def error(what, expected, actual, kind=ShardingError, rule=None):
    """Returns the error to raise; the user's line comes first. `rule`: how PyTorch/XLA says what is broken."""
    place = getattr(_acting, "place", None) or user_place()
    return kind(f"{place + ': ' if place else ''}{what}: expects {expected}, but got {actual}{f' ({rule})' if rule else ''}")
