# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xla-compile --emit=passes: the page has every stop of the program and of each kernel, and its script shows what a stop changed."""
import json
import os
import shutil
import subprocess
import sys

import pytest

from benchmarks import tools

sys.path.insert(0, os.path.join(tools.ROOT, "test", "harness"))
from profile_files import data_of_page  # noqa: E402

TEXT = """func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
"""
# Runs the page's script with elements that only remember what they are given.
SCRIPT = """
const fs = require("fs"), vm = require("vm"), page = fs.readFileSync(process.argv[1], "utf8"), elements = {};
const element = id => elements[id] ??= {id, value: "", checked: false, innerHTML: "", textContent: "", addEventListener() {}};
element("data").textContent = /<script type="application\\/json" id="data">([^]*?)<\\/script>/.exec(page)[1];
vm.runInNewContext(/<script>([^]*?)<\\/script>/.exec(page)[1], {document: {getElementById: element, documentElement: {}}, getComputedStyle: () => ({})});
const shown = [];
for (const [before, after] of JSON.parse(process.argv[2])) {
  element("before").value = String(before); element("after").value = String(after); element("before").onchange();
  shown.push({note: element("note").textContent, diff: element("diff").innerHTML});
}
console.log(JSON.stringify(shown));
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("passes")
    (folder / "p.mlir").write_text(TEXT)
    ran = subprocess.run([tools.tool("xla-compile"), str(folder / "p.mlir"), "--emit=passes", "-o", str(folder / "passes.html")], capture_output=True,
                         text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return folder / "passes.html"


def test_every_stop_is_there(page):
    stops = data_of_page(page.read_text())["stops"]
    program = [stop for stop, kernel, _, _ in stops if not kernel]
    assert program[0] == "stablehlo" and {"simplified", "fused"} <= set(program)
    kernels = {kernel for _, kernel, _, _ in stops if kernel}
    assert len(kernels) >= 1
    for kernel in kernels:
        assert {"llvm", "asm"} <= {stop for stop, of, _, _ in stops if of == kernel}
    texts = {stop: text for stop, kernel, text, _ in stops if not kernel}
    assert texts["stablehlo"].count("stablehlo.negate") == 2 and "stablehlo.negate" not in texts["simplified"]
    assert all(left == 0 for *_, left in stops)


@pytest.mark.skipif(not shutil.which("node"), reason="no JavaScript: node is not installed")
def test_the_script_shows_what_a_stop_changed(page):
    program = [stop for stop, kernel, _, _ in data_of_page(page.read_text())["stops"] if not kernel]
    first, simplified = program.index("stablehlo"), program.index("simplified")
    ran = subprocess.run(["node", "-e", SCRIPT, str(page), json.dumps([[first, simplified], [first, first]])], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    changed, same = json.loads(ran.stdout)
    taken = [line for line in changed["diff"].split("\n") if "negate" in line]
    assert changed["diff"].count('class="minus"') >= 2 and "stablehlo.negate" in "".join(taken)
    assert 'class="plus"' not in same["diff"] and same["note"].startswith("0 lines taken away, 0 added")
