// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_LAYOUT_PASSES_TD
#define MILLRACE_PASSES_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayoutsPass : Pass<"xla-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose channels-last layouts for images where convolutions and pooling run faster with them";
  let description = [{
    Kernels vectorize along the last dimension of the result: rows of images are short and have borders, channels are many and have none. Convolutions
    get operands and results in the layout that they run fastest with; all values that elementwise operations, pooling, padding and the like connect
    get one layout, the one that needs the fewest transposed bytes.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SplitDilatedConvolutionsPass : Pass<"xla-split-dilated-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Rewrite convolutions of dilated inputs to one dense convolution per phase of the result";
  let description = [{
    A dilated input is mostly zeros: each element of the result depends on every n-th element of the kernel only. Reversed kernels become reversed
    windows, which cost nothing.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def WinogradConvolutionsPass : Pass<"xla-winograd-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Compute convolutions of 3x3 from fewer products of sums (--relaxed)";
  let description = [{
    Winograd's minimal filtering F(2x2, 3x3): 16 products per channel and tile of 2x2 results instead of 36. The sums around the products round
    differently, so that only relaxed compilation runs the pass.
  }];
  let options = [Option<"minSaved", "min-saved", "double", "8",
                        "multiply-adds that a convolution has to save per element that its sums move; the pipeline asks the target">,
                 Option<"nearBytes", "near-bytes", "int64_t", "1 << 19",
                        "sums of weights of more bytes come from memory in every call; the pipeline asks the target">];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def PadConvolutionsPass : Pass<"xla-pad-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Pad images with their borders for convolutions that would otherwise test every index";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def SpreadWindowsPass : Pass<"xla-spread-windows", "::mlir::func::FuncOp"> {
  let summary = "Dilate windows instead of padding between elements";
  let description = [{
    Gradients of mean pooling dilate an image with zeros and sum windows of the padded value, which has the size of four images. Dilated windows read
    the elements only.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def MergeGroupsPass : Pass<"xla-merge-groups", "::mlir::func::FuncOp"> {
  let summary = "Reduce groups of channels in two steps, whole images first, and keep the images' shape";
  let description = [{
    Normalizations of groups split the channels, reduce, and merge the channels again. Elementwise operations move before the split and reductions are
    divided, so that one kernel computes an image and its statistics.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
