// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterpreterOps.td - What only the evaluator can do -----------------===//
#ifndef MILLRACE_DIALECTS_INTERPRETER_INTERPRETEROPS_TD
#define MILLRACE_DIALECTS_INTERPRETER_INTERPRETEROPS_TD

include "dialects/stablehlo/Base.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Interpreter_Dialect : Dialect {
  let name = "interpreter";
  let cppNamespace = "::millrace::interpreter";
  let summary = "Grids of simulated devices, printing and probing";
  let description = [{ Operations outside of the StableHLO specification that only the evaluator executes. }];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
}

class Interpreter_Op<string mnemonic, list<Trait> traits = []> : Op<Interpreter_Dialect, mnemonic, traits>;
def Interpreter_Programs : TypedArrayAttrBase<FlatSymbolRefArrayAttr, "Array of FlatSymbolRefArrayAttr">;

def Interpreter_RunParallelOp : Interpreter_Op<"run_parallel", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs one program per device of a grid";
  let description = [{
    `programs` is `[replicas][partitions]`; every program is a function of the module. `inputs` are the arguments of device (0, 0), then (0, 1), and
    so on; `results` likewise. `infeed` names functions without arguments, whose results the programs' infeed operations read in order.

    Example: `%r:2 = "interpreter.run_parallel"() {programs = [[@foo], [@bar]]} : () -> (tensor<ui32>, tensor<ui32>)`
  }];
  let arguments = (ins Variadic<HLO_TensorOrToken>:$inputs, OptionalAttr<FlatSymbolRefArrayAttr>:$infeed,
                       Interpreter_Programs:$programs);
  let results = (outs Variadic<HLO_TensorOrToken>:$results);
}

def Interpreter_PrintOp : Interpreter_Op<"print", [SameOperandsAndResultType]> {
  let summary = "Prints the value and returns it";
  let description = [{ Example: `%1 = interpreter.print %0 : tensor<i1>` }];
  let arguments = (ins HLO_Tensor:$operand);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Interpreter_ProbeOp : Interpreter_Op<"probe", [SameOperandsAndResultType]> {
  let summary = "Writes the value to a NumPy file and returns it";
  let description = [{
    Writes `<directory>/<probe_id>_<n>.npy`, where `n` counts the executions of this id from 1, and a row `probe_id,type,file` of
    `<directory>/index.csv`. The directory is the tool's `--probe-output-dir`.

    Example: `%1 = interpreter.probe %0, probe_id = "probe0" : tensor<3xi32>`
  }];
  let arguments = (ins HLO_Tensor:$operand, StrAttr:$probe_id);
  let results = (outs HLO_Tensor:$result);
  let assemblyFormat = "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)";
}

#endif
