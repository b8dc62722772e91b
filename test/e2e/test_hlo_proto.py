# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HLO as XLA's protocol buffers: jaxlib reads what we write, and finds the same module in it as its parser finds in our HLO text."""
import glob
import os
import subprocess
import sys

import pytest

from benchmarks import tools
import hlo_text

sys.path.insert(0, os.path.join(tools.ROOT, "test", "harness"))
from profile_files import varint  # noqa: E402

jax = pytest.importorskip("jax")

CONFORMANCE = os.path.join(tools.ROOT, "test", "conformance", "programs")
LIT = os.path.join(tools.ROOT, "lit", "lowering", "hlo")
MARK = b"// ----- of the test -----"
PROGRAMS = 984


def export(modules, timeout=300):
    """HloModuleProto of each of `modules` (StableHLO text), in one process."""
    command = [tools.tool("xla-translate"), "--stablehlo-to-hlo-proto", "--split-input-file", f"--output-split-marker={MARK.decode()}", "-"]
    process = subprocess.run(command, input=f"\n{hlo_text.SPLIT}\n".join(modules).encode(), capture_output=True, timeout=timeout)
    assert process.returncode == 0, process.stderr.decode()[-2000:]
    protos = []
    for part in process.stdout.split(MARK)[:len(modules)]:
        part = part.removeprefix(b"\n") if protos else part
        assert part[:1] == b"\n", part[:20]  # field 1 of HloProto: hlo_module
        size, start = varint(part, 1)
        protos.append(part[start:start + size])
        assert len(protos[-1]) == size
    return protos


def read(proto, metadata=False):
    """The module that XLA finds in a message, in its own words."""
    import jaxlib._hlo as hlo
    options = hlo_text.print_options()
    options.print_metadata = metadata
    options.include_layout_in_shapes = True
    return hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options)


def parse(text, metadata=False):
    """The same of HLO text."""
    import jaxlib._hlo as hlo
    options = hlo_text.print_options()
    options.print_metadata = metadata
    options.include_layout_in_shapes = True
    # Once through a message: replica counts and partitions are no part of one.
    module = hlo.HloModule.from_serialized_hlo_module_proto(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    return module.to_string(options)


def compare(names, modules):
    texts, messages = hlo_text.export(modules)
    assert None not in texts, messages[-2000:]
    for name, text, proto in zip(names, texts, export(modules), strict=True):
        assert read(proto) == parse(text), name


def test_conformance_programs():
    names = sorted(name for name in os.listdir(CONFORMANCE) if name.endswith(".mlir"))
    assert len(names) == PROGRAMS
    for start in range(0, len(names), 100):
        modules = []
        for name in names[start:start + 100]:
            with open(os.path.join(CONFORMANCE, name)) as file:
                modules.append(file.read())
        compare(names[start:start + 100], modules)


def lit_modules():
    for path in sorted(glob.glob(os.path.join(LIT, "*.mlir"))):
        if not path.endswith("invalid.mlir"):
            with open(path) as file:
                for index, module in enumerate(file.read().split(hlo_text.SPLIT)):
                    yield f"{os.path.basename(path)}:{index}", module


def test_every_operation():
    names, modules = zip(*lit_modules())
    assert len(names) > 20
    compare(names, list(modules))


def test_a_wrong_message_is_noticed():
    module = """func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }"""
    (proto,), (text,) = export([module]), hlo_text.export([module])[0]
    assert read(proto) == parse(text)
    assert read(proto.replace(b"\x72\x02\x01\x00", b"\x72\x02\x00\x01")) != parse(text)  # field 14, dimensions


def test_places_and_names():
    module = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.negate %x : tensor<2xf32> loc("layer \\"one\\"/neg"("model.py":12:3))
      return %0 : tensor<2xf32>
    }"""
    (proto,), (text,) = export([module]), hlo_text.export([module])[0]
    assert read(proto, metadata=True) == parse(text, metadata=True)
    assert 'op_name="layer \\"one\\"/neg"' in read(proto, metadata=True) and "source_line=12" in read(proto, metadata=True)
