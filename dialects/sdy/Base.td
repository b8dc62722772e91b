// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Base.td - The sdy dialect ------------------------------------------===//
#ifndef MILLRACE_DIALECTS_SDY_BASE_TD
#define MILLRACE_DIALECTS_SDY_BASE_TD

include "mlir/IR/OpBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::millrace::sdy";
  let summary = "How values are sharded over a mesh of devices";
  let description = [{
    Text and bytecode are those of Shardy, because JAX writes both. Attributes on operations of other dialects:
    `sdy.sharding` is a `#sdy.sharding` on function arguments and results and a `#sdy.sharding_per_value` on operations;
    `sdy.sharding_rule` is a `#sdy.op_sharding_rule` on an operation. Source: Shardy's dialect documentation.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    // Each op family registers its own ops, from its own source file.
    void registerShardingOps();
    void registerCollectiveOps();
    void registerAttributes();
  }];
}

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

#endif
