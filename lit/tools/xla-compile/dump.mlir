// XLA_FLAGS=--xla_dump_to writes what is compiled, from the tools as from JAX and PyTorch.
// RUN: rm -rf %t && env XLA_FLAGS="--xla_dump_to=%t/a --xla_dump_hlo_pass_re=canonicalize --xla_dump_too=1" xla-compile %s --cache-dir=%t/cache -o %t/a.mr 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WARN
// WARN: millrace: XLA_FLAGS: --xla_dump_too=1 has no effect here; the nearest flag that has is --xla_dump_to
// RUN: ls %t/a | FileCheck %s --check-prefix=FILES
// FILES: module_0001.jit_f.0000.after_{{.*}}canonicalize{{.*}}.mlir
// FILES: module_0001.jit_f.after_optimizations.mlir
// FILES-NEXT: module_0001.jit_f.after_optimizations.txt
// FILES-NEXT: module_0001.jit_f.before_optimizations.mlir
// FILES-NEXT: module_0001.jit_f.before_optimizations.txt
// FILES-NEXT: module_0001.jit_f.ir-with-opt.ll
// FILES-NEXT: module_0001.jit_f.s
// RUN: FileCheck %s --check-prefix=BEFORE --input-file=%t/a/module_0001.jit_f.before_optimizations.txt
// BEFORE: HloModule jit_f
// BEFORE: negate
// BEFORE: negate
// RUN: FileCheck %s --check-prefix=AFTER --input-file=%t/a/module_0001.jit_f.after_optimizations.txt
// AFTER: HloModule jit_f
// AFTER-NOT: negate
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t/a/module_0001.jit_f.ir-with-opt.ll
// LLVM: ; kernel
// LLVM: define
// Modules are chosen by their names; graphs need a folder, texts do not.
// RUN: env XLA_FLAGS="--xla_dump_to=%t/b --xla_dump_hlo_module_re=^jit_g$" xla-compile %s --cache-dir=off -o %t/b.mr && not ls %t/b
// RUN: env XLA_FLAGS="--xla_dump_to=%t/c --xla_dump_hlo_as_dot" xla-compile %s --cache-dir=off -o %t/c.mr && ls %t/c | FileCheck %s --check-prefix=DOT
// DOT-NOT: .txt
// DOT: module_0001.jit_f.after_optimizations.dot
// DOT-NEXT: module_0001.jit_f.before_optimizations.dot
// RUN: FileCheck %s --check-prefix=GRAPH --input-file=%t/c/module_0001.jit_f.before_optimizations.dot
// GRAPH: digraph module {
// GRAPH: n0 [label="argument 0\ntensor<2xf32>"];
// GRAPH: n1 [label="stablehlo.negate\ntensor<2xf32>"];
// GRAPH: n0 -> n1;
// RUN: env XLA_FLAGS=--xla_dump_hlo_as_text xla-compile %s --cache-dir=off -o %t/d.mr | FileCheck %s --check-prefix=STDOUT
// STDOUT: *** Begin module_0001.jit_f.before_optimizations.txt ***
// STDOUT: HloModule jit_f
// STDOUT: *** End module_0001.jit_f.before_optimizations.txt ***
// RUN: env XLA_FLAGS=--xla_dump_hlo_as_dot xla-compile %s --cache-dir=off -o %t/e.mr 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: --xla_dump_hlo_as_dot, _html and _proto expect a folder in --xla_dump_to
// Protocol buffers and pages stand beside texts where both are asked for.
// RUN: env XLA_FLAGS="--xla_dump_to=%t/g --xla_dump_hlo_as_proto --xla_dump_hlo_as_html" xla-compile %s --cache-dir=off -o %t/g.mr
// RUN: ls %t/g | FileCheck %s --check-prefix=PROTO
// PROTO-NOT: .txt
// PROTO: module_0001.jit_f.after_optimizations.hlo.pb
// PROTO-NEXT: module_0001.jit_f.after_optimizations.html
// PROTO-NEXT: module_0001.jit_f.before_optimizations.hlo.pb
// PROTO-NEXT: module_0001.jit_f.before_optimizations.html
// RUN: FileCheck %s --check-prefix=PAGE --input-file=%t/g/module_0001.jit_f.before_optimizations.html
// PAGE: <title>module_0001.jit_f.before_optimizations</title>
// PAGE: "name":"main","graph":{"edges":[0,1,8,1,2,8,2,3,8,2,3,8,3,4,8]
// PAGE-SAME: ["argument 0","argument",{{.*}}"f32[2]{0}",""],["negate","stablehlo",
// RUN: env XLA_FLAGS="--xla_dump_to=%t/f --xla_dump_hlo_module_re=(" xla-compile %s --cache-dir=off -o %t/f.mr 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: '(' is no regular expression
module @jit_f {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    %1 = stablehlo.negate %0 : tensor<2xf32>
    %2 = stablehlo.add %1, %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}
