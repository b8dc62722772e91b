// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryPoint.cpp - Generate entry points with the kernel ABI ---------===//
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

  Value nextDim() {
    auto ptr = LLVM::LLVMPointerType::get(b.getContext());
    Value address = LLVM::GEPOp::create(b, loc, ptr, b.getI64Type(), dims, ArrayRef<LLVM::GEPArg>{nextDimIndex++});
    return LLVM::LoadOp::create(b, loc, b.getI64Type(), address);
  }

private:
  OpBuilder &b;
  Location loc;
  Value dims;
  int32_t nextDimIndex = 0;
};

LLVM::LLVMFunctionType entryType(MLIRContext *context) {
  auto ptr = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64), i32 = IntegerType::get(context, 32);
  return LLVM::LLVMFunctionType::get(i32, {ptr, ptr, i64, i64});
}

} // namespace

void addEntryPoint(const BufferKernel &kernel, StringRef symbol) {
  func::FuncOp body = kernel.body;
  OpBuilder builder(body);
  Location loc = body.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext());

  auto entry = LLVM::LLVMFuncOp::create(builder, loc, symbol, entryType(builder.getContext()));
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
    // Inputs and outputs of one call do not overlap; an operand that is updated in place is a single argument.
    body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
  auto scratchType = cast<MemRefType>(body.getArgument(numBuffers).getType());
  Value scratch = kernel.scratchBytes ? buffer(numBuffers) : Value(LLVM::ZeroOp::create(builder, loc, ptr));
  arguments.push_back(descriptors.cast(scratchType, scratch, {descriptors.constant(kernel.scratchBytes)}));
  for (unsigned i : {2, 3})
    arguments.push_back(UnrealizedConversionCastOp::create(builder, loc, builder.getIndexType(), block->getArgument(i)).getResult(0));
  for (unsigned i = 0; i < kernel.numNumbers + kernel.takesRows; ++i) // shapes are static, so there are no run-time dimensions
    arguments.push_back(UnrealizedConversionCastOp::create(builder, loc, builder.getIndexType(), descriptors.nextDim()).getResult(0));
  func::CallOp::create(builder, loc, body, arguments);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(builder, loc, zero);
}

void addSharedEntryPoints(const BufferKernel &kernel, ArrayRef<SharedEntry> entries) {
  std::string shared = entries.front().symbol + "_shared";
  addEntryPoint(kernel, shared);
  func::FuncOp body = kernel.body;
  auto module = cast<ModuleOp>(body->getParentOp());
  auto all = module.lookupSymbol<LLVM::LLVMFuncOp>(shared);
  OpBuilder builder(body);
  Location loc = body.getLoc();
  all.setPassthroughAttr(builder.getArrayAttr({builder.getStringAttr(kSharedAttr)}));
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext());
  for (const SharedEntry &entry : entries) {
    builder.setInsertionPointToEnd(module.getBody());
    std::vector<int64_t> list = entry.numbers;
    if (list.empty())
      list.push_back(0); // it is not read
    auto size = static_cast<int64_t>(list.size());
    auto values = DenseElementsAttr::get(RankedTensorType::get({size}, builder.getI64Type()), ArrayRef<int64_t>(list));
    auto numbers = LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), size), /*isConstant=*/true,
                                          LLVM::Linkage::Internal, entry.symbol + "_numbers", values);
    auto function = LLVM::LLVMFuncOp::create(builder, loc, entry.symbol, entryType(builder.getContext()), LLVM::Linkage::WeakODR);
    Block *block = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    Value address = LLVM::AddressOfOp::create(builder, loc, ptr, numbers.getSymName());
    auto call = LLVM::CallOp::create(builder, loc, all, ValueRange{block->getArgument(0), address, block->getArgument(2), block->getArgument(3)});
    call.setTailCallKind(LLVM::TailCallKind::Tail);
    LLVM::ReturnOp::create(builder, loc, call.getResult());
  }
}

} // namespace millrace::lowering
