// A damaged bytecode file is refused by every tool with the byte that is wrong; a whole one is read.
// RUN: xla-opt %s --emit-bytecode -o %t.bc
// RUN: xla-opt %t.bc | FileCheck %s --check-prefix=WHOLE
// RUN: xla-translate --interpret %t.bc | FileCheck %s --check-prefix=VALUE
// RUN: xla-compile --emit=stablehlo %t.bc | FileCheck %s --check-prefix=WHOLE
// WHOLE: stablehlo.constant
// VALUE: 3.0

// RUN: head -c 100 %t.bc > %t.short.bc
// RUN: not xla-opt %t.short.bc 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not xla-translate --interpret %t.short.bc 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not xla-compile %t.short.bc 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not xla-run %t.short.bc 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: cat %t.short.bc | not xla-opt - 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: {{.*}}invalid bytecode: at byte {{[0-9]+}}: expects {{[0-9]+}} more bytes, but only {{[0-9]+}} are left

// A marker for splitting text does not cut a bytecode file.
// RUN: xla-opt %t.bc --split-input-file | FileCheck %s --check-prefix=WHOLE


func.func @main() -> tensor<f32> attributes {note = "// -----"} {
  %0 = stablehlo.constant dense<3.0> : tensor<f32>
  return %0 : tensor<f32>
}
