// RUN: rm -rf %t.dir
// RUN: xla-translate --interpret --probe-output-dir=%t.dir -split-input-file %s
// RUN: FileCheck %s --input-file=%t.dir/index.csv
// RUN: not xla-translate --interpret -split-input-file %s 2>&1 | FileCheck %s --check-prefix=NODIR
// NODIR: interpreter.probe: needs a directory to write to (--probe-output-dir)

// A probe in a loop writes one file per iteration; a slash may not stand in a file name.
// CHECK: sum/a,tensor<i64>,{{.*}}sum_a_1.npy
// CHECK: sum/a,tensor<i64>,{{.*}}sum_a_2.npy
func.func @iterations() {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %r = stablehlo.while(%i = %zero) : tensor<i64>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i64>
    %p = interpreter.probe %n, probe_id = "sum/a" : tensor<i64>
    stablehlo.return %p : tensor<i64>
  }
  check.expect_serialized_eq %one, probe_id = "sum/a" : tensor<i64>
  check.expect_serialized_eq %two, probe_id = "sum/a", iter = 1 : tensor<i64>
  func.return
}

// -----

// CHECK: narrow,tensor<2xbf16>,{{.*}}narrow_1.npy
func.func @narrow() {
  %x = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xbf16>
  %p = interpreter.probe %x, probe_id = "narrow" : tensor<2xbf16>
  check.expect_serialized_eq %p, probe_id = "narrow" : tensor<2xbf16>
  func.return
}
