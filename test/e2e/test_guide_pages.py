# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the guides refer to: pictures, which a script draws with a browser, and tests of ours that stand for upstream's."""
import ast
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from benchmarks import tools

ROOT = pathlib.Path(tools.ROOT)
SCRIPT = ROOT / "scripts" / "page-pictures"


def script():
    loader = importlib.machinery.SourceFileLoader("page_pictures", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("page_pictures", loader))
    loader.exec_module(module)
    return module


def pictures_of(page):
    """The files that a page of the documents shows."""
    return [(page.parent / name).resolve() for name in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", page.read_text()) if "://" not in name]


def test_every_picture_of_the_documents_is_there_and_small():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    shown = {picture for page in pages for picture in pictures_of(page)}
    assert len(shown) >= 8
    for picture in shown:
        assert picture.is_file(), f"{picture} is not there"
        assert picture.stat().st_size < 150_000, f"{picture} is too large"
        begin = picture.read_bytes()[:300]
        assert begin.startswith(b"\x89PNG\r\n") if picture.suffix == ".png" else b"<svg" in begin, picture
    assert set((ROOT / "docs" / "guide" / "pictures").iterdir()) <= shown, "a picture that no page shows"


def test_the_script_draws_the_pictures_of_the_guides():
    drawn = {f"page-{view}.png" for view in script().IN_DOCS}
    assert {file.name for file in (ROOT / "docs" / "guide" / "pictures").iterdir()} == drawn


def make_page(tmp_path):
    """Records a product of matrices, and writes page.html about it."""
    import numpy as np
    (tmp_path / "p.mlir").write_text("func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
                                     "  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
                                     "  return %0 : tensor<64x64xf32>\n}\n")
    np.savez(tmp_path / "a.npz", np.ones((64, 64), np.float32))
    subprocess.run([tools.tool("xla-run"), "p.mlir", "--args=a.npz", "--quiet", "--repeat=3", "--cache-dir=cache"], cwd=tmp_path, check=True, timeout=120,
                   env=dict(os.environ, MILLRACE_PROFILE="recorded"))
    subprocess.run([tools.tool("xla-prof"), "recorded", "--out=page.html"], cwd=tmp_path, check=True, timeout=60)


WITH_BROWSER = pytest.mark.skipif(not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome")),
                                  reason="no browser: scripts/setup --pictures")


@WITH_BROWSER
def test_words_of_tables_stay_whole_on_a_phone(tmp_path):
    make_page(tmp_path)
    page = tmp_path / "page.html"
    page.write_text(page.read_text() + """<script>
document.documentElement.dataset.narrow = Math.min(...[...document.querySelectorAll("#kernelrows td:not(.n)")].map(cell => cell.offsetWidth));
</script>""")
    ran = subprocess.run([script().browser(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/browser", "--window-size=500,900",
                          "--virtual-time-budget=2000", "--dump-dom", f"file://{page}#kernels"], capture_output=True, text=True, timeout=120, check=True)
    narrowest = re.search(r'data-narrow="(\d+)"', ran.stdout)
    assert narrowest and int(narrowest[1]) >= 90, narrowest  # a kernel's name and its line, side by side: the table scrolls instead


@WITH_BROWSER
def test_the_script_draws_every_view(tmp_path):
    pytest.importorskip("PIL")
    make_page(tmp_path)
    ran = subprocess.run([sys.executable, SCRIPT, "page.html", "--out=drawn", "--quick"], cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert ran.returncode == 0 and ran.stdout.endswith("page-pictures: 0 failures; pictures in drawn\n"), ran.stdout + ran.stderr
    assert {file.name for file in (tmp_path / "drawn").iterdir()} == {f"{view}-laptop-light.png" for view in script().VIEWS}
    assert len({file.read_bytes() for file in (tmp_path / "drawn").iterdir()}) == len(script().VIEWS), "two views look the same"


def names_in(file):
    """The names of the tests in a file, those in classes as Class.test."""
    if file.suffix == ".cpp":
        return {f"{group}.{name}" for group, name in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", file.read_text(), re.M)}
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_the_tests_that_stand_for_upstreams_exist():
    text = (ROOT / "docs" / "guide" / "profiling.md").read_text()
    section = text[text.index("## What the tests of JAX and PyTorch/XLA ask for"):]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0] != "upstream's case"]
    assert len(rows) >= 45
    for case, ours in rows:
        named = re.findall(r"`((?:test|lit)/[\w./]+)::([\w.]+)`", ours)
        assert named or re.match(r"not (here|run)\b", ours), f"{case}: neither a test nor a reason"
        for file, test in named:
            assert test in names_in(ROOT / file), f"{case}: {file} has no {test}"
