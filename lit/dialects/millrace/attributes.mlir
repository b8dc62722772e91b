// RUN: xla-opt %s -split-input-file -verify-diagnostics

// What the compiler says to itself is read as it stands.
func.func private @kernel(tensor<4xf32> {millrace.open}) -> (tensor<4xf32> {millrace.whole_shape = array<i64: 7>})
    attributes {millrace.kernel, millrace.in_place = [array<i64: 0, 0>], millrace.range_end = 8 : i64}

// -----

// expected-error @below {{attribute 'millrace.kernels' is unknown: the namespace 'millrace' belongs to the compiler; remove the attribute or rename it}}
func.func private @unknown() attributes {millrace.kernels}

// -----

// expected-error @below {{attribute 'millrace.kernel' expects a unit attribute, but got true}}
func.func private @other_type() attributes {millrace.kernel = true}

// -----

// expected-error @below {{attribute 'millrace.in_place' expects an array of [operand, result] pairs, but got [array<i64: 0>]}}
func.func private @no_pair() attributes {millrace.in_place = [array<i64: 0>]}

// -----

// expected-error @below {{attribute 'millrace.range_end' expects an i64 of at least 0, but got -1 : i64}}
func.func private @negative() attributes {millrace.range_end = -1 : i64}

// -----

func.func @elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{attribute 'millrace.kernel' is not allowed here}}
  %0 = stablehlo.abs %x {millrace.kernel} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{attribute 'millrace.attention' is not allowed here}}
func.func private @argument(tensor<4xf32> {millrace.attention})

// -----

// expected-error @below {{attribute 'millrace.coded_product' expects a dictionary of by_rows, packed, narrow, signed, scaled, zeros, ragged, zero and across, but got {packed = true}}}
func.func private @half_said() attributes {millrace.coded_product = {packed = true}}
