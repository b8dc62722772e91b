# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The distribution torch_xla: its version, what it refuses, and the device without `import torch_xla`."""
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import venv

import pytest
import torch
import torch_xla
from torch_xla import _load, _versions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PACKAGE = os.path.dirname(os.path.realpath(torch_xla.__file__))


def python(code, *paths, **environment):
    path = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200,
                          env=dict(os.environ, PYTHONPATH=path, **environment))


def project():
    with open(os.path.join(ROOT, "python/torch_xla/pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


MINOR = _versions.minor_of(torch.__version__)


def test_versions_agree():
    assert torch_xla.__version__ == _versions.dynamic_metadata("version") == f"{MINOR}.0+millrace{_versions.MILLRACE}"
    assert MINOR in _versions.TORCH
    assert torch_xla._XLAC._built_for_torch.split("+")[0] == torch.__version__.split("+")[0]
    assert _versions.dynamic_metadata("dependencies") == [f"millrace=={_versions.MILLRACE}", f"torch=={MINOR}.*"]
    assert set(project()["dynamic"]) == {"version", "dependencies"}


def test_every_folder_with_python_is_a_package():
    # A namespace package would work from a folder on the path, and then come without its files in the wheel of another tool.
    for folder, _, files in os.walk(PACKAGE):
        if any(file.endswith(".py") for file in files):
            assert "__init__.py" in files, folder


def install_entry_point(tmp_path):
    """As pip installs it: the entry point of torch.backends."""
    dist = tmp_path / "torch_xla-2.13.0+millrace0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_xla\nVersion: 2.13.0+millrace0\n")
    points = project()["entry-points"]["torch.backends"]
    (dist / "entry_points.txt").write_text("[torch.backends]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))


def test_import_torch_is_enough(tmp_path):
    install_entry_point(tmp_path)
    code = "import torch; x = torch.ones(2, device='xla'); print((x + x).tolist(), x.device)"
    assert python(code, str(tmp_path)).stdout == "[2.0, 2.0] xla:0\n"
    # In the other order, when torch calls the entry point in the middle of the import of torch_xla.
    assert python("import torch_xla; " + code, str(tmp_path)).stdout == "[2.0, 2.0] xla:0\n"


def test_torch_stays_usable_without_torch_xla(tmp_path):
    install_entry_point(tmp_path)
    broken = tmp_path / "millrace"  # stands before the one that works
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('no library')\n")
    ran = python("import torch; print(torch.ones(2).tolist())\ntry:\n    import torch_xla\nexcept ImportError as error:\n    print(error)", str(tmp_path))
    assert ran.returncode == 0 and ran.stdout.startswith("[1.0, 1.0]\ntorch_xla needs Millrace's distribution millrace: install the wheel"), ran.stderr
    assert "RuntimeWarning: PyTorch goes on without the device xla: torch_xla cannot be imported (ImportError: torch_xla needs" in ran.stderr
    (broken / "__init__.py").write_text("")  # PyPI's package of that name
    ran = python("import torch_xla", str(tmp_path))
    assert ran.returncode != 0 and f"the millrace in {broken}/__init__.py is another program: `pip uninstall millrace`" in ran.stderr


@pytest.mark.skipif("millrace" not in PACKAGE and not os.path.exists(os.path.join(os.path.dirname(PACKAGE), "millrace", "lib")),
                    reason="torch_xla comes from the source tree")
def test_installed_wheel():
    distribution = importlib.metadata.distribution("torch_xla")
    assert distribution.version == torch_xla.__version__
    files = {str(file) for file in distribution.files}
    assert "torch_xla/_XLAC.so" in files and "torch_xla/core/xla_model.py" in files
    assert not [file for file in files if "csrc" in file or file.endswith(("CMakeLists.txt", "pyproject.toml", ".cpp"))]
    assert os.path.realpath(distribution.locate_file("torch_xla")) == PACKAGE
    assert any(point.name == "torch_xla" for point in importlib.metadata.entry_points(group="torch.backends"))


@pytest.mark.skipif("millrace" not in PACKAGE and not os.path.exists(os.path.join(os.path.dirname(PACKAGE), "millrace", "lib")),
                    reason="torch_xla comes from the source tree, whose libraries have LLVM's names")
def test_debuggers_find_where_they_are_told_of_kernels():
    # GDB looks for these names, by which MILLRACE_GDB tells it of kernels, in the table of symbols of each library: stripping must leave them.
    library = os.path.join(os.path.dirname(PACKAGE), "millrace", "lib", "libmillrace_runtime.so.0")
    listing = subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "--defined-only", "--format=just-symbols", library],
                             capture_output=True, text=True, check=True).stdout.split()
    assert {"__jit_debug_register_code", "__jit_debug_descriptor"} <= set(listing), listing[:10]


def test_other_torch_is_refused():
    with pytest.raises(ImportError, match=r"is for PyTorch 2\.13, but torch 2\.14\.1\+cpu is installed: `pip install torch==2\.13\.\*`; or "
                                          r"install the torch_xla for PyTorch 2\.14"):
        _load.check_torch("2.13.0", "2.14.1+cpu")
    with pytest.raises(ImportError, match=r"but torch 2\.12\.0 is installed.*this version of Millrace knows PyTorch 2\.13, 2\.14 and 2\.15"):
        _load.check_torch("2.13.0", "2.12.0")
    fake = "import sys, types; t = types.ModuleType('torch'); t.__version__ = '2.12.0'; sys.modules['torch'] = t; import torch_xla"
    ran = python(fake)
    assert ran.returncode != 0 and f"is for PyTorch {MINOR}, but torch 2.12.0 is installed" in ran.stderr


def test_cmake_refuses_another_torch(tmp_path):
    # A Python whose torch is another one: what the build asks it for.
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho '/somewhere/torch;/usr/include;2.12.0'\n")
    fake.chmod(0o755)
    ran = subprocess.run(["cmake", "-S", os.path.join(ROOT, "python/torch_xla/csrc"), "-B", str(tmp_path / "b"),
                          f"-DMILLRACE_TORCH_PYTHON={fake}"], capture_output=True, text=True)
    message = " ".join(ran.stderr.split())
    assert ran.returncode != 0 and "can be built for PyTorch 2.13 or 2.14 or 2.15, but torch 2.12.0 is installed in /somewhere/torch" in message


def test_original_package_is_named(tmp_path):
    dist = tmp_path / "torch_xla-2.9.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_xla\nVersion: 2.9.0\n")
    ran = python("import torch_xla; print(torch_xla.device())", str(tmp_path), TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert ran.stdout == "xla:0\n"
    assert re.search(r"torch_xla 2\.9\.0, the original PyTorch/XLA, is also installed, in .*pip uninstall torch_xla", ran.stderr)
    # Its files over ours: the same folder.
    (tmp_path / "torch_xla").symlink_to(PACKAGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        with pytest.raises(ImportError, match="is installed over Millrace's torch_xla.*pip uninstall"):
            _load.check_original(str(tmp_path / "torch_xla"))


def test_missing_libraries_are_named(tmp_path, monkeypatch):
    import millrace
    monkeypatch.setattr(millrace, "library_path", lambda name: str(tmp_path / name))
    missing = "libMLIR.so.22.1: cannot open shared object file: No such file or directory"
    monkeypatch.setattr(millrace.ctypes, "CDLL", lambda path: (_ for _ in ()).throw(OSError(missing)))
    with pytest.raises(ImportError, match="cannot load .*apt-get install libmlir-22 libllvm22"):
        _load.load()


def test_broken_compiled_part(tmp_path):
    broken = tmp_path / "_XLAC.so"
    broken.write_bytes(b"not a library")
    with pytest.raises(ImportError, match="cannot be loaded.*pip install --no-build-isolation"):
        _load._load(str(broken))


def test_other_devices_are_errors():
    code = ("import os, torch, torch_xla, torch_xla.runtime as xr\n"
            "for name in ('TPU', 'CUDA', 'nonsense'):\n"
            "    os.environ['PJRT_DEVICE'] = name\n"
            "    for use in (lambda: torch.ones(2, device='xla'), xr.device_type):\n"
            "        try: use()\n"
            "        except RuntimeError as error: print(error)\n")
    want = [f"{what}the only device available is CPU" for what in
            ("PJRT_DEVICE is TPU, but ", "PJRT_DEVICE is CUDA, but ", "Unknown PJRT_DEVICE 'nonsense': ") for _ in range(2)]
    assert python(code).stdout.splitlines() == want


def test_an_import_after_one_that_failed():
    """What the first one registered stays registered, once; what it did not come to is done."""
    for stage in ("_decompositions", "_dynamo", "_patches", "runtime"):
        code = f"""
import sys, warnings, importlib.util
warnings.simplefilter("error")
import torch

class Broken:  # the first time, that part of torch_xla cannot be imported
    def find_spec(self, name, path=None, target=None):
        if name == "torch_xla.{stage}":
            raise ImportError("not now")
broken = Broken()
sys.meta_path.insert(0, broken)
try:
    import torch_xla
except ImportError as error:
    print(error)
sys.meta_path.remove(broken)
import torch_xla
import torch_xla.core.xla_model as xm
x = torch.rand(3, 3, device="xla")
torch.testing.assert_close(torch.renorm(x, 2, 0, 0.5).cpu(), torch.renorm(x.cpu(), 2, 0, 0.5))
torch.testing.assert_close(torch.compile(lambda x: x.sin(), backend="openxla")(x).cpu(), x.cpu().sin())
print(torch_xla.core.xla_model is xm, torch_xla.utils.__name__, torch_xla.device(), torch_xla.runtime.is_spmd())
"""
        assert python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0").stdout.splitlines() == ["not now", "True torch_xla.utils xla:0 False"], stage


def test_default_device_is_said_once_and_only_when_used():
    code = ("import sys, torch, torch_xla; print('imported', file=sys.stderr); a = torch.ones(2, device='xla'); (a + a).tolist()\n"
            "import torch_xla.runtime as xr; xr.device_type()")
    environment = {key: value for key, value in os.environ.items() if key != "PJRT_DEVICE"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=200)
    assert ran.stderr == "imported\ntorch_xla: PJRT_DEVICE is not set, so the device is CPU\n"


def test_import_brings_no_compiler_or_framework_in():
    # benchmarks/torch_import.py prints times; this says why they are short.
    ran = python("import torch, sys; before = set(sys.modules); import torch_xla; print(sorted({m.split('.')[0] for m in set(sys.modules) - before}))")
    assert not {"jax", "tensorflow", "transformers", "torchvision"} & set(eval(ran.stdout)), ran.stderr


@pytest.mark.skipif(os.environ.get("MILLRACE_LONG") != "1", reason="compiles the shim: MILLRACE_LONG=1")
def test_install_from_source(tmp_path):
    """As a user does it: pip builds torch_xla against the torch and the millrace of an environment."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False)
    python = str(home / "bin" / "python")
    site = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (site / "packages.pth").write_text(os.path.dirname(os.path.dirname(torch.__file__)) + "\n")  # torch, pip, scikit-build-core
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MILLRACE_BUILD", "TORCH_DEVICE_BACKEND_AUTOLOAD")}

    def run(*command):
        ran = subprocess.run([python, *command], capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout
    install = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    built = os.environ.get("MILLRACE_PREBUILT", os.path.join(ROOT, "build"))  # with the target wheel_libraries
    run(*install, ROOT, "--config-settings", f"cmake.define.MILLRACE_PREBUILT={built}", "--config-settings", f"build-dir={tmp_path}/millrace")
    run(*install, os.path.join(ROOT, "python", "torch_xla"), "--config-settings", f"build-dir={tmp_path}/torch_xla")
    shown = run("-m", "pip", "show", "--files", "torch_xla")
    assert f"Name: torch_xla\nVersion: {torch_xla.__version__}\n" in shown
    files = shown.partition("Files:\n")[2].split()
    assert "torch_xla/_XLAC.so" in files and "torch_xla/core/xla_model.py" in files
    known = re.compile(r"torch_xla(_autoload)?/(?!csrc).*\.(py|pyc|so)|torch_xla-\S+\.dist-info/(METADATA|WHEEL|RECORD|INSTALLER|REQUESTED|direct_url\.json|"
                       r"entry_points\.txt|licenses/\S+)")
    assert [file for file in files if not known.fullmatch(file)] == []
    out = run("-c", "import torch; x = torch.ones(2, device='xla'); print((x + x).tolist()); import torch_xla; print(torch_xla.__file__)")
    assert out == f"[2.0, 2.0]\n{site}/torch_xla/__init__.py\n"
