# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Environment variables that say what is written about graphs and programs."""
import os
import re
import subprocess
import sys

import pytest
import torch
import torch_xla

PROGRAM = """
import torch, torch_xla, torch_xla.core.xla_model as xm

def forward(x):
    return x.sin() + 1

y = forward(torch.arange(6., device="xla").reshape(2, 3))
print(torch_xla._XLAC._get_xla_tensors_text([y]))
print("=====")
print(torch_xla._XLAC._get_xla_tensors_hlo([y]))
print("=====")
print(xm.get_stablehlo([y]))
print("=====")
try:
    torch_xla._XLAC._program("module { func.func @main() -> nonsense }")
except RuntimeError as error:
    print(error)
"""


def run(folder, **environment):
    program = folder / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, **environment))
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("=====\n")


def test_lines_of_the_user(tmp_path):
    graph, hlo, stablehlo, error = run(tmp_path, XLA_IR_DEBUG="1", XLA_HLO_DEBUG="1", XLA_DUMP_HLO_GRAPH="1",
                                       XLA_SAVE_HLO_FILE=str(tmp_path / "bad.txt"))
    assert re.search(r"aten::sin\(.*location=forward@program\.py:5,", graph), graph
    assert re.search(r'sine\(.*metadata=\{.*source_file="[^"]*program\.py" source_line=5', hlo), hlo
    assert re.search(r"stablehlo\.sine.* loc\(", stablehlo) and "program.py" in stablehlo
    assert "-> nonsense" in error and "cannot be parsed" in error
    assert re.match(r"\[.*cannot be parsed(.|\n)*\]\nmodule \{ func\.func @main\(\) -> nonsense \}\n", (tmp_path / "bad.txt").read_text())


def test_without_them(tmp_path):
    graph, hlo, stablehlo, error = run(tmp_path)
    assert "location" not in graph and "metadata" not in hlo and "loc(" not in stablehlo
    assert "-> nonsense" not in error and "cannot be parsed" in error


def test_devices_that_are_not_there():
    for make in (lambda: torch.ones(2, device="xla:1"), lambda: torch.ones(2).to("xla:1"), lambda: torch.ones(2, device="xla").to("xla:3")):
        with pytest.raises(RuntimeError, match=r"there is no device xla:\d: this process has xla:0"):
            make()
    assert torch.ones(2, device="xla:0").device == torch_xla.device()


def test_safetensors(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    model = torch.nn.Linear(3, 2).to("xla")
    safetensors.save_file(model.state_dict(), tmp_path / "weights")
    loaded = safetensors.load_file(tmp_path / "weights")
    assert torch.equal(loaded["weight"], model.weight.detach().cpu())
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save_file({"a": model.weight.detach(), "b": model.weight.detach().view(-1)}, tmp_path / "shared")
