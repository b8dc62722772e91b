# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HLO text for tests: our exporter, jaxlib's parser, XLA's own conversion, and a digest to compare modules by."""
import re
import subprocess

import numpy as np

from benchmarks import tools

SPLIT = "// -----"


def export(modules, timeout=300):
    """The HLO text of each of `modules` (StableHLO text), in one process; None where there is none, and what was said."""
    command = [tools.tool("xla-translate"), "--stablehlo-to-hlo-text", "--split-input-file", f"--output-split-marker={SPLIT}", "-"]
    process = subprocess.run(command, input=f"\n{SPLIT}\n".join(modules), capture_output=True, text=True, timeout=timeout)
    texts = process.stdout.split(SPLIT)
    assert len(texts) >= len(modules), process.stderr[-2000:]
    return [text if text.strip() else None for text in texts[:len(modules)]], process.stderr


def print_options():
    import jaxlib._hlo as hlo
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    options.print_metadata = False
    options.include_layout_in_shapes = False
    return options


def parse(text):
    """The module in XLA's own words, if its parser accepts `text`."""
    import jaxlib._hlo as hlo
    return hlo.hlo_module_from_text(text).to_string(print_options())


def convert_by_xla(module):
    import jaxlib._jax as jaxlib
    computation = jaxlib.mlir.mlir_module_to_xla_computation(module, use_tuple_args=False, return_tuple=False)
    return computation.get_hlo_module().to_string(print_options())


def run_on_xla(text):
    """The results of the entry, which takes no arguments, compiled by XLA:CPU."""
    import jax
    import jaxlib._hlo as hlo
    import jaxlib._jax as jaxlib
    from jax._src.lib import xla_client
    device = jax.devices("cpu")[0]
    computation = hlo.XlaComputation(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    module = jaxlib.mlir.xla_computation_to_mlir_module(computation)
    executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    results = executable.execute_sharded([])
    return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]


INSTRUCTION = re.compile(r"^\s*(ROOT )?%?([\w.-]+) = (\(.*?\)(?= [\w-]+\()|\S+) ([\w-]+)\((.*)$")
COMMUTATIVE = {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}
NO_CHANGE = {"convert", "slice", "reshape", "broadcast"}  # if the shape stays


def split_operands(rest):
    """`a, b), attribute=..` to `a, b` and what follows the parenthesis."""
    depth, index, quoted = 1, 0, False
    while depth:
        character = rest[index]
        if quoted:
            index += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        index += 1
    return rest[:index - 1], rest[index:]


def digest(text):
    """A number that two modules share if their roots and side effects are computed alike: opcodes, shapes, attributes
    and operands, but not names, order, layouts, dead code, operand order of commutative operations, or steps that change
    nothing, which XLA's converter folds away."""
    text = re.sub(r"/\*index=\d+\*/", "", text)
    computations, name = {}, None
    for line in text.split("\n"):
        header = re.match(r"(?:ENTRY )?%?([\w.-]+) .*\{$", line)
        if header and not line.startswith(("HloModule", " ")):
            name, values, shapes, root, effects = header.group(1), {}, {}, None, []
            continue
        if line.startswith("}"):
            computations[name] = last = hash((root, tuple(sorted(effects))))
            continue
        match = INSTRUCTION.match(line)
        if not match or name is None:
            continue
        is_root, result, shape, opcode, rest = match.groups()
        inside, attributes = split_operands(rest)
        attributes = re.sub(r"%([\w.-]+)", lambda m: str(computations[m.group(1)]), attributes)
        shapes[result] = shape
        if opcode in ("constant", "parameter"):
            values[result] = hash((shape, opcode, inside))
        else:
            operands = [operand.strip().lstrip("%") for operand in inside.split(",") if operand.strip()]
            if opcode in NO_CHANGE and shapes[operands[0]] == shape:
                values[result] = values[operands[0]]
            else:
                parts = [values[operand] for operand in operands]
                values[result] = hash((shape, opcode, tuple(sorted(parts) if opcode in COMMUTATIVE else parts), attributes))
        if is_root:
            root = values[result]
        if "custom_call_has_side_effect" in attributes:
            effects.append(values[result])
    return last
