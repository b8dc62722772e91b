// What cannot be had is said before anything is compiled or run.
// RUN: not xla-run %s --out=result.txt 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: error: --out expects a name that ends in .npy or .npz, but got 'result.txt'

// RUN: not xla-run %s --quick --tiered 2>&1 | FileCheck %s --check-prefix=TIERS
// TIERS: error: expects --quick or --tiered, but got both

// A compiled program leaves nothing to choose for the compiler.
// RUN: xla-compile %s --cache-dir=off -o %t.mr
// RUN: xla-run %t.mr | FileCheck %s --check-prefix=RUNS
// RUNS: tensor<2xf32>
// RUN: not xla-run %t.mr --entry=other 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: --entry is for the compiler, and this program is compiled: give the StableHLO file
// RUN: not xla-run %t.mr --no-fusion 2>&1 | FileCheck %s --check-prefix=FUSION
// FUSION: error: --no-fusion is for the compiler
// RUN: not xla-run %t.mr --verify 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: error: a compiled program cannot be evaluated: give the StableHLO file
// RUN: not xla-compile %t.mr 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: .mr: error: this is a compiled program: xla-run runs it; here StableHLO is expected

// RUN: %python -c "open(r'%t.npz', 'wb').write(b'PK' + bytes(40))"
// RUN: not xla-run %t.npz 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: .npz: error: this is no StableHLO: neither text nor MLIR's bytecode

// Both backends take the same random arguments.
// RUN: xla-run %s --cache-dir=off --seed=5 > %t.compiled
// RUN: xla-run %s --backend=interpreter --seed=5 > %t.evaluated
// RUN: cmp %t.compiled %t.evaluated
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
