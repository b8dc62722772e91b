# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils, torch_xla.debug and torch_xla.test."""
import os
import re
import socket
import subprocess
import sys
import threading

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.debug.profiler as xp
import torch_xla.utils.serialization as xser
import torch_xla.utils.utils as xu
from torch_xla.debug import (frame_parser_util, graph_saver, metrics_compare_utils, metrics_saver, model_comparator)
from torch_xla.test import test_utils
from torch_xla.utils import closures, dlpack, keyd_queue
from torch_xla.utils.checkpoint import checkpoint
from torch_xla.utils.checkpoint_tagger import CheckpointTagger


def test_serialization_streams(tmp_path):
    path = str(tmp_path / "state.pt")
    shared = torch.arange(4.0, device="xla")
    xser.save({"a": shared, "again": shared, "b": [torch.ones(2), 3, "text"]}, path)
    files = sorted(os.listdir(path + ".tensors"))
    assert len(files) == 2 and os.path.getsize(path) < 2000
    loaded = xser.load(path)
    assert loaded["a"].tolist() == [0.0, 1.0, 2.0, 3.0] and loaded["again"] is loaded["a"] and loaded["a"].device.type == "cpu"
    assert loaded["b"][0].tolist() == [1.0, 1.0] and loaded["b"][1:] == [3, "text"]
    model = torch.nn.Linear(2, 2).to("xla")
    xser.save(model.state_dict(), path)
    assert len(os.listdir(path + ".tensors")) == 2
    other = torch.nn.Linear(2, 2)
    other.load_state_dict(xser.load(path))
    assert torch.equal(other.weight, model.weight.cpu())


def test_full_disk(tmp_path):
    """Of a file system with one megabyte: errors name the file, and what was saved before is there, alone."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("needs to mount a file system")
    try:
        small, large = torch.ones(3, device="xla"), torch.ones(1 << 20, device="xla")
        (tmp_path / "link.pt").symlink_to("state.pt")
        for save, path in ((xm.save, tmp_path / "state.pt"), (xm.save, tmp_path / "link.pt"), (xser.save, tmp_path / "parts.pt")):
            save({"x": small}, path)
            with pytest.raises(OSError, match=rf"No space left on device: {path}.* was not written"):
                save({"x": large}, path)
        assert torch.load(tmp_path / "state.pt")["x"].tolist() == xser.load(tmp_path / "parts.pt")["x"].tolist() == [1.0] * 3
        assert sorted(os.listdir(tmp_path)) == ["link.pt", "parts.pt", "parts.pt.tensors", "state.pt"] and (tmp_path / "link.pt").is_symlink()
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_what_killed_processes_have_left(tmp_path):
    """Is removed when its name is saved again; the folder and the file of others stay."""
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    host = socket.gethostname()
    (tmp_path / f"state.pt.tmp-{host}-{killed.pid}").write_bytes(b"half")
    (tmp_path / f"state.pt.tensors.tmp-{host}-{killed.pid}").mkdir()
    others = [tmp_path / f"state.pt.tmp-{host}-{os.getppid()}", tmp_path / f"state.pt.tmp-another-{killed.pid}", tmp_path / f"other.pt.tmp-{host}-{killed.pid}"]
    for other in others:
        other.write_bytes(b"half")
    xm.save({"x": 1}, tmp_path / "state.pt")
    xser.save({"x": torch.ones(1)}, tmp_path / "state.pt")
    assert set(tmp_path.iterdir()) == {*others, tmp_path / "state.pt", tmp_path / "state.pt.tensors"}


def test_dlpack_shares_memory():
    import numpy as np
    x = torch.arange(6.0, device="xla").reshape(2, 3) + 1
    capsule = dlpack.to_dlpack(x)
    cpu = torch.utils.dlpack.from_dlpack(capsule)
    assert cpu.device.type == "cpu" and cpu.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert torch.utils.dlpack.from_dlpack(dlpack.to_dlpack(x)).data_ptr() == cpu.data_ptr()
    x += 1  # what is shared is not overwritten
    torch_xla.sync(wait=True)
    assert cpu[0, 0].item() == 1.0 and x[0, 0].item() == 2.0
    source = torch.arange(64, dtype=torch.float32)
    y = dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(source))
    assert y.device.type == "xla" and dlpack.from_dlpack(source)[5].item() == 5.0
    source[3] = 50.0  # the same memory
    assert y[3].item() == 50.0
    y += 1
    assert y[3].item() == 51.0 and source[3].item() == 50.0
    del source
    assert y.sum().item() == sum(range(64)) + 47 + 64
    assert dlpack.from_dlpack(np.arange(5)[1:]).tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="xla device"):
        dlpack.to_dlpack(torch.ones(2))


def test_checkpoint_gives_the_same_gradients_and_draws():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 4)).to("xla")
    x = torch.randn(3, 4)

    def run(call):
        layers.zero_grad()
        torch_xla.manual_seed(5)
        inputs = x.to("xla").requires_grad_()
        out = call(inputs)
        (out * out).sum().backward()
        return [inputs.grad.cpu(), *[p.grad.cpu() for p in layers.parameters()]]
    plain = run(layers)
    for call in (lambda t: checkpoint(layers, t), lambda t: checkpoint(layers, t, use_reentrant=False)):
        for got, want in zip(run(call), plain):
            torch.testing.assert_close(got, want)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: extra"):
        checkpoint(layers, x.to("xla"), extra=1)
    assert "optimization_barrier" in program(lambda: run_graph(layers, x))


def run_graph(layers, x):
    inputs = x.to("xla").requires_grad_()
    checkpoint(layers, inputs).sum().backward()
    return inputs.grad


def program(function):
    return xm.get_stablehlo([function()])


def test_queues():
    queue = keyd_queue.Queue(maxsize=1)
    assert queue.max_size() == 1 and queue.put(1)
    thread = threading.Thread(target=lambda: queue.put(2))
    thread.start()
    assert [queue.get(), queue.get()] == [1, 2]
    thread.join()
    queue.put(3)
    queue.close_write()
    assert queue.get() == 3 and queue.get() is None
    with pytest.raises(RuntimeError, match="closed for writing"):
        queue.put(4)
    keyed = keyd_queue.KeydQueue()
    keyed.put("b", 2)
    keyed.put("a", 1)
    assert keyed.get("a") == 1 and keyed.get("b") == 2
    waiting = threading.Thread(target=lambda: keyed.get("c"))
    waiting.start()
    keyed.close()
    waiting.join(10)
    assert not waiting.is_alive() and keyed.put("d", 1) is False


def test_closure_handlers():
    seen, handler = [], closures.AsyncClosureHandler(max_queue_size=2)
    handler.run_all([lambda i=i: seen.append(i) for i in range(10)])
    handler.wait()
    assert seen == list(range(10))
    closures.ClosureHandler().run_all([lambda: seen.append("a")])
    assert seen[-1] == "a"


def test_small_helpers(capsys, monkeypatch):
    generator = xu.SampleGenerator(data=(1, 2), sample_count=3)
    assert len(generator) == 3 and list(generator) == list(generator) == [(1, 2)] * 3
    data, target = next(iter(xu.FnDataGenerator(lambda t: t * 2, 4, torch.ones, dims=[3], count=2)))
    assert data.shape == (4, 3) and target.sum().item() == 24.0
    assert xu.as_list((1, 2)) == [1, 2] and xu.as_list(5) == [5] and xu.shape([[1, 2, 3], [4, 5, 6]]) == [2, 3]
    assert xu.flatten_nested_tuple((1, (2, [3, 4]))) == (1, 2, 3, 4) and xu.list_copy_append([1], 2) == [1, 2]
    monkeypatch.setenv("A_FLAG", "true")
    assert xu.getenv_as("A_FLAG", bool) is True and xu.check_env_flag("A_FLAG") and xu.getenv_as("NO_FLAG", int, 3) == 3
    ports = xu.get_free_tcp_ports(3)
    assert len(set(ports)) == 3
    assert xu.parallel_work(2, lambda a, b: a + b, [1, 2], [10, 20]) == [11, 22]
    lines = []
    assert xu.timed(lambda: 5, msg="work", printfn=lines.append) == 5 and re.fullmatch(r"work \d+\.\d+s", lines[0])
    with pytest.raises(KeyError), xu.TimedScope(msg="bad", printfn=lines.append):
        raise KeyError("x")
    assert "failed" in lines[1]
    with xu.TmpFolder() as folder:
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)
    lazy = xu.LazyProperty(lambda: lines.append("made") or 7)
    assert lazy.value == lazy.value == 7 and lines.count("made") == 1
    xu.get_print_fn(False)("nothing")
    xu.get_print_fn(True)("something")
    assert capsys.readouterr().err == "something\n"


def test_tagger(tmp_path):
    removed, files = [], [tmp_path / f"{i}.pt" for i in range(3)]
    for file in files:
        file.write_text("x")
    tagger = CheckpointTagger()
    tagger.tag("last", str(files[0]))
    tagger.tag("best", str(files[0]))
    tagger.tag("last", str(files[1]))
    assert files[0].exists()
    tagger.tag("best", str(files[1]))
    assert not files[0].exists() and tagger.tags() == {"last": str(files[1]), "best": str(files[1])}
    again = CheckpointTagger.load_from_json(tagger.save_to_json(), remover=removed.append)
    again.tag("last", str(files[2]))
    again.tag("best", str(files[2]))
    assert removed == [str(files[1])]


def test_profiler_regions_and_step_barrier():
    @xp.trace_me("decorated")
    def work():
        return torch.ones(2, device="xla") + 1
    torch_xla.sync()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        with xp.Trace("region", batch=3):
            work()
        met.clear_all()
        with xp.StepTrace("step", step_num=1):
            work()
            assert met.metric_data("ExecuteTime") is None
    assert {"region", "decorated", "step"} <= {event.key for event in profile.key_averages()}
    assert xp.get_tracer_marked_step()
    xp.set_tracer_marked_step(False)


def test_saved_graphs_and_metrics(tmp_path, monkeypatch):
    x = torch.ones(2, device="xla")
    torch_xla.sync()
    paths = [graph_saver.save_tensors_graph(str(tmp_path / "graphs"), "loss", [x + 1])]
    for form in ("dot", "hlo", "stablehlo"):
        monkeypatch.setenv("SAVE_GRAPH_FMT", form)
        paths.append(graph_saver.save_tensors_graph(str(tmp_path / "graphs"), "loss", [x + 1]))
    assert len(set(paths)) == 4
    for path, word in zip(paths, ("aten::add", "digraph", "HloModule", "stablehlo.add")):
        assert word in open(path).read()
    met.clear_all()
    (x + 1).cpu()
    metrics_saver.save_metrics(str(tmp_path / "metrics.txt"))
    monkeypatch.setenv("XLA_METRICS_FILE", str(tmp_path / "metrics.txt"))
    xm.mark_step()  # every barrier writes one
    text = open(tmp_path / "metrics.txt").read()
    assert "[MetricsData; step=0]" in text and "[MetricsData; step=1]" in text and "Metric: ExecuteTime" in text
    points = metrics_compare_utils.get_data_points_from_metrics_reports(text.split("[MetricsData")[1:])
    assert points["ExecuteTime__TotalSamples"] == [1.0, 1.0] and points["ExecuteTime__Accumulator_sec"][0] > 0


REPORT = """Metric: CompileTime
  TotalSamples: 2
  Accumulator: 01m02s500ms250.000us
  ValueRate: 00s500ms000.000us / second
  Rate: 0.5 / second
  Percentiles: 1%=01s000ms000.000us; 99%=02s000ms000.000us
Metric: InboundData
  Accumulator: 2.00MB
Counter: CachedCompile
  Value: 8
"""


def test_metrics_are_compared():
    parsed = metrics_compare_utils.parse_metrics_report(REPORT)
    assert parsed == {"CompileTime__TotalSamples": 2.0, "CompileTime__Accumulator_sec": pytest.approx(62.50025),
                      "CompileTime__Percentile_1_sec": 1.0,
                      "CompileTime__Percentile_99_sec": 2.0, "InboundData__Accumulator_mb": 2.0, "CachedCompile__Value": 8}
    assert metrics_compare_utils.parse_metrics_report(REPORT, dehumanize=False)["InboundData__Accumulator_mb"] == (2.0, "2.00MB")
    points = metrics_compare_utils.get_data_points_from_metrics_reports([REPORT, REPORT, "Counter: aten::nms\n  Value: 3\n"])
    assert points["CachedCompile__Value"] == [8, 8, None] and points["aten::nms__Value"] == [None, None, 3]
    assert metrics_compare_utils.compare_metrics(points, REPORT) == ""
    worse = REPORT.replace("Value: 8", "Value: 9") + "Counter: aten::_ctc_loss\n  Value: 4\nCounter: Other\n  Value: 1\n"
    lines = metrics_compare_utils.compare_metrics(points, worse).splitlines()
    assert lines == ["CachedCompile__Value failed its expression check. Expression: v <= v_mean + (v_stddev * 2.0).  Mean: 8.0.  Stddev: 0.0.  "
                     "Actual Value: 9", "Found new aten counter: aten::_ctc_loss__Value: 4"]
    config = {"base_expression": "v <= v_mean", "CachedCompile__Value_expression": "v < 10"}
    assert metrics_compare_utils.compare_metrics(points, worse, config) == lines[1] + "\n"


def test_sizes_and_days_in_reports_are_numbers():
    report = "--metric:localhost\n\nMetric: InboundData\n  TotalSamples: 73216\n  Accumulator: 64.75TB\n  Percentiles: 1%=393.00KB; 99%=1.54MB\n" \
        "Metric: TransferToServerTime\n  Accumulator: 04d17h11m07s495ms546.299us\n"
    parsed = metrics_compare_utils.parse_metrics_report(report)
    assert parsed == {"InboundData__TotalSamples": 73216.0, "InboundData__Accumulator_mb": 64750000.0,
                      "InboundData__Percentile_1_mb": pytest.approx(0.393), "InboundData__Percentile_99_mb": 1.54,
                      "TransferToServerTime__Accumulator_sec": pytest.approx(407467.495546299)}


def test_metrics_go_to_the_streams(capfd, monkeypatch):
    (torch.ones(3, device="xla") + 1).cpu()
    metrics_saver.save_metrics("STDOUT")
    monkeypatch.setenv("XLA_METRICS_FILE", "STDERR")
    metrics_saver.save_metrics()
    out, err = capfd.readouterr()
    assert "Metric: ExecuteTime" in out and "Metric: ExecuteTime" in err


def test_sizes_are_printed_in_their_units():
    (torch.ones(384, device="xla") + 1).cpu()
    met.clear_all()
    torch.ones(384).to("xla").cpu()
    report = met.metrics_report()
    inbound = report[report.index("Metric: InboundData"):].splitlines()
    assert inbound[1:3] == ["  TotalSamples: 1", "  Accumulator: 1.50KB"]
    assert metrics_compare_utils.parse_metrics_report(report)["InboundData__Accumulator_mb"] == 0.0015


def test_models_are_compared(tmp_path):
    first, second = str(tmp_path / "1"), str(tmp_path / "2")
    for folder, shift in ((first, 0.0), (second, 0.5)):
        model_comparator.configure(folder)
        model_comparator.save("same", torch.ones(3, device="xla"))
        model_comparator.save("layer", torch.arange(3.0) + torch.tensor([0.0, shift, 0.0]))
        model_comparator.save("layer", torch.ones(2))
    model_comparator.save("extra", torch.ones(1))
    model_comparator.configure(None)
    model_comparator.save("nowhere", torch.ones(1))
    report = model_comparator.compare(first, second)
    assert report == f"extra.0.pt: only in {second}\nlayer.0.pt:\n  [1]: 1.0 and 1.5\n"
    assert model_comparator.compare(first, first) == ""
    assert model_comparator.compare_tensors(torch.ones(2), torch.ones(3)) == ["sizes (2,) and (3,)"]
    assert len(model_comparator.compare_tensors(torch.zeros(50), torch.ones(50), max_diffs=5)) == 6


def test_frames_are_counted(tmp_path):
    text = "[TensorsGraphInfo]\n  step (train.py:10)\n  main (train.py:90)\n\n" * 2 + "Hash: 1\n  eval (train.py:40)\n"
    file = tmp_path / "graphs.txt"
    file.write_text(text)
    report = frame_parser_util.process_frames(str(file))
    assert report == "Count: 2\n  step (train.py:10)\n  main (train.py:90)\n\nCount: 1\n  eval (train.py:40)\n\n"
    ran = subprocess.run([sys.executable, "-m", "torch_xla.debug.frame_parser_util", str(file)], capture_output=True, text=True)
    assert ran.stdout == report, ran.stderr
    assert frame_parser_util.parse_frame_content("  a <lambda> (x/y.py:3)") == ("a <lambda>", "x/y.py", 3)


def test_lines_of_training_programs(capsys):
    test_utils.print_training_update(torch_xla.device(), 0, 6.890591, 2.824, 2.824, epoch=1, summary_writer=None)
    test_utils.print_test_update("xla:0", 97.5, epoch=2)
    test_utils.print_test_update("xla:0", None, epoch=2, step=3)
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\| Training Device=xla:0/0 Epoch=1 Step=0 Loss=6\.89059 Rate=2\.82 GlobalRate=2\.82 Time=\d\d:\d\d:\d\d", lines[0])
    assert re.fullmatch(r"\| Test Device=xla:0/0 Epoch=2 Accuracy=97\.50 Time=\d\d:\d\d:\d\d", lines[1])
    assert re.fullmatch(r"\| Test Device=xla:0/0 Step=3 Epoch=2 Time=\d\d:\d\d:\d\d", lines[2])
    assert test_utils.get_summary_writer(None) is None
    written = []

    class Writer:
        def add_scalar(self, name, value, step):
            written.append((name, value, step))
    test_utils.write_to_summary(Writer(), 5, {"loss": 1.5}, write_xla_metrics=True)
    assert ("loss", 1.5, 5) in written and any(name == "ExecuteTime" for name, _, _ in written)
    assert test_utils.mp_test(lambda rank: rank + 1)(3) == 4


def test_pytreeify():
    from torch_xla.experimental.pytreeify import pytreeify

    @pytreeify
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tree, factors):
            ctx.factors = factors
            return {"sum": tree["a"] * factors[0] + tree["b"][0] * factors[1], "first": tree["a"] * 1}

        @staticmethod
        def backward(ctx, gradients):
            of_sum = gradients["sum"]
            return {"a": of_sum * ctx.factors[0] + gradients["first"], "b": [of_sum * ctx.factors[1]]}, None
    for device in ("cpu", "xla"):
        a, b = (torch.ones(2, device=device, requires_grad=True) for _ in range(2))
        made = Scaled.apply({"a": a, "b": [b]}, (3.0, torch.tensor(5.0, device=device)))
        assert made["sum"].tolist() == [8, 8] and made["first"].tolist() == [1, 1]
        (made["sum"].sum() + 10 * made["first"].sum()).backward()
        assert a.grad.tolist() == [13, 13] and b.grad.tolist() == [5, 5]
