// RUN: xla-opt %s -interpreter-instrument-with-probe | FileCheck %s
// RUN: xla-opt %s --interpreter-instrument-with-probe="useDebugInfo=true" | FileCheck %s --check-prefix=NAMED

// Every tensor that an operation gives is probed, and used through its probe; constants are left alone.
// CHECK-LABEL: @main
// CHECK: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[C]], %[[C]]
// CHECK-NEXT: %[[P:.*]] = interpreter.probe %[[S]], probe_id = "probe1"
// CHECK-NEXT: stablehlo.after_all
// CHECK-NEXT: return %[[P]]
// NAMED: interpreter.probe {{.*}}, probe_id = "sum.1"
func.func @main() -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %s = stablehlo.add %c, %c : tensor<i32> loc("sum@file.py")
  %t = stablehlo.after_all : !stablehlo.token
  func.return %s : tensor<i32>
}
