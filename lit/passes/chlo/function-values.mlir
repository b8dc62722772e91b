// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the decompositions against SciPy's, in f64.
// RUN: xla-opt %s -chlo-legalize-to-stablehlo -split-input-file | xla-translate --interpret -split-input-file

func.func @main() {
  %0 = stablehlo.constant dense<[-3.0, -0.5, 0.0, 0.25, 1.0, 2.5, 9.0]> : tensor<7xf64>
  %r = chlo.erf %0 : tensor<7xf64> -> tensor<7xf64>
  %e = stablehlo.constant dense<[-0.9999779095030014, -0.5204998778130465, 0.0, 0.2763263901682369, 0.8427007929497148, 0.999593047982555, 1.0]> : tensor<7xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<7xf64>
  %one = stablehlo.constant dense<1.0> : tensor<7xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<7xi1>, tensor<7xf64>
  %d = stablehlo.subtract %r, %e : tensor<7xf64>
  %q = stablehlo.divide %d, %scale : tensor<7xf64>
  %a = stablehlo.abs %q : tensor<7xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<7xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %ok, dense<true> : tensor<7xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-3.0, -0.5, 0.0, 0.25, 1.0, 2.5, 9.0, 26.0]> : tensor<8xf64>
  %r = chlo.erfc %0 : tensor<8xf64> -> tensor<8xf64>
  %e = stablehlo.constant dense<[1.9999779095030015, 1.5204998778130465, 1.0, 0.7236736098317631, 0.15729920705028516, 0.00040695201744495886, 4.137031746513811e-37, 5.663192408856145e-296]> : tensor<8xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<8xf64>
  %one = stablehlo.constant dense<1.0> : tensor<8xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<8xi1>, tensor<8xf64>
  %d = stablehlo.subtract %r, %e : tensor<8xf64>
  %q = stablehlo.divide %d, %scale : tensor<8xf64>
  %a = stablehlo.abs %q : tensor<8xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<8xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>
  check.expect_eq_const %ok, dense<true> : tensor<8xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-0.999, -0.5, 0.0, 1.0e-08, 0.25, 0.75, 0.9999999]> : tensor<7xf64>
  %r = chlo.erf_inv %0 : tensor<7xf64> -> tensor<7xf64>
  %e = stablehlo.constant dense<[-2.326753765513524, -0.4769362762044699, 0.0, 8.86226925452758e-09, 0.2253120550121781, 0.8134198475976184, 3.766562581638471]> : tensor<7xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<7xf64>
  %one = stablehlo.constant dense<1.0> : tensor<7xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<7xi1>, tensor<7xf64>
  %d = stablehlo.subtract %r, %e : tensor<7xf64>
  %q = stablehlo.divide %d, %scale : tensor<7xf64>
  %a = stablehlo.abs %q : tensor<7xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<7xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %ok, dense<true> : tensor<7xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-2.5, -0.25, 0.5, 1.5, 3.0, 10.0, 170.5]> : tensor<7xf64>
  %r = chlo.lgamma %0 : tensor<7xf64> -> tensor<7xf64>
  %e = stablehlo.constant dense<[-0.05624371649767401, 1.5895753125511858, 0.5723649429247, -0.12078223763524526, 0.6931471805599453, 12.801827480081469, 704.0044277342047]> : tensor<7xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<7xf64>
  %one = stablehlo.constant dense<1.0> : tensor<7xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<7xi1>, tensor<7xf64>
  %d = stablehlo.subtract %r, %e : tensor<7xf64>
  %q = stablehlo.divide %d, %scale : tensor<7xf64>
  %a = stablehlo.abs %q : tensor<7xf64>
  %tolerance = stablehlo.constant dense<2.0e-12> : tensor<7xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %ok, dense<true> : tensor<7xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-2.5, -0.25, 0.5, 1.0, 3.0, 10.0, 170.5]> : tensor<7xf64>
  %r = chlo.digamma %0 : tensor<7xf64> -> tensor<7xf64>
  %e = stablehlo.constant dense<[1.1031566406452433, 2.9141391202135245, -1.9635100260214235, -0.5772156649015329, 0.9227843350984671, 2.251752589066721, 5.135799878794703]> : tensor<7xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<7xf64>
  %one = stablehlo.constant dense<1.0> : tensor<7xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<7xi1>, tensor<7xf64>
  %d = stablehlo.subtract %r, %e : tensor<7xf64>
  %q = stablehlo.divide %d, %scale : tensor<7xf64>
  %a = stablehlo.abs %q : tensor<7xf64>
  %tolerance = stablehlo.constant dense<2.0e-12> : tensor<7xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %ok, dense<true> : tensor<7xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-20.0, -3.0, 0.0, 0.5, 7.9, 8.1, 100.0]> : tensor<7xf64>
  %r = chlo.bessel_i1e %0 : tensor<7xf64> -> tensor<7xf64>
  %e = stablehlo.constant dense<[-0.08750622218328867, -0.19682671329730084, 0.0, 0.15642080318487173, 0.13489649943989365, 0.13340068832583662, 0.03974415302513025]> : tensor<7xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<7xf64>
  %one = stablehlo.constant dense<1.0> : tensor<7xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<7xi1>, tensor<7xf64>
  %d = stablehlo.subtract %r, %e : tensor<7xf64>
  %q = stablehlo.divide %d, %scale : tensor<7xf64>
  %a = stablehlo.abs %q : tensor<7xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<7xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<7xf64>, tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %ok, dense<true> : tensor<7xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-1.0e+300, -2.0, -1.0e-09, 0.0, 0.5, 3.0]> : tensor<6xf64>
  %r = chlo.asinh %0 : tensor<6xf64> -> tensor<6xf64>
  %e = stablehlo.constant dense<[-691.4686750787737, -1.4436354751788103, -1.0e-09, 0.0, 0.48121182505960347, 1.8184464592320668]> : tensor<6xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<6xf64>
  %one = stablehlo.constant dense<1.0> : tensor<6xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<6xi1>, tensor<6xf64>
  %d = stablehlo.subtract %r, %e : tensor<6xf64>
  %q = stablehlo.divide %d, %scale : tensor<6xf64>
  %a = stablehlo.abs %q : tensor<6xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<6xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
  check.expect_eq_const %ok, dense<true> : tensor<6xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 1.0000001, 1.5, 10.0, 1.0e+300]> : tensor<5xf64>
  %r = chlo.acosh %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[0.0, 0.0004472135919037347, 0.9624236501192069, 2.993222846126381, 691.4686750787737]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-0.999, -0.1, 1.0e-12, 0.5, 0.9]> : tensor<5xf64>
  %r = chlo.atanh %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[-3.8002011672501994, -0.10033534773107558, 1.0e-12, 0.5493061443340549, 1.4722194895832204]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-1.0, -0.5, 1.0e-12, 0.5, 1.0]> : tensor<5xf64>
  %r = chlo.asin %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[-1.5707963267948966, -0.5235987755982989, 1.0e-12, 0.5235987755982989, 1.5707963267948966]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-1.0, -0.5, 1.0e-12, 0.5, 1.0]> : tensor<5xf64>
  %r = chlo.acos %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[3.141592653589793, 2.0943951023931957, 1.5707963267938967, 1.0471975511965976, 0.0]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-10000000000.0, -0.5, 1.0e-12, 0.5, 1.0]> : tensor<5xf64>
  %r = chlo.atan %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[-1.5707963266948965, -0.4636476090008061, 1.0e-12, 0.4636476090008061, 0.7853981633974483]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-3.0, -1.0e-09, 0.5, 1.0, 5.0]> : tensor<5xf64>
  %r = chlo.sinh %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[-10.017874927409903, -1.0e-09, 0.5210953054937474, 1.1752011936438014, 74.20321057778875]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-3.0, -1.0e-09, 0.5, 1.0, 5.0]> : tensor<5xf64>
  %r = chlo.cosh %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[10.067661995777765, 1.0, 1.1276259652063807, 1.5430806348152437, 74.20994852478785]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[-3.0, -1.0e-09, 0.5, 1.0, 5.0]> : tensor<5xf64>
  %r = chlo.tan %0 : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[0.1425465430742778, -1.0e-09, 0.5463024898437905, 1.5574077246549023, -3.380515006246586]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-15> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[1.5, 2.0, 3.0, 10.0, 4.0]> : tensor<5xf64>
  %1 = stablehlo.constant dense<[1.0, 0.5, 2.0, 1.0, 30.0]> : tensor<5xf64>
  %r = chlo.zeta %0, %1 : tensor<5xf64>, tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[2.612375348685488, 4.93480220054468, 0.2020569031595943, 1.0009945751278182, 1.2976672774560213e-05]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-12> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}

// -----

func.func @main() {
  %0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 1.0]> : tensor<5xf64>
  %1 = stablehlo.constant dense<[1.5, 0.5, 2.0, 1.0, 30.0]> : tensor<5xf64>
  %r = chlo.polygamma %0, %1 : tensor<5xf64>, tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[0.03648997397857652, 4.93480220054468, -0.4041138063191886, 6.493939402266829, 0.033895060357739946]> : tensor<5xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<5xf64>
  %one = stablehlo.constant dense<1.0> : tensor<5xf64>
  %iszero = stablehlo.compare EQ, %e, %zero : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %scale = stablehlo.select %iszero, %one, %e : tensor<5xi1>, tensor<5xf64>
  %d = stablehlo.subtract %r, %e : tensor<5xf64>
  %q = stablehlo.divide %d, %scale : tensor<5xf64>
  %a = stablehlo.abs %q : tensor<5xf64>
  %tolerance = stablehlo.constant dense<2.0e-12> : tensor<5xf64>
  %ok = stablehlo.compare LE, %a, %tolerance : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  check.expect_eq_const %ok, dense<true> : tensor<5xi1>
  return
}
