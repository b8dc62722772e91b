# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that PyTorch/XLA's tests and users' debugging code reach for, see test/harness/torch_xla_names.txt."""
import os
import sys

import torch_xla

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import torch_xla_names  # noqa: E402


def test_names_are_here_or_have_a_reason():
    assert torch_xla._XLAC._get_xla_tensors_text and len(list(torch_xla_names.names())) > 250
    assert torch_xla_names.problems() == []


def test_missing_names_are_seen(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("torch_xla.runtime\n  world_size no_such_name\n  is_spmd: a reason\n  absent: a reason\nno_such_module\n  x\n")
    assert torch_xla_names.problems([path]) == ["torch_xla.runtime.no_such_name is missing",
                                                "torch_xla.runtime.is_spmd is here, but the list says why it is not: a reason",
                                                "no_such_module.x is missing"]
