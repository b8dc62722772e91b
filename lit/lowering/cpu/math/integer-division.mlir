// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and remainders of vectors of integers: all pairs of bytes, and many of wider ones with divisors near the ends of their range;
// division by zero and of the least number by -1 among them.
// RUN: xla-run %s --verify --quiet --cache-dir=off
// RUN: xla-compile %s --emit=llvm --cache-dir=off -o - | FileCheck %s
// CHECK-NOT: {{[su](div|rem)}} i
// CHECK: fdiv <
func.func @main(%arg0: tensor<256x256xi8>, %arg1: tensor<256x256xui8>, %arg2: tensor<256x256xi16>, %arg3: tensor<256x256xui16>, %arg4: tensor<256x256xi32>, %arg5: tensor<256x256xui32>) -> (tensor<256x256xi8>, tensor<256x256xi8>, tensor<256x256xui8>, tensor<256x256xui8>, tensor<256x256xi16>, tensor<256x256xi16>, tensor<256x256xui16>, tensor<256x256xui16>, tensor<256x256xi32>, tensor<256x256xi32>, tensor<256x256xui32>, tensor<256x256xui32>) {
  %ri8 = stablehlo.iota dim = 0 : tensor<256x256xi8>
  %ci8 = stablehlo.iota dim = 1 : tensor<256x256xi8>
  %ai8 = stablehlo.add %ri8, %arg0 : tensor<256x256xi8>
  %qi8 = stablehlo.divide %ai8, %ci8 : tensor<256x256xi8>
  %remi8 = stablehlo.remainder %ai8, %ci8 : tensor<256x256xi8>
  %rui8 = stablehlo.iota dim = 0 : tensor<256x256xui8>
  %cui8 = stablehlo.iota dim = 1 : tensor<256x256xui8>
  %aui8 = stablehlo.add %rui8, %arg1 : tensor<256x256xui8>
  %qui8 = stablehlo.divide %aui8, %cui8 : tensor<256x256xui8>
  %remui8 = stablehlo.remainder %aui8, %cui8 : tensor<256x256xui8>
  %ri16 = stablehlo.iota dim = 0 : tensor<256x256xi16>
  %ci16 = stablehlo.iota dim = 1 : tensor<256x256xi16>
  %mi16 = stablehlo.constant dense<-25033> : tensor<256x256xi16>
  %ki16 = stablehlo.constant dense<257> : tensor<256x256xi16>
  %si16 = stablehlo.constant dense<8> : tensor<256x256xi16>
  %x0i16 = stablehlo.multiply %ri16, %mi16 : tensor<256x256xi16>
  %xi16 = stablehlo.add %x0i16, %ci16 : tensor<256x256xi16>
  %y0i16 = stablehlo.shift_left %ci16, %si16 : tensor<256x256xi16>
  %y1i16 = stablehlo.multiply %ci16, %ki16 : tensor<256x256xi16>
  %oddi16 = stablehlo.constant dense<1> : tensor<256x256xi16>
  %biti16 = stablehlo.and %ri16, %oddi16 : tensor<256x256xi16>
  %isoddi16 = stablehlo.compare EQ, %biti16, %oddi16, SIGNED : (tensor<256x256xi16>, tensor<256x256xi16>) -> tensor<256x256xi1>
  %y2i16 = stablehlo.select %isoddi16, %y1i16, %ci16 : tensor<256x256xi1>, tensor<256x256xi16>
  %threei16 = stablehlo.constant dense<3> : tensor<256x256xi16>
  %twoi16 = stablehlo.and %ri16, %threei16 : tensor<256x256xi16>
  %isthreei16 = stablehlo.compare EQ, %twoi16, %threei16, SIGNED : (tensor<256x256xi16>, tensor<256x256xi16>) -> tensor<256x256xi1>
  %yi16 = stablehlo.select %isthreei16, %y0i16, %y2i16 : tensor<256x256xi1>, tensor<256x256xi16>
  %ai16 = stablehlo.add %xi16, %arg2 : tensor<256x256xi16>
  %qi16 = stablehlo.divide %ai16, %yi16 : tensor<256x256xi16>
  %remi16 = stablehlo.remainder %ai16, %yi16 : tensor<256x256xi16>
  %rui16 = stablehlo.iota dim = 0 : tensor<256x256xui16>
  %cui16 = stablehlo.iota dim = 1 : tensor<256x256xui16>
  %mui16 = stablehlo.constant dense<40503> : tensor<256x256xui16>
  %kui16 = stablehlo.constant dense<257> : tensor<256x256xui16>
  %sui16 = stablehlo.constant dense<8> : tensor<256x256xui16>
  %x0ui16 = stablehlo.multiply %rui16, %mui16 : tensor<256x256xui16>
  %xui16 = stablehlo.add %x0ui16, %cui16 : tensor<256x256xui16>
  %y0ui16 = stablehlo.shift_left %cui16, %sui16 : tensor<256x256xui16>
  %y1ui16 = stablehlo.multiply %cui16, %kui16 : tensor<256x256xui16>
  %oddui16 = stablehlo.constant dense<1> : tensor<256x256xui16>
  %bitui16 = stablehlo.and %rui16, %oddui16 : tensor<256x256xui16>
  %isoddui16 = stablehlo.compare EQ, %bitui16, %oddui16, UNSIGNED : (tensor<256x256xui16>, tensor<256x256xui16>) -> tensor<256x256xi1>
  %y2ui16 = stablehlo.select %isoddui16, %y1ui16, %cui16 : tensor<256x256xi1>, tensor<256x256xui16>
  %threeui16 = stablehlo.constant dense<3> : tensor<256x256xui16>
  %twoui16 = stablehlo.and %rui16, %threeui16 : tensor<256x256xui16>
  %isthreeui16 = stablehlo.compare EQ, %twoui16, %threeui16, UNSIGNED : (tensor<256x256xui16>, tensor<256x256xui16>) -> tensor<256x256xi1>
  %yui16 = stablehlo.select %isthreeui16, %y0ui16, %y2ui16 : tensor<256x256xi1>, tensor<256x256xui16>
  %aui16 = stablehlo.add %xui16, %arg3 : tensor<256x256xui16>
  %qui16 = stablehlo.divide %aui16, %yui16 : tensor<256x256xui16>
  %remui16 = stablehlo.remainder %aui16, %yui16 : tensor<256x256xui16>
  %ri32 = stablehlo.iota dim = 0 : tensor<256x256xi32>
  %ci32 = stablehlo.iota dim = 1 : tensor<256x256xi32>
  %mi32 = stablehlo.constant dense<-1640531527> : tensor<256x256xi32>
  %ki32 = stablehlo.constant dense<16843009> : tensor<256x256xi32>
  %si32 = stablehlo.constant dense<24> : tensor<256x256xi32>
  %x0i32 = stablehlo.multiply %ri32, %mi32 : tensor<256x256xi32>
  %xi32 = stablehlo.add %x0i32, %ci32 : tensor<256x256xi32>
  %y0i32 = stablehlo.shift_left %ci32, %si32 : tensor<256x256xi32>
  %y1i32 = stablehlo.multiply %ci32, %ki32 : tensor<256x256xi32>
  %oddi32 = stablehlo.constant dense<1> : tensor<256x256xi32>
  %biti32 = stablehlo.and %ri32, %oddi32 : tensor<256x256xi32>
  %isoddi32 = stablehlo.compare EQ, %biti32, %oddi32, SIGNED : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
  %y2i32 = stablehlo.select %isoddi32, %y1i32, %ci32 : tensor<256x256xi1>, tensor<256x256xi32>
  %threei32 = stablehlo.constant dense<3> : tensor<256x256xi32>
  %twoi32 = stablehlo.and %ri32, %threei32 : tensor<256x256xi32>
  %isthreei32 = stablehlo.compare EQ, %twoi32, %threei32, SIGNED : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
  %yi32 = stablehlo.select %isthreei32, %y0i32, %y2i32 : tensor<256x256xi1>, tensor<256x256xi32>
  %ai32 = stablehlo.add %xi32, %arg4 : tensor<256x256xi32>
  %qi32 = stablehlo.divide %ai32, %yi32 : tensor<256x256xi32>
  %remi32 = stablehlo.remainder %ai32, %yi32 : tensor<256x256xi32>
  %rui32 = stablehlo.iota dim = 0 : tensor<256x256xui32>
  %cui32 = stablehlo.iota dim = 1 : tensor<256x256xui32>
  %mui32 = stablehlo.constant dense<2654435769> : tensor<256x256xui32>
  %kui32 = stablehlo.constant dense<16843009> : tensor<256x256xui32>
  %sui32 = stablehlo.constant dense<24> : tensor<256x256xui32>
  %x0ui32 = stablehlo.multiply %rui32, %mui32 : tensor<256x256xui32>
  %xui32 = stablehlo.add %x0ui32, %cui32 : tensor<256x256xui32>
  %y0ui32 = stablehlo.shift_left %cui32, %sui32 : tensor<256x256xui32>
  %y1ui32 = stablehlo.multiply %cui32, %kui32 : tensor<256x256xui32>
  %oddui32 = stablehlo.constant dense<1> : tensor<256x256xui32>
  %bitui32 = stablehlo.and %rui32, %oddui32 : tensor<256x256xui32>
  %isoddui32 = stablehlo.compare EQ, %bitui32, %oddui32, UNSIGNED : (tensor<256x256xui32>, tensor<256x256xui32>) -> tensor<256x256xi1>
  %y2ui32 = stablehlo.select %isoddui32, %y1ui32, %cui32 : tensor<256x256xi1>, tensor<256x256xui32>
  %threeui32 = stablehlo.constant dense<3> : tensor<256x256xui32>
  %twoui32 = stablehlo.and %rui32, %threeui32 : tensor<256x256xui32>
  %isthreeui32 = stablehlo.compare EQ, %twoui32, %threeui32, UNSIGNED : (tensor<256x256xui32>, tensor<256x256xui32>) -> tensor<256x256xi1>
  %yui32 = stablehlo.select %isthreeui32, %y0ui32, %y2ui32 : tensor<256x256xi1>, tensor<256x256xui32>
  %aui32 = stablehlo.add %xui32, %arg5 : tensor<256x256xui32>
  %qui32 = stablehlo.divide %aui32, %yui32 : tensor<256x256xui32>
  %remui32 = stablehlo.remainder %aui32, %yui32 : tensor<256x256xui32>
  return %qi8, %remi8, %qui8, %remui8, %qi16, %remi16, %qui16, %remui16, %qi32, %remi32, %qui32, %remui32 : tensor<256x256xi8>, tensor<256x256xi8>, tensor<256x256xui8>, tensor<256x256xui8>, tensor<256x256xi16>, tensor<256x256xi16>, tensor<256x256xui16>, tensor<256x256xui16>, tensor<256x256xi32>, tensor<256x256xi32>, tensor<256x256xui32>, tensor<256x256xui32>
}
