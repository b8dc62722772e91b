# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MILLRACE_PROFILE=FOLDER xla-run, and what xla-prof makes of its files."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from benchmarks import tools

sys.path.insert(0, os.path.join(tools.ROOT, "test", "harness"))
from profile_files import data_of_page, events_of_chrome_trace, fields_of, hlo_protos  # noqa: E402

# The number of turns is an argument: loops of known length become straight lines.
MATRIX = "tensor<128x128xf32>"
TEXT = """module @recorded {
  func.func @main(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>, %n: tensor<i32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (M, M) -> M loc("model.py":12:3)
    %count:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<128x128xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %t = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (M, M) -> M loc("model.py":21:1)
        stablehlo.return %j, %t : tensor<i32>, tensor<128x128xf32>
      } loc("model.py":20:1)
    return %y, %count#1 : tensor<128x128xf32>, tensor<128x128xf32>
  }
}
""".replace("M", MATRIX)
DEVICE = "/device:CUSTOM:Millrace CPU:0"


def run(*command, status=0, **environment):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ, **environment))
    assert ran.returncode == status, ran.stderr
    return ran


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A folder with the recording of four executions: one that compiles, and three in a second process, which finds the program in the cache."""
    import numpy as np
    folder = tmp_path_factory.mktemp("profile")
    (folder / "p.mlir").write_text(TEXT)
    np.savez(folder / "a.npz", *[np.ones((128, 128), np.float32)] * 2, np.int32(7))
    def command(program, repeat):
        return [tools.tool("xla-run"), program, f"--args={folder}/a.npz", "--quiet", f"--repeat={repeat}", f"--cache-dir={folder}/cache"]

    # The second process begins to record first, and waits for its program: recordings whose periods do not overlap would be of two runs.
    second = subprocess.Popen(command("-", 3), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, MILLRACE_PROFILE=str(folder / "recorded")))
    try:
        end = time.monotonic() + 120
        while not (folder / "recorded").is_dir():
            assert second.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        run(*command(str(folder / "p.mlir"), 1), MILLRACE_PROFILE=str(folder / "recorded"))
        assert not second.communicate(TEXT, timeout=120)[1] and second.returncode == 0
    finally:
        second.kill()
    return folder / "recorded"


def test_every_process_writes_a_pair_of_files(recording):
    names = sorted(path.name for path in recording.iterdir())
    assert len(names) == 4
    assert all(re.fullmatch(r"rank0\.\d+\.(trace\.json|xplane\.pb)", name) for name in names)
    assert len({name.split(".")[1] for name in names}) == 2


def test_chrome_trace_has_devices_threads_and_lines(recording):
    executions = 0
    for path in recording.glob("*.json"):
        found = events_of_chrome_trace(path.read_text())
        modules, ops, host = found[DEVICE, "XLA Modules"], found[DEVICE, "XLA Ops"], found["/host:CPU", "main"]
        executions += len(modules)
        assert all(re.fullmatch(r"recorded\(\d+\)", event["name"]) for event in modules)
        assert {"ExecuteComputation", "TransferToDevice", "TransferFromDevice"} <= {event["name"] for event in host}
        products = [event for event in ops if event["args"].get("source") == "model.py:12"]
        assert len(products) == len(modules)
        assert all("dot_general" in event["args"]["operations"] and event["args"]["flops"] == 2 * 128**3 for event in products)
        for event in ops:  # inside of an execution
            assert any(m["ts"] <= event["ts"] and event["ts"] + event["dur"] <= m["ts"] + m["dur"] + 1e-3 for m in modules)
        loops = [event for event in ops if event["name"] == "while"]
        assert [event["args"]["iterations"] for event in loops] == [7] * len(modules)
        turns = [event for event in ops if event["args"].get("source") == "model.py:21"]
        assert len(turns) == 7 * len(modules)
        assert all(any(loop["ts"] <= event["ts"] <= loop["ts"] + loop["dur"] for loop in loops) for event in turns)
        compiled = {event["name"] for event in host if event["args"].get("category") in ("compile", "cache")}
        assert ("Compile" in compiled) is ("cache miss" in compiled) is not ("cache hit" in compiled)
    assert executions == 1 + 3


def test_tables_page_and_merged_file_agree(recording, tmp_path):
    prof = tools.tool("xla-prof")
    whole = json.loads(run(prof, str(recording), "--json").stdout)
    assert [device["executions"] for device in whole["devices"]] in ([1, 3], [3, 1])
    assert (whole["launches"], whole["compilations"], whole["cache_hits"], whole["cache_misses"]) == (4, 1, 1, 1)
    product, = (row for row in whole["steps"] if row["source"] == "model.py:12")
    assert product["calls"] == 4 and product["flops"] == 4 * 2 * 128**3 and product["category"] == "contraction"
    text = run(prof, str(recording)).stdout
    assert text.startswith(whole["verdict"]) and re.search(r"steps: ms.*\n(?:.+\n)*?.*model\.py:21", text)  # under load another may be first

    run(prof, str(recording), f"--out={tmp_path}/all.xplane.pb")
    again = json.loads(run(prof, f"{tmp_path}/all.xplane.pb", "--json").stdout)
    assert again == whole

    run(prof, str(recording), f"--out={tmp_path}/all.json")
    merged = events_of_chrome_trace((tmp_path / "all.json").read_text())
    assert sum(process.startswith(DEVICE + " (rank0.") and thread == "XLA Modules" for process, thread in merged) == 2

    run(prof, str(recording), f"--out={tmp_path}/page.html")
    page = (tmp_path / "page.html").read_text()
    data = data_of_page(page)
    assert data["summary"] == whole
    timeline = data["timeline"]
    drawn = {}
    for line in timeline["lines"]:
        events = line["events"]
        assert len(events) % 4 == 0
        # Threads may have the same name: those of the pool have that of the process.
        drawn.setdefault((line["plane"], line["name"]), []).extend(timeline["texts"][name] for name in events[2::4])
        assert events[0::4] == sorted(events[0::4])
    assert {key: len(names) for key, names in drawn.items()} == {key: len(events) for key, events in merged.items()}
    assert len(timeline["arrows"]) == 4 * 4  # one per execution, with two ends of two numbers
    for at in range(0, 16, 4):
        source, begin, target, end = timeline["arrows"][at:at + 4]
        assert timeline["lines"][source]["name"] == "main" and timeline["lines"][target]["name"] == "XLA Modules" and begin <= end
    assert len(timeline["counters"]) == 2
    assert all(len(counter["events"]) >= 4 and max(counter["events"][1::2]) > 0 for counter in timeline["counters"])
    assert "prefers-color-scheme: dark" in page


@pytest.mark.skipif(not shutil.which("node"), reason="no JavaScript: node is not installed")
def test_the_script_of_a_page_draws_what_the_page_has(recording, tmp_path):
    run(tools.tool("xla-prof"), str(recording), f"--out={tmp_path}/page.html")
    data = data_of_page((tmp_path / "page.html").read_text())
    seen = json.loads(run("node", os.path.join(tools.ROOT, "test/harness/page_script.js"), f"{tmp_path}/page.html").stdout)
    assert seen["verdict"] == data["summary"]["verdict"] and seen["warnings"] == 0
    for name, rows in seen["tables"].items():
        assert len(rows) == len(data["summary"][name]), name
    assert seen["tables"]["steps"][0][7:9] == [data["summary"]["steps"][0]["name"], data["summary"]["steps"][0]["source"]]
    lines = len(data["timeline"]["lines"])
    assert seen["first"]["bezierCurveTo"] == 4 and seen["first"]["fillRect"] > lines
    assert seen["zoomed"]["setTransform"] == 1, "changes between two frames are drawn once"
    assert seen["canvas"] == 2 * 4000, "as large as what is seen, however many lanes there are"
    assert seen["pinched"]["setTransform"] == 1 and seen["released"] == {}
    # Of many arrows as many are drawn as leave room between them, over the whole width.
    end = max(begin + length for line in data["timeline"]["lines"] for begin, length in zip(line["events"][0::4], line["events"][1::4]))
    arrow = data["timeline"]["arrows"]
    data["timeline"]["arrows"] = [number for k in range(2000) for number in (arrow[0], end * k / 2000, arrow[2], end * k / 2000)]
    text = (tmp_path / "page.html").read_text()
    begin, after = text.index('id="data">') + len('id="data">'), text.index("</script>", text.index('id="data">'))
    (tmp_path / "arrows.html").write_text(text[:begin] + json.dumps(data) + text[after:])
    many = json.loads(run("node", os.path.join(tools.ROOT, "test/harness/page_script.js"), f"{tmp_path}/arrows.html").stdout)
    assert 20 <= many["first"]["bezierCurveTo"] <= 1000 / 24 + 1
    (down, first), (up, second) = seen["sorted"]["down"], seen["sorted"]["up"]
    assert (down, up) == ("descending", "ascending") and first == second[::-1] and len(first) >= 2
    texts = data["timeline"]["texts"]
    html = seen["html"]
    assert html["roofline"].count("<circle") == len([row for row in data["summary"]["steps"] if row["flops"] and row["bytes"] and row["category"] not in ("step", "collective")])
    assert html["memorychart"].count("<svg") == 2 and html["compilestrip"].count("<rect") == 2 and html["which"].count("<option") == 2
    assert seen["graph"]["strokeRect"] == len(data["views"]["programs"][0]["graph"]["nodes"]) and seen["box"]
    products = sum("dot" in (texts[name] + texts[detail]).lower() for line in data["timeline"]["lines"]
                   for name, detail in zip(line["events"][2::4], line["events"][3::4]))
    assert products >= 4 * 8 and re.fullmatch(rf"{products} events, [\d.]+ (ms|µs|s)", seen["found"])


def test_the_views_of_a_page_show_the_recording(recording, tmp_path):
    run(tools.tool("xla-prof"), str(recording), f"--out={tmp_path}/page.html")
    data = data_of_page((tmp_path / "page.html").read_text())
    views, summary = data["views"], data["summary"]
    assert abs(sum(part["ns"] for part in views["split"]) - summary["wall_ns"]) < 0.01 * summary["wall_ns"]
    # Two processes: each has its device, its memory and its program; the first one compiled it, the second one found it.
    assert sorted(each["cache"] == "hit" for each in views["compilations"]) == [False, True]
    assert {each["device"] for each in views["memory"]} == {each["name"] for each in summary["devices"]}
    for each in views["memory"]:
        peak, = (device["peak_bytes"] for device in summary["devices"] if device["name"] == each["device"])
        assert max(sum(point[1:]) for point in each["points"]) == peak == sum(o["bytes"] for o in views["owners"] if o["device"] == each["device"])
    for program in views["programs"]:
        graph = program["graph"]
        names = [node[0] for node in graph["nodes"]]
        assert names[:3] == ["argument 0", "argument 1", "argument 2"] and names[-2:] == ["result 0", "result 1"] and "while" in names
        product, = (k for k, node in enumerate(graph["nodes"]) if node[3].startswith("model.py:12"))
        edges = list(zip(*[iter(graph["edges"])] * 3))
        assert {(0, product, 128 * 128 * 4), (1, product, 128 * 128 * 4)} <= set(edges)
        assert (product, names.index("result 0"), 128 * 128 * 4) in edges or names.index("result 0") in [to for _, to, _ in edges]
        turn, = (node for node in graph["nodes"] if node[3].startswith("model.py:21"))
        assert turn[4] == 1, "inside of the loop"
    assert len(views["programs"]) == 2
    product, = (row for row in summary["steps"] if row["source"] == "model.py:12")
    assert product["pieces"] >= 1
    roofs = data["roofs"]
    assert roofs["threads"] >= 1 and len(roofs["levels"]) == 4 and all(level["gbps"] > 0.1 for level in roofs["levels"])
    found = json.loads(run(tools.tool("xla-prof"), str(recording), "--findings", "--roofs=false").stdout)
    assert {key: found[key] for key in ("split", "owners", "compilations")} == {key: views[key] for key in ("split", "owners", "compilations")}


def test_pages_are_written_beside_the_recording_and_opened(recording, tmp_path):
    shutil.copytree(recording, tmp_path / "recorded")
    page = tmp_path / "recorded" / "page.html"
    assert run(tools.tool("xla-prof"), "pages", str(tmp_path / "recorded")).stdout == f"{page}\n"
    data_of_page(page.read_text())
    page.unlink()
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/shown\n')
    (tmp_path / "browser").chmod(0o755)
    run(tools.tool("xla-prof"), "open", str(tmp_path / "recorded"), BROWSER=str(tmp_path / "browser"))
    assert (tmp_path / "shown").read_text() == f"file://{page}\n" and page.exists()
    ran = run(tools.tool("xla-prof"), "open", str(tmp_path / "recorded"), BROWSER="/none/browser")
    assert "/none/browser does not show it: open the file in a browser" in ran.stderr


def test_unusable_files_and_folders_are_errors(recording, tmp_path):
    prof = tools.tool("xla-prof")
    (tmp_path / "damaged.xplane.pb").write_bytes(b"\x0a\xff\xff\xff\x7fgarbage")
    for argument, message in ((tmp_path / "damaged.xplane.pb", r"xla-prof: .*damaged.xplane.pb: this is no XSpace"),
                              (tmp_path / "none", r"xla-prof: .*none"),
                              (tmp_path / "empty", r"has no recording \(\*.xplane.pb\): MILLRACE_PROFILE=FOLDER PROGRAM writes some")):
        (tmp_path / "empty").mkdir(exist_ok=True)
        ran = run(prof, str(argument), status=1)
        assert re.search(message, ran.stderr) and len(ran.stderr.splitlines()) == 1 and not ran.stdout
    os.mkfifo(tmp_path / "pipe.xplane.pb")
    assert "pipe.xplane.pb is neither a file nor a folder" in run(prof, str(tmp_path / "pipe.xplane.pb"), status=1).stderr
    for arguments in (["convert", str(recording)], ["convert"]):
        assert "'convert' is neither a file or folder nor a command: expects pages, open, compare or capture" in run(prof, *arguments, status=1).stderr
    ran = run(prof, str(recording), f"--out={tmp_path}/x.png", status=1)
    assert "--out expects a name that ends with .html" in ran.stderr
    for arguments in ([], [str(recording)], [str(recording), "--json"]):
        assert "compare expects FIRST SECOND" in run(prof, "compare", *arguments, status=1).stderr
    (tmp_path / "file").write_text("")
    (tmp_path / "p.mlir").write_text(TEXT)
    ran = run(tools.tool("xla-run"), str(tmp_path / "p.mlir"), "--quiet", MILLRACE_PROFILE=str(tmp_path / "file" / "folder"), status=1)
    assert "MILLRACE_PROFILE expects a folder for the recordings" in ran.stderr


def test_of_several_runs_the_newest_is_shown(recording, tmp_path):
    """A folder that is used again, and one in which a program that runs was recorded twice."""
    prof = tools.tool("xla-prof")
    run(tools.tool("xla-run"), str(recording.parent / "p.mlir"), f"--args={recording.parent}/a.npz", "--quiet", "--repeat=2", "--cache-dir=off",
        MILLRACE_PROFILE=str(tmp_path / "later"))
    later, = (tmp_path / "later").glob("*.xplane.pb")
    for kind in ("reused", "captured"):
        early, late = (tmp_path / kind / part for part in (("plugins/profile/2026_01_01", "plugins/profile/2026_01_02") if kind == "captured" else (".", ".")))
        for folder, files in ((early, recording.glob("*.xplane.pb")), (late, [later])):
            folder.mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy(file, folder)
        ran = run(prof, str(tmp_path / kind), "--json")
        whole, alone = json.loads(ran.stdout), json.loads(run(prof, str(later), "--json").stdout)
        assert [device["executions"] for device in whole["devices"]] == [2]
        assert re.fullmatch(r"xla-prof: warning: 2 recordings of earlier runs are left out \(.*rank0.*, .*rank0.*\): give such a file.*\n", ran.stderr)
        assert len(whole.pop("warnings")) == 1 and not alone.pop("warnings") and whole == alone
    ran = run(prof, str(early), "--json")
    assert not ran.stderr and len(json.loads(ran.stdout)["devices"]) == 2, "an earlier one can be named"


def test_damaged_files_beside_good_ones_are_left_out(recording, tmp_path):
    prof = tools.tool("xla-prof")
    good = json.loads(run(prof, str(recording), "--json").stdout)
    for name, content in (("none", b""), ("zeros", bytes(4096)), ("cut", next(recording.glob("*.xplane.pb")).read_bytes()[:-7])):
        folder = tmp_path / name
        shutil.copytree(recording, folder)
        file = folder / f"{name}.xplane.pb"
        file.write_bytes(content)
        ran = run(prof, str(file), status=1)
        assert str(file) in ran.stderr and len(ran.stderr.splitlines()) == 1 and not ran.stdout
        ran = run(prof, str(folder), "--json")
        assert re.fullmatch(rf"xla-prof: warning: .*{name}.xplane.pb.*; it is left out\n", ran.stderr)
        whole = json.loads(ran.stdout)
        assert len(whole.pop("warnings")) == 1 and whole == {key: value for key, value in good.items() if key != "warnings"}


def test_recordings_are_compared(recording, tmp_path):
    """The same work once more, by the generic path and with half the turns: what differs is named, what does not is paired."""
    import numpy as np
    prof, folder = tools.tool("xla-prof"), recording.parent
    np.savez(tmp_path / "b.npz", *[np.ones((128, 128), np.float32)] * 2, np.int32(14))
    run(tools.tool("xla-run"), str(folder / "p.mlir"), f"--args={tmp_path}/b.npz", "--quiet", "--repeat=2", "--generic", "--cache-dir=off",
        MILLRACE_PROFILE=str(tmp_path / "later"))
    found = json.loads(run(prof, "compare", str(recording), str(tmp_path / "later"), "--json").stdout)
    program, = found["programs"]
    assert (program["name"], program["before_runs"], program["after_runs"]) == ("recorded", 4, 2)
    rows = {row["name"].split("_")[0]: row for row in found["rows"] if row["before"] and row["after"]}
    assert "other plan: made by 'generic', not by 'contraction'" in rows["dot"]["why"] and rows["dot"]["source"] == "model.py:12"
    assert "14.0 calls per execution, not 7.0" in rows["add"]["why"]
    assert {row["why"] for row in found["rows"] if row["after"] is None} == {"only in the first recording"}, "packed operands"
    for row in found["rows"]:
        assert row["cost_ns"] == pytest.approx(2 * (row["after_ns"] - row["before_ns"]), abs=1)
    costs = [abs(row["cost_ns"]) for row in found["rows"]]
    assert costs == sorted(costs, reverse=True)
    assert "not by 'contraction'" in run(prof, "compare", str(recording), str(tmp_path / "later")).stdout
    run(prof, "compare", str(recording), str(tmp_path / "later"), f"--out={tmp_path}/compared.html")
    assert data_of_page((tmp_path / "compared.html").read_text()) == found
    itself = json.loads(run(prof, "compare", str(recording), str(recording), "--json").stdout)
    assert {row["why"] for row in itself["rows"]} == {"the same"} and all(row["cost_ns"] == 0 for row in itself["rows"])
    ran = run(prof, "compare", str(recording), str(tmp_path / "none"), status=1)
    assert "none" in ran.stderr


def test_recordings_have_the_programs_for_xprof(recording):
    """XLA reads the HloProto of each program: kernels are named as their events are; its buffer assignment has all memory."""
    hlo = pytest.importorskip("jaxlib._hlo")
    for path in recording.glob("*.xplane.pb"):
        found = hlo_protos(path.read_bytes())
        (title, proto), = found.items()
        assert re.fullmatch(r"recorded\(\d+\)", title)
        parts = dict(fields_of(proto))
        text = hlo.HloModule.from_serialized_hlo_module_proto(parts[1]).to_string()
        events = events_of_chrome_trace(path.with_name(path.name.replace("xplane.pb", "trace.json")).read_text())
        names = {event["name"] for event in events[DEVICE, "XLA Ops"]}
        for name in names - {"while", "copy"}:
            assert f" {name} = " in text or f"%{name} = " in text, name
        assert "while(" in text and "condition=" in text and 'source_file="model.py" source_line=12' in text
        allocations = [dict(fields_of(value)) for number, value in fields_of(parts[3]) if number == 3]
        assert sum(allocation[2] for allocation in allocations if 5 in allocation) == 2 * 128 * 128 * 4 + 4  # arguments
        assert sum(allocation[2] for allocation in allocations if 7 in allocation) == 2 * 128 * 128 * 4  # results


def memory_events(path):
    """[(MemoryAllocation or MemoryDeallocation, {stat: value})] of the plane of the host."""
    found = []
    for number, message in fields_of(path.read_bytes()):
        plane = list(fields_of(message)) if number == 1 else []
        if (2, b"/host:CPU") not in plane:
            continue
        entries = {field: [dict(fields_of(value)) for key, value in plane if key == field] for field in (4, 5)}
        kinds, names = ({entry[1]: dict(fields_of(entry[2])).get(2, b"").decode() for entry in entries[field]} for field in (4, 5))
        for line in (list(fields_of(value)) for key, value in plane if key == 3):
            for event in (list(fields_of(value)) for key, value in line if key == 4):
                stats = [dict(fields_of(value)) for key, value in event if key == 4]
                values = {names[stat[1]]: names[stat[7]] if 7 in stat else stat.get(4, stat.get(3)) for stat in stats}
                if kinds[dict(event)[1]].startswith("Memory"):
                    found.append((kinds[dict(event)[1]], values))
    return found


def test_recordings_have_the_memory_for_xprof(recording, tmp_path):
    """Each point of a counter is an event of XProf's, too; tools of ours read the counters and see each change once."""
    for path in recording.glob("*.xplane.pb"):
        events = memory_events(path)
        drawn = json.loads(path.with_name(path.name.replace("xplane.pb", "trace.json")).read_text())["traceEvents"]
        points = [event["args"]["bytes in use"] for event in drawn if event["ph"] == "C"]
        assert len(events) == len(points) > 4
        assert {stats["allocator_name"] for _, stats in events} == {"Millrace CPU:0"}
        assert max(stats["peak_bytes_in_use"] for _, stats in events) == max(points)
        assert {stats["region_type"] for kind, stats in events if kind == "MemoryAllocation"} >= {"intermediate", "result"}
        assert any(stats.get("tf_op") == "model.py:12" for _, stats in events), "the line that asked for it"
        run(tools.tool("xla-prof"), str(path), f"--out={tmp_path}/again.xplane.pb")
        assert memory_events(tmp_path / "again.xplane.pb") == events


def test_xprof_shows_memory_over_time(recording, tmp_path):
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data")
    path = next(iter(sorted(recording.glob("*.xplane.pb"))))
    files = [shutil.copy(path, tmp_path)]
    assert "memory_profile" in convert.xspace_to_tool_names(files)
    profile = json.loads(convert.xspace_to_tool_data(files, "memory_profile", {})[0])["memoryProfilePerAllocator"]["Millrace CPU:0"]
    events = memory_events(path)
    assert int(profile["profileSummary"]["peakStats"]["peakBytesInUse"]) == max(stats["peak_bytes_in_use"] for _, stats in events)
    assert len(profile["sampledTimelineSnapshots"]) == len(events)
    assert {"intermediate", "result"} <= {each["activityMetadata"]["regionType"] for each in profile["memoryProfileSnapshots"]}


def test_xprof_shows_programs_and_their_memory(recording, tmp_path):
    """XProf's own converters, where the package xprof is installed."""
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data")
    path = next(iter(sorted(recording.glob("*.xplane.pb"))))
    files = [shutil.copy(path, tmp_path)]
    assert {"graph_viewer", "memory_viewer"} <= set(convert.xspace_to_tool_names(files))
    title, = hlo_protos(path.read_bytes())
    memory = json.loads(convert.xspace_to_tool_data(files, "memory_viewer", {"module_name": title})[0])
    names = [block.get("instructionName") for block in memory["maxHeap"]]
    assert {"argument", "argument.1"} <= set(names) and max(memory["heapSizes"]) >= 4 * 128 * 128 * 4 / 2**20
    options = {"node_name": "", "module_name": title, "type": "long_txt", "graph_width": 2, "show_metadata": True, "merge_fusion": False, "format": "txt"}
    text = convert.xspace_to_tool_data(files, "graph_viewer", {"module_name": title, "graph_viewer_options": options})[0].decode()
    assert text.startswith("HloModule recorded") and 'custom_call_target="contraction"' in text and "condition=%while_condition" in text
