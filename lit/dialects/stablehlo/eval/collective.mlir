// RUN: xla-translate --interpret -split-input-file %s
// Programs on a grid [replicas][partitions] of simulated devices.

module {
  func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
    %r = stablehlo.replica_id : tensor<ui32>
    %p = stablehlo.partition_id : tensor<ui32>
    func.return %r, %p : tensor<ui32>, tensor<ui32>
  }
  func.func @main() {
    %0:8 = "interpreter.run_parallel"() {programs = [[@ids, @ids], [@ids, @ids]]}
      : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %0#2, dense<0> : tensor<ui32>
    check.expect_eq_const %0#3, dense<1> : tensor<ui32>
    check.expect_eq_const %0#4, dense<1> : tensor<ui32>
    check.expect_eq_const %0#5, dense<0> : tensor<ui32>
    func.return
  }
}

// -----

// No channel: replicas reduce, each partition for itself.
module {
  func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    func.return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %c = stablehlo.constant dense<[100, 200]> : tensor<2xi64>
    %d = stablehlo.constant dense<[1000, 2000]> : tensor<2xi64>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@sum, @sum], [@sum, @sum]]}
      : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %0#0, dense<[101, 202]> : tensor<2xi64>
    check.expect_eq_const %0#1, dense<[1010, 2020]> : tensor<2xi64>
    check.expect_eq %0#2, %0#0 : tensor<2xi64>
    check.expect_eq %0#3, %0#1 : tensor<2xi64>
    func.return
  }
}

// -----

// A channel without global ids: replica groups times all partitions. With global ids: flattened ids.
module {
  func.func @all(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i64>) -> tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @flat(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<i64>) -> tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<10> : tensor<i64>
    %c = stablehlo.constant dense<100> : tensor<i64>
    %d = stablehlo.constant dense<1000> : tensor<i64>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@all, @all], [@all, @all]]}
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %0#0, dense<1111> : tensor<i64>
    check.expect_eq_const %0#3, dense<1111> : tensor<i64>
    %1:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@flat, @flat], [@flat, @flat]]}
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %1#0, dense<1001> : tensor<i64>
    check.expect_eq_const %1#1, dense<110> : tensor<i64>
    check.expect_eq_const %1#2, dense<110> : tensor<i64>
    check.expect_eq_const %1#3, dense<1001> : tensor<i64>
    func.return
  }
}

// -----

module {
  func.func @gather(%x: tensor<2x1xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2x1xi64>) -> tensor<2x2xi64>
    func.return %0 : tensor<2x2xi64>
  }
  func.func @scatter(%x: tensor<4xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xi64>) -> tensor<2xi64>
    func.return %0 : tensor<2xi64>
  }
  func.func @exchange(%x: tensor<2x4xi64>) -> tensor<4x2xi64> {
    %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xi64>) -> tensor<4x2xi64>
    func.return %0 : tensor<4x2xi64>
  }
  func.func @main() {
    // Group order [1, 0] puts replica 1's value first.
    %a = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %b = stablehlo.constant dense<[[3], [4]]> : tensor<2x1xi64>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@gather], [@gather]]} : (tensor<2x1xi64>, tensor<2x1xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %0#0, dense<[[3, 1], [4, 2]]> : tensor<2x2xi64>
    check.expect_eq %0#1, %0#0 : tensor<2x2xi64>
    %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    %1:2 = "interpreter.run_parallel"(%c, %c) {programs = [[@scatter], [@scatter]]} : (tensor<4xi64>, tensor<4xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %1#0, dense<[2, 4]> : tensor<2xi64>
    check.expect_eq_const %1#1, dense<[6, 8]> : tensor<2xi64>
    %d = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
    %e = stablehlo.constant dense<[[9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<2x4xi64>
    %2:2 = "interpreter.run_parallel"(%d, %e) {programs = [[@exchange], [@exchange]]} : (tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<4x2xi64>, tensor<4x2xi64>)
    check.expect_eq_const %2#0, dense<[[1, 2], [5, 6], [9, 10], [13, 14]]> : tensor<4x2xi64>
    check.expect_eq_const %2#1, dense<[[3, 4], [7, 8], [11, 12], [15, 16]]> : tensor<4x2xi64>
    func.return
  }
}

// -----

// 0 -> 1 -> 2; nobody sends to 0, which gets zeros.
module {
  func.func @permute(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<i64>) -> tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @broadcast(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<5> : tensor<i64>
    %b = stablehlo.constant dense<6> : tensor<i64>
    %c = stablehlo.constant dense<7> : tensor<i64>
    %0:3 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@permute], [@permute], [@permute]]} : (tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %0#0, dense<0> : tensor<i64>
    check.expect_eq_const %0#1, dense<5> : tensor<i64>
    check.expect_eq_const %0#2, dense<6> : tensor<i64>
    %1:3 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@broadcast], [@broadcast], [@broadcast]]} : (tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %1#0, dense<0> : tensor<i64>
    check.expect_eq_const %1#1, dense<7> : tensor<i64>
    check.expect_eq_const %1#2, dense<7> : tensor<i64>
    func.return
  }
}

// -----

// Only the root, the group's first process, gets the sum.
module {
  func.func @reduce(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    func.return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@reduce], [@reduce]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %0#0, dense<0> : tensor<2xi64>
    check.expect_eq_const %0#1, dense<[2, 4]> : tensor<2xi64>
    func.return
  }
}

// -----

// A collective in a loop meets once per iteration: 1, then 1 + 10 + ... doubling every time.
module {
  func.func @loop(%x: tensor<i64>) -> tensor<i64> {
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %three = stablehlo.constant dense<3> : tensor<i64>
    %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i64>, tensor<i64>
    cond {
      %c = stablehlo.compare LT, %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = "stablehlo.all_reduce"(%v) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %t = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %t : tensor<i64>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
      %n = stablehlo.add %i, %one : tensor<i64>
      stablehlo.return %n, %s : tensor<i64>, tensor<i64>
    }
    func.return %r#1 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<10> : tensor<i64>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@loop], [@loop]]} : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    check.expect_eq_const %0#0, dense<44> : tensor<i64>
    check.expect_eq_const %0#1, dense<44> : tensor<i64>
    func.return
  }
}

// -----

module {
  func.func @send(%x: tensor<2xi64>) -> !stablehlo.token {
    %t = stablehlo.after_all : !stablehlo.token
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false} : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    func.return %0 : !stablehlo.token
  }
  func.func @recv() -> (tensor<2xi64>, !stablehlo.token) {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    func.return %0#0, %0#1 : tensor<2xi64>, !stablehlo.token
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %0:3 = "interpreter.run_parallel"(%a) {programs = [[@recv], [@send]]} : (tensor<2xi64>) -> (tensor<2xi64>, !stablehlo.token, !stablehlo.token)
    check.expect_eq %0#0, %a : tensor<2xi64>
    func.return
  }
}

// -----

module {
  func.func @queue0() -> tensor<i64> {
    %0 = stablehlo.constant dense<7> : tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @queue1() -> tensor<i64> {
    %0 = stablehlo.constant dense<8> : tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @program() -> tensor<i64> {
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "stablehlo.infeed"(%t) {infeed_config = ""} : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%0#1) {infeed_config = ""} : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    %2 = "stablehlo.outfeed"(%1#0, %1#1) {outfeed_config = ""} : (tensor<i64>, !stablehlo.token) -> !stablehlo.token
    %3 = stablehlo.subtract %0#0, %1#0 : tensor<i64>
    func.return %3 : tensor<i64>
  }
  func.func @main() {
    %0 = "interpreter.run_parallel"() {infeed = [@queue0, @queue1], programs = [[@program]]} : () -> tensor<i64>
    check.expect_eq_const %0, dense<-1> : tensor<i64>
    func.return
  }
}

// -----

module {
  func.func @async(%x: tensor<2xi64>) -> tensor<2xi64> {
    %f = "stablehlo.async_start"(%x) ({
    ^bb0(%arg: tensor<2xi64>):
      %0 = "stablehlo.collective_permute"(%arg) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
      stablehlo.return %0 : tensor<2xi64>
    }) : (tensor<2xi64>) -> !stablehlo.future<tensor<2xi64>>
    %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
    func.return %r : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@async], [@async]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq %0#0, %b : tensor<2xi64>
    check.expect_eq %0#1, %a : tensor<2xi64>
    func.return
  }
}

// -----

// Without a real host, programs meet by channel: what one sends to the host, the other receives from it.
module @host_transfers {
  func.func @send(%x: tensor<2xi64>) -> !stablehlo.token {
    %t = stablehlo.create_token : !stablehlo.token
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    func.return %0 : !stablehlo.token
  }
  func.func @recv() -> (tensor<2xi64>, !stablehlo.token) {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    func.return %0#0, %0#1 : tensor<2xi64>, !stablehlo.token
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %0:3 = "interpreter.run_parallel"(%a) {programs = [[@recv, @send]]} : (tensor<2xi64>) -> (tensor<2xi64>, !stablehlo.token, !stablehlo.token)
    check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi64>
    func.return
  }
}

// -----

// A root for each data operand: the first from process 0, the second from process 1.
module @roots {
  func.func @broadcast(%x: tensor<2xi64>, %y: tensor<2xi64>, %root: tensor<2xi32>) -> (tensor<2xi64>, tensor<2xi64>) {
    %0:2 = "stablehlo.collective_broadcast"(%x, %y, %root) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xi64>, tensor<2xi64>, tensor<2xi32>) -> (tensor<2xi64>, tensor<2xi64>)
    func.return %0#0, %0#1 : tensor<2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
    %d = stablehlo.constant dense<[7, 8]> : tensor<2xi64>
    %root = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %0:4 = "interpreter.run_parallel"(%a, %b, %root, %c, %d, %root) {programs = [[@broadcast], [@broadcast]]} : (tensor<2xi64>, tensor<2xi64>, tensor<2xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi32>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %0#1, dense<[7, 8]> : tensor<2xi64>
    check.expect_eq_const %0#2, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %0#3, dense<[7, 8]> : tensor<2xi64>
    func.return
  }
}
