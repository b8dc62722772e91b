// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_LAYOUT_PASSES_TD
#define MILLRACE_PASSES_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayoutsPass : Pass<"xla-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Keep images with their channels last where convolutions and pooling want them so";
  let description = [{
    Kernels use vectors along the last dimension of the result: images' are short and have borders, channels are many and have
    none. Convolutions get operands and results in the order that suits them; values between them that elementwise operations,
    pooling, padding and the like tie together get one order, the one that needs fewest bytes transposed.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SplitDilatedConvolutionsPass : Pass<"xla-split-dilated-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Write convolutions of dilated inputs as one dense convolution per phase of the result";
  let description = [{
    A dilated input is mostly zeros: each element of the result meets only every n-th element of the kernel. Reversed kernels
    become reversed windows, which cost nothing.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def PadConvolutionsPass : Pass<"xla-pad-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Copy images with their borders for convolutions that would test every element they read";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SpreadWindowsPass : Pass<"xla-spread-windows", "::mlir::func::FuncOp"> {
  let summary = "Let windows pass over what padding puts between and around elements";
  let description = [{
    Gradients of mean pooling spread an image with zeros and add up windows of the result, which is as large as four images. Windows
    that know of the distance read the elements alone.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def MergeGroupsPass : Pass<"xla-merge-groups", "::mlir::func::FuncOp"> {
  let summary = "Reduce groups of channels in two steps, whole images first, and keep the images' shape";
  let description = [{
    Normalizations of groups split the channels, reduce, and merge them again. Elementwise operations move before the split and
    reductions are divided, so that one kernel reads an image from its arithmetic to its statistics.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
