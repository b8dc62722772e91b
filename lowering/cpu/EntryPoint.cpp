// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryPoint.cpp - The kernel ABI in front of a kernel body ----------===//
#include "lowering/cpu/KernelForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Builds the LLVM descriptor of identity-layout memrefs from a bare pointer and run-time sizes.
class DescriptorBuilder {
public:
  DescriptorBuilder(OpBuilder &builder, Location loc, Value dims) : b(builder), loc(loc), dims(dims) {}

  Value memref(MemRefType type, Value pointer) {
    SmallVector<Value> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? nextDim() : constant(size));
    return cast(type, pointer, sizes);
  }

  Value cast(MemRefType type, Value pointer, ArrayRef<Value> sizes) {
    auto ptr = LLVM::LLVMPointerType::get(b.getContext());
    Type i64 = b.getI64Type();
    SmallVector<Type> fields{ptr, ptr, i64};
    int64_t rank = type.getRank();
    if (rank)
      fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
    auto structType = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
    Value descriptor = LLVM::PoisonOp::create(b, loc, structType);
    auto set = [&](Value value, ArrayRef<int64_t> position) {
      descriptor = LLVM::InsertValueOp::create(b, loc, descriptor, value, position);
    };
    set(pointer, {0});
    set(pointer, {1});
    set(constant(0), {2});
    Value stride = constant(1);
    for (int64_t d = rank - 1; d >= 0; --d) {
      set(sizes[d], {3, d});
      set(stride, {4, d});
      if (d)
        stride = LLVM::MulOp::create(b, loc, stride, sizes[d]);
    }
    return UnrealizedConversionCastOp::create(b, loc, type, descriptor).getResult(0);
  }

  Value constant(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

private:
  Value nextDim() {
    auto ptr = LLVM::LLVMPointerType::get(b.getContext());
    Value address = LLVM::GEPOp::create(b, loc, ptr, b.getI64Type(), dims, ArrayRef<LLVM::GEPArg>{nextDimIndex++});
    return LLVM::LoadOp::create(b, loc, b.getI64Type(), address);
  }

  OpBuilder &b;
  Location loc;
  Value dims;
  int32_t nextDimIndex = 0;
};

} // namespace

void addEntryPoint(const BufferKernel &kernel, StringRef symbol) {
  func::FuncOp body = kernel.body;
  OpBuilder builder(body);
  Location loc = body.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();

  auto entry = LLVM::LLVMFuncOp::create(builder, loc, symbol, LLVM::LLVMFunctionType::get(i32, {ptr, ptr, i64, i64}));
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value buffers = block->getArgument(0);
  auto buffer = [&](int32_t index) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, ptr, ptr, buffers, ArrayRef<LLVM::GEPArg>{index});
    auto load = LLVM::LoadOp::create(builder, loc, ptr, address);
    return load;
  };

  DescriptorBuilder descriptors(builder, loc, block->getArgument(1));
  SmallVector<Value> arguments;
  unsigned numBuffers = kernel.numInputs + kernel.numOutputs;
  for (unsigned i = 0; i < numBuffers; ++i) {
    arguments.push_back(descriptors.memref(cast<MemRefType>(body.getArgument(i).getType()), buffer(i)));
    // Inputs and outputs of one call never overlap, except for operands updated in place, which are only one argument.
    body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
  auto scratchType = cast<MemRefType>(body.getArgument(numBuffers).getType());
  Value scratch = kernel.scratchBytes ? buffer(numBuffers) : Value(LLVM::ZeroOp::create(builder, loc, ptr));
  arguments.push_back(descriptors.cast(scratchType, scratch, {descriptors.constant(kernel.scratchBytes)}));
  for (unsigned i : {2, 3})
    arguments.push_back(UnrealizedConversionCastOp::create(builder, loc, builder.getIndexType(), block->getArgument(i)).getResult(0));
  func::CallOp::create(builder, loc, body, arguments);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(builder, loc, zero);
}

} // namespace millrace::lowering
