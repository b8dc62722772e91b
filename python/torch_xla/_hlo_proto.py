# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HLO text as XLA's protocol buffer HloModuleProto: as JSON, as its text format and as bytes.

A message is a dict with the names of JSON; _FIELDS gives the numbers of its fields. What an instruction says beyond these (windows,
gathers, random numbers) JSON and text leave out, and bytes refuse."""
import re
import struct

from ._hlo_text import _parts

_TYPES = {"pred": 1, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9, "f16": 10, "f32": 11, "f64": 12,
          "tuple": 13, "c64": 15, "bf16": 16, "token": 17, "c128": 18, "f8e5m2": 19, "f8e4m3fn": 20}
_NAMES = {number: name.upper() for name, number in _TYPES.items()}
_LITERALS = {"pred": "preds", "u8": "u8s", "s32": "s32s", "s64": "s64s", "u32": "u32s", "u64": "u64s", "f32": "f32s", "f64": "f64s"}

_SHARDINGS = ("replicated", "maximal", "tuple", "other", "manual", "unknown", "unreduced")

# Per message {name: (number, kind)}; a list of one is a repeated field.
_LAYOUT = {"minorToMajor": (1, ["int"])}
_SHAPE = {"elementType": (2, "type"), "dimensions": (3, ["int"]), "tupleShapes": (4, None), "layout": (5, _LAYOUT)}
_SHAPE["tupleShapes"] = (4, [_SHAPE])
_PROGRAM = {"parameters": (1, [_SHAPE]), "result": (2, _SHAPE), "parameterNames": (3, ["string"])}
_METADATA = {"opType": (1, "string"), "opName": (2, "string"), "sourceFile": (3, "string"), "sourceLine": (4, "int")}
_LITERAL = {"shape": (1, _SHAPE), "preds": (2, ["int"]), "u8s": (3, "bytes"), "s32s": (4, ["int"]), "s64s": (5, ["int"]),
            "u32s": (6, ["int"]), "u64s": (7, ["int"]), "f32s": (8, ["f32"]), "f64s": (9, ["f64"])}
_SLICE = {"start": (1, "int"), "limit": (2, "int"), "stride": (3, "int")}
_DOT = {"lhsContractingDimensions": (1, ["int"]), "rhsContractingDimensions": (2, ["int"]), "lhsBatchDimensions": (3, ["int"]),
        "rhsBatchDimensions": (4, ["int"])}
_SHARDING = {"type": (1, "sharding"), "tileAssignmentDimensions": (3, ["int"]), "tileAssignmentDevices": (4, ["int"]),
             "tupleShardings": (5, None), "replicateOnLastTileDim": (6, "bool"), "lastTileDims": (8, ["sharding"]),
             "iotaReshapeDims": (9, ["int"]), "iotaTransposePerm": (10, ["int"])}
_SHARDING["tupleShardings"] = (5, [_SHARDING])
_INSTRUCTION = {"name": (1, "string"), "opcode": (2, "string"), "shape": (3, _SHAPE), "metadata": (7, _METADATA), "literal": (8, _LITERAL),
                "parameterNumber": (9, "int"), "tupleIndex": (13, "int"), "dimensions": (14, ["int"]), "sliceDimensions": (17, [_SLICE]),
                "dotDimensionNumbers": (30, _DOT), "id": (35, "int"), "operandIds": (36, ["int"]), "calledComputationIds": (38, ["int"]),
                "comparisonDirection": (63, "string"), "customCallTarget": (28, "string"), "sharding": (40, _SHARDING)}
_COMPUTATION = {"name": (1, "string"), "instructions": (2, [_INSTRUCTION]), "programShape": (4, _PROGRAM), "id": (5, "int"),
                "rootId": (6, "int")}
_FIELDS = {"name": (1, "string"), "entryComputationName": (2, "string"), "computations": (3, [_COMPUTATION]), "hostProgramShape": (4, _PROGRAM),
           "id": (5, "int"), "entryComputationId": (6, "int")}


#===-- From text -------------------------------------------------------------===


def _split(text):
    """At commas outside of brackets."""
    made, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "({[") - (char in ")}]")
        if char == "," and depth == 0:
            made.append(text[start:index].strip())
            start = index + 1
    return made + [text[start:].strip()] if text[start:].strip() else made


def _integers(text):
    return [int(item) for item in text.strip("{}").split(",") if item.strip()]


def _shape(text):
    if text.startswith("("):
        return {"elementType": _TYPES["tuple"], "tupleShapes": [_shape(re.sub(r"/\*.*?\*/", "", part)) for part in _split(text[1:-1])]}
    found = re.match(r"(\w+)\[([^\]]*)\](?:\{([\d,]*))?", text)
    if not found:
        return {"elementType": _TYPES["token"]}
    made = {"elementType": _TYPES[found[1]]}
    if found[2]:
        made["dimensions"] = _integers(found[2])
    made["layout"] = {"minorToMajor": _integers(found[3] or "")}
    return made


def _literal(text, shape):
    dtype = next(name for name, number in _TYPES.items() if number == shape["elementType"])
    words = [word for word in re.split(r"[{},\s]+", re.sub(r"/\*.*?\*/", "", text)) if word]
    if dtype not in _LITERALS:
        return {"shape": shape}, [f"a constant of type {dtype}"]
    if dtype == "pred":
        values = [int(word == "true" or word == "1") for word in words]
    elif dtype[0] == "f":
        values = [float(word) for word in words]
    else:
        values = [int(word) for word in words]
    return {"shape": shape, _LITERALS[dtype]: bytes(values) if dtype == "u8" else values}, []


def _sharding(text):
    """OpSharding of `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` and the like; None of forms that it does not have."""
    text = text.strip()
    if text.startswith("{{"):
        parts = [_sharding(part) for part in _split(text[1:-1])]
        return None if None in parts else {"type": _SHARDINGS.index("tuple"), "tupleShardings": parts}
    if text[1:-1] in _SHARDINGS:
        return {"type": _SHARDINGS.index(text[1:-1])}
    if found := re.fullmatch(r"\{maximal device=(\d+)\}", text):
        return {"type": _SHARDINGS.index("maximal"), "tileAssignmentDimensions": [1], "tileAssignmentDevices": [int(found[1])]}
    found = re.fullmatch(r"\{devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))( last_tile_dim_replicate)?"
                         r"(?: last_tile_dims=\{([\w, ]+)\})?\}", text)
    if not found:
        return None
    made = {"type": _SHARDINGS.index("other"), "tileAssignmentDimensions": _integers(found[1])}
    if found[4]:
        made["tileAssignmentDevices"] = _integers(found[4])
    if found[5]:
        made["replicateOnLastTileDim"] = True
    if found[6]:
        made["lastTileDims"] = [_SHARDINGS.index(kind.strip()) for kind in found[6].split(",")]
    if found[2]:
        made["iotaReshapeDims"] = _integers(found[2])
        made["iotaTransposePerm"] = _integers(found[3]) if found[3] else [0]
    return made


def _instruction(parts, ids, computations, refused):
    _, name, type_, opcode, operands, rest = parts
    made = {"name": name.lstrip("%"), "opcode": opcode, "shape": _shape(type_), "id": ids[name.lstrip("%")]}
    attributes = dict(item.split("=", 1) for item in _split(rest.lstrip(", ")) if "=" in item)
    if opcode == "parameter":
        made["parameterNumber"] = int(operands)
    elif opcode == "constant":
        made["literal"], missing = _literal(operands, made["shape"])
        refused += missing
    else:
        made["operandIds"] = [ids[operand.split("%")[-1]] for operand in _split(operands)]
    dot = {}
    for key, value in attributes.items():
        if key == "metadata":
            said = dict((k, a or b) for k, a, b in re.findall(r'(\w+)=(?:"([^"]*)"|(\d+))', value))
            names = {"op_type": "opType", "op_name": "opName", "source_file": "sourceFile", "source_line": "sourceLine"}
            made["metadata"] = {names[k]: int(v) if k == "source_line" else v for k, v in said.items() if k in names}
        elif key in ("dimensions", "iota_dimension"):
            made["dimensions"] = _integers(value)
        elif key == "index":
            made["tupleIndex"] = int(value)
        elif key == "direction":
            made["comparisonDirection"] = value
        elif key == "custom_call_target":
            made["customCallTarget"] = value.strip('"')
        elif key == "sharding" and (sharding := _sharding(value)):
            made["sharding"] = sharding
        elif key == "slice":
            made["sliceDimensions"] = [dict(zip(("start", "limit", "stride"), (*map(int, part.split(":")), 1)))
                                       for part in re.findall(r"\[([\d:]+)\]", value)]
        elif key in ("lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims", "rhs_batch_dims"):
            dot[f"{key[:3]}{'Batch' if 'batch' in key else 'Contracting'}Dimensions"] = _integers(value)
        elif key in ("to_apply", "calls", "condition", "body"):
            made.setdefault("calledComputationIds", []).append(computations[value.lstrip("%")])
        else:
            refused.append(f"{key} of {opcode}")
    if opcode == "dot":
        made["dotDimensionNumbers"] = dot
    return made


def _program_shape(instructions, root):
    parameters = sorted((i for i in instructions if "parameterNumber" in i), key=lambda i: i["parameterNumber"])
    return {"parameters": [i["shape"] for i in parameters], "result": root["shape"], "parameterNames": [i["name"] for i in parameters]}


def module_of(text, name):
    """(HloModuleProto of that name, what instructions say that it lacks) from annotated text."""
    blocks, refused = [], []
    for line in text.split("\n"):
        if line.endswith(" {") and not line.startswith(" "):
            blocks.append((line, []))
        elif blocks and line.startswith("  "):
            blocks[-1][1].append(_parts(line.replace("ROOT %", "ROOT ").replace("  %", "  ", 1)))
    names = [re.match(r"(?:ENTRY )?%?([\w.\-]+)", head)[1] for head, _ in blocks]
    computations = {known: index + 1 for index, known in enumerate(names)}
    made = {"name": name, "id": len(blocks)}
    made["computations"], first = [], 1
    for (head, lines), known in zip(blocks, names):
        ids = {parts[1]: first + index for index, parts in enumerate(lines)}
        first += len(lines)
        instructions = [_instruction(parts, ids, computations, refused) for parts in lines]
        root = next((i for i, parts in zip(instructions, lines) if parts[0]), instructions[-1])
        made["computations"].append({"name": known, "instructions": instructions, "programShape": _program_shape(instructions, root),
                                     "id": computations[known], "rootId": root["id"]})
        if head.startswith("ENTRY "):
            made["entryComputationName"], made["entryComputationId"] = known, computations[known]
            made["hostProgramShape"] = made["computations"][-1]["programShape"]
    return made, refused


#===-- To the three forms ----------------------------------------------------===


def _values(message, fields):
    """(name, number, kind, value) of each field that is set, repeated ones one by one."""
    for name, value in message.items():
        number, kind = fields[name]
        for item in value if isinstance(kind, list) else [value]:
            yield name, number, kind[0] if isinstance(kind, list) else kind, item


def json_of(message, fields=_FIELDS):
    """As protocol buffers print JSON: 64-bit integers are strings."""
    def one(kind, value):
        if isinstance(kind, dict):
            return json_of(value, kind)
        return _NAMES[value] if kind == "type" else _SHARDINGS[value].upper() if kind == "sharding" else str(value) if kind == "int" else value
    made = {}
    for name, value in message.items():
        kind = fields[name][1]
        made[name] = [one(kind[0], item) for item in value] if isinstance(kind, list) else one(kind, value)
    if "metadata" in made and "sourceLine" in made["metadata"]:
        made["metadata"]["sourceLine"] = int(made["metadata"]["sourceLine"])
    return made


def text_of(message, fields=_FIELDS, indent=""):
    """The text format: one field a line, messages in braces."""
    lines = []
    for name, _, kind, value in _values(message, fields):
        name = re.sub(r"([A-Z])", lambda m: "_" + m[1].lower(), name)
        if isinstance(kind, dict):
            lines += [f"{indent}{name} {{", *text_of(value, kind, indent + "  ").splitlines(), f"{indent}}}"]
        elif kind == "string":
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'{indent}{name}: "{quoted}"')
        else:
            words = {"type": _NAMES.get, "sharding": lambda kind: _SHARDINGS[kind].upper(), "bool": lambda known: str(known).lower()}
            lines.append(f"{indent}{name}: {words.get(kind, str)(value)}")
    return "\n".join(lines) + ("\n" if lines else "")


def _varint(value):
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes(made) + bytes([value])


def bytes_of(message, fields=_FIELDS):
    """The serialized message."""
    made = b""
    for _, number, kind, value in _values(message, fields):
        if kind in ("int", "type", "sharding", "bool"):
            made += _varint(number << 3) + _varint(value)
        elif kind in ("f32", "f64"):
            made += _varint(number << 3 | (5 if kind == "f32" else 1)) + struct.pack("<f" if kind == "f32" else "<d", value)
        else:
            content = bytes_of(value, kind) if isinstance(kind, dict) else value.encode() if kind == "string" else value
            made += _varint(number << 3 | 2) + _varint(len(content)) + content
    return made
