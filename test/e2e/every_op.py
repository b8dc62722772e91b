# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One function for every operation of StableHLO and CHLO and every kind of attribute, type and region that they have, in generic form.

`functions()` gives name -> text. The texts are data: tests of text and of portable artifacts give them to jaxlib and to our tools."""

F, I, B, C, T = "tensor<2x2xf32>", "tensor<2x2xi32>", "tensor<2x2xi1>", "tensor<2x2xcomplex<f32>>", "!stablehlo.token"
S, V = "tensor<f32>", "tensor<2xf32>"

_found: dict = {}


def _add(name, arguments, body, attributes=""):
    """A function of `arguments` (types; their names are %a, %b, ...) whose results are unused."""
    assert name not in _found, name
    header = ", ".join(f"%{letter}: {type_}" for letter, type_ in zip("abcdefgh", arguments))
    _found[name] = f"func.func @{name}({header}){attributes} {{\n{body}\n  return\n}}"


def _op(name, op, operands, results, properties="", regions="", prefix="stablehlo", label=""):
    """A function of one operation whose operands are the arguments."""
    values = ", ".join(f"%{letter}" for letter, _ in zip("abcdefgh", operands))
    made = "" if not results else f"%0{f':{len(results)}' if len(results) > 1 else ''} = "
    attributes = f" <{{{properties}}}>" if properties else ""
    types = results[0] if len(results) == 1 else f"({', '.join(results)})"
    _add(name, operands, f'  {made}"{prefix}.{op}"({values}){attributes}{f" ({regions})" if regions else ""} : ({", ".join(operands)}) -> {types}', label)


def _region(arguments, results, body):
    header = ", ".join(f"%{letter}: {type_}" for letter, type_ in zip("uvwxyz", arguments))
    block = f"  ^bb0({header}):\n" if arguments else ""
    return f"{{\n{block}{body}\n    stablehlo.return {', '.join(v for v, _ in results)}{' : ' if results else ''}{', '.join(t for _, t in results)}\n  }}"


def _scalar_region(op="add", type_=S):
    return _region([type_, type_], [("%s", type_)], f"    %s = stablehlo.{op} %u, %v : {type_}")


ADD, MUL = _scalar_region(), _scalar_region("multiply")
LESS = _region([S, S], [("%s", "tensor<i1>")], '    %s = "stablehlo.compare"(%u, %v) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>')
TRANSCENDENTAL = ["cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"]


def _elementwise():
    for op in TRANSCENDENTAL + ["abs", "ceil", "floor", "negate", "round_nearest_afz", "round_nearest_even", "sign"]:
        _op(op, op, [F], [F])
    for op in TRANSCENDENTAL:
        _op(f"{op}_of_default_accuracy", op, [F], [F], "result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>")
        _op(f"{op}_of_highest_accuracy", op, [F], [F], "result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>")
        _op(f"{op}_of_tolerance", op, [F], [F], "result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>")
    for op in ("abs_of_complex", "real", "imag"):
        _op(op, op.split("_")[0], [C], [F])
    for op in ("count_leading_zeros", "not", "popcnt"):
        _op(op, op, [I], [I])
    _op("is_finite", "is_finite", [F], [B])
    _op("convert", "convert", [F], [I])
    _op("convert_to_itself", "convert", [F], [F])
    _op("bitcast_convert", "bitcast_convert", [F], [I])
    _op("bitcast_convert_to_itself", "bitcast_convert", [F], [F])
    _op("reduce_precision", "reduce_precision", [F], [F], "exponent_bits = 5 : i32, mantissa_bits = 10 : i32")
    for op in ("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"):
        _op(op, op, [F, F], [F])
    for op in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"):
        _op(op, op, [I, I], [I])
    _op("add_of_dynamic", "add", ["tensor<?xf32>", "tensor<4xf32>"], ["tensor<?xf32>"])
    _op("complex", "complex", [F, F], [C])
    for direction in ("EQ", "NE", "GE", "GT", "LE", "LT"):
        _op(f"compare_{direction.lower()}", "compare", [F, F], [B], f"comparison_direction = #stablehlo<comparison_direction {direction}>")
    for kind in ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"):
        _op(f"compare_as_{kind.lower()}", "compare", [F, F], [B], f"compare_type = #stablehlo<comparison_type {kind}>, comparison_direction = #stablehlo<comparison_direction EQ>")
    _op("select", "select", [B, F, F], [F])
    _op("select_by_scalar", "select", ["tensor<i1>", F, F], [F])
    _op("select_of_dynamic", "select", [B, "tensor<?x2xf32>", F], [F])
    _op("clamp", "clamp", [F, F, F], [F])
    _op("clamp_by_scalars", "clamp", [S, F, S], [F])
    Q, R = "tensor<2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<2x!quant.uniform<u8:f32:0, {0.5, 0.25:4}>>"
    _op("uniform_quantize", "uniform_quantize", [V], [Q])
    _op("uniform_quantize_per_axis", "uniform_quantize", [V], [R])
    _op("uniform_quantize_again", "uniform_quantize", [Q], [Q])
    _op("uniform_dequantize", "uniform_dequantize", [Q], [V])
    _op("uniform_dequantize_per_axis", "uniform_dequantize", [R], [V])
    _op("add_of_quantized", "add", [Q, Q], [Q])
    _op("add_of_differently_quantized", "add", [Q, "tensor<2x!quant.uniform<i8:f32, 0.25>>"], [Q])


def _data_movement():
    for name, value in {
            "splat": "dense<1.5> : tensor<3xf32>", "list": "dense<[1.5, 2.5, 3.5]> : tensor<3xf32>", "empty": "dense<> : tensor<0xf32>",
            "true": "dense<true> : tensor<9xi1>", "false": "dense<false> : tensor<9xi1>", "bits": "dense<[true, false, true]> : tensor<3xi1>",
            "many_bits": "dense<[true, false, true, false, true, false, true, false, true]> : tensor<9xi1>", "bit": "dense<true> : tensor<i1>",
            "one_bit": "dense<false> : tensor<1xi1>", "complex": "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
            "complexes": "dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>", "scalar": "dense<-1> : tensor<i64>",
            "index": "dense<[1, 2]> : tensor<2xi32>", "nan": "dense<0x7FC00000> : tensor<f32>"}.items():
        type_ = value.rsplit(" : ", 1)[1]
        _op(f"constant_{name}", "constant", [], [type_], f"value = {value}")
    for width in (2, 4, 8, 16, 32, 64):
        for kind in ("i", "ui"):
            _op(f"constant_{kind}{width}", "constant", [], [f"tensor<3x{kind}{width}>"], f"value = dense<[0, 1, 1]> : tensor<3x{kind}{width}>")
    for kind in ("bf16", "f16", "f64", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"):
        _op(f"constant_{kind}", "constant", [], [f"tensor<2x{kind}>"], f"value = dense<[1.0, 2.0]> : tensor<2x{kind}>")
    _op("iota", "iota", [], ["tensor<3x4xi32>"], "iota_dimension = 1 : i64")
    _op("broadcast", "broadcast", [F], ["tensor<3x2x2xf32>"], "broadcast_sizes = array<i64: 3>")
    _op("broadcast_in_dim", "broadcast_in_dim", [V], [F], "broadcast_dimensions = array<i64: 1>")
    _op("broadcast_in_dim_of_scalar", "broadcast_in_dim", [S], [F], "broadcast_dimensions = array<i64>")
    _op("reshape", "reshape", [F], ["tensor<4xf32>"])
    _op("reshape_to_itself", "reshape", [F], [F])
    _op("transpose", "transpose", [F], [F], "permutation = array<i64: 1, 0>")
    _op("slice", "slice", ["tensor<8x8xf32>"], ["tensor<2x4xf32>"], "start_indices = array<i64: 1, 0>, limit_indices = array<i64: 3, 8>, strides = array<i64: 1, 2>")
    _op("pad", "pad", [F, S], ["tensor<5x2xf32>"], "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, -1>, interior_padding = array<i64: 1, 1>")
    _op("concatenate", "concatenate", [F, F, F], ["tensor<2x6xf32>"], "dimension = 1 : i64")
    _op("reverse", "reverse", [F], [F], "dimensions = array<i64: 0, 1>")


def _indexing():
    x, i = "tensor<4x4xf32>", "tensor<i32>"
    _op("dynamic_slice", "dynamic_slice", [x, i, i], [F], "slice_sizes = array<i64: 2, 2>")
    _op("dynamic_slice_of_scalar", "dynamic_slice", [S], [S], "slice_sizes = array<i64>")
    _op("dynamic_update_slice", "dynamic_update_slice", [x, F, i, i], [x])
    numbers = "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
    batched = "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>"
    rows = "tensor<2x1xi32>"
    _op("gather", "gather", [x, rows], ["tensor<2x4xf32>"], f"dimension_numbers = {numbers}, slice_sizes = array<i64: 1, 4>")
    _op("gather_sorted", "gather", [x, rows], ["tensor<2x4xf32>"], f"dimension_numbers = {numbers}, slice_sizes = array<i64: 1, 4>, indices_are_sorted = true")
    _op("gather_batched", "gather", ["tensor<3x4x5xf32>", "tensor<3x2x1xi64>"], ["tensor<3x2x5xf32>"], f"dimension_numbers = {batched}, slice_sizes = array<i64: 1, 1, 5>, indices_are_sorted = false")
    _op("dynamic_gather", "dynamic_gather", [x, rows, "tensor<2xi64>"], ["tensor<2x4xf32>"], f"dimension_numbers = {numbers}")
    _op("dynamic_gather_batched", "dynamic_gather", ["tensor<3x4x5xf32>", "tensor<3x2x1xi64>", "tensor<3xi32>"], ["tensor<3x2x?xf32>"], f"dimension_numbers = {batched}, indices_are_sorted = true")
    numbers = "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
    batched = "#stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>"
    _op("scatter", "scatter", [x, rows, "tensor<2x4xf32>"], [x], f"scatter_dimension_numbers = {numbers}", ADD)
    _op("scatter_unique_sorted", "scatter", [x, rows, "tensor<2x4xf32>"], [x], f"scatter_dimension_numbers = {numbers}, indices_are_sorted = true, unique_indices = true", ADD)
    _op("scatter_batched", "scatter", ["tensor<3x4x5xf32>", "tensor<3x2x1xi64>", "tensor<3x2x5xf32>"], ["tensor<3x4x5xf32>"], f"scatter_dimension_numbers = {batched}", ADD)
    two = _region([S, S, S, S], [("%s", S), ("%x", S)], f"    %s = stablehlo.add %u, %w : {S}")
    _op("scatter_of_two", "scatter", [x, x, rows, "tensor<2x4xf32>", "tensor<2x4xf32>"], [x, x], f"scatter_dimension_numbers = {numbers}", two)
    _op("torch_index_select", "torch_index_select", [x, "tensor<2xi32>"], ["tensor<2x4xf32>"], "dim = 0 : i64, batch_dims = 0 : i64")


def _contractions():
    high = "[#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]"
    low = "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]"
    _op("dot", "dot", [F, F], [F])
    _op("dot_precise", "dot", [F, F], [F], f"precision_config = {high}")
    plain = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    batch = "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>"
    _op("dot_general", "dot_general", [F, F], [F], f"dot_dimension_numbers = {plain}")
    _op("dot_general_default", "dot_general", [F, F], [F], f"dot_dimension_numbers = {plain}, precision_config = {low}")
    _op("dot_general_no_precision", "dot_general", [F, F], [F], f"dot_dimension_numbers = {plain}, precision_config = []")
    _op("dot_general_outer", "dot_general", [V, V], [F], "dot_dimension_numbers = #stablehlo.dot<>")
    _op("dot_general_batched", "dot_general", ["tensor<3x2x4xf32>", "tensor<3x4x5xf32>"], ["tensor<3x2x5xf32>"], f"dot_dimension_numbers = {batch}, precision_config = {high}")
    algorithm = "lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {1}, allow_imprecise_accumulation = {2}"
    for kind, products, imprecise in (("tf32", 1, "false"), ("bf16", 1, "false")):
        _op(f"dot_general_{kind}", "dot_general", [F, F], [F], f"dot_dimension_numbers = {plain}, precision_config = {low}, algorithm = #stablehlo.dot_algorithm<{algorithm.format(kind, products, imprecise)}>")
    x, w, y = "tensor<1x8x8x2xf32>", "tensor<3x3x2x4xf32>", "tensor<1x6x6x4xf32>"
    numbers = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    window = "window_strides = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>"
    _op("convolution", "convolution", [x, w], [y], numbers)
    _op("convolution_of_window", "convolution", [x, w], ["tensor<1x3x14x4xf32>"], f"{numbers}, {window}, precision_config = {high}")
    _op("convolution_of_default_window", "convolution", [x, w], [y], f"{numbers}, window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, precision_config = {low}")
    _op("convolution_of_no_window", "convolution", ["tensor<2x3xf32>", "tensor<3x4xf32>"], ["tensor<2x4xf32>"],
        "dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")
    _op("dynamic_conv", "dynamic_conv", [x, w, "tensor<2x2xi64>"], ["tensor<1x?x?x4xf32>"], numbers)
    _op("dynamic_conv_of_window", "dynamic_conv", [x, w, "tensor<2x2xi64>"], ["tensor<1x?x?x4xf32>"], f"{numbers}, window_strides = array<i64: 2, 1>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, precision_config = {high}")
    _op("einsum", "einsum", [F, F], [F], 'einsum_config = "ab,bc->ac"')
    _op("unary_einsum", "unary_einsum", [F], [V], 'einsum_config = "ab->a"')
    _op("cholesky", "cholesky", [F], [F])
    _op("cholesky_lower", "cholesky", [F], [F], "lower = true")
    _op("cholesky_upper", "cholesky", [F], [F], "lower = false")
    for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
        _op(f"triangular_solve_{transpose.lower()}", "triangular_solve", [F, F], [F], f"left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose {transpose}>")


def _reductions():
    two = _region([S, S, S, S], [("%s", S), ("%t", S)], f"    %s = stablehlo.add %u, %w : {S}\n    %t = stablehlo.multiply %v, %x : {S}")
    _op("reduce", "reduce", [F, S], [V], "dimensions = array<i64: 1>", ADD)
    _op("reduce_to_scalar", "reduce", [F, S], [S], "dimensions = array<i64: 0, 1>", MUL)
    _op("reduce_of_nothing", "reduce", [F, S], [F], "dimensions = array<i64>", ADD)
    _op("reduce_of_two", "reduce", [F, F, S, S], [V, V], "dimensions = array<i64: 0>", two)
    _op("reduce_by_subtract", "reduce", [F, S], [V], "dimensions = array<i64: 1>", _scalar_region("subtract"))
    _op("reduce_swapped", "reduce", [F, S], [V], "dimensions = array<i64: 1>", _region([S, S], [("%s", S)], f"    %s = stablehlo.add %v, %u : {S}"))
    d = "tensor<f64>"
    _op("reduce_promoted", "reduce", [F, S], ["tensor<2xf64>"], "dimensions = array<i64: 1>", _scalar_region("add", d))
    window = "window_dimensions = array<i64: 1, 2>"
    rest = "window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>"
    _op("reduce_window", "reduce_window", [F, S], ["tensor<2x1xf32>"], window, ADD)
    _op("reduce_window_of_all", "reduce_window", [F, S], ["tensor<2x4xf32>"], f"{window}, {rest}", ADD)
    _op("reduce_window_of_two", "reduce_window", [F, F, S, S], ["tensor<2x1xf32>", "tensor<2x1xf32>"], window, two)
    _op("select_and_scatter", "select_and_scatter", ["tensor<4x4xf32>", "tensor<2x2xf32>", S], ["tensor<4x4xf32>"],
        "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2x2xi64>", f"{LESS}, {ADD}")
    _op("select_and_scatter_of_defaults", "select_and_scatter", ["tensor<2x2xf32>", "tensor<2x1xf32>", S], ["tensor<2x2xf32>"], "window_dimensions = array<i64: 1, 2>", f"{LESS}, {ADD}")
    _op("sort", "sort", [V], [V], "", LESS)
    _op("sort_stable", "sort", [F], [F], "dimension = 0 : i64, is_stable = true", LESS)
    _op("sort_of_two", "sort", [F, F], [F, F], "dimension = -1 : i64",
        _region([S, S, S, S], [("%s", "tensor<i1>")], '    %s = "stablehlo.compare"(%u, %v) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>'))
    _op("map", "map", [F, F], [F], "dimensions = array<i64: 0, 1>", ADD)
    x, v = "tensor<2x3xf32>", "tensor<3xf32>"
    norm = "epsilon = 0.001 : f32, feature_index = 1 : i64"
    _op("batch_norm_inference", "batch_norm_inference", [x, v, v, v, v], [x], norm)
    _op("batch_norm_training", "batch_norm_training", [x, v, v], [x, v, v], norm)
    _op("batch_norm_grad", "batch_norm_grad", [x, v, v, v, x], [x, v, v], norm)


def _control_flow():
    give_f = _region([], [("%b", F)], "")
    _op("if", "if", ["tensor<i1>", F], [F], "", f"{give_f}, {give_f}")
    _found["if"] = _found["if"].replace('"stablehlo.if"(%a, %b)', '"stablehlo.if"(%a)').replace(f": (tensor<i1>, {F})", ": (tensor<i1>)")
    _op("case", "case", ["tensor<i32>", F], [F], "", f"{give_f}, {give_f}, {give_f}")
    _found["case"] = _found["case"].replace('"stablehlo.case"(%a, %b)', '"stablehlo.case"(%a)').replace(f": (tensor<i32>, {F})", ": (tensor<i32>)")
    i = "tensor<i32>"
    condition = _region([i, F], [("%s", "tensor<i1>")], f'    %s = "stablehlo.compare"(%u, %u) <{{comparison_direction = #stablehlo<comparison_direction LT>}}> : ({i}, {i}) -> tensor<i1>')
    _op("while", "while", [i, F], [i, F], "", f"{condition}, {_region([i, F], [('%s', i), ('%v', F)], f'    %s = stablehlo.add %u, %u : {i}')}")
    empty = "{\n    %s = stablehlo.constant dense<false> : tensor<i1>\n    stablehlo.return %s : tensor<i1>\n  }, {\n    stablehlo.return\n  }"
    _op("while_of_nothing", "while", [], [], "", empty)
    _add("while_of_nothing_with_attributes", [], f'  "stablehlo.while"() ({empty}) {{some.attribute = 1 : i32}} : () -> ()')
    _op("optimization_barrier", "optimization_barrier", [F, I], [F, I])
    _op("optimization_barrier_of_one", "optimization_barrier", [F], [F])
    _op("optimization_barrier_of_nothing", "optimization_barrier", [], [])
    _op("tuple", "tuple", [F, T], [f"tuple<{F}, {T}>"])
    _op("tuple_of_nothing", "tuple", [], ["tuple<>"])
    _op("get_tuple_element", "get_tuple_element", [f"tuple<{F}, tuple<{I}>>"], [f"tuple<{I}>"], "index = 1 : i32")
    _add("composite", [F], f'  %0 = "stablehlo.composite"(%a) <{{name = "some.op", decomposition = @identity}}> : ({F}) -> {F}')
    _add("composite_of_attributes", [F], f'  %0 = "stablehlo.composite"(%a) <{{name = "some.op", composite_attributes = {{axis = 1 : i64, mode = "fast"}}, decomposition = @identity, version = 2 : i32}}> : ({F}) -> {F}')
    _add("composite_of_regions", [F], f'  %0 = "stablehlo.composite"(%a) <{{name = "some.op", decomposition = @identity}}> ({_region([S], [("%u", S)], "")}) : ({F}) -> {F}')
    _add("call", [F], f"  %0 = func.call @identity(%a) : ({F}) -> {F}")
    target = 'call_target_name = "foo"'
    _op("custom_call", "custom_call", [F], [F], target)
    _op("custom_call_of_nothing", "custom_call", [], [], target)
    _op("custom_call_with_effect", "custom_call", [F], [F, I], f"{target}, has_side_effect = true")
    for version in range(4):
        _op(f"custom_call_api_{version}", "custom_call", [F], [F], f'{target}, api_version = {version} : i32, backend_config = "some text"')
    _op("custom_call_without_config", "custom_call", [F], [F], f'{target}, backend_config = "", has_side_effect = false')
    _op("custom_call_ffi", "custom_call", [F], [F], f'{target}, api_version = 4 : i32, backend_config = {{a = 1 : i32, b = "text", c = true, d = [1, 2], e = dense<1> : tensor<2xi64>, f = 1.5 : f64}}')
    _op("custom_call_ffi_without_config", "custom_call", [F], [F], f"{target}, api_version = 4 : i32")
    _op("custom_call_of_layouts", "custom_call", [F, S], [F], f"{target}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]")
    _op("custom_call_of_computations", "custom_call", [F], [F], f"{target}, called_computations = [@identity]")
    _op("custom_call_of_aliases", "custom_call", [F], [F], f"{target}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]")
    _op("custom_call_of_tuple", "custom_call", [f"tuple<{F}>", T], [f"tuple<{F}, {I}>"], f"{target}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = [0]>]")
    _op("custom_call_of_buffer", "custom_call", ["memref<4xf32>"], ["memref<4xf32>"], f"{target}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]")
    _op("custom_call_of_future", "custom_call", [F], [f"!stablehlo.future<{F}>"], target)
    _op("custom_call_of_tilings", "custom_call", [F], [F], f"{target}, result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]")


def _collectives():
    groups, channel = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "channel_handle = #stablehlo.channel_handle<handle = 7, type = {}>"
    ids = f"{groups}, {channel.format(1)}, use_global_device_ids"
    mesh = 'replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>'
    part = 'replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>'
    for name, attributes in {"": groups, "_of_ids": ids, "_of_ragged_groups": "replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>", "_of_mesh": mesh, "_of_mesh_part": part}.items():
        if "ragged" not in name:
            _op(f"all_gather{name}", "all_gather", [F], ["tensor<4x2xf32>"], f"all_gather_dim = 0 : i64, {attributes}")
            _op(f"reduce_scatter{name}", "reduce_scatter", [F], ["tensor<2x1xf32>"], f"scatter_dimension = 1 : i64, {attributes}", ADD)
        _op(f"all_reduce{name}", "all_reduce", [F], [F], attributes, ADD)
        if name in ("", "_of_mesh"):
            _op(f"all_to_all{name}", "all_to_all", [F], ["tensor<1x4xf32>"], f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {attributes}")
            _op(f"collective_broadcast{name}", "collective_broadcast", [F], [F], attributes)
    _op("all_gather_of_two", "all_gather", [F, I], ["tensor<4x2xf32>", "tensor<4x2xi32>"], f"all_gather_dim = 0 : i64, {groups}")
    _op("all_reduce_of_two", "all_reduce", [F, F], [F, F], groups, ADD)
    _op("all_to_all_of_two", "all_to_all", [F, I], ["tensor<1x4xf32>", "tensor<1x4xi32>"], f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {groups}")
    _op("all_to_all_of_channel", "all_to_all", [F], ["tensor<1x4xf32>"], f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {groups}, {channel.format(1)}")
    _op("collective_broadcast_of_channel", "collective_broadcast", [F], [F], f"{groups}, {channel.format(1)}")
    _op("collective_broadcast_of_root", "collective_broadcast", [F, "tensor<1xi32>"], [F, "tensor<1xi32>"], f"{groups}, has_dynamic_root")
    _op("collective_reduce", "collective_reduce", [F], [F], groups, ADD)
    _op("collective_permute", "collective_permute", [F], [F], "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>")
    _op("collective_permute_of_channel", "collective_permute", [F], [F], f"source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, {channel.format(1)}")
    _op("cross_replica_sum", "cross-replica-sum", [F], [F], groups)
    _op("replica_id", "replica_id", [], ["tensor<ui32>"])
    _op("partition_id", "partition_id", [], ["tensor<ui32>"])
    _op("after_all", "after_all", [T, T], [T])
    _op("after_all_of_nothing", "after_all", [], [T])
    _op("create_token", "create_token", [], [T])
    _op("infeed", "infeed", [T], [F, T])
    _op("infeed_of_config", "infeed", [T], [F, T], 'infeed_config = "text", layout = [[0, 1]]')
    _op("outfeed", "outfeed", [F, T], [T])
    _op("outfeed_of_config", "outfeed", [F, T], [T], 'outfeed_config = "text"')
    _op("send", "send", [F, T], [T], channel.format(1))
    _op("send_to_host", "send", [F, T], [T], f"{channel.format(2)}, is_host_transfer = true")
    _op("send_pairs", "send", [F, T], [T], f"{channel.format(1)}, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>")
    _op("recv", "recv", [T], [F, T], channel.format(1))
    _op("recv_from_host", "recv", [T], [F, T], f"{channel.format(3)}, is_host_transfer = true")
    _op("recv_pairs", "recv", [T], [F, T], f"{channel.format(1)}, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>")
    gather = _region([F], [("%s", "tensor<4x2xf32>")], f'    %s = "stablehlo.all_gather"(%u) <{{all_gather_dim = 0 : i64, {groups}}}> : ({F}) -> tensor<4x2xf32>')
    _op("async_start", "async_start", [F], ["!stablehlo.future<tensor<4x2xf32>>"], "", gather)
    _op("async_done", "async_done", [f"!stablehlo.future<{F}>"], [F])


def _dynamism():
    d = "tensor<?x?xf32>"
    _op("dynamic_broadcast_in_dim", "dynamic_broadcast_in_dim", ["tensor<?xf32>", "tensor<2xi32>"], [d], "broadcast_dimensions = array<i64: 1>")
    _op("dynamic_broadcast_in_dim_known", "dynamic_broadcast_in_dim", ["tensor<?xf32>", "tensor<2xindex>"], [d], "broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>")
    _op("dynamic_iota", "dynamic_iota", ["tensor<2xi32>"], [d], "iota_dimension = 0 : i64")
    _op("dynamic_pad", "dynamic_pad", ["tensor<?xf32>", S, "tensor<1xi32>", "tensor<1xi32>", "tensor<1xi32>"], ["tensor<?xf32>"])
    _op("dynamic_reshape", "dynamic_reshape", [d, "tensor<1xi32>"], ["tensor<?xf32>"])
    _op("get_dimension_size", "get_dimension_size", [d], ["tensor<i32>"], "dimension = 1 : i64")
    _op("set_dimension_size", "set_dimension_size", [F, "tensor<i32>"], ["tensor<?x2xf32, #stablehlo.bounds<2, ?>>"], "dimension = 0 : i64")
    _op("real_dynamic_slice", "real_dynamic_slice", ["tensor<?xf32>", "tensor<1xi32>", "tensor<1xi32>", "tensor<1xi32>"], ["tensor<?xf32>"])


def _random():
    for kind in ("UNIFORM", "NORMAL"):
        _op(f"rng_{kind.lower()}", "rng", [S, S, "tensor<2xi64>"], [F], f"rng_distribution = #stablehlo<rng_distribution {kind}>")
    for kind in ("DEFAULT", "THREE_FRY", "PHILOX"):
        _op(f"rng_bit_generator_{kind.lower()}", "rng_bit_generator", ["tensor<2xui64>"], ["tensor<2xui64>", "tensor<3xui32>"], f"rng_algorithm = #stablehlo<rng_algorithm {kind}>")
    for kind, x, y in (("FFT", "complex<f32>", "8xcomplex<f32>"), ("IFFT", "complex<f32>", "8xcomplex<f32>"), ("RFFT", "f32", "5xcomplex<f32>"), ("IRFFT", "complex<f32>", "14xf32")):
        _op(f"fft_{kind.lower()}", "fft", [f"tensor<8x{x}>"], [f"tensor<{y}>"], f"fft_type = #stablehlo<fft_type {kind}>, fft_length = array<i64: {14 if kind == 'IRFFT' else 8}>")


def _types_and_functions():
    for kind in ("i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64", "f8E3M4", "f8E4M3", "f8E4M3FN",
                 "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "complex<f32>", "complex<f64>", "index"):
        name = kind.replace("<", "_").replace(">", "")
        _add(f"type_{name}", [f"tensor<2x{kind}>", f"tensor<{kind}>"], "")
    _add("type_bounds", ["tensor<?x?x4xf32, #stablehlo.bounds<16, ?, ?>>", "tensor<?xf32, #stablehlo.type_extensions<bounds = [?]>>"], "")
    _add("type_token_tuple", [T, f"tuple<{F}, tuple<{T}>, {T}>", "tuple<>"], "")
    _add("type_future", [f"!stablehlo.future<{F}>", f"!stablehlo.future<{F}, tensor<i1>>"], "")
    _add("type_none", ["none", "index", "f32", "tensor<*xf32>"], "")
    _add("type_buffer", ["memref<2xf32>", "memref<f64>"], "")
    for kind in ("i2", "u2", "i4", "u4", "i8", "u8", "i16", "u16", "i32"):
        _add(f"type_quantized_{kind}", [f"tensor<2x!quant.uniform<{kind}:f32, 0.5:1>>"], "")
    _add("type_quantized_range", ["tensor<2x!quant.uniform<i8<-127:127>:bf16, 0.5>>", "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25:3, 2.0}>>"], "")
    for name, value in {"array": '[1, 2.5 : f32, "text", true]', "dict": "{a = 1 : i32, b = {}}", "type": "tensor<2xf32>", "symbol": "@identity", "unit": "unit",
                        "elements": "dense<[1, 2]> : tensor<2xi64>", "i8": "-5 : i8", "i32": "7 : i32", "i64": "-1 : i64", "ui8": "5 : ui8", "ui64": "18446744073709551615 : ui64", "i4": "-3 : i4", "index": "3 : index",
                        "f64": "-1.5 : f64", "f16": "1.0 : f16", "bf16": "1.0 : bf16", "f8": "1.0 : f8E4M3FN", "ints": "array<i64: 1, 2>", "i32s": "array<i32: 1, 2>", "bools": "array<i1: true, false>",
                        "empty": "[]", "string": '"\\01"', "bool": "false", "function": "() -> tensor<f32>", "i2": "1 : i2"}.items():
        _add(f"attribute_of_function_{name}", [F], "", f" attributes {{some.{name} = {value}}}")
    _add("attributes_of_function", [F, F], "", ' attributes {b.second = 1 : i32, a.first = 2 : i32, c.third = "x"}')
    _found["attributes_of_arguments"] = (f"func.func private @attributes_of_arguments(%a: {F} {{some.first = 1 : i32}}, %b: {F}) -> ({F} {{some.result = \"x\"}}, {F}) {{\n"
                                         f"  return %a, %b : {F}, {F}\n}}")
    _add("attributes_of_operation", [F], f'  %0 = "stablehlo.add"(%a, %a) {{some.attribute = "x", mhlo.frontend_attributes = {{_a = "b"}}}} : ({F}, {F}) -> {F}')
    # Uses of one value whose order does not follow from that of the operations.
    body = _region([S, S], [("%t", S)], f"    %s = stablehlo.add %u, %v : {S}\n    %t = stablehlo.add %s, %b : {S}")
    _add("uses_in_regions", [F, S], f'  %0 = "stablehlo.reduce"(%a, %b) <{{dimensions = array<i64: 1>}}> ({body}) : ({F}, {S}) -> {V}\n'
         f'  %1 = stablehlo.add %b, %b : {S}\n  %2 = stablehlo.cosine %b : {S}\n  %3 = stablehlo.constant dense<true> : tensor<i1>\n'
         f'  %4 = "stablehlo.select"(%3, %b, %1) : (tensor<i1>, {S}, {S}) -> {S}')
    _add("uses_by_versions", [F], f"  %0 = stablehlo.cosine %a : {F}\n  %1 = stablehlo.tanh %a : {F}\n  %2 = stablehlo.add %a, %0 : {F}\n  %3 = stablehlo.multiply %0, %a : {F}\n"
         f'  %4 = "stablehlo.dot_general"(%a, %0) <{{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}}> : ({F}, {F}) -> {F}\n'
         f"  %5 = stablehlo.cosine %0 : {F}\n  %6 = stablehlo.add %5, %5 : {F}")


def _chlo():
    for op in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma", "erf", "erf_inv", "erfc", "lgamma", "sinh", "square", "tan", "_asin_acos_kernel"):
        complex_ = op in ("_asin_acos_kernel",)
        _op(f"chlo_{op.strip('_')}", op, [C if complex_ else F], [C if complex_ else F], prefix="chlo")
    for op in ("is_inf", "is_neg_inf", "is_pos_inf"):
        _op(f"chlo_{op}", op, [F], [B], prefix="chlo")
    for op in ("next_after", "polygamma", "zeta"):
        _op(f"chlo_{op}", op, [F, F], [F], prefix="chlo")
    for op in ("add", "atan2", "divide", "maximum", "minimum", "multiply", "next_after", "polygamma", "power", "remainder", "subtract", "zeta"):
        _op(f"chlo_broadcast_{op}", f"broadcast_{op}", [F, V], [F], prefix="chlo")
        _op(f"chlo_broadcast_{op}_along", f"broadcast_{op}", [F, V], [F], "broadcast_dimensions = array<i64: 1>", prefix="chlo")
    for op in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"):
        _op(f"chlo_broadcast_{op}", f"broadcast_{op}", [I, I], [I], prefix="chlo")
    _op("chlo_broadcast_complex", "broadcast_complex", [F, F], [C], prefix="chlo")
    _op("chlo_broadcast_compare", "broadcast_compare", [F, V], [B], "comparison_direction = #chlo<comparison_direction LT>", prefix="chlo")
    _op("chlo_broadcast_compare_along", "broadcast_compare", [F, V], [B], "comparison_direction = #chlo<comparison_direction EQ>, compare_type = #chlo<comparison_type FLOAT>, broadcast_dimensions = array<i64: 1>", prefix="chlo")
    _op("chlo_broadcast_select", "broadcast_select", ["tensor<i1>", F, V], [F], prefix="chlo")
    _op("chlo_constant", "constant", [], ["tensor<2xf32>"], "value = dense<1.0> : tensor<2xf32>", prefix="chlo")
    _op("chlo_constant_like", "constant_like", [F], [F], "value = 1.0 : f32", prefix="chlo")
    _op("chlo_top_k", "top_k", [F], ["tensor<2x1xf32>", "tensor<2x1xi32>"], "k = 1 : i64", prefix="chlo")
    _op("chlo_mulhi", "mulhi", [I, I], [I], prefix="chlo")
    ragged = "#chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"
    _op("chlo_ragged_dot", "ragged_dot", ["tensor<11x5xf32>", "tensor<3x5x7xf32>", "tensor<3xi64>"], ["tensor<11x7xf32>"], f"ragged_dot_dimension_numbers = {ragged}, precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]", prefix="chlo")
    step = _region([V, S], [("%x", V), ("%v", S)], f"    %x = stablehlo.add %u, %u : {V}")
    _op("chlo_scan", "scan", [F, S], [F, S], "dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>", step, prefix="chlo")


# What other functions refer to.
PRELUDE = {"@identity": f"func.func private @identity(%a: {F}) -> {F} {{\n  return %a : {F}\n}}", "@mesh": 'sdy.mesh @mesh = <["x"=2]>'}


def functions():
    """name -> text of a module's content: a function, and those that it calls."""
    if not _found:
        for family in (_elementwise, _data_movement, _indexing, _contractions, _reductions, _control_flow, _collectives, _dynamism, _random, _types_and_functions, _chlo):
            family()
    return {name: "\n".join([text] + [what for symbol, what in PRELUDE.items() if symbol in text]) for name, text in _found.items()}


def together(texts):
    """One module of many: what several refer to comes once."""
    bodies = list(texts)
    for what in PRELUDE.values():
        if any(what in body for body in bodies):
            bodies = [body.replace(what, "") for body in bodies] + [what]
    return "\n".join(bodies)
