# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accelerate's save_state() writes the first process's state of a model for all (1.15): of an XlaFullyShardedDataParallel that is one shard of many,
and load_state() gave it to all. Here each process writes and reads a file of its own for such models and the optimizers. Its fsdp_plugin wraps nothing
on XLA devices, and each process would train a whole model: an error says what does."""
import functools
import os
import sys
from typing import Any

import torch

from . import _import_hooks, _world

_MODULE, _USER = "accelerate.checkpointing", "accelerate.accelerator"


def _file(folder: Any) -> str:
    """Of this process."""
    return os.path.join(folder, f"xla_fsdp_rank-{_world.rank()}-of-{_world.size()}.pth")


def _use(module: Any) -> None:
    """`module`: accelerate.checkpointing."""
    save, load = module.save_accelerator_state, module.load_accelerator_state

    @functools.wraps(save)
    def save_accelerator_state(output_dir: Any, model_states: list, optimizers: list, *args: Any, **kwargs: Any) -> Any:
        if any("_fsdp_shard" in key for state in model_states for key in state):
            from .core import xla_model as xm
            own = {"models": model_states, "optimizers": [optimizer.state_dict() for optimizer in optimizers]}
            xm.save(own, _file(output_dir), master_only=False)
            model_states, optimizers = [], []
        return save(output_dir, model_states, optimizers, *args, **kwargs)

    @functools.wraps(load)
    def load_accelerator_state(input_dir: Any, models: list, optimizers: list, *args: Any, **kwargs: Any) -> Any:
        ours = sys.modules.get("torch_xla.distributed.fsdp")
        if ours and any(isinstance(part, ours.XlaFullyShardedDataParallel) for model in models for part in model.modules()):
            if not os.path.exists(_file(input_dir)):
                raise FileNotFoundError(f"expects {_file(input_dir)}: shards of XlaFullyShardedDataParallel are loaded by as many processes as saved them, "
                                        f"and {input_dir} has {sorted(os.listdir(input_dir))}")
            own = torch.load(_file(input_dir), weights_only=True)
            for each, state in zip([*models, *optimizers], [*own["models"], *own["optimizers"]]):
                each.load_state_dict(state)
            models, optimizers = [], []
        return load(input_dir, models, optimizers, *args, **kwargs)
    for name, old, new in (("save_accelerator_state", save, save_accelerator_state), ("load_accelerator_state", load, load_accelerator_state)):
        for user in (module, sys.modules.get(_USER)):
            if getattr(user, name, None) is old:
                setattr(user, name, new)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true", "yes", "on")


def _use_accelerator(module: Any) -> None:
    """`module`: accelerate.accelerator."""
    init = module.Accelerator.__init__

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        asks = kwargs.get("fsdp_plugin") is not None or _is_on("ACCELERATE_USE_FSDP")
        if asks and not (kwargs.get("cpu") or _is_on("ACCELERATE_USE_CPU")) and module.is_torch_xla_available():
            raise NotImplementedError(
                "accelerate's fsdp_plugin (accelerate launch --use_fsdp) shards no model on the device xla: wrap the model with "
                "torch_xla.distributed.fsdp.XlaFullyShardedDataParallel before prepare(), and make the optimizer after that. transformers' Trainer does it for "
                "fsdp=\"full_shard\", fsdp_config={\"xla\": True, \"transformer_layer_cls_to_wrap\": [...]}")
        init(self, *args, **kwargs)
    module.Accelerator.__init__ = checked


def install() -> None:
    """Also where accelerate is imported already."""
    for name, last, use in ((_MODULE, "load_accelerator_state", _use), (_USER, "Accelerator", _use_accelerator)):
        if hasattr(sys.modules.get(name), last):
            use(sys.modules[name])
        else:
            _import_hooks.add(name, after=use)
