# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler made of the annotations of a graph."""
from ... import _XLAC


def explain(tensors=None, file=None):
    """Every tensor that is split, with its sharding and for every axis the annotation, operation and line it comes from; then every
    collective with its bytes, line and estimated time. Of the program that computes `tensors` (pending ones), or else of the one that
    was compiled last. As text; `file`: an HTML file to write besides. RuntimeError if there is no program."""
    text = _XLAC._spmd_explain(None if tensors is None else list(tensors))
    if file is not None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(explain_html(text))
    return text


def explain_html(text, title="Shardings"):
    """The text of explain() as an HTML page that needs no other file: a table of tensors, one of collectives."""
    return _XLAC._spmd_explanation_page(text, title)


def partitioned(tensors=None):
    """StableHLO text of the program that each device runs, with its collectives; of the same programs as explain()."""
    return _XLAC._spmd_partitioned(None if tensors is None else list(tensors))
