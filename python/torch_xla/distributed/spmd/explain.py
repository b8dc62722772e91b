# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explains the shardings that the compiler has found for a graph."""
import html
import os
import re
from typing import Any

import torch

from ... import _XLAC
from ._places import annotated_at
from ._marking import unwrap_sharded_tensor


class Explanation(str):
    """The text of explain(), which a notebook shows as the page."""

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(explain_html(self))}" style="width: 100%; height: 600px; border: 0" title="Shardings"></iframe>'


_ARGUMENT = re.compile(r"\bargument (\d+) of @main\b")


def explain(tensors: Any = None, file: str | os.PathLike | None = None, names: Any = None) -> str:
    """Explains why every tensor of a program is sharded as it is, or whole.

    Args:
      tensors: A pending tensor, or several: the program that computes them is explained. Without it, the program that was compiled last.
      file: An HTML file to write, too.
      names: Names of the arguments of a pending program: a module (its parameters and buffers) or a dict of tensors by name. Without it,
        arguments are called by the expressions that were annotated.

    Returns:
      Per tensor its sharding and for every axis the annotation from which it comes, the operation through which it came with the rule's factor, and
      the user's lines; for a dimension that an axis did not reach, the obstacle; then every collective with its bytes, line and estimated time. Notebooks show it as a page.

    Raises:
      RuntimeError: There is no program.
      ValueError: `names` without `tensors`.
    """
    if names is not None and tensors is None:
        raise ValueError("explain: expects `names` together with pending tensors, but got names alone")
    roots = _roots(tensors)
    text = _XLAC._spmd_explain(roots)
    text = Explanation(_with_names(text, {} if names is None else _numbered(roots, names)))
    if file is not None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(explain_html(text))
    return text


def _roots(tensors):
    if tensors is None:
        return None
    return [unwrap_sharded_tensor(tensor) for tensor in ([tensors] if isinstance(tensors, torch.Tensor) else tensors)]


def _numbered(roots, names):
    """Returns {number of the argument: name}."""
    if isinstance(names, torch.nn.Module):
        names = {**dict(names.named_parameters()), **dict(names.named_buffers())}
    numbers = _XLAC._spmd_argument_numbers(roots, [unwrap_sharded_tensor(tensor) for tensor in names.values()])
    return {number: name for number, name in zip(numbers, names) if number >= 0}


def _with_names(text, names):
    for line in text.splitlines():
        found = re.match(rf"{_ARGUMENT.pattern} : .*  \((.+):(\d+)\)$", line)
        if found and int(found[1]) not in names and (name := annotated_at(found[2], int(found[3]))):
            names[int(found[1])] = name
    return _ARGUMENT.sub(lambda found: f'{found[0]} "{names[int(found[1])]}"' if int(found[1]) in names else found[0], text)


def explain_html(text: str, title: str = "Shardings") -> str:
    """Returns the text of explain() as an HTML page that needs no other file: tables of tensors, and one of collectives.

    Args:
      text: The result of explain().
      title: The heading of the page.
    """
    return _XLAC._spmd_explanation_page(text, title)


def partitioned(tensors: Any = None) -> str:
    """Returns the StableHLO text of the program that each device runs, with its collectives.

    Args:
      tensors: See explain().
    """
    return _XLAC._spmd_partitioned(_roots(tensors))
