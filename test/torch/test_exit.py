# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs end with status 0, and have done what they had begun, whatever their threads are at."""
import os
import subprocess
import sys

import pytest


def ended(code, runs=1):
    """Standard output of each run of a program that must end well and say nothing on standard error."""
    made = []
    for _ in range(runs):
        ran = subprocess.run([sys.executable, "-c", "import threading, time, torch, torch_xla\nimport torch_xla.core.xla_model as xm\n" + code],
                             capture_output=True, text=True, timeout=120, env=dict(os.environ, PJRT_DEVICE="CPU"))
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
        made.append(ran.stdout)
    return made


def test_step_closures_that_are_pending_run():
    out = ended("""
x = torch.ones(300, 300, device="xla")
for step in range(8):
    x = x @ x / 300
    xm.add_step_closure(lambda value, step=step: (time.sleep(0.05), print(step, value.item())), args=(x.sum(),), run_async=True)
    torch_xla.sync()
""", runs=2)
    assert out == ["".join(f"{step} 90000.0\n" for step in range(8))] * 2


def test_a_step_closure_may_compute_and_add_others_while_the_program_ends():
    assert ended("""
def closure(x, depth):
    time.sleep(0.2)
    y = x * 3 + depth
    print(depth, y.sum().item())
    if depth < 2:
        xm.add_step_closure(closure, args=(y, depth + 1), run_async=True)
        torch_xla.sync()
xm.add_step_closure(closure, args=(torch.ones(4, device="xla"), 0), run_async=True)
torch_xla.sync()
""") == ["0 12.0\n1 40.0\n2 128.0\n"]


def test_a_daemon_that_goes_on_adding_step_closures():
    assert ended("""
def forever():
    x = torch.ones(10, device="xla")
    while True:
        xm.add_step_closure(lambda value: value.item(), args=(x.sum(),), run_async=True)
        torch_xla.sync()
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.5)
xm.add_step_closure(lambda: print("this one runs"), run_async=True)
torch_xla.sync()
""") == ["this one runs\n"]


def test_what_a_late_step_closure_raises_is_reported():
    ran = subprocess.run([sys.executable, "-c", """
import time, torch, torch_xla, torch_xla.core.xla_model as xm
def fails(x):
    time.sleep(0.2)
    raise ValueError("too late")
xm.add_step_closure(fails, args=(torch.ones(2, device="xla"),), run_async=True)
xm.add_step_closure(lambda: (time.sleep(0.2), print("the next one runs")), run_async=True)
torch_xla.sync()
"""], capture_output=True, text=True, timeout=120, env=dict(os.environ, PJRT_DEVICE="CPU"))
    assert ran.returncode == 0 and ran.stdout == "the next one runs\n"
    assert "a step closure that ran while the program ended raised" in ran.stderr and "ValueError: too late" in ran.stderr


def test_step_closures_of_a_function_that_runs_at_exit():
    assert ended("""
import atexit
def last():
    xm.add_step_closure(lambda x: print(x.item()), args=(torch.ones(3, device="xla").sum(),), run_async=True)
    torch_xla.sync()
atexit.register(last)
""") == ["3.0\n"]


def test_callbacks_that_are_pending_run():
    out = ended("""
import sys
import torch_xla.experimental.callback as callbacks
x = torch.rand(500, 500, device="xla")
for _ in range(4):
    x = x @ x / 500
    callbacks.on_ready_callback(x, lambda value: (time.sleep(0.1), sys.stdout.write(f"{value.sum().isfinite().item()}\\n")))
    torch_xla._XLAC._on_ready_callback(x, lambda: (time.sleep(0.1), sys.stdout.write("True\\n")))
""")
    assert out == ["True\n" * 8]


DAEMONS = """
import warnings
warnings.simplefilter("ignore")
x = torch.rand(64, 64, device="xla")
torch_xla.sync(wait=True)

def item():
    x.sum().item()

def cpu():
    (x @ x).cpu()

def upload():
    torch.ones(64).to("xla").sum().cpu()

def sync():
    (x + x.sum()).mul_(2)
    torch_xla.sync(wait=True)

def record(y=x):
    for _ in range(50):
        y = (y + 1).relu_()

def view():
    x.view(-1)[3:].unsqueeze(0).t()

def backward():
    w = torch.rand(8, 8, device="xla", requires_grad=True)
    (w @ w).tanh().sum().backward()
    w.grad.sum().item()

def compile(sizes=iter(range(2, 10**9))):
    (torch.ones(next(sizes), device="xla") * 3).sum().item()

def fallback():
    torch.nonzero(x).sum().item()

def host():  # no operator of the device
    torch.rand(64, 64).sum().item()

def forever(function):
    while True:
        function()
for function in KINDS:
    function()  # what PyTorch imports for the first call of an operator is not the matter
for function in KINDS:
    threading.Thread(target=forever, args=(function,), daemon=True).start()
time.sleep(0.5)
"""


@pytest.mark.parametrize("kinds", ["item, item, item", "cpu, upload, sync, record, view", "backward, compile, fallback, host"])
def test_daemons_in_the_middle_of_operators(kinds):
    """A daemon that asked for the GIL of an interpreter that ends would be unwound in PyTorch's destructors: the process is aborted."""
    ended(DAEMONS.replace("KINDS", f"({kinds})"), runs=2)


@pytest.mark.parametrize("delay", [0, 0.1, 0.4, 0.8] if os.environ.get("MILLRACE_LONG") else [0.1])
def test_daemons_in_their_first_operators(delay):
    """PyTorch imports modules for the first call of an operator, inside of its dispatcher."""
    ended(f"""
for function in (lambda: torch.ones(3, device="xla").softmax(0).add(1).sum().item(), lambda: torch.nn.Linear(3, 3).to("xla")(torch.ones(2, 3, device="xla")).sum().backward(),
                 lambda: torch.rand(3, device="xla").sort()[0].cpu(), lambda: torch.einsum("ij,jk", *[torch.ones(2, 2, device="xla")] * 2).cpu()):
    threading.Thread(target=function, daemon=True).start()
time.sleep({delay})
""", runs=2)


def test_a_loader_that_is_left():
    ended("""
import torch_xla.distributed.parallel_loader as pl
class Batches:
    def __iter__(self):
        while True:
            yield torch.stack([torch.rand(1000, 100)] * 3)
    def __len__(self):
        return 1000
for batch in pl.MpDeviceLoader(Batches(), "xla"):
    total = batch.sum()
    break
""", runs=2)


def test_work_of_the_device_that_nobody_waited_for():
    ended("""
x = torch.rand(900, 900, device="xla")
for _ in range(6):
    x = x @ x / 900
torch_xla.sync()
""", runs=2)


def test_a_function_at_exit_may_wait_for_a_daemon_that_uses_the_device():
    """One that was registered before torch_xla's runs after it."""
    code = """
import atexit, threading
done = threading.Event()
asked = threading.Event()
atexit.register(lambda: (asked.set(), print(done.wait(60))))
import torch, torch_xla
x = torch.ones(5, device="xla")
def work():
    asked.wait()
    print(x.sum().item())
    done.set()
    threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=dict(
        os.environ, PJRT_DEVICE="CPU", TORCH_DEVICE_BACKEND_AUTOLOAD="0"))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "5.0\nTrue\n", "")
