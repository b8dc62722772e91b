// Machine code around steps of the runtime equals the evaluator.
// RUN: split-file %s %t
// RUN: xla-run %t/update.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/nested.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/swap.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/case.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/chosen.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/call.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/tuple.mlir --verify --quiet --cache-dir=off
// RUN: xla-compile %t/update.mlir --emit=program | FileCheck %s --check-prefix=UPDATE

// The scan output is updated in place: no copy of it in the loop.
// UPDATE: loop carried
// UPDATE-NOT: copy
// UPDATE: kernel dynamic_update_slice
//--- update.mlir
func.func @main(%x: tensor<512xf32>) -> tensor<300x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %empty = stablehlo.constant dense<0.0> : tensor<300x512xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %x, %out = %empty) : tensor<i32>, tensor<512xf32>, tensor<300x512xf32>
    cond {
      %n = stablehlo.constant dense<300> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.cosine %s : tensor<512xf32>
      %row = stablehlo.reshape %t : (tensor<512xf32>) -> tensor<1x512xf32>
      %u = stablehlo.dynamic_update_slice %out, %row, %i, %z : (tensor<300x512xf32>, tensor<1x512xf32>, tensor<i32>, tensor<i32>) -> tensor<300x512xf32>
      stablehlo.return %j, %t, %u : tensor<i32>, tensor<512xf32>, tensor<300x512xf32>
    }
  return %r#2 : tensor<300x512xf32>
}
//--- nested.mlir
func.func @main(%x: tensor<700xf32>, %n: tensor<i32>) -> tensor<700xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<700xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %q:2 = stablehlo.while(%k = %zero, %t = %s) : tensor<i32>, tensor<700xf32>
        cond {
          %p = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %k1 = stablehlo.add %k, %one : tensor<i32>
          %e = stablehlo.sine %t : tensor<700xf32>
          stablehlo.return %k1, %e : tensor<i32>, tensor<700xf32>
        }
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.add %q#1, %x : tensor<700xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<700xf32>
    }
  return %r#1 : tensor<700xf32>
}
//--- swap.mlir
func.func @main(%a: tensor<600xf32>, %b: tensor<600xf32>) -> (tensor<600xf32>, tensor<600xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<101> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<600xf32>, tensor<600xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %y, %x : tensor<i32>, tensor<600xf32>, tensor<600xf32>
    }
  return %r#1, %r#2 : tensor<600xf32>, tensor<600xf32>
}
//--- case.mlir
func.func @main(%index: tensor<i32>, %x: tensor<600xf32>) -> (tensor<600xf32>, tensor<600xf32>) {
  %0:2 = "stablehlo.case"(%index) ({
    %y = stablehlo.exponential %x : tensor<600xf32>
    stablehlo.return %x, %y : tensor<600xf32>, tensor<600xf32>
  }, {
    %y = stablehlo.negate %x : tensor<600xf32>
    stablehlo.return %y, %y : tensor<600xf32>, tensor<600xf32>
  }) : (tensor<i32>) -> (tensor<600xf32>, tensor<600xf32>)
  return %0#0, %0#1 : tensor<600xf32>, tensor<600xf32>
}
//--- call.mlir
func.func @main(%x: tensor<30x40xf32>) -> tensor<40x30xf32> {
  %0 = call @f(%x) : (tensor<30x40xf32>) -> tensor<40x30xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<40x30xf32>) -> tensor<30x40xf32>
  %2 = call @f(%1) : (tensor<30x40xf32>) -> tensor<40x30xf32>
  return %2 : tensor<40x30xf32>
}
func.func private @f(%x: tensor<30x40xf32>) -> tensor<40x30xf32> {
  %0 = stablehlo.tanh %x : tensor<30x40xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<30x40xf32>) -> tensor<40x30xf32>
  return %1 : tensor<40x30xf32>
}
//--- tuple.mlir
func.func @main(%x: tensor<3xf32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.tuple %x, %y : tuple<tensor<3xf32>, tensor<4xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<3xf32>, tensor<4xi32>>) -> tensor<4xi32>
  %2 = stablehlo.add %1, %1 : tensor<4xi32>
  return %2 : tensor<4xi32>
}
// One of the arguments is updated, and both are read afterwards.
//--- chosen.mlir
func.func @main(%x: tensor<7x4xi32>, %y: tensor<7x4xi32>, %i: tensor<5x1xi32>, %u: tensor<5x4xi32>) -> (tensor<7x4xi32>, tensor<7x4xi32>, tensor<7x4xi32>) {
  %n = stablehlo.constant dense<[[0], [1], [2], [3], [4]]> : tensor<5x1xi32>
  %first = stablehlo.slice %i [0:1, 0:1] : (tensor<5x1xi32>) -> tensor<1x1xi32>
  %which = stablehlo.reshape %first : (tensor<1x1xi32>) -> tensor<i32>
  %c = "stablehlo.case"(%which) ({
    stablehlo.return %x : tensor<7x4xi32>
  }, {
    stablehlo.return %y : tensor<7x4xi32>
  }, {
    stablehlo.return %x : tensor<7x4xi32>
  }) : (tensor<i32>) -> tensor<7x4xi32>
  %s = "stablehlo.scatter"(%c, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.subtract %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<7x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<7x4xi32>
  %v = stablehlo.not %x : tensor<7x4xi32>
  %w = stablehlo.not %y : tensor<7x4xi32>
  return %s, %v, %w : tensor<7x4xi32>, tensor<7x4xi32>, tensor<7x4xi32>
}
