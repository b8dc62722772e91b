# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of shardings: in the terminal (rich), as SVG and as HTML."""
from __future__ import annotations

import html
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _XLAC
from ._places import ShardingError
from .explain import explain, explain_html  # noqa: F401

if TYPE_CHECKING:
    import torch

_COLORS = ("#5778a4", "#e49444", "#85b6b2", "#d1615d", "#6a9f58", "#e7ca60", "#a87c9f", "#967662")


def construct_v1_sharding_str(t: torch.Tensor) -> str:
    """Returns the text of a tensor's sharding, with its devices as a list; visualize_sharding() takes it.

    Args:
      t: A tensor of the device.
    """
    return _XLAC._spmd_text(t)


def parse(sharding: str) -> Any:
    """Returns the devices of each tile of a sharding: an array of tuples, with as many elements per dimension as there are tiles.

    Args:
      sharding: The text of the sharding, such as "{devices=[2,4]<=[8]}".

    Raises:
      ShardingError: The text is no sharding.
    """
    if sharding in ("", "{replicated}", "{manual}", "{unknown}"):
        from ... import runtime as xr
        grid: Any = np.empty((1, 1), dtype=object)
        grid[0, 0] = tuple(range(xr.global_runtime_device_count()))
        return grid
    if one := re.fullmatch(r"\{maximal device=(\d+)\}", sharding):
        grid = np.empty((1, 1), dtype=object)
        grid[0, 0] = (int(one[1]),)
        return grid
    found = re.fullmatch(r"\{devices=\[([\d,]+)\](?:([\d,]+)|<=\[([\d,]+)\](?:T\(([\d,]+)\))?)( last_tile_dim_replicate)?\}", sharding)
    if not found:
        raise ShardingError(f"visualize_sharding: expects a sharding like {{devices=[2,4]<=[8]}}, but got {sharding!r}")
    numbers = [[int(n) for n in group.split(",")] if group else None for group in found.group(1, 2, 3, 4)]
    tiles: Any = numbers[0]
    devices: Any = numbers[1]
    reshape, transpose = numbers[2:]
    if devices is None:
        devices = np.arange(np.prod(reshape)).reshape(reshape).transpose(transpose or range(len(reshape or ()))).flatten()
    if np.prod(tiles) != len(devices):
        raise ShardingError(f"visualize_sharding: expects {int(np.prod(tiles))} devices in {sharding!r}, but got {len(devices)}")
    copies = tiles.pop() if found.group(5) else 1
    members = np.array(devices).reshape(-1, copies)
    grid = np.empty(len(members), dtype=object)
    for i, each in enumerate(members):
        grid[i] = tuple(int(device) for device in each)
    return grid.reshape(tiles if tiles else (1,))


def _planes(grid):
    """Returns [(title, two-dimensional array)]: the last two dims side by side, one picture per index of the others."""
    if grid.ndim == 1:
        return [("", grid.reshape(1, -1))]
    if grid.ndim == 2:
        return [("", grid)]
    return [(f"[{', '.join(map(str, index))}, :, :]", grid[index]) for index in np.ndindex(*grid.shape[:-2])]


def _label(devices, is_list=False):
    """"CPU 3", or "CPU [2, 3]" of what several devices have."""
    return f"CPU {list(devices) if is_list or len(devices) > 1 else devices[0]}"


def visualize_sharding(sharding: str, use_color: bool = True, scale: float = 1.0, min_width: int = 9, max_width: int = 80, file: Any = None) -> Any:
    """Draws which device holds which tile of a tensor, in the terminal or to a file.

    Args:
      sharding: The text of a sharding, such as "{devices=[2,4]<=[8]}".
      use_color: Whether tiles have the colors of their devices; lines separate them otherwise.
      scale: A factor of the sizes of tiles.
      min_width: The least width of a tile in characters.
      max_width: The width of the picture in characters.
      file: The path of an .svg or .html file that is written instead; None: the terminal.

    Returns:
      The rich.table.Table, a list of them for tensors of more than two dimensions, or `file`.

    Raises:
      ImportError: The terminal is used, and the package rich is not installed.
    """
    planes = _planes(parse(sharding))
    if file is not None:
        picture = to_svg(sharding)
        if os.fspath(file).endswith((".html", ".htm")):
            picture = f"<!DOCTYPE html>\n<meta charset='utf-8'><title>{html.escape(sharding)}</title>\n{picture}\n"
        with open(file, "w", encoding="utf-8") as out:
            out.write(picture)
        return file
    import rich.align
    import rich.box
    import rich.console
    import rich.padding
    import rich.table
    console = rich.console.Console(width=max_width)
    use_color = use_color and bool(console.color_system)
    is_list = not sharding.startswith("{devices=") or sharding.endswith("last_tile_dim_replicate}")
    tables = []
    for title, plane in planes:
        # Colors separate the cells, or lines where there are no colors.
        table = rich.table.Table(show_header=False, show_lines=not use_color, padding=0, highlight=not use_color, pad_edge=False,
                                 box=None if use_color else rich.box.SQUARE, title=title or None)
        for row in plane:
            labels = [_label(cell, is_list) for cell in row]
            around = [max(1, int(scale * min_width - len(label) - 2) // 2) for label in labels]
            table.add_row(*(rich.padding.Padding(rich.align.Align(label, "center", vertical="middle"), (max(1, int(scale)), space),
                                                 style=f"black on {_COLORS[cell[0] % len(_COLORS)]}" if use_color else "")
                            for cell, label, space in zip(row, labels, around)))
        console.print(table)
        tables.append(table)
    return tables[0] if len(tables) == 1 else tables


def visualize_tensor_sharding(t: torch.Tensor, **kwargs: Any) -> Any:
    """Draws which device holds which tile of a tensor, see visualize_sharding(). All devices hold a tensor that has no sharding.

    Args:
      t: A tensor of the device.
      **kwargs: Further arguments of visualize_sharding().
    """
    return visualize_sharding(_XLAC._spmd_text(t), **kwargs)


def to_svg(sharding: str) -> str:
    """Returns a picture of a sharding as SVG.

    Args:
      sharding: The text of the sharding, such as "{devices=[2,4]<=[8]}".

    Raises:
      ShardingError: The text is no sharding.
    """
    cell, gap, top = (96, 48), 24, 34
    parts, y, width = [], top, 0
    for title, plane in _planes(parse(sharding)):
        if title:
            parts.append(f"<text x='8' y='{y + 12}'>{html.escape(title)}</text>")
            y += 18
        for i, row in enumerate(plane):
            for j, devices in enumerate(row):
                x = 8 + j * cell[0]
                parts.append(f"<rect x='{x}' y='{y + i * cell[1]}' width='{cell[0]}' height='{cell[1]}' "
                             f"fill='{_COLORS[devices[0] % len(_COLORS)]}' stroke='white'/>"
                             f"<text x='{x + cell[0] / 2}' y='{y + i * cell[1] + cell[1] / 2 + 4}' text-anchor='middle'>"
                             f"{html.escape(_label(devices))}</text>")
        y += plane.shape[0] * cell[1] + gap
        width = max(width, plane.shape[1] * cell[0] + 16)
    width = max(width, 9 * len(sharding) + 16)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{y}' font-family='sans-serif' font-size='13'>"
            f"<text x='8' y='20'>{html.escape(sharding)}</text>{''.join(parts)}</svg>")
