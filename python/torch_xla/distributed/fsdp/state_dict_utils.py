# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merges the state dicts of the ranks of an XlaFullyShardedDataParallel into that of the whole model."""
import glob
import math
import os
import zipfile
from collections import OrderedDict
from typing import Any

import torch

from ...core import _files

_INFIXES = ("_fsdp_wrapped_module.", "_fpw_module.")


def _plain(name):
    for infix in _INFIXES:
        name = name.replace(infix, "")
    return name


def _joined(shards, size, name):
    """Returns the parameter that was cut into shards: along dim 0 if they have its other dims, else as a vector."""
    size = torch.Size(size)
    whole = torch.cat(shards, dim=0)
    on_dim_0 = whole.dim() > 1 or whole.dim() == len(size)
    rows = size[0] if on_dim_0 and size else math.prod(size)
    if whole.size(0) < rows:
        raise ValueError(f"{name}: expects shards of {tuple(size)}, but together they have {tuple(whole.shape)}")
    return whole[:rows].reshape(size)


def consolidate_sharded_state_dicts(state_dict_list: list[dict[str, torch.Tensor]], shard_metadata: dict[str, Any]) -> "OrderedDict[str, torch.Tensor]":
    """Merges the state dicts of all ranks into that of the module that was wrapped.

    Args:
      state_dict_list: The state dicts, by rank. Buffers are taken from rank 0.
      shard_metadata: get_shard_metadata() of any rank.

    Raises:
      ValueError: They do not belong together.
    """
    if len(state_dict_list) != shard_metadata["world_size"]:
        raise ValueError(f"expects the state dicts of {shard_metadata['world_size']} ranks, as the metadata says, but got {len(state_dict_list)}")
    whole: "OrderedDict[str, torch.Tensor]" = OrderedDict()
    for key, first in state_dict_list[0].items():
        path, _, name = key.rpartition(".")
        if not name.startswith("_fsdp_shard"):
            whole[_plain(key)] = first
            continue
        try:
            info = shard_metadata["shard_info"][path][name]
            shards = [state_dict[key] for state_dict in state_dict_list]
        except KeyError as error:
            raise ValueError(f"{key} of rank 0 is not in the metadata or the state dict of another rank: {error} is missing") from None
        full_name = f"{path}.{info['_orig_name']}" if path else info["_orig_name"]
        joined = _joined(shards, info["_orig_size"], full_name)
        # The name of a vector has no infix of the module that holds it; those of its parameters have.
        flat = shard_metadata["flatten_info"].get(full_name.replace("_fpw_module.", ""))
        if flat is None:
            prefix, parts = path, {info["_orig_name"]: joined}
        else:
            prefix = full_name.rpartition(".")[0]
            parts = {name: part.view(shape) for name, shape, part in zip(flat[0], flat[1], joined.split(list(flat[2])))}
        for part_name, part in parts.items():
            for each in [part_name, *info.get("_shared_names", {}).get(part_name, [])]:
                whole[_plain(f"{prefix}.{each}" if prefix else each)] = part
    return whole


def _load(path):
    """What is in the file of a rank. ValueError, which names it, where it is damaged or no such file."""
    try:
        if zipfile.is_zipfile(path):  # torch.load() compares no checksums
            with zipfile.ZipFile(path) as file:
                damaged = file.testzip()
            if damaged is not None:
                raise ValueError(f"{damaged} in it differs from its checksum")
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # any library that reads the file may raise
        raise ValueError(f"{path} cannot be read, it is damaged or not a checkpoint: {type(error).__name__}: {str(error)[:200]}") from error
    if not isinstance(checkpoint, dict) or not {"model", "shard_metadata"} <= checkpoint.keys():
        had = f"has {sorted(map(str, checkpoint))[:5]}" if isinstance(checkpoint, dict) else f"is a {type(checkpoint).__name__}"
        raise ValueError(f"expects {{'model': model.state_dict(), 'shard_metadata': model.get_shard_metadata()}} of one rank in {path}, which {had}. If it is "
                         "not a shard, choose a narrower suffix")
    return checkpoint


def consolidate_sharded_model_checkpoints(ckpt_prefix: str, ckpt_suffix: str = "*.pth", save_path: str = "",
                                          save_model: bool = True) -> tuple["OrderedDict[str, torch.Tensor]", str | None]:
    """Merges the checkpoints of all ranks, each of which is {"model": state_dict(), "shard_metadata": get_shard_metadata()}.

    Args:
      ckpt_prefix: The beginning of the files' paths.
      ckpt_suffix: The rest, with wildcards.
      save_path: Where {"model": ...} is saved, `ckpt_prefix` + "_consolidated.pth" by default. A file of that name stays until the new one is complete.
      save_model: Whether it is saved.

    Returns:
      The whole state dict, and the path to which it was saved (None if it was not).

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is missing, damaged or of another model, or there are too many.
    """
    pattern = ckpt_prefix + ckpt_suffix
    target = save_path or ckpt_prefix + "_consolidated.pth"
    paths = sorted(path for path in glob.glob(pattern) if os.path.realpath(path) != os.path.realpath(target))
    if not paths:
        raise FileNotFoundError(f"Cannot find any files matching {pattern}.")
    print(f"found {len(paths)} checkpoint files in {pattern}")
    loaded = sorted(((_load(path), path) for path in paths), key=lambda each: each[0]["shard_metadata"]["rank"])
    for rank, (checkpoint, path) in enumerate(loaded):
        metadata = checkpoint["shard_metadata"]
        if metadata["world_size"] != len(paths):
            raise ValueError(f"expects {metadata['world_size']} files, as the metadata in {path} says, but {pattern} matches {len(paths)}")
        if metadata["rank"] != rank:
            raise ValueError(f"expects a file of rank {rank}, but {path} is of rank {metadata['rank']}, the next one among {len(paths)} files in {pattern}")
        for what in ("shard_info", "flatten_info"):
            if metadata[what] != loaded[0][0]["shard_metadata"][what]:
                raise ValueError(f"{path} has shards of another model than {loaded[0][1]}: the names or sizes of parameters differ")
    whole = consolidate_sharded_state_dicts([checkpoint["model"] for checkpoint, _ in loaded], loaded[0][0]["shard_metadata"])
    if not save_model:
        return whole, None
    _files.save({"model": whole}, target)
    print(f"saved consolidated model to {target}")
    return whole, target
