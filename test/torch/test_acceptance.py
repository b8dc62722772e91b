# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of PyTorch/XLA's documents that need one process and one device run as they stand there, one test per program.

What stands in acceptance/ is verbatim; where the documents have lost lines, the text as it is must run and the restored one must do
what they say. acceptance/elsewhere.toml lists the other programs, with the reason."""
import ast
import functools
import glob
import hashlib
import importlib
import inspect
import os
import re
import subprocess
import sys

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.utils.utils as xu

import acceptance
from acceptance import restored, run, verbatim
from paths import PYTHONPATH

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples"))
os.environ["PYTHONPATH"] = PYTHONPATH  # of the processes that tests start
NUMBER = r"-?\d[\d.e+-]*"


def compilations():
    return torch_xla._XLAC._compilations()


class Network(nn.Module):
    """The network that the documents call MNIST()."""

    def __init__(self):
        torch.manual_seed(0)
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 5), nn.Conv2d(4, 8, 5)
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


def digits(steps=4, batch=8):
    """The same batch several times: its loss must fall."""
    generator = torch.Generator().manual_seed(3)
    data = torch.randn(batch, 1, 28, 28, generator=generator), torch.randint(0, 10, (batch,), generator=generator)
    return xu.SampleGenerator(data=data, sample_count=steps)


def training_names(**more):
    return dict(MNIST=Network, nn=nn, optim=optim, lr=0.05, momentum=0.5, train_loader=digits(), **more)


@pytest.fixture(scope="module")
def torchvision():
    pytest.importorskip("PIL")
    import torchvision_schemas
    return torchvision_schemas.load()


@pytest.fixture
def on_device():
    """Names of the documents' second and later snippets: what earlier ones imported."""
    return dict(torch=torch, xm=xm, torch_xla=torch_xla)


def test_verbatim():
    """The programs are unchanged since they were compared with the documents, and every patch finds its place."""
    for name in acceptance.table("patches.toml"):
        restored(name)
    with open(os.path.join(acceptance.FOLDER, "digests.txt"), encoding="ascii") as file:
        digests = {name: digest for digest, name in map(str.split, file)}
    assert {name: hashlib.sha256(code.encode()).hexdigest() for name, (_, code) in acceptance.programs().items()} == digests


def test_every_row_is_accounted_for():
    """The rows of the table are 000-1 to 000-3, 001-1 to 001-5, 002-1 to 002-8, 003-01 to 003-70 and 004."""
    rows = {f"{d}-{i}" for d, n in (("000", 3), ("001", 5), ("002", 8)) for i in range(1, n + 1)}
    rows |= {f"003-{i:02}" for i in range(1, 71)} | {"004"}
    here = {"-".join(part) for name in globals() for part in re.findall(r"(?<=_)(\d{3})_(\d+)", name)}
    elsewhere = [i for part in acceptance.table("elsewhere.toml").values() for i in part["ids"]]
    assert len(elsewhere) == len(set(elsewhere)) and not here & set(elsewhere)
    assert here | set(elsewhere) == rows


def needs(module):
    """Skips the test where that module of torch_xla is not there yet."""
    pytest.importorskip("torch_xla." + module)


def test_000_2_003_29_analysis(tmp_path):
    """PT_XLA_DEBUG=1: why a graph was compiled and run, with its hash, sizes and the user's lines."""
    needs("_frames")
    script = tmp_path / "train.py"
    script.write_text("import torch, torch_xla, torch_xla.core.xla_model as xm\n"
                      "def train_loop_fn(x):\n    y = x * 2.5 + 1\n    xm.mark_step()\n    return y\n"
                      "x = torch.ones(64, 64, device=xm.xla_device())\n"
                      "torch_xla.sync()\ntrain_loop_fn(x)\nxm.wait_device_ops()\n")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, PT_XLA_DEBUG="1"))
    assert ran.returncode == 0, ran.stderr
    for kind in ("Compilation Analysis", "Execution Analysis"):
        lines = [line[len(kind) + 2:] for line in ran.stderr.split("\n") if line.startswith(kind + ": ")]
        text = "\n".join(lines)
        cause = {"Compilation Analysis": "Compilation Cause", "Execution Analysis": "Execution Cause"}[kind]
        assert re.search(f"={{80}}\n{cause}\n  user mark_step\nGraph Info:\n  Graph Hash: [0-9a-f]+\n"
                         r"  Number of Graph Inputs: \d+\n  Number of Graph Outputs: \d+\n"
                         r"Python Frame Triggered Execution:\n(  .*\n)*  train_loop_fn \(.*train.py:4\)\n"
                         r"  <module> \(.*train.py:8\)\n", text), ran.stderr
    assert re.search(r"Post Compilation Analysis: Graph input size: [\d.]+ GB\n"
                     r"Post Compilation Analysis: Graph output size: [\d.]+ GB\n", ran.stderr), ran.stderr


def test_000_3_003_28_auto_metrics(tmp_path):
    """PT_XLA_DEBUG_LEVEL=2: the lines that the documents print of a program that compiles, reads and uses an operator of the CPU in every step."""
    script = tmp_path / "train.py"
    script.write_text("import torch, torch_xla, torch_xla.core.xla_model as xm\n"
                      "library = torch.library.Library('aten', 'FRAGMENT')\n"
                      "library.define('_ctc_loss_of_the_cpu(Tensor x) -> Tensor')\n"
                      "library.impl('_ctc_loss_of_the_cpu', lambda x: x + 1, 'CPU')\n"
                      "for step in range(12):\n"
                      "    x = torch.ones(3 + step, device=xm.xla_device())\n"
                      "    (torch.ops.aten._ctc_loss_of_the_cpu(x) * 2).sum().item()\n"
                      "    xm.mark_step()\n")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, PT_XLA_DEBUG_LEVEL="2"))
    assert ran.returncode == 0, ran.stderr
    found = re.findall("^pt-xla-profiler: (.*)$", ran.stdout, re.M)
    for text in (r"CompileTime too frequent: \d+ counts during 11 steps", r"TransferFromDeviceTime too frequent: \d+ counts during 11 steps",
                 r"Op\(s\) not lowered: aten::_ctc_loss_of_the_cpu,  Please open a GitHub issue with the above op lowering requests\.",
                 r"CompileTime too frequent: \d+ counts during 12 steps"):
        place = [after for line, after in zip(found, found[1:]) if re.fullmatch(text, line)]
        assert place and "train.py:7 (" in place[0], ran.stdout
    assert re.search(r"Unlowered Op usage summary \(more of these ops, lower performance\)\n-+\nFRAME \(count=12\):\n.*train\.py:7\)", ran.stderr), ran.stderr


def test_001_3_flash_attention():
    needs("experimental.custom_kernel")
    q, k, v = (torch.randn(2, 3, 8, 4) for _ in range(3))
    output = run(verbatim("001-3"), q=q.to("xla"), k=k.to("xla"), v=v.to("xla"))[0]["output"]
    torch.testing.assert_close(output.cpu(), F.scaled_dot_product_attention(q, k, v, scale=1.0), rtol=1e-4, atol=1e-5)


def batches(count=3, size=32):
    return [(torch.randn(2, 3, size, size), torch.randint(0, 1000, (2,))) for _ in range(count)]


WHOLE = pytest.mark.filterwarnings("error:.*cannot be compiled")  # no operator leaves the program for the CPU


@pytest.mark.parametrize("name", ["002-1", "003-46"])
def test_002_1_003_46_resnet18_inference(torchvision, name):
    """A model compiled once; later calls record nothing and compile nothing."""
    torch._dynamo.reset()
    loader, seen = batches(), []

    def watched():
        for batch in pl.MpDeviceLoader(loader, xm.xla_device()):
            seen.append(compilations())
            yield batch
        seen.append(compilations())
    program = run(verbatim(name))[0]
    program["eval_model"](watched())
    assert seen[-1] == seen[2], f"compiled after the first batch: {seen}"


@WHOLE
def test_002_2_resnet18_forward_and_backward(torchvision):
    torch._dynamo.reset()
    program = run(verbatim("002-2"))[0]
    program["train_model_main"](pl.MpDeviceLoader(batches(2), xm.xla_device()))


@WHOLE
def test_003_47_resnet18_training(torchvision):
    torch._dynamo.reset()
    losses = []
    program = run(restored("003-47"))[0]

    class Loss(nn.CrossEntropyLoss):
        def forward(self, *args):
            loss = super().forward(*args)
            losses.append(loss.detach())
            return loss
    same = batches(1) * 4
    program["train_model_main"](pl.MpDeviceLoader(same, xm.xla_device()))
    # As it stands in the document: the forward part only, and an optimizer that was given data.
    with pytest.raises((NameError, TypeError)):
        run(verbatim("003-47"))[0]["train_model_main"](pl.MpDeviceLoader(same, xm.xla_device()))


def test_003_01_creation():
    run(verbatim("003-01"))
    assert re.fullmatch(rf"xla:0\ntensor\(\[\[ *{NUMBER}, +{NUMBER}\],\n +\[ *{NUMBER}, +{NUMBER}\]\], device='xla:0'\)\n",
                        run(restored("003-01"))[1])


def test_003_02_add(on_device):
    names, text = run(verbatim("003-02"), **on_device)
    assert text == str(names["t0"] + names["t1"]) + "\n" and "device='xla:0'" in text
    torch.testing.assert_close((names["t0"] + names["t1"]).cpu(), names["t0"].cpu() + names["t1"].cpu())


def test_003_03_mm(on_device):
    names, text = run(restored("003-03"), **on_device)
    assert "device='xla:0'" in text
    torch.testing.assert_close(names["t0"].mm(names["t1"]).cpu(), names["t0"].cpu().mm(names["t1"].cpu()))


def test_003_04_linear(on_device):
    names, text = run(restored("003-04"), **on_device)
    torch.testing.assert_close(names["l_out"].cpu(), names["linear"].cpu()(names["l_in"].cpu()), rtol=1e-4, atol=1e-5)
    assert "grad_fn=<" in text


def test_003_05_cpu_weights_raise(on_device):
    with pytest.raises(RuntimeError, match="Input tensor is not an XLA tensor: torch.FloatTensor"):
        run(verbatim("003-05"), **on_device)


def cpu_losses(steps):
    model = Network().train()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    losses = []
    for data, target in digits(steps):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def test_003_06_single_device(no_fallback):
    run(verbatim("003-06"), **training_names())
    before = compilations()
    names, _ = run(restored("003-06"), **training_names())
    made = compilations() - before
    model, losses = cpu_losses(4)
    assert losses[-1] < losses[0]
    assert names["loss"].item() == pytest.approx(losses[-1], rel=1e-3)
    for got, want in zip(names["model"].parameters(), model.parameters()):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-3, atol=1e-4)
    assert made <= 2, f"{made} compilations in 4 steps"


def test_003_07_003_08_spawn(tmp_path):
    """`PJRT_DEVICE=… python3 train_mnist_xla.py`, with the one device there is; the weights are those of a run on the CPU."""
    run(verbatim("003-07"), **training_names())
    names, _ = run(restored("003-07").replace("def _mp_fn(index):", "def _mp_fn(index):\n  global model"), **training_names())
    for got, want in zip(names["model"].parameters(), cpu_losses(4)[0].parameters()):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-3, atol=1e-4)
    script = tmp_path / "train_mnist_xla.py"
    script.write_text(f"import sys\nsys.path[:0] = [{os.path.dirname(os.path.realpath(__file__))!r}]\n"
                      "import test_acceptance\nglobals().update(test_acceptance.training_names())\n" + restored("003-07"))
    for device, code in (("CPU", 0), ("TPU", 1)) if hasattr(torch_xla._XLAC, "_device_type") else (("CPU", 0),):
        ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200,
                             env=dict(os.environ, PJRT_DEVICE=device))
        assert ran.returncode == code, ran.stderr
    if device == "TPU":
        assert "CPU" in ran.stderr.strip().split("\n")[-1], "the error names what is available"


def test_003_10_save_and_load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, _ = run(verbatim("003-10"))
    for name, saved in zip(("t0", "t1"), names["tensors"]):
        assert names[name].device.type == "xla" and torch.equal(names[name].cpu(), saved)


def test_003_11_xm_save(tmp_path):
    model, path = nn.Linear(3, 2).to("xla"), tmp_path / "model.pt"
    run(verbatim("003-11"), model=model, path=path)
    loaded = torch.load(path)
    assert loaded["weight"].device.type == "cpu" and torch.equal(loaded["weight"], model.weight.detach().cpu())


def test_003_12_003_13_streamed(tmp_path):
    model, path = nn.Linear(3, 2).to("xla"), str(tmp_path / "model.pt")
    run(verbatim("003-12"), model=model, path=path)
    state = run(verbatim("003-13"), path=path)[0]["state_dict"]
    assert list(state) == ["weight", "bias"] and torch.equal(state["weight"].cpu(), model.weight.detach().cpu())


def test_003_14_persistent_cache(tmp_path):
    code = verbatim("003-14") + ("\nimport torch, torch_xla.debug.metrics as met\n"
                                 "print((torch.arange(7., device='xla') * 1.5).sum().item(),\n"
                                 "      met.counter_value('PersistentCacheHit') or 0, met.counter_value('UncachedCompile') or 0)\n")
    printed = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, cwd=tmp_path)
               for _ in range(2)]
    assert [p.stdout.split()[:2] for p in printed] == [["31.5", "0"], ["31.5", "1"]], printed[1].stderr
    assert os.path.isdir(tmp_path / "YOUR_CACHE_PATH")


LOST = {"sync": "torch_xla", "step": "torch_xla", "xla_device_hw": "torch_xla.core.xla_model",
        "is_master_ordinal": "torch_xla.core.xla_model", "wait_device_ops": "torch_xla.core.xla_model",
        "get_rng_state": "torch_xla.core.xla_model", "metrics_report": "torch_xla.debug.metrics",
        "counter_names": "torch_xla.debug.metrics", "counter_value": "torch_xla.debug.metrics",
        "metric_names": "torch_xla.debug.metrics", "metric_data": "torch_xla.debug.metrics", "is_spmd": "torch_xla.runtime",
        "compile": "torch_xla.experimental"}


RENAMED = {"cpu_loader": "loader"}  # in later versions of PyTorch/XLA


def test_003_15_signatures():
    """The API reference: each function takes the documented parameters, in that order, with those defaults."""
    needs("test.test_utils")
    for line in verbatim("003-15").strip().split("\n"):
        module, name, arguments = re.match(r"(?:class )?([\w.]+)\.(\w+)\((.*)\)", line).groups()
        want = ast.parse(f"def f({arguments}): pass").body[0].args
        found = list(inspect.signature(getattr(importlib.import_module(module), name)).parameters.values())
        names = [RENAMED.get(p.name, p.name) for p in found[:len(want.args)]]
        assert names == [a.arg for a in want.args], line
        defaults = [inspect.Parameter.empty] * (len(want.args) - len(want.defaults))
        defaults += [ast.literal_eval(d) for d in want.defaults]
        for parameter, default in zip(found, defaults):
            if isinstance(default, (list, tuple)):
                assert list(parameter.default) == list(default), line
            elif default is not inspect.Parameter.empty and not parameter.name.endswith("_prefetch_size"):  # doubled since
                assert parameter.default == default, line
        assert all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in found[len(want.args):]), line
    for name, module in LOST.items():
        assert callable(getattr(importlib.import_module(module), name)), name


def sums(code, on_device, count=5):
    tensors = [(torch.full((3,), float(i), device="xla"), torch.ones(3, device="xla")) for i in range(count)]
    z = torch.zeros(3, device="xla")
    torch_xla.sync()
    met.clear_all()
    names, _ = run(code, tensors_on_device=tensors, z=z, **on_device)
    return names["z"]


def test_003_19_without_barrier(on_device):
    z = sums(verbatim("003-19"), on_device)
    assert met.metric_data("ExecuteTime") is None, "nothing ran before the value is read"
    assert torch_xla._XLAC._get_xla_tensors_text([z]).count("aten::add") == 10
    assert z.cpu().tolist() == [15.0] * 3 and met.metric_data("ExecuteTime")[0] == 1


def test_003_20_with_barrier(on_device):
    sums(verbatim("003-20"), on_device).cpu()
    z = sums(restored("003-20"), on_device)
    assert met.metric_data("ExecuteTime")[0] == 5 and (met.counter_value("UncachedCompile") or 0) <= 1
    assert z.cpu().tolist() == [15.0] * 3


def test_003_21_device_of_a_device(on_device):
    attr = run(verbatim("003-21"), attr=torch.ones(2), **on_device)[0]["attr"]
    assert attr.device == torch.device("xla:0")


def test_003_25_versions():
    assert run(verbatim("003-25"))[1].split("\n")[:2] == [torch.__version__, torch_xla.__version__]


def test_003_26_sum_of_scalars():
    assert run(verbatim("003-26"))[1] == "tensor(300, device='xla:0')\n"


def test_003_30_003_31_003_32_reports():
    run(verbatim("003-30"))
    met.clear_all()
    torch.nonzero(torch.ones(3, device="xla"))
    ((torch.ones(9, device="xla") + 1.5) * 2).cpu()
    text = run(restored("003-30"))[1]
    assert re.search(r"Metric: ExecuteTime\n  TotalSamples: \d+\n  (Accumulator|Counter): \S+us\n", text)
    assert re.search(r"  ValueRate: \S+ / second\n  Rate: \S+ / second\n  Percentiles: 1%=\S+us; 5%=.*; 99%=\S+us\n", text)
    assert re.search(r"Counter: \w+\n  Value: \d+\n", text)
    run(restored("003-32"))
    assert met.counter_value("CachedCompile") is None and met.metric_data("ExecuteTime") is None


def test_003_33_dynamo_debug():
    code = ("import torch, torch_xla\nf = torch.compile(lambda x: x.sin() * 2, backend='openxla')\n"
            "print(f(torch.zeros(3, device='xla')).cpu().tolist())\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, XLA_DYNAMO_DEBUG="1"))
    assert ran.returncode == 0 and "[0.0, 0.0, 0.0]" in ran.stdout, ran.stderr


def test_003_34_clip_grad_norm_reads_nothing():
    model = nn.Linear(4, 4).to("xla")
    model(torch.ones(2, 4, device="xla")).sum().backward()
    met.clear_all()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    assert met.metric_data("TransferFromDeviceTime") is None and met.metric_data("ExecuteTime") is None
    assert torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in model.parameters()])).item() == pytest.approx(0.5, rel=1e-4)


def test_003_35_texts_of_pending_tensors():
    x = torch.ones(4, device="xla")
    torch_xla.sync()
    met.clear_all()
    res = x.sin() + 2.5
    text = run("print(torch_xla._XLAC._get_xla_tensors_text([res]))", torch_xla=torch_xla, res=res)[1]
    hlo = run("print(torch_xla._XLAC._get_xla_tensors_hlo([res]))", torch_xla=torch_xla, res=res)[1]
    assert "aten::sin" in text and "sine(" in hlo and met.metric_data("ExecuteTime") is None


@pytest.mark.parametrize("kind, expected", [("text", "aten::sin"), ("hlo", "sine(")])
def test_003_36_dumps(tmp_path, kind, expected):
    needs("_frames")
    path = str(tmp_path / "graphs")
    code = "import torch, torch_xla\nx = torch.ones(4, device='xla')\ny = x.sin() + 2.5\ntorch_xla.sync(wait=True)\n"
    script = tmp_path / "program.py"
    script.write_text(code)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200,
                         env=dict(os.environ, XLA_IR_DEBUG="1", XLA_HLO_DEBUG="1", XLA_SAVE_TENSORS_FMT=kind,
                                  XLA_SAVE_TENSORS_FILE=path))
    assert ran.returncode == 0, ran.stderr
    text = "".join(open(found).read() for found in glob.glob(path + "*"))
    assert expected in text and "program.py" in text


def test_003_43_all_gather():
    needs("distributed.xla_backend")
    assert run(restored("003-43"))[1] == "[tensor([0], device='xla:0', dtype=torch.int32)]\n"
    torch.distributed.destroy_process_group()


def test_003_45_compiled_function():
    torch._dynamo.reset()
    names, text = run(verbatim("003-45"))
    assert "device='xla:0'" in text
    a, b = torch.randn(10), torch.randn(10)
    torch.testing.assert_close(names["compiled_code"](a, b).cpu(), a + b)


def command(*arguments, **environment):
    needs("test.test_utils")
    ran = subprocess.run([sys.executable, os.path.join("examples", arguments[0]), *arguments[1:]], cwd=ROOT, text=True,
                         capture_output=True, timeout=500, env=dict(os.environ, **environment))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


LINE = (rf"\| Training Device=xla:0/0 Epoch=1 Step={{}} Loss={NUMBER} Rate={NUMBER} GlobalRate={NUMBER} "
        r"Time=\d\d:\d\d:\d\d\n")


def test_003_39_mnist_command():
    """`PJRT_DEVICE=CPU python3 … mnist.py --fake_data`: images and labels are zeros, so every answer is right in the end."""
    text = command("train_mp_mnist.py", "--fake_data", "--num_epochs", "1", "--batch_size", "16", "--num_steps", "25",
                   PJRT_DEVICE="CPU")
    assert re.search("Epoch 1 train begin .*\n" + LINE.format(0) + LINE.format(20) + "Epoch 1 train end .*\n"
                     r"Epoch 1 test end .*, Accuracy=100.00\nMax Accuracy: 100.00%\n", text), text


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Linear(4, 2)

    def forward(self, x, y):
        return self.second(self.first(x).mean((2, 3))) * y


def test_003_48_fsdp():
    torch.manual_seed(0)
    module = TwoInputs()
    before = {name: parameter.clone() for name, parameter in module.named_parameters()}
    x, y = torch.randn(2, 3, 8, 8, device="xla"), torch.randn(2, 2, device="xla")
    names, _ = acceptance.run(restored("003-48"), my_module=module, x=x, y=y)
    shards = names["model"].get_original_names_and_sharded_parameters()
    assert [name for name, _ in shards] == list(before)
    for name, shard in shards:
        moved = shard.cpu()[:before[name].numel()].view(before[name].shape) - before[name]
        assert torch.allclose(moved.abs(), torch.full_like(moved, 0.0001), rtol=1e-2), name  # Adam's first step


def test_003_49_003_50_fsdp_of_parts():
    fsdp = importlib.import_module("torch_xla.distributed.fsdp")
    names, _ = acceptance.run(verbatim("003-49") + "\n" + verbatim("003-50"), partial=functools.partial, torch=torch,
                              XlaFullyShardedDataParallel=fsdp.XlaFullyShardedDataParallel)
    torch.manual_seed(0)
    module = TwoInputs()
    x, y = torch.randn(2, 3, 8, 8, requires_grad=True), torch.randn(2, 2)
    expected = module(x, y)
    model = fsdp.XlaFullyShardedDataParallel(module, auto_wrap_policy=names["auto_wrap_policy"], auto_wrapper_callable=names["auto_wrapper_callable"])
    assert isinstance(model.first, fsdp.XlaFullyShardedDataParallel) and not isinstance(model.second, fsdp.XlaFullyShardedDataParallel)
    output = model(x.detach().to("xla").requires_grad_(), y.to("xla"))
    output.sum().backward()
    assert torch.allclose(output.cpu(), expected, atol=1e-5) and all(shard.grad is not None for shard in model.parameters())


LONG = pytest.mark.skipif(not os.environ.get("MILLRACE_LONG"), reason="takes long: MILLRACE_LONG=1")


@LONG
def test_003_44_mnist_with_ddp():
    text = command("train_mp_mnist.py", "--ddp", "--pjrt_distributed", "--fake_data", "--num_epochs", "1", "--num_cores=2", "--batch_size=16",
                   "--num_steps=25", PJRT_DEVICE="CPU")
    assert "Max Accuracy: 100.00%\n" in text, text


@LONG
def test_003_52_003_53_003_54_mnist_with_fsdp(tmp_path):
    """The command of the documents, with made-up data; and the command that puts the shards together."""
    prefix = str(tmp_path / "final_ckpt")
    text = command("train_mp_mnist_fsdp_with_ckpt.py", "--fake_data", "--num_cores=2", "--num_steps=25", "--batch_size", "16", "--drop_last",
                   "--num_epochs", "2", "--use_nested_fsdp", "--use_gradient_checkpointing", "--ckpt_prefix", prefix, PJRT_DEVICE="CPU")
    assert "the whole model: Accuracy=100.00\n" in text and "Max Accuracy: 100.00%\n" in text, text
    os.remove(prefix + "_consolidated.pth")
    ran = subprocess.run([sys.executable, "-m", "torch_xla.distributed.fsdp.consolidate_sharded_ckpts", "--ckpt_prefix", prefix, "--ckpt_suffix",
                          "_rank-*-of-*.pth"], capture_output=True, text=True)
    assert ran.returncode == 0 and os.path.exists(prefix + "_consolidated.pth"), ran.stderr


@LONG
@pytest.mark.parametrize("flags", [["--use_nested_fsdp", "--use_gradient_checkpointing"], ["--auto_wrap_policy", "type_based", "--compute_dtype=bfloat16"],
                                   ["--auto_wrap_policy", "size_based", "--flatten_parameters"]])
def test_003_55_imagenet_with_fsdp(flags, torchvision):
    text = command("train_mp_imagenet_fsdp.py", "--fake_data", "--num_cores=2", "--drop_last", "--model", "resnet18", "--test_set_batch_size", "4",
                   "--eval_interval", "10", "--lr", "0.4", "--batch_size", "4", "--num_warmup_epochs", "5", "--lr_scheduler_divide_every_n_epochs", "30",
                   "--lr_scheduler_divisor", "10", "--num_epochs", "1", "--num_steps=3", "--image_size=64", *flags, PJRT_DEVICE="CPU")
    assert text.endswith("Max Accuracy: 100.00%\n"), text


def test_002_3_003_27_003_58_003_61_imagenet_command(torchvision):
    text = command("train_mp_imagenet.py", "--fake_data", "--model=resnet18", "--batch_size=4", "--num_epochs=1",
                   "--num_steps=3", "--log_steps=2", "--image_size=64", "--test_set_batch_size=4", PJRT_DEVICE="CPU")
    assert re.search("==> Preparing data..\nEpoch 1 train begin .*\n" + LINE.format(0) + LINE.format(2) +
                     "Epoch 1 train end", text), text
    losses = [float(loss) for loss in re.findall(r"Loss=(\S+)", text)]
    assert losses[-1] < losses[0] and text.endswith("Max Accuracy: 100.00%\n"), text


def test_003_62_resnet_command(torchvision):
    text = command("train_resnet_base.py", "--model", "resnet18", "--batch_size", "2", "--num_steps", "11", "--image_size", "64")
    assert re.match(r"\d+:\d\d[AP]M UTC on \w{3} \d\d, \d{4}\n"
                    rf"epoch: 1, step: 0, loss: {NUMBER}, rate: {NUMBER}\nepoch: 1, step: 10, loss: {NUMBER}, rate: {NUMBER}\n"
                    r"Epoch 1 train end +\d+:\d\d[AP]M UTC\n$", text), text
