# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA_USE_BF16 and its relatives: tensors report their own types, and have the values of smaller ones."""
import functools
import json
import os
import subprocess
import sys

import pytest
import torch

CODE = """
import json, torch, torch_xla, torch_xla.debug.metrics as met, torch_xla.core.xla_model as xm
x = torch.tensor([1.2345678, 3.3333333, 70000.5])
f, d = x.to("xla"), x.double().to("xla")
text = torch_xla._XLAC._get_xla_tensors_text([f + f, d + d])
total = torch.zeros((), device="xla")
for value in f:
    total = total + value
model = torch.nn.Linear(3, 1, bias=False)
weight = model.weight.detach().clone()
model.to("xla")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    model(torch.ones(1, 3, device="xla")).sum().backward()
    optimizer.step()
    torch_xla.sync()
long = torch.tensor([2 ** 32 + 7, -5], device="xla")
print(json.dumps({"types": [str(t.dtype) for t in (f, d, f + d, long, f.cpu())], "float": f.cpu().tolist(), "double": d.cpu().tolist(),
                  "product": (f * f).cpu().tolist(), "total": total.item(), "text": text, "long": (long + 1).tolist(),
                  "weight": model.weight.tolist(), "was": weight.tolist(), "notes": met.metrics_report().count("Note: ") ,
                  "program": xm.get_stablehlo([f * f]), "dlpack": torch.utils.dlpack.from_dlpack(torch_xla.utils.dlpack.to_dlpack(f)).tolist()}))
"""


@functools.cache
def run(variable):
    environment = dict(os.environ, **({variable: "1"} if variable else {}))
    ran = subprocess.run([sys.executable, "-c", "import torch_xla.utils.dlpack\n" + CODE], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("variable, small, double", [("XLA_USE_BF16", "bf16", "bf16"), ("XLA_DOWNCAST_BF16", "bf16", "f32")])
def test_floats(variable, small, double):
    types = {"bf16": torch.bfloat16, "f32": torch.float32}
    found = run(variable)
    assert found["types"] == ["torch.float32", "torch.float64", "torch.float64", "torch.int64", "torch.float32"]
    x = torch.tensor([1.2345678, 3.3333333, 70000.5])
    kept = x.to(types[small])
    assert found["float"] == found["dlpack"] == kept.float().tolist() and found["double"] == x.double().to(types[double]).double().tolist()
    assert found["product"] == (kept * kept).float().tolist()
    assert found["total"] == float((kept[0] + kept[1]) + kept[2]), "every operation rounds"
    assert f"{small}[3]" in found["text"] and f"{double}[3]" in found["text"] and f"tensor<3x{small}>" in found["program"]
    weight = torch.tensor(found["was"]).to(types[small])
    for _ in range(2):
        weight = (weight.float() - 0.1).to(types[small])
    assert found["weight"] == weight.float().tolist() and found["notes"] == 1 and found["long"] == [2 ** 32 + 8, -4]


def test_short_integers_and_nothing():
    found = run("XLA_USE_32BIT_LONG")
    assert found["long"] == [8, -4] and found["types"][3] == "torch.int64" and found["notes"] == 1
    plain = run(None)
    assert plain["long"] == [2 ** 32 + 8, -4] and plain["notes"] == 0 and "bf16" not in plain["text"]
    assert plain["float"] == found["float"] == [torch.tensor(v).item() for v in (1.2345678, 3.3333333, 70000.5)]


@pytest.mark.parametrize("variable", ["XLA_USE_BF16", "XLA_DOWNCAST_BF16"])
def test_a_switch_that_is_set_before_the_first_float(variable):
    """Programs set it after the import, and after tensors of integers were there."""
    code = f"""
import os, torch, torch_xla
(torch.ones(2, dtype=torch.int32, device="xla") + torch.arange(2, device="xla")).tolist()
os.environ[{variable!r}] = "1"
x = torch.tensor([2.0, 3.0], device="xla")
made = torch.floor_divide(x, torch.tensor([2.0, 3.0], device="xla"))
lines = torch_xla._XLAC._get_xla_tensors_text([made]).split("\\n")
print(made.dtype, [line.split("=")[1].split()[0] for line in lines if "xla::device_data" in line])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={k: v for k, v in os.environ.items() if k != variable})
    assert ran.stdout == "torch.float32 ['bf16[2]{0}', 'bf16[2]{0}']\n", ran.stderr
