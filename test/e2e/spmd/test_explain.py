# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xla-compile --explain-sharding of what JAX traces: the user's names and lines, the rules' factors, every tensor; the page is HTML."""
import html.parser
import os
import re
import subprocess
import sys

import pytest

from benchmarks import tools

pytest.importorskip("jax")

MLP = '''
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def mlp(params, x, scale, start):
    h = jnp.tanh(x @ params["w1"])
    h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data", "model")))
    y = h @ params["w2"] + params["b2"]
    return {"y": y, "square": (y * scale) @ y.T, "part": jax.lax.dynamic_slice_in_dim(params["w3"], start, 5, axis=1)}


def of(*sizes, spec=None):
    return jax.ShapeDtypeStruct(sizes, "float32", sharding=None if spec is None else NamedSharding(mesh, spec))


params = {"w1": of(16, 64, spec=P(None, "model")), "w2": of(64, 16, spec=P("model", None)), "b2": of(16),
          "w3": of(8, 12, spec=P(None, "model"))}
print(jax.jit(mlp).lower(params, of(8, 16, spec=P("data", None)), of(), 3).as_text(debug_info=True))
'''


def line_of(text):
    return next(number for number, line in enumerate(MLP.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    """(the text, the page)."""
    folder = tmp_path_factory.mktemp("explain")
    (folder / "mlp.py").write_text(MLP)
    environment = dict(os.environ, XLA_FLAGS="--xla_force_host_platform_device_count=8", JAX_PLATFORMS="cpu", MILLRACE_JAX="0")
    process = subprocess.run([sys.executable, str(folder / "mlp.py")], capture_output=True, text=True, env=environment, timeout=300)
    assert process.returncode == 0, process.stderr[-4000:]
    (folder / "mlp.mlir").write_text(process.stdout)
    command = [tools.tool("xla-compile"), str(folder / "mlp.mlir"), "--explain-sharding"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    subprocess.run([*command, "-o", str(folder / "mlp.html")], check=True)
    return text, (folder / "mlp.html").read_text()


def entry(text, start):
    """The lines of a tensor."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(start))
    end = begin + 1
    while lines[end].startswith("  "):
        end += 1
    return lines[begin:end]


def section(text, title):
    return text.split(f"\n{title}:\n")[1].split("\n\n")[0]


def test_arguments_have_the_names_of_jax(explained):
    text, _ = explained
    for name, spec in (("params['w1']", '[{}, {"model"}]'), ("params['w2']", '[{"model"}, {}]'), ("x", '[{"data"}, {}]')):
        head = next(line for line in text.splitlines() if f'"{name}" : tensor' in line)
        assert spec in head and head in section(text, "annotated")
    assert re.search(r'^result \d of @main "result\[\'y\'\]" : ', text, re.M)


def test_a_constraint_is_named_by_its_line(explained):
    text, _ = explained
    tanh = entry(text, "stablehlo.tanh : ")
    constraint = rf"sdy.sharding_constraint \(.*mlp.py:{line_of('with_sharding_constraint')}\)"
    assert re.fullmatch(rf'  dimension 0 "data": from {constraint}', tanh[1])
    assert re.fullmatch(rf'  dimension 1 "model": from {constraint}', tanh[2])
    assert entry(text, "sdy.sharding_constraint : ")[1] == '  dimension 0 "data": annotated here'


def test_the_rule_and_its_factor(explained):
    text, _ = explained
    product = next(entry(text, line) for line in text.splitlines()
                   if line.startswith("stablehlo.dot_general : tensor<8x16xf32>") and f"mlp.py:{line_of('params[')+2})" in line)
    assert re.search(rf"sharding_constraint \(.*\), through stablehlo.dot_general \(.*mlp.py:{line_of('h @ params')}\) along i, operand 0 -> result 0",
                     product[1])
    assert "    " not in product[1]
    assert product[-1].endswith(": ([i, k], [k, j])->([i, j]) {i=8, j=16, k=64} reduction={k}")


def test_whole_tensors_have_reasons(explained):
    text, _ = explained
    assert '"params[\'b2\']" : tensor<16xf32>' in section(text, "whole, because no annotation reached them")
    assert '"scale" : tensor<f32>' in section(text, "whole, because they have no dimensions")
    needed = section(text, "whole, because an operation needs them whole")
    assert re.search(r"stablehlo.dynamic_slice : tensor<8x5xf32>.*\n  dimension 1: \"model\" of argument \d of @main \"params\['w3'\]\" did not come "
                     r"through stablehlo.dynamic_slice \(.*\) along j: the operation needs it whole \(need_replication\)\n"
                     r"  rule of stablehlo.dynamic_slice .*: \(\[i, j\], \[\], \[\]\)->\(\[i, j\]\) \{i=8, j=12\} need_replication=\{j\} blocked_propagation=\{j\}", needed)
    square = next(line for line in text.splitlines() if line.startswith("stablehlo.dot_general : tensor<8x8xf32>"))
    why = "\n".join(entry(text, square))
    assert 'dimension 0 "data"' in why and re.search(r'dimension 1: "data" of .* along j: it splits dimension 0', why)


def test_every_tensor_is_there(explained):
    """As many as the program has: values of operations, arguments, results."""
    text, _ = explained
    tensors = text.split("\ncollectives of each device:\n")[0]
    heads = [line for line in tensors.splitlines() if re.search(r" : tensor<", line) and not line.startswith(" ")]
    for kind, count in (("stablehlo.dot_general", 3), ("argument", 7), ("result", 3), ("stablehlo.tanh", 1), ("stablehlo.dynamic_slice", 1),
                        ("stablehlo.multiply", 1), ("sdy.sharding_constraint", 1)):
        assert sum(line.startswith(kind + " ") for line in heads) == count, kind


class Balance(html.parser.HTMLParser):
    """Every element is closed where it was opened, and text holds no bare markup."""

    VOID = {"meta"}

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.open, self.seen, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "li":
            assert self.open[-2] == "ul"
        if tag == "tr":
            assert self.open[-2] in ("thead", "tbody")
        if tag in ("td", "th"):
            assert self.open[-2] == "tr"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_entityref(self, name):
        self.text += {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}[name]

    def handle_charref(self, name):
        self.text += chr(int(name))


def test_the_page_says_the_same(explained):
    text, page = explained
    parsed = Balance()
    parsed.feed(page)
    parsed.close()
    assert not parsed.open and page.startswith("<!DOCTYPE html>")
    tensors, collectives = text.split("\ncollectives of each device:\n")
    for line in tensors.splitlines():
        if line.startswith("  "):
            assert line.strip() in parsed.text
        elif " : tensor<" in line:
            assert line.rsplit(" : ", 1)[0] in parsed.text
    assert "all_reduce tensor<4x16xf32> among 4" in collectives and "all_reduce tensor<4x16xf32> among 4" in parsed.text
    rows = parsed.seen.count("tr") - parsed.seen.count("details") - 1  # one head each, one of collectives
    heads = sum(" : tensor<" in line and not line.startswith(" ") for line in tensors.splitlines())
    assert rows == heads + collectives.count(" among ")
