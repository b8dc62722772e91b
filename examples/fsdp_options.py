# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How train_mp_mnist_fsdp_with_ckpt and train_mp_imagenet_fsdp split their models: flags, and the wrapping that they ask for."""
import functools
import os

import torch
import torch.nn as nn
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel, checkpoint_module, consolidate_sharded_model_checkpoints
from torch_xla.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy


def add(parser):
    """The flags of PyTorch/XLA's programs."""
    parser.add_argument("--auto_wrap_policy", choices=["none", "size_based", "type_based"], default="none", help="which parts are wrapped by themselves")
    parser.add_argument("--auto_wrap_min_num_params", type=int, default=1000, help="for size_based")
    parser.add_argument("--compute_dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--ckpt_prefix", type=str, default="", help="save the shards of all ranks at the end, and the whole model")
    for flag, text in (("use_nested_fsdp", "wrap the parts of the model by hand"), ("flatten_parameters", "the parameters of a wrapper are one vector"),
                       ("use_gradient_checkpointing", "compute the activations of wrapped parts again"), ("fp32_reduce_scatter", "sum gradients in float32"),
                       ("shard_param_on_dim_0", "cut parameters along their first dim"), ("no_pin_layout_in_collective_ops", "no effect"),
                       ("no_ckpt_consolidation", "save the shards only")):
        parser.add_argument("--" + flag, action="store_true", help=text)


def wrapper(flags):
    """What wraps a module."""
    return functools.partial(
        XlaFullyShardedDataParallel, compute_dtype=getattr(torch, flags.compute_dtype), fp32_reduce_scatter=flags.fp32_reduce_scatter,
        flatten_parameters=flags.flatten_parameters, shard_param_on_dim_0=flags.shard_param_on_dim_0,
        pin_layout_in_collective_ops=not flags.no_pin_layout_in_collective_ops)


def wrap(flags, model, parts):
    """The model, split. `parts`: paths of those that --use_nested_fsdp wraps; their classes are those of type_based."""
    fsdp = wrapper(flags)
    again = checkpoint_module if flags.use_gradient_checkpointing else lambda part: part
    if flags.use_nested_fsdp:
        for path in parts:
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, fsdp(again(model.get_submodule(path))))
        return fsdp(model)
    if flags.auto_wrap_policy == "none":
        return fsdp(again(model))
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=flags.auto_wrap_min_num_params, exclude_wrap_modules={
        nn.ModuleList, nn.ModuleDict}) if flags.auto_wrap_policy == "size_based" else functools.partial(
            transformer_auto_wrap_policy, transformer_layer_cls={type(model.get_submodule(path)) for path in parts})
    return fsdp(model, auto_wrap_policy=policy, auto_wrapper_callable=lambda part, **options: XlaFullyShardedDataParallel(again(part), **options))


def save(flags, model, optimizer):
    """The shards of all ranks, and from them the whole state dict, which rank 0 returns."""
    if not flags.ckpt_prefix:
        return None
    os.makedirs(os.path.dirname(os.path.abspath(flags.ckpt_prefix)), exist_ok=True)
    path = f"{flags.ckpt_prefix}_rank-{xr.global_ordinal():08d}-of-{xr.world_size():08d}.pth"
    xm.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "shard_metadata": model.get_shard_metadata()}, path, master_only=False)
    print(f"checkpoint saved to {path}\n", end="")
    xm.rendezvous("shards are saved")
    if flags.no_ckpt_consolidation or not xm.is_master_ordinal():
        return None
    return consolidate_sharded_model_checkpoints(flags.ckpt_prefix, "_rank-*-of-*.pth")[0]
