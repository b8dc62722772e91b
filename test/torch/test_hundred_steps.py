# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""100 training steps with a learning-rate schedule, dropout and an evaluation every ten steps: at most three compilations, none after
the first evaluation; a second process with the persistent cache compiles nothing."""
import json
import os
import subprocess
import sys

from paths import SITE

PROGRAM = """
import json, sys
import torch, torch_xla, torch_xla.runtime as xr, torch_xla.debug.metrics as met
xr.initialize_cache(sys.argv[1])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(32, 3)).to("xla")
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=100)
data = torch.randn(64, 8)
target = (data[:, :3] + 0.1 * torch.randn(64, 3)).argmax(1)
test_data, test_target = data.to("xla"), target.to("xla")
torch_xla.sync(wait=True)
met.clear_all()
made, losses, rates = [], [], []
for step in range(100):
    begin = step % 4 * 16
    x, y = data[begin:begin + 16].to("xla"), target[begin:begin + 16].to("xla")
    model.train()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    rates.append(schedule.get_last_lr()[0])
    schedule.step()
    torch_xla.sync()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            losses.append(torch.nn.functional.cross_entropy(model(test_data), test_target).item())
    made.append(met.counter_value("UncachedCompile") or 0)
print(json.dumps(dict(made=made, losses=losses, rates=len(set(rates)), fallbacks=met.executed_fallback_ops(),
                      runs=met.metric_data("ExecuteTime")[0], hits=met.counter_value("PersistentCacheHit") or 0,
                      misses=met.counter_value("PersistentCacheMiss") or 0)))
"""


def run(cache):
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(cache)], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, PYTHONPATH=SITE))
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_hundred_steps(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    for got in (first, second):
        assert got["losses"][-1] < 0.6 * got["losses"][0] and got["rates"] > 90 and got["fallbacks"] == []
        assert got["runs"] == 110, "one program per step and one per evaluation"
    assert first["misses"] <= 3 and first["made"][9] == first["made"][-1] <= 3, first
    assert second["misses"] == 0 and second["hits"] == first["misses"], second
    assert second["losses"] == first["losses"]
