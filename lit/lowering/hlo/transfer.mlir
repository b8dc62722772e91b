// Tokens order transfers; infeed and outfeed take tuples.
// RUN: xla-translate %s --stablehlo-to-hlo-text | FileCheck %s
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> (!stablehlo.token, tensor<4xf32>, tensor<2xi32>) {
  // CHECK: after-all.1 = token[] after-all()
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK: after-all.2 = token[] after-all(after-all.1, Arg_1.1)
  %1 = stablehlo.after_all %0, %t : !stablehlo.token
  // CHECK: tuple.1 = (f32[4]{0}, f32[4]{0}) tuple(Arg_0.1, Arg_0.1)
  // CHECK: send.1 = ((f32[4]{0}, f32[4]{0}), u32[], token[]) send(tuple.1, after-all.2), channel_id=5, frontend_attributes={_xla_send_recv_source_target_pairs={{[{][{]}}0,1{{[}][}]}}}
  // CHECK: send-done.1 = token[] send-done(send.1), channel_id=5
  %2 = "stablehlo.send"(%x, %x, %1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: recv.1 = ((f32[4]{0}, s32[2]{0}), u32[], token[]) recv(send-done.1), channel_id=6
  // CHECK: recv-done.1 = ((f32[4]{0}, s32[2]{0}), token[]) recv-done(recv.1), channel_id=6
  // CHECK: [[DATA:get-tuple-element.1]] = (f32[4]{0}, s32[2]{0}) get-tuple-element(recv-done.1), index=0
  // CHECK: get-tuple-element([[DATA]]), index=1
  %3:3 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xf32>, tensor<2xi32>, !stablehlo.token)
  // CHECK: send.2 = (f32[4]{0}, u32[], token[]) send(Arg_0.1, {{.*}}), channel_id=7, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="a"}
  %4 = "stablehlo.send"(%x, %3#2) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}> {mhlo.frontend_attributes = {_xla_host_transfer_rendezvous = "a"}} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: infeed.1 = ((f32[4,2]{0,1}, f32[]), token[]) infeed(send-done.2), infeed_config="foo\""
  %5:3 = "stablehlo.infeed"(%4) <{infeed_config = "foo\22", layout = [[0, 1], []]}> : (!stablehlo.token) -> (tensor<4x2xf32>, tensor<f32>, !stablehlo.token)
  // CHECK: outfeed.1 = token[] outfeed({{.*}}), outfeed_shape=(f32[4]{0}, s32[2]{0}), outfeed_config="cfg"
  %6 = "stablehlo.outfeed"(%3#0, %3#1, %5#2) <{outfeed_config = "cfg"}> : (tensor<4xf32>, tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %6, %3#0, %3#1 : !stablehlo.token, tensor<4xf32>, tensor<2xi32>
}
