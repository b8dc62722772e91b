# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What devices tell each other: our partitioned programs against the least that is necessary, and against XLA:CPU's.

  python -m benchmarks.communication [--out=communication.md] [--only=REGEX] [--no-xla]
  python -m benchmarks.communication --memory [--plot=docs/spatial-memory.svg]  # bytes per device of ResNet-50 whose images' rows are apart
  python -m benchmarks.communication --limit=300000000 --batch=32  # runs it on 1, 2 and 4 devices that have no more memory than that
  python -m benchmarks.communication --compile-time    # a partitioned BERT of twelve layers on eight devices, against XLA:CPU

Every program is traced by JAX for eight devices, partitioned by us (xla-compile --explain-sharding) and by XLA:CPU (its compiled
text). Bytes are what one device receives if every byte takes the shortest way: a ring for reductions. Operations inside of loops
count once. Needs jax; sets the number of its CPU devices, so run it in a process of its own.
"""
import argparse
import collections
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import time

from benchmarks import tools

MEMORY_LIMIT = 300 * 10**6  # bytes of a device that is to be enough, in the picture of --memory

KINDS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast"]


@dataclasses.dataclass
class Case:
    """`least`: operations that the sharding makes necessary, by hand; None where nobody counted."""

    name: str
    what: str
    function: object
    arguments: list  # shapes with shardings
    out: object = None
    least: dict = None


def cases():
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec as P

    auto = jax.sharding.AxisType.Auto
    model = jax.make_mesh((8,), ("model",), axis_types=(auto,))
    data = jax.make_mesh((8,), ("data",), axis_types=(auto,))
    both = jax.make_mesh((2, 4), ("data", "model"), axis_types=(auto,) * 2)

    def shape(mesh, spec, *dims, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(dims, dtype, sharding=NamedSharding(mesh, spec))

    def named(mesh, *specs):
        return tuple(NamedSharding(mesh, spec) for spec in specs)

    def mlp(x, w1, w2):
        return jax.nn.gelu(x @ w1) @ w2

    def attention(x, qkv, out):
        batch, length, width = x.shape
        q, k, v = (jnp.einsum("btd,dhe->bhte", x, each) for each in qkv)
        scores = jax.nn.softmax(jnp.einsum("bhte,bhse->bhts", q, k) / q.shape[-1] ** 0.5, axis=-1)
        return jnp.einsum("bhts,bhse,hed->btd", scores, v, out)

    def block(x, layer):
        qkv, out, w1, w2 = layer
        x = x + attention(x, qkv, out)
        return x + mlp(x, w1, w2)

    def stack(x, layers):
        for layer in layers:
            x = block(x, layer)
        return x

    def gradients(function):
        return jax.value_and_grad(lambda *a: (function(*a) ** 2).mean(), argnums=tuple(range(function.__code__.co_argcount)))

    x = shape(model, P(), 4, 128, 768)
    w1, w2 = shape(model, P(None, "model"), 768, 3072), shape(model, P("model", None), 3072, 768)
    heads = [shape(model, P(None, "model", None), 768, 16, 48)] * 3
    out = shape(model, P("model", None, None), 16, 48, 768)
    found = [
        Case("mlp_megatron", "two products, the first by columns, the second by rows", mlp, [x, w1, w2], NamedSharding(model, P()),
             {"all_reduce": 1}),
        Case("mlp_megatron_backward", "the same with gradients of all three: one sum forward, one for the input's gradient",
             gradients(mlp), [x, w1, w2], (NamedSharding(model, P()), named(model, P(), P(None, "model"), P("model", None))),
             {"all_reduce": 2}),
        Case("attention_megatron", "heads apart, the last product summed over them", attention, [x, heads, out],
             NamedSharding(model, P()), {"all_reduce": 1}),
        Case("attention_megatron_backward", "the same with gradients", gradients(attention), [x, heads, out],
             (NamedSharding(model, P()), (NamedSharding(model, P()), list(named(model, *[P(None, "model", None)] * 3)),
                                          NamedSharding(model, P("model", None, None)))), {"all_reduce": 2}),
    ]
    batch = shape(data, P("data"), 64, 128)
    weights = [shape(data, P(), 128, 512), shape(data, P(), 512, 128)]
    found.append(Case("data_parallel", "gradients of two weights and the loss, in one message", gradients(lambda x, a, b: mlp(x, a, b)),
                      [batch, *weights], (NamedSharding(data, P()), named(data, P("data"), P(), P())), {"all_reduce": 1}))

    def merged(x, w1, w2):
        hidden = jax.nn.gelu(x.reshape(-1, x.shape[-1]) @ w1).reshape(*x.shape[:2], -1)
        return (hidden.reshape(-1, hidden.shape[-1]) @ w2).reshape(x.shape)
    weights = [shape(both, P(), 128, 512), shape(both, P(), 512, 128)]
    loss_of = lambda x, w1, w2: (merged(x, w1, w2) ** 2).mean()
    found.append(Case("sequence_merged", "batch on 2, sequence on 4, merged for each product as PyTorch does; gradients of both weights, in one message",
                      jax.value_and_grad(loss_of, argnums=(1, 2)), [shape(both, P("data", "model"), 8, 256, 128), *weights],
                      (NamedSharding(both, P()), named(both, P(), P())), {"all_reduce": 1}))

    def scattered(x, w1, w2):
        hidden = jax.nn.gelu(x @ w1)
        out = (hidden.reshape(-1, hidden.shape[-1]) @ w2).reshape(x.shape)
        return jax.lax.with_sharding_constraint(out, NamedSharding(model, P(None, "model", None)))
    found.append(Case("sequence_scattered", "two products, merged for the second as PyTorch does; what is summed is kept in parts of the sequence",
                      scattered, [shape(model, P(), 8, 256, 128), shape(model, P(None, "model"), 128, 512), shape(model, P("model", None), 512, 128)],
                      NamedSharding(model, P(None, "model", None)), {"reduce_scatter": 1}))
    found.append(Case("embedding", "tokens apart, looked up in a table that all have; its gradient",
                      jax.value_and_grad(lambda table, tokens: (table[tokens] ** 2).mean()),
                      [shape(data, P(), 512, 64), shape(data, P("data"), 64, 128, dtype=jnp.int32)], named(data, P(), P()), {"all_reduce": 1}))

    def fsdp(x, a, b):
        def loss(a, b):
            return (mlp(x, a, b) ** 2).sum()
        da, db = jax.grad(loss, argnums=(0, 1))(a, b)
        return a - 0.1 * da, b - 0.1 * db
    parts = [shape(data, P("data", None), 128, 512), shape(data, P("data", None), 512, 128)]
    # Enough rows that moving weights is cheaper than moving them.
    rows = shape(data, P("data"), 8192, 128)
    found.append(Case("fsdp", "weights in parts: gathered for use, in one message, gradients scattered", fsdp, [rows, *parts],
                      named(data, P("data", None), P("data", None)), {"all_gather": 1, "reduce_scatter": 2}))

    found.append(Case("slice_inside", "the middle half of rows that are apart: two other devices have what one is to get, at places that differ by device",
                      lambda x: x[1000:3000], [shape(data, P("data"), 4096, 64)], NamedSharding(data, P("data")), {"collective_permute": 2}))

    def uneven(x):
        halves = jax.lax.with_sharding_constraint(jnp.tanh(x[:1001]), NamedSharding(both, P("data")))
        parts = jax.lax.with_sharding_constraint(halves, NamedSharding(both, P(("data", "model"))))
        return jnp.sin(parts).sum()
    found.append(Case("uneven_finer", "1001 rows on 2, then on 8, whose tiles begin elsewhere: one device lacks rows; their sum", uneven,
                      [shape(both, P(), 1008, 64)], NamedSharding(both, P()), {"collective_permute": 1, "all_reduce": 1}))

    def layers(mesh, axis, count, width=768, inner=3072, heads=12):
        return [([shape(mesh, P(None, axis, None), width, heads, width // heads)] * 3, shape(mesh, P(axis, None, None), heads, width // heads, width),
                 shape(mesh, P(None, axis), width, inner), shape(mesh, P(axis, None), inner, width)) for _ in range(count)]
    found.append(Case("gpt2_2x4", "twelve layers of GPT-2's size, batch on 2, heads and features on 4: two sums a layer", stack,
                      [shape(both, P("data", None, None), 8, 128, 768), layers(both, "model", 12)],
                      NamedSharding(both, P("data", None, None)), {"all_reduce": 24}))

    from benchmarks.model import resnet
    program = resnet.resnet50(8, size=128)
    weights, images = program.inputs(0)
    for name, what, spec, least in [("resnet50_batch", "images apart", P("data"), {}),
                                    ("resnet50_spatial", "rows of images apart", P(None, "data"), None)]:
        found.append(Case(name, what, program.function, [jax.tree.map(lambda w: shape(data, P(), *w.shape), weights),
                                                         shape(data, spec, *images.shape)], None, least))
    return found


def ours(text):
    """(Counter of operations, bytes, milliseconds of partitioning with the process around it)."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        start = time.time()
        process = subprocess.run([tools.tool("xla-compile"), file.name, "--explain-sharding"], capture_output=True, text=True, timeout=600)
        spent = (time.time() - start) * 1e3
    if process.returncode:
        raise RuntimeError(process.stderr[-2000:])
    counts, received = collections.Counter(), 0
    for kind, size in re.findall(r"^  (\w+) tensor.* among \d+: (\d+) bytes", process.stdout, re.M):
        counts[kind] += 1
        received += int(size)
    return counts, received, spent


BYTES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8,
         "c64": 8, "c128": 16}


def xla(text):
    """The same of XLA's compiled text."""
    counts, received = collections.Counter(), 0
    pattern = r"= (\(.*?\)|\S+) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)$"
    for types, kind, rest in re.findall(pattern, text, re.M):
        size = 0
        for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", types):
            elements = 1
            for dim in filter(None, dims.split(",")):
                elements *= int(dim)
            size += BYTES.get(dtype, 4) * elements
        groups = re.search(r"replica_groups=\{\{([\d,]+)\}", rest) or re.search(r"replica_groups=\[\d+,(\d+)\]", rest)
        n = (len(groups[1].split(",")) if "{{" in groups[0] else int(groups[1])) if groups else 8
        kind = kind.replace("-", "_")
        counts[kind] += 1
        received += {"all_reduce": 2 * size * (n - 1) // n, "all_gather": size * (n - 1) // n, "reduce_scatter": size * (n - 1),
                     "all_to_all": size * (n - 1) // n}.get(kind, size)
    return counts, received


def describe(counts):
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts.get(kind)) or "none"


def trace(case):
    import jax

    jitted = jax.jit(case.function) if case.out is None else jax.jit(case.function, out_shardings=case.out)
    return jitted.lower(*case.arguments)


def mesh_of(count):
    import jax

    return jax.make_mesh((count,), ("data",), devices=jax.devices()[:count], axis_types=(jax.sharding.AxisType.Auto,))


def memory(batches=(4, 8, 16, 32), size=224):
    """(batch, devices, bytes of arguments, of temporaries, peak): what one of 1, 2, 4, 8 devices holds while ResNet-50 runs on images
    that are split by rows."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec as P
    from benchmarks.model import resnet

    for batch in batches:
        program = resnet.resnet50(batch, size=size)
        weights, images = program.inputs(0)
        for count in (1, 2, 4, 8):
            mesh = mesh_of(count)
            place = lambda a, spec: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(mesh, spec))
            text = jax.jit(program.function).lower(jax.tree.map(lambda w: place(w, P()), weights), place(images, P(None, "data"))).as_text()
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(text)
                file.flush()
                out = subprocess.run([tools.tool("xla-compile"), file.name, "--memory", "--cache-dir=off"], capture_output=True, text=True,
                                     timeout=1200, check=True).stdout
            sizes = {name: int(number) for number, name in re.findall(r"^\s*(\d+)  (\w+)", out, re.M)}
            yield batch, count, sizes["arguments"], sizes["temporaries"], sizes["peak"]


def memory_table(rows):
    """The rows as lines of markdown."""
    return ["| batch | devices | arguments | temporaries | peak bytes per device |", "|---|---|---|---|---|",
            *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def fits(rows, limit):
    """{devices: largest batch whose peak is below `limit` bytes}."""
    found = {}
    for batch, count, _, _, peak in rows:
        found[count] = max(found.get(count, 0), batch if peak <= limit else 0)
    return found


def memory_plot(rows, limit):
    """Peak bytes per device against batch size as SVG, a line per number of devices, and a line at `limit`."""
    left, top, width, height = 70, 40, 520, 300
    batches = sorted({row[0] for row in rows})
    most = max(row[4] for row in rows)
    x_of = lambda batch: left + width * batch / batches[-1]
    y_of = lambda size: top + height * (1 - size / most)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 110}" height="{top + height + 50}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="8" y="18" font-size="14">ResNet-50, 224 x 224, rows of images apart: peak MB of one device</text>',
           f'<text x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">images in the batch</text>']
    for batch in batches:
        out.append(f'<text x="{x_of(batch):.1f}" y="{top + height + 16}" text-anchor="middle">{batch}</text>')
    for part in range(6):
        size = most * part / 5
        out.append(f'<line x1="{left}" y1="{y_of(size):.1f}" x2="{left + width}" y2="{y_of(size):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y_of(size) + 4:.1f}" text-anchor="end">{size / 1e6:.0f}</text>')
    out.append(f'<line x1="{left}" y1="{y_of(limit):.1f}" x2="{left + width}" y2="{y_of(limit):.1f}" stroke="#c33" stroke-dasharray="6 4"/>'
               f'<text x="{left + width + 6}" y="{y_of(limit) + 4:.1f}" fill="#c33">{limit / 1e6:.0f} MB</text>')
    for count, color in zip((1, 2, 4, 8), ("#333", "#27a", "#2a7", "#a72")):
        points = [(x_of(row[0]), y_of(row[4])) for row in rows if row[1] == count]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
                   + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points)
                   + f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}" fill="{color}">{count} device{"s" if count > 1 else ""}</text>')
    return "\n".join(["<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->", *out, "</svg>", ""])


def run_under_limit(batch, counts=(1, 2, 4), size=224):
    """(devices, error or None, largest difference to one device that runs an eighth of the images at a time): ResNet-50 on devices whose memory
    is limited (MILLRACE_MEMORY_LIMIT), images split by rows."""
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P
    from benchmarks.model import resnet

    if "millrace" not in jax.devices()[0].client.platform_version.lower():
        raise SystemExit("--limit needs JAX on Millrace, but JAX is on " + jax.devices()[0].client.platform_version.split("\n")[0]
                         + ": pip install ./python/millrace_jax")

    weights, images = resnet.resnet50(batch, size=size).inputs(0)
    part = max(1, batch // 8)
    function = resnet.resnet50(part, size=size).function

    def run(images, count):
        mesh = mesh_of(count)
        put = lambda a, spec: jax.device_put(a, NamedSharding(mesh, spec))
        return np.asarray(jax.jit(function)(jax.tree.map(lambda w: put(w, P()), weights), put(images, P(None, "data"))))
    want = np.concatenate([run(images[i:i + part], 1) for i in range(0, batch, part)])
    for count in counts:
        try:
            yield count, None, float(np.abs(run(images, count) - want).max() / np.abs(want).max())
        except jax.errors.JaxRuntimeError as error:
            yield count, str(error), None


def compile_times():
    """Lines of a table: BERT base, weights by heads and features on eight devices."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec as P
    from benchmarks.model import transformer

    program = transformer.bert(8, 128)
    mesh = mesh_of(8)

    def spec(a):
        return P(None, "data") if a.ndim == 2 and a.shape[1] % 8 == 0 and a.shape[0] < 10000 else P()
    places = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(mesh, spec(a))), program.inputs(0))
    lowered = jax.jit(program.function).lower(*places)
    start = time.time()
    lowered.compile()
    theirs = time.time() - start
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(lowered.as_text())
        file.flush()
        start = time.time()
        subprocess.run([tools.tool("xla-compile"), file.name, "--cache-dir=off", "-o", os.devnull], check=True, capture_output=True, timeout=1200)
        spent = time.time() - start
    yield "| program | ours, s | XLA:CPU, s |"
    yield "|---|---|---|"
    yield f"| BERT base, 12 layers, 8 x 128 tokens, 8 devices | {spent:.1f} | {theirs:.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="write the table as markdown to this file")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--plot", help="with --memory: write the rows as a picture (SVG) to this file")
    parser.add_argument("--compile-time", action="store_true")
    parser.add_argument("--limit", type=int, help="run ResNet-50 on devices that may use this many bytes")
    parser.add_argument("--batch", type=int, default=32, help="of --limit")
    arguments = parser.parse_args()
    if arguments.limit:
        os.environ.update(MILLRACE_JAX="1", MILLRACE_MEMORY_LIMIT=str(arguments.limit))
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    if arguments.memory:
        rows = list(memory())
        print("\n".join(memory_table(rows)))
        print(f"largest batch below {MEMORY_LIMIT // 10**6} MB, by devices: {fits(rows, MEMORY_LIMIT)}")
        if arguments.plot:
            with open(arguments.plot, "w") as file:
                file.write(memory_plot(rows, MEMORY_LIMIT))
        return 0
    if arguments.limit:
        for count, error, difference in run_under_limit(arguments.batch):
            print(f"{arguments.batch} images on {count} device{'s' if count > 1 else ''}: {error or f'runs, relative difference {difference:.1e}'}", flush=True)
        return 0
    if arguments.compile_time:
        for line in compile_times():
            print(line, flush=True)
        return 0
    lines = ["| program | least | ours | XLA:CPU | bytes, ours | bytes, XLA:CPU |", "|---|---|---|---|---|---|"]
    missed = 0
    for case in cases():
        if not re.search(arguments.only, case.name):
            continue
        lowered = trace(case)
        counts, received, _ = ours(lowered.as_text())
        theirs = ("", "") if arguments.no_xla else xla(lowered.compile().as_text())
        if case.least is not None and dict(counts) != case.least:
            missed += 1
        lines.append(f"| {case.name}: {case.what} | {'' if case.least is None else describe(case.least)} | {describe(counts)} | "
                     f"{theirs[0] if arguments.no_xla else describe(theirs[0])} | {received} | {theirs[1]} |")
        print(lines[-1], flush=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write("\n".join(lines) + "\n")
    print(f"{missed} of {len(lines) - 2} programs differ from the least")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
