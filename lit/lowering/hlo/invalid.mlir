// What HLO cannot express is an error that names the operation.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file -verify-diagnostics
func.func @quantized(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>> {
  // expected-error@+2 {{'stablehlo.uniform_quantize' op has a type that HLO cannot express: 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  // expected-note@+1 {{stablehlo-legalize-quant-to-math replaces quantized types}}
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
}

// -----
// expected-error@+1 {{has an argument of a type that HLO cannot express: 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}

// -----
func.func @run_time_shape(%n: tensor<1xi32>) -> tensor<?xi32> {
  // expected-error@+1 {{'stablehlo.dynamic_iota' op has no form in HLO}}
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----
func.func @no_bound(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op has a result without a bound for dimension 0, which HLO cannot express}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----
func.func @rng_shape(%a: tensor<f32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.rng' op has its shape at run time, which HLO cannot express}}
  %0 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----
// expected-note@+1 {{this value}}
func.func @captured(%x: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'stablehlo.reduce' op uses a value from outside of its region, which HLO has no means to pass}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----
func.func @dynamic_root(%x: tensor<4xf32>, %r: tensor<i32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op has its root at run time, which HLO cannot express}}
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
func.func @reduce_to_root(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.collective_reduce' op has no form in HLO}}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'func.call' op calls @again recursively, which HLO cannot express}}
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
func.func @other_dialect(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'interpreter.print' op has no form in HLO}}
  %0 = interpreter.print %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// expected-error@+1 {{expects a function @main, or just one function, with a body}}
module {
}
