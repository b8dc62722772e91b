// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In loops that are steps, a branch that updates an array does so where it lies, and one that returns it does nothing.
// RUN: xla-compile %s --entry=chosen --emit=program | FileCheck %s --check-prefix=CHOSEN
// RUN: xla-compile %s --entry=both --emit=program | FileCheck %s --check-prefix=BOTH
// RUN: xla-compile %s --entry=read_later --emit=program | FileCheck %s --check-prefix=LATER
// RUN: xla-compile %s --entry=straight --emit=program | FileCheck %s --check-prefix=STRAIGHT
// RUN: xla-run %s --entry=chosen --verify
// RUN: xla-run %s --entry=both --verify
// RUN: xla-run %s --entry=read_later --verify
// RUN: xla-run %s --entry=straight --verify

// CHOSEN-DAG: [[OUT:%[0-9]+]] = result 0
// CHOSEN: loop carried
// CHOSEN: branch %
// CHOSEN-NEXT: kernel {{.*}}([[OUT]], {{.*}}) ->
// CHOSEN-NEXT: kernel {{.*}}([[OUT]], {{.*}}) -> ([[OUT]])
// CHOSEN-NEXT: } {
// CHOSEN-NEXT: }
// CHOSEN-NOT: copy {{.*}} -> [[OUT]]
func.func @chosen(%start: tensor<100x2000xf32>, %p: tensor<100xi1>) -> tensor<100x2000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<100> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %start) : tensor<i32>, tensor<100x2000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %flag = stablehlo.dynamic_slice %p, %i, sizes = [1] : (tensor<100xi1>, tensor<i32>) -> tensor<1xi1>
    %taken = stablehlo.reshape %flag : (tensor<1xi1>) -> tensor<i1>
    %next = "stablehlo.if"(%taken) ({
      %row = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 2000] : (tensor<100x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2000xf32>
      %y = stablehlo.exponential %row : tensor<1x2000xf32>
      %b = stablehlo.dynamic_update_slice %a, %y, %i, %zero : (tensor<100x2000xf32>, tensor<1x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<100x2000xf32>
      stablehlo.return %b : tensor<100x2000xf32>
    }, {
      stablehlo.return %a : tensor<100x2000xf32>
    }) : (tensor<i1>) -> tensor<100x2000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<100x2000xf32>
  }
  return %r#1 : tensor<100x2000xf32>
}

// Both branches read one array and write it, one of them twice; another array is updated in one of them only.
// BOTH-DAG: [[A:%[0-9]+]] = result 0
// BOTH-DAG: [[B:%[0-9]+]] = result 1
// BOTH: loop carried
// BOTH: branch %
// BOTH-NOT: copy {{.*}} -> [[A]]
// BOTH-NOT: copy {{.*}} -> [[B]]
// BOTH-NOT: copy [[A]]
// BOTH-NOT: copy [[B]]
// BOTH: kernel {{.*}}([[A]], {{.*}}) -> ([[A]])
// BOTH: } {
// BOTH: kernel {{.*}}([[A]], {{.*}}) -> ([[A]])
// BOTH: kernel {{.*}}([[A]], {{.*}}) -> ([[A]])
func.func @both(%start: tensor<64x40xf32>, %other: tensor<64x40xf32>) -> (tensor<64x40xf32>, tensor<64x40xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %count = stablehlo.constant dense<70> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %start, %b = %other) : tensor<i32>, tensor<64x40xf32>, tensor<64x40xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %bit = stablehlo.and %i, %one : tensor<i32>
    %x = stablehlo.dynamic_slice %a, %bit, %zero, sizes = [1, 40] : (tensor<64x40xf32>, tensor<i32>, tensor<i32>) -> tensor<1x40xf32>
    %next:2 = "stablehlo.case"(%bit) ({
      %y = stablehlo.dynamic_slice %a, %five, %zero, sizes = [1, 40] : (tensor<64x40xf32>, tensor<i32>, tensor<i32>) -> tensor<1x40xf32>
      %z = stablehlo.add %x, %y : tensor<1x40xf32>
      %c = stablehlo.dynamic_update_slice %a, %z, %i, %zero : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
      stablehlo.return %c, %b : tensor<64x40xf32>, tensor<64x40xf32>
    }, {
      %c = stablehlo.dynamic_update_slice %a, %x, %i, %zero : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
      %y = stablehlo.dynamic_slice %c, %five, %zero, sizes = [1, 40] : (tensor<64x40xf32>, tensor<i32>, tensor<i32>) -> tensor<1x40xf32>
      %d = stablehlo.dynamic_update_slice %c, %y, %one, %zero : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
      %e = stablehlo.dynamic_update_slice %b, %y, %i, %zero : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
      stablehlo.return %d, %e : tensor<64x40xf32>, tensor<64x40xf32>
    }) : (tensor<i32>) -> (tensor<64x40xf32>, tensor<64x40xf32>)
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next#0, %next#1 : tensor<i32>, tensor<64x40xf32>, tensor<64x40xf32>
  }
  return %r#1, %r#2 : tensor<64x40xf32>, tensor<64x40xf32>
}

// What a branch needs of the old array after its update, and what the loop needs of it after the branches, is another array: a copy is made.
// The sum behind the branches reads the old array element by element, and is written over it.
// LATER: [[STATE:%[0-9]+]] = result 0
// LATER: loop carried
// LATER: branch %
// LATER: } {
// LATER: copy [[STATE]] -> [[OTHER:%[0-9]+]]
// LATER: kernel {{.*}}([[OTHER]], {{.*}}) -> ([[OTHER]])
// LATER: kernel add{{.*}}([[OTHER]], [[STATE]]) -> ([[STATE]])
func.func @read_later(%start: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<70> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %start) : tensor<i32>, tensor<64x40xf32>
  cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %bit = stablehlo.and %i, %one : tensor<i32>
    %x = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 40] : (tensor<64x40xf32>, tensor<i32>, tensor<i32>) -> tensor<1x40xf32>
    %next = "stablehlo.case"(%bit) ({
      stablehlo.return %a : tensor<64x40xf32>
    }, {
      %y = stablehlo.add %x, %x : tensor<1x40xf32>
      %c = stablehlo.dynamic_update_slice %a, %y, %i, %zero : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
      stablehlo.return %c : tensor<64x40xf32>
    }) : (tensor<i32>) -> tensor<64x40xf32>
    %sum = stablehlo.add %next, %a : tensor<64x40xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %sum : tensor<i32>, tensor<64x40xf32>
  }
  return %r#1 : tensor<64x40xf32>
}

// Outside of loops, the memory of a value that dies in the branches.
// STRAIGHT: kernel exponential{{.*}} -> ([[A:%[0-9]+]])
// STRAIGHT-NOT: copy
// STRAIGHT: branch %
// STRAIGHT-NEXT: kernel {{.*}}([[A]], {{.*}}) -> ([[A]])
// STRAIGHT-NEXT: } {
// STRAIGHT-NEXT: }
func.func @straight(%x: tensor<64x40xf32>, %p: tensor<i1>, %i: tensor<i32>, %row: tensor<1x40xf32>) -> tensor<64x40xf32> {
  %a = stablehlo.exponential %x : tensor<64x40xf32>
  %next = "stablehlo.if"(%p) ({
    %c = stablehlo.dynamic_update_slice %a, %row, %i, %i : (tensor<64x40xf32>, tensor<1x40xf32>, tensor<i32>, tensor<i32>) -> tensor<64x40xf32>
    stablehlo.return %c : tensor<64x40xf32>
  }, {
    stablehlo.return %a : tensor<64x40xf32>
  }) : (tensor<i1>) -> tensor<64x40xf32>
  %y = stablehlo.negate %next : tensor<64x40xf32>
  return %y : tensor<64x40xf32>
}
