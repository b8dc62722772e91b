// RUN: xla-translate --interpret -split-input-file %s

func.func @while_sum() {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %sum = %s) : tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %k, %one : tensor<i32>
    %add = stablehlo.add %sum, %k : tensor<i32>
    stablehlo.return %next, %add : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<45> : tensor<i32>
  func.return
}

// -----

// An index out of range takes the last branch.
func.func @case_out_of_range() {
  %a = stablehlo.constant dense<-1> : tensor<i32>
  %0 = "stablehlo.case"(%a) ({
    %x = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %x : tensor<i32>
  }, {
    %x = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<2> : tensor<i32>
  %p = stablehlo.constant dense<false> : tensor<i1>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<i32>
  }, {
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %1, dense<-1> : tensor<i32>
  func.return
}

// -----

module {
  func.func private @square(%x: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.multiply %x, %x : tensor<2xi32>
    func.return %0 : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %0 = func.call @square(%x) : (tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %0, dense<[9, 16]> : tensor<2xi32>
    %1 = stablehlo.composite "my.square" %0 {composite_attributes = {}, decomposition = @square} : (tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %1, dense<[81, 256]> : tensor<2xi32>
    func.return
  }
}

// -----

func.func @tuples_and_barrier() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.constant dense<3.0> : tensor<f32>
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<f32>>
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>, tensor<f32>>) -> tensor<f32>
  check.expect_eq %0, %y : tensor<f32>
  %b:2 = stablehlo.optimization_barrier %x, %y : tensor<2xi32>, tensor<f32>
  check.expect_eq %b#0, %x : tensor<2xi32>
  func.return
}
