# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler made of the annotations of a graph."""
import html

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


def explain_html(text):
    """The text of explain() as a page: one table of tensors, one of collectives."""
    tensors, _, collectives = text.partition("\ncollectives of each device:\n")
    def rows(part):
        return "".join(f"<tr><td><code>{html.escape(line)}</code></td></tr>\n" for line in part.split("\n") if line.strip())
    return ("<!DOCTYPE html>\n<meta charset='utf-8'><title>Shardings</title>\n<style>td{border-bottom:1px solid #ccc;"
            "padding:2px 8px;white-space:pre-wrap}</style>\n"
            f"<h1>Tensors</h1>\n<table>\n{rows(tensors)}</table>\n<h1>Collectives of each device</h1>\n<table>\n{rows(collectives)}</table>\n")


def partitioned(tensors=None):
    """StableHLO text of the program that each device runs, with its collectives; of the same programs as explain()."""
    return _XLAC._spmd_partitioned(None if tensors is None else list(tensors))
