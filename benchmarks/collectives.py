# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast devices of one process talk to each other, and whether talk hides behind work.

  python -m benchmarks.collectives [--megabytes=16] [--devices=2,4,8]
  python -m benchmarks.collectives --calibrate=FILE.json [--megabytes=64] [--devices=8] [--rounds=5] [--clock=wall|processor]

First table: each collective against copying at the machine's speed the bytes that it must read and write (benchmarks/probe.cpp, best of
a run before and one after). Second: a sum beside a product that needs nothing of it; hidden is what the two together save, in parts of the
shorter one. Third: the same where one device comes late: the others may work in the meantime. Fourth: the product of gathered rows against products of parts that go round (xla-opt -xla-window-products). Times are the
least of --repeat executions of xla-run. With --calibrate instead: what automatic sharding has to know of this machine (benchmarks/calibration.py).
"""
import argparse
import re
import subprocess
import sys
import tempfile

from benchmarks import calibration, profile, tools

ADD = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) """


def groups(n):
    return f"replica_groups = dense<[[{', '.join(map(str, range(n)))}]]> : tensor<1x{n}xi64>"


def collective(kind, n, rows, width, result="%r", operand="%x", channel=1):
    """(line, rows of the result): of `rows` rows on each of n devices."""
    handle = f"channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>"
    ids, out, body = "use_global_device_ids, ", rows, ""
    if kind == "all_reduce":
        attributes, body = f"{ids}{groups(n)}", ADD
    elif kind == "reduce_scatter":
        attributes, body, out = f"scatter_dimension = 0 : i64, {ids}{groups(n)}", ADD, rows // n
    elif kind == "all_gather":
        attributes, out = f"all_gather_dim = 0 : i64, {ids}{groups(n)}", rows * n
    elif kind == "all_to_all":
        attributes = f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = {n} : i64, {groups(n)}"
    else:
        pairs = ", ".join(f"[{i}, {(i + 1) % n}]" for i in range(n))
        attributes = f"source_target_pairs = dense<[{pairs}]> : tensor<{n}x2xi64>"
    return (f'  {result} = "stablehlo.{kind}"({operand}) <{{{attributes}, {handle}}}> {body}: (tensor<{rows}x{width}xf32>) -> '
            f"tensor<{out}x{width}xf32>\n"), out


def program(n, arguments, lines, results):
    head = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    kinds = ", ".join(kind for _, kind in results)
    return (f"module attributes {{mhlo.num_partitions = {n} : i32}} {{\nfunc.func @main({head}) -> ({kinds}) {{\n{lines}"
            f"  return {', '.join(name for name, _ in results)} : {kinds}\n}}\n}}\n")


def milliseconds(text, repeat, passes=()):
    """The least time of an execution."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        if passes:
            text = subprocess.run([tools.tool("xla-opt"), "-", *passes], input=text, capture_output=True, text=True, check=True).stdout
        file.write(text)
        file.flush()
        out = subprocess.run([tools.tool("xla-run"), file.name, "--quiet", f"--repeat={repeat}", "--cache-dir=off"], capture_output=True,
                             text=True, check=True, timeout=600)
    return float(re.search(r"run: min ([\d.]+) ms", out.stdout + out.stderr)[1])


def bandwidths(devices, megabytes, repeat):
    import os
    threads, width = os.cpu_count(), 1024
    before, rows = profile.probe(threads), megabytes * 256
    found = []
    for kind in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "collective_permute"):
        for n in devices:
            given = rows // n if kind == "all_gather" else rows  # so that what is largest has `megabytes`
            line, out = collective(kind, n, given, width)
            text = program(n, [("%x", f"tensor<{given}x{width}xf32>")], line, [("%r", f"tensor<{out}x{width}xf32>")])
            read = {"all_gather": rows, "reduce_scatter": rows}.get(kind, given)
            found.append((kind, n, 4 * width * n * (read + out), milliseconds(text, repeat)))
    peaks = profile.best_of(before, profile.probe(threads))
    yield "| collective | devices | least bytes read and written | ms | GB/s | of copying |"
    yield "|---|---|---|---|---|---|"
    for kind, n, moved, spent in found:
        rate = moved / spent / 1e6
        yield f"| {kind} | {n} | {moved} | {spent:.2f} | {rate:.1f} | {100 * rate / profile.bandwidth(peaks, moved, 0.5):.0f} % |"


def hidden(devices, repeat):
    """A sum of 16 MB beside a product of 1024 x 1024 matrices."""
    square, flat = "tensor<1024x1024xf32>", "tensor<4096x1024xf32>"
    product = f"  %p = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : ({square}, {square}) -> {square}\n"
    yield "| devices | sum, ms | product, ms | both, ms | hidden of the shorter |"
    yield "|---|---|---|---|---|"
    for n in devices:
        line, _ = collective("all_reduce", n, 4096, 1024)
        alone = milliseconds(program(n, [("%x", flat)], line, [("%r", flat)]), repeat)
        work = milliseconds(program(n, [("%m", square)], product, [("%p", square)]), repeat)
        both = milliseconds(program(n, [("%x", flat), ("%m", square)], line + product, [("%r", flat), ("%p", square)]), repeat)
        yield f"| {n} | {alone:.2f} | {work:.2f} | {both:.2f} | {100 * (alone + work - both) / min(alone, work):.0f} % |"


def late(devices, repeat):
    """A sum of 16 MB for which one device is late, and a product that does not need it: in order (a barrier), or while the others wait."""
    square, flat = "tensor<1024x1024xf32>", "tensor<4096x1024xf32>"
    yield "| devices | the last one's delay, ms | sum, then product, ms | product while others wait, ms | hidden of the delay |"
    yield "|---|---|---|---|---|"
    for n in devices:
        def text(rounds, ordered, n=n):
            line, _ = collective("all_reduce", n, 4096, 1024, operand="%y")
            needed = ("  %b:2 = stablehlo.optimization_barrier %r, %m : " + f"{flat}, {square}\n") if ordered else ""
            factor = "%b#1" if ordered else "%m"
            lines = f"""  %id = stablehlo.partition_id : tensor<ui32>
  %last = stablehlo.constant dense<{n - 1}> : tensor<ui32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %all = stablehlo.constant dense<{rounds}> : tensor<i32>
  %is = stablehlo.compare EQ, %id, %last : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %end = stablehlo.select %is, %all, %zero : tensor<i1>, tensor<i32>
  %factor = stablehlo.constant dense<1664525> : tensor<i32>
  %spun:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i32>, tensor<i32> cond {{
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.multiply %s, %factor : tensor<i32>
    %u = stablehlo.add %t, %i : tensor<i32>
    stablehlo.return %j, %u : tensor<i32>, tensor<i32>
  }}
  %f = stablehlo.convert %spun#1 : (tensor<i32>) -> tensor<f32>
  %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {flat}
  %y = stablehlo.add %x, %w : {flat}
{line}{needed}  %p = stablehlo.dot_general {factor}, {factor}, contracting_dims = [1] x [0] : ({square}, {square}) -> {square}
"""
            return program(n, [("%x", flat), ("%m", square)], lines, [("%r", flat), ("%p", square)])
        none, delayed = milliseconds(text(0, True), repeat), milliseconds(text(8000000, True), repeat)
        beside = milliseconds(text(8000000, False), repeat)
        yield (f"| {n} | {delayed - none:.2f} | {delayed:.2f} | {beside:.2f} | "
               f"{100 * (delayed - beside) / max(delayed - none, 1e-9):.0f} % |")


def windows(devices, repeat):
    """Rows are gathered for a product."""
    yield "| devices | rows x depth x columns | gathered, ms | in a ring, ms |"
    yield "|---|---|---|---|"
    for n in devices:
        for rows, depth, columns in ((512, 1024, 1024), (4096, 1024, 256), (8192, 2048, 64)):
            line, _ = collective("all_gather", n, rows // n, depth, "%g")
            out = f"tensor<{rows}x{columns}xf32>"
            line += (f"  %r = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0] : (tensor<{rows}x{depth}xf32>, "
                     f"tensor<{depth}x{columns}xf32>) -> {out}\n")
            text = program(n, [("%x", f"tensor<{rows // n}x{depth}xf32>"), ("%w", f"tensor<{depth}x{columns}xf32>")], line, [("%r", out)])
            ring = milliseconds(text, repeat, ["-pass-pipeline=builtin.module(func.func(xla-window-products{overlap=1e9}))"])
            yield f"| {n} | {rows} x {depth} x {columns} | {milliseconds(text, repeat):.2f} | {ring:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=16, help="of the largest tensor of a device")
    parser.add_argument("--devices", default="2,4,8")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--calibrate", help="write a description of this machine's virtual devices for --machine to this file")
    parser.add_argument("--rounds", type=int, default=5, help="with --calibrate: turns in which all programs are run")
    parser.add_argument("--seconds", type=float, default=0.3, help="with --calibrate: of a program in a turn")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="with --calibrate: processor time on a machine with other work")
    arguments = parser.parse_args()
    devices = [int(n) for n in arguments.devices.split(",")]
    if arguments.calibrate:
        command = f"python -m benchmarks.collectives --calibrate --clock={arguments.clock} --rounds={arguments.rounds} --devices={max(devices)}"
        for line in calibration.calibrate(arguments.calibrate, max(devices), arguments.megabytes, arguments.rounds, arguments.clock, arguments.seconds, command):
            print(line)
        return 0
    for table in (bandwidths(devices, arguments.megabytes, arguments.repeat), hidden(devices, arguments.repeat), late(devices, arguments.repeat), windows(devices, arguments.repeat)):
        for line in table:
            print(line, flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
