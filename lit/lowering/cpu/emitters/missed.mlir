// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file --remarks-filter-missed=emitters --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: xla-opt %s -xla-emit-kernels=target=avx512 -split-input-file | FileCheck %s --check-prefix=IR

// Every emitter says why it leaves a kernel alone; the kernel stays.
// CHECK: Function=dynamic | Remark="contraction: argument or result without static shape
// CHECK: Function=dynamic | Remark="movement: argument or result without static shape
// CHECK: Function=dynamic | Remark="row: argument or result without static shape
// IR-LABEL: func.func private @dynamic
// IR:         linalg.map
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> attributes {millrace.kernel} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.map { arith.negf } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %s : tensor<?xf32>
}

// -----

// A sum over rows and one over columns have no common parallel index.
// CHECK: Function=rows_and_columns | Remark="row: a reduction's result varies along an index that is not parallel
// IR-LABEL: func.func private @rows_and_columns
// IR-COUNT-2:  linalg.reduce
func.func private @rows_and_columns(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce ins(%x : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  %c = linalg.reduce ins(%x : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    (%in: f32, %acc: f32) { %a = arith.addf %acc, %in : f32 linalg.yield %a : f32 }
  return %r, %c : tensor<8xf32>, tensor<8xf32>
}
