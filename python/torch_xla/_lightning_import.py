# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lightning Fabric's XLAFSDPStrategy looks in save_checkpoint() whether the folder is empty, and then each rank writes its shard there: who looks late
sees the shard of another, and raises FileExistsError while the others wait for it (2.6). Here no rank writes before all have looked."""
import functools
import sys
from typing import Any

from . import _import_hooks

_MODULES = ("lightning.fabric.strategies.xla_fsdp", "lightning_fabric.strategies.xla_fsdp")


def _use(module: Any) -> None:
    """`module`: one of _MODULES."""
    strategy = module.XLAFSDPStrategy
    save = strategy.save_checkpoint

    @functools.wraps(save)
    def save_checkpoint(self: Any, *args: Any, **kwargs: Any) -> Any:
        barrier, save_shard, has_met = self.barrier, self._save_checkpoint_shard, False

        def after_all(function: Any) -> Any:
            def checked(*args: Any, **kwargs: Any) -> Any:
                nonlocal has_met
                if not has_met:
                    has_met = True
                    barrier("all have looked at the folder")
                return function(*args, **kwargs)
            return checked
        # Each rank calls one of these functions first. By default ranks write one after the other, and wait for each other with barriers.
        self.barrier, self._save_checkpoint_shard = after_all(barrier), after_all(save_shard)
        try:
            return save(self, *args, **kwargs)
        finally:
            del self.barrier, self._save_checkpoint_shard
    strategy.save_checkpoint = save_checkpoint


def install() -> None:
    """Also where Lightning is imported already."""
    for name in _MODULES:
        if hasattr(sys.modules.get(name), "XLAFSDPStrategy"):
            _use(sys.modules[name])
        else:
            _import_hooks.add(name, after=_use)
