# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hugging Face's Trainer with `fsdp` and `xla`. transformers 5 wraps the model and makes no optimizer then (5.23; 4 made it there): it is made where
the model is wrapped, and a Trainer that makes it later finds it made. accelerate clips each process's shards by themselves: the wrapper clips. PEFT
looks for the names of modules in the whole state dict when an adapter is saved (0.21), and would save nothing: it sees them as they were.

Mixtures of experts: what torch.compile and torch.export see of them are operators of transformers' own, whose kernels read on the host how many rows each
expert has. On the device they are products of groups, as torch._grouped_mm is."""
import contextlib
import functools
import re
import sys
from collections.abc import Iterator
from typing import Any

import torch

from . import _import_hooks


def _make_optimizer(trainer: Any, wrapped: Any) -> None:
    model, trainer.model = trainer.model, wrapped
    try:
        trainer.create_optimizer()
    finally:
        trainer.model = model


def _clip_as_the_model_does(accelerator: Any, wrapped: Any) -> None:
    """The norm of all gradients, of which each process has a part, is the wrapper's to say."""
    clip = accelerator.clip_grad_norm_

    @functools.wraps(clip)
    def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2) -> Any:
        parameters = list(parameters)
        own = list(wrapped.parameters())
        if len(parameters) == len(own) and all(one is other for one, other in zip(parameters, own)):
            return wrapped.clip_grad_norm_(max_norm, norm_type)
        return clip(parameters, max_norm, norm_type=norm_type)
    accelerator.clip_grad_norm_ = clip_grad_norm_


_INFIX = re.compile(r"(^|\.)(_fsdp_wrapped_module|_fpw_module)(?=\.|$)")


def _save_by_plain_names(model: Any, *args: Any, **kwargs: Any) -> Any:
    """model.save_pretrained(), for which its modules have the names that they had before parts of it were wrapped."""
    named_modules = model.named_modules
    model.named_modules = lambda *args, **kwargs: ((_INFIX.sub("", name), part) for name, part in named_modules(*args, **kwargs))
    try:
        return type(model).save_pretrained(model, *args, **kwargs)
    finally:
        del model.named_modules


@contextlib.contextmanager
def _saving_by_plain_names(wrapped: Any) -> Iterator[None]:
    """Inside, save_pretrained() of the model in an XlaFullyShardedDataParallel is that."""
    from .distributed.fsdp import XlaFullyShardedDataParallel
    if not isinstance(wrapped, XlaFullyShardedDataParallel):
        yield
        return
    model = wrapped.module.module
    model.save_pretrained = functools.partial(_save_by_plain_names, model)
    try:
        yield
    finally:
        del model.save_pretrained


def _use(module: Any) -> None:
    """`module`: transformers.trainer."""
    wrap_model = module.Trainer._wrap_model

    @functools.wraps(wrap_model)
    def wrap(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        made = wrap_model(self, model, *args, **kwargs)
        is_training = args[0] if args else kwargs.get("training", True)
        if is_training and made is not model and getattr(self, "is_fsdp_xla_enabled", False):
            if self.optimizer is None:
                _make_optimizer(self, made)
            if getattr(self, "is_fsdp_xla_v1_enabled", False):
                _clip_as_the_model_does(self.accelerator, made)
        return made
    module.Trainer._wrap_model = wrap
    save = getattr(module, "save_tpu_checkpoint", None)
    if save is not None:  # in transformers 4 it is a method of the class, and PEFT matches names itself
        @functools.wraps(save)
        def save_with_plain_names(model: Any, *args: Any, **kwargs: Any) -> Any:
            with _saving_by_plain_names(model):
                return save(model, *args, **kwargs)
        module.save_tpu_checkpoint = save_with_plain_names


def _products_of_experts(rows: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    from .experimental._grouped import grouped_mm
    return grouped_mm(rows, matrices, ends)


def _gradients_of_experts(rows: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    from .experimental._grouped import grouped_mm
    return grouped_mm(gradient, matrices.transpose(1, 2), ends), grouped_mm(rows.t(), gradient, ends)


def _have_experts(module: Any) -> None:
    """`module`: transformers.integrations.moe."""
    for name, kernel in (("grouped_mm_fallback", _products_of_experts), ("grouped_mm_fallback_backward", _gradients_of_experts)):
        if hasattr(torch.ops.transformers, name):  # not in transformers 4
            torch.library.register_kernel(f"transformers::{name}", "xla", kernel)


def install() -> None:
    """Also where the parts of transformers are imported already."""
    for name, last, use in (("transformers.trainer", "Trainer", _use), ("transformers.integrations.moe", "_can_use_grouped_mm", _have_experts)):
        if hasattr(sys.modules.get(name), last):
            use(sys.modules[name])
        else:
            _import_hooks.add(name, after=use)
