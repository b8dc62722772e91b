# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SavedModels of TensorFlow, which are not written: a StableHLO bundle (torch_xla.stablehlo) is what runs elsewhere."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def _refuse(name):
    raise NotImplementedError(f"{name}: TensorFlow's SavedModels are not written; torch_xla.stablehlo.save_as_stablehlo writes a bundle that "
                              "xla-run and JAX run")


def make_tf_function(stablehlo_program: Any, bundle: Any = None) -> None:
    """Raises an error: unlike PyTorch/XLA, Millrace makes no functions of TensorFlow.

    Args:
      stablehlo_program: Has no effect.
      bundle: Has no effect.

    Raises:
      NotImplementedError: Always; the message says what to use.
    """
    _refuse("make_tf_function")


def save_stablehlo_graph_as_tf(stablehlo_program: Any, path: str, serving_key: str = "serving_default", function_alias: str = "") -> None:
    """Raises an error: unlike PyTorch/XLA, Millrace writes no SavedModels of TensorFlow.

    Args:
      stablehlo_program: Has no effect.
      path: Has no effect.
      serving_key: Has no effect.
      function_alias: Has no effect.

    Raises:
      NotImplementedError: Always; the message says what to use.
    """
    _refuse("save_stablehlo_graph_as_tf")


def save_torch_module_as_tf_saved_model(torch_model: torch.nn.Module, args: tuple[Any, ...], saved_model_dir: str, dynamic_shapes: Any = None,
                                        serving_key: str = "serving_default", function_alias: str = "") -> None:
    """Raises an error: unlike PyTorch/XLA, Millrace writes no SavedModels of TensorFlow.

    Args:
      torch_model: Has no effect.
      args: Has no effect.
      saved_model_dir: Has no effect.
      dynamic_shapes: Has no effect.
      serving_key: Has no effect.
      function_alias: Has no effect.

    Raises:
      NotImplementedError: Always; the message says what to use.
    """
    _refuse("save_torch_module_as_tf_saved_model")
