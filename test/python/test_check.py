# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check: a test that fails beside others runs once more alone, and only that makes it count as passed."""
import importlib.util
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

TESTS = """
import os
def test_that_passes(): pass
def test_that_fails_the_first_time():
    if not os.path.exists("been_here"):
        open("been_here", "w").close()
        assert False, "a - b"
def test_that_fails():
    assert {good}
"""


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(os.path.join(ROOT, "scripts"))
    spec = importlib.util.spec_from_file_location("check_under_test", os.path.join(ROOT, "scripts", "check.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "build").mkdir()
    monkeypatch.setattr(module, "ROOT", str(tmp_path))
    run = module.run
    monkeypatch.setattr(module, "run", lambda command, limit, **options: run(command, limit, cwd=str(tmp_path), **options))
    return module


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


@pytest.mark.parametrize("good", [True, False])
def test_unstable_tests_are_named_and_others_fail(check, tmp_path, good):
    (tmp_path / "test_x.py").write_text(TESTS.format(good=good))
    count = check.run_pytest("part", ["test_x.py"], environment(), False, sys.executable)
    assert (count.passed, count.failed) == ((3, 0) if good else (2, 1))
    assert check.unstable == ["part: test_x.py::test_that_fails_the_first_time"]


def test_nothing_runs_again_with_long(check, tmp_path):
    (tmp_path / "test_x.py").write_text(TESTS.format(good=True))
    count = check.run_pytest("part", ["test_x.py"], environment(), True, sys.executable)
    assert (count.passed, count.failed, check.unstable) == (2, 1, [])


def test_many_failures_are_no_accident(check, tmp_path):
    (tmp_path / "test_x.py").write_text("import pytest\n@pytest.mark.parametrize('i', range(4))\ndef test_each(i): assert False\n")
    count = check.run_pytest("part", ["test_x.py"], environment(), False, sys.executable)
    assert (count.passed, count.failed, check.unstable) == (0, 4, [])
