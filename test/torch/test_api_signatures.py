# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function that PyTorch/XLA's documentation names (one process, one device) is there with its parameters and a docstring.

A table row begins with the module; then one function per line with its parameters and defaults, as callers may rely on them. More
parameters with defaults may follow."""
import importlib
import inspect
import re

import pytest

TABLE = """
torch_xla
  device(index=None)
  devices()
  device_count()
  sync(wait=False, reset_scope=True)
  step()
  compile(f=None, full_graph=False, name=None, max_different_graphs=None, custom_compile_options=None)
  launch(fn, args=(), start_method='spawn', debug_single_process=False)
  real_devices()
  manual_seed(seed, device=None)
  set_custom_compile_options(options)
torch_xla.core.xla_model
  xla_device(n=None, devkind=None)
  mark_step(wait=False, reset_scope=True)
  optimizer_step(optimizer, barrier=False, optimizer_args={}, groups=None, pin_layout=True)
  save(data, file_or_path, master_only=True, global_master=False)
  get_ordinal(defval=0)
  xrt_world_size(defval=1)
  broadcast_master_param(model)
  get_xla_supported_devices(max_devices=None)
  is_master_ordinal(local=True)
  add_step_closure(closure, args=(), run_async=False)
  all_reduce(reduce_type, inputs, scale=1.0, groups=None, pin_layout=True)
  RateTracker(smooth_factor=None)
  RateTracker.add(self, count)
  RateTracker.rate(self)
  RateTracker.global_rate(self)
  mesh_reduce(tag, data, reduce_fn)
  master_print(*args, fd=None, local=False, flush=False)
  xla_device_hw(device)
  all_gather(value, dim=0, groups=None, output=None, pin_layout=True, channel_id=None, use_global_device_ids=None)
  all_to_all(value, split_dimension, concat_dimension, split_count, groups=None, pin_layout=True)
  wait_device_ops(devices=[])
  rendezvous(tag, payload=b'', replicas=[])
  set_rng_state(seed, device=None)
  get_rng_state(device=None)
  get_memory_info(device=None)
  get_stablehlo(tensors=None)
  get_stablehlo_bytecode(tensors=None)
  xla_rendezvous(payload=b'', ordinals=None, tag=None)
  reduce_gradients(optimizer, groups=None, pin_layout=True)
  is_xla_tensor(tensor)
  get_local_ordinal()
  xla_real_devices(devices=None)
  xla_device_kind(device=None)
  xla_replication_devices(local_devices=None)
  unlazy(tensors)
  set_replication(device, devices)
  ToXlaTensorArena(convert_fn, select_fn)
  ToXlaTensorArena.transform(self, inputs)
  check_view_sharing(obj)
  CoalescingBuckets(func, input_list, output_list=None, bucket_cap_mb=160)
  CoalescingBuckets.flush(self)
  CoalescingBuckets.add(self, tensor, idx)
  all_gather_bucketized(input_list, dim=0, groups=None, output=None, pin_layout=False, bucket_cap_mb=160)
  collective_permute(value, pairs)
  collective_broadcast(tensors, root_ordinal=0, groups=None, pin_layout=True)
  send(value, channel_id)
  recv(output, channel_id)
  reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups=None, output=None, pin_layout=True, channel_id=None, use_global_device_ids=None)
  reduce_scatter_bucketized(reduce_type, input_list, scale, scatter_dim, shard_count, groups=None, output=None, pin_layout=False, bucket_cap_mb=160)
  all_reduce_bucketized_gradients(gradients, scale, groups, pin_layout, bucket_cap_mb=0)
  send_cpu_data_to_device(datas, device, input_sharding=None)
  do_on_ordinals(target, data=(), ordinals=(0,))
  fork_rng(device=None, enabled=True)
  optimization_barrier_(tensors)
torch_xla.distributed.spmd
  Mesh(device_ids, mesh_shape, axis_names=None)
  Mesh.size(self)
  Mesh.shape(self)
  Mesh.get_logical_mesh(self)
  Mesh.get_axis_name_idx(self, name)
  Mesh.get_op_sharding(self, partition_spec)
  Mesh.get_op_sharding_v2(self, partition_spec)
  HybridMesh(ici_mesh_shape, dcn_mesh_shape=None, axis_names=None)
  mark_sharding(t, mesh, partition_spec)
  mark_sharding_with_gradients(t, mesh, partition_spec)
  annotate_custom_sharding(t, mesh, partition_spec)
  clear_sharding(t)
  enable_manual_sharding(t, partition_spec, *, mesh=None)
  disable_manual_sharding(t, partition_spec, full_shape, *, mesh=None)
  shard_as(a, b)
  get_1d_mesh(axis_name=None)
  get_global_mesh()
  set_global_mesh(mesh)
  wrap_as_sharded_tensor(t, mesh_shape=None, partition_spec=None)
  unwrap_sharded_tensor(t)
  wrap_if_sharded(x)
  xla_patched_nn_linear_forward(m, input)
  apply_xla_patch_to_nn_linear(module)
  apply_backward_optimization_barrier(m)
  ShardingSpec(mesh, partition_spec, minibatch=False)
  ShardingSpec.can_apply(self, t)
  ShardingSpec.apply(self, t)
  ShardingSpec.xla_spec(self, t)
  xla_distribute_tensor(tensor, device_mesh, placements=None)
  xla_distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None)
  auto_policy(mod_name, mod, device_mesh)
  visualize_sharding(sharding, use_color=True, scale=1.0, min_width=9, max_width=80)
  visualize_tensor_sharding(t)
torch_xla.distributed.fsdp.wrap
  transformer_auto_wrap_policy(module, recurse, unwrapped_params, transformer_layer_cls)
  size_based_auto_wrap_policy(module, recurse, unwrapped_params, min_num_params=100000000, force_leaf_modules=None, exclude_wrap_modules=None)
torch_xla.experimental.spmd_fully_sharded_data_parallel
  SpmdFullyShardedDataParallel(module, mesh=None, shard_output=None, auto_wrap_policy=None, auto_wrapper_callable=None, extra_data_axis=None)
torch_xla.core.dynamo_bridge
  extract_compiled_graph(xla_model, xla_args)
torch_xla.core.functions
  all_reduce(reduce_type, value, scale=1.0, groups=None)
  all_gather(value, dim=0)
  distributed_mm(w, x, split=1)
  SyncBatchNorm(num_features, eps=1e-05, momentum=0.1)
torch_xla.runtime
  device_type()
  set_device_type(pjrt_device)
  is_bf16_supported()
  initialize_cache(path, readonly=False)
  global_runtime_device_count()
  addressable_runtime_device_count()
  use_spmd(auto=False)
  is_spmd()
  global_ordinal()
  local_ordinal()
  world_size()
  process_index()
  process_count()
  local_process_count()
  local_device_count()
  addressable_device_count()
  global_device_count()
  host_index()
  get_master_ip()
  runtime_device_attributes(device)
  global_runtime_device_attributes()
  get_num_cached_compilation_graph()
torch_xla.distributed.parallel_loader
  MpDeviceLoader(loader, device, **kwargs)
  ParallelLoader(loader, devices, batchdim=0, batches_per_execution=1, loader_prefetch_size=8, device_prefetch_size=4, host_to_device_transfer_threads=1, input_sharding=None)
  ParallelLoader.per_device_loader(self, device)
  ParallelLoader.per_device_samples(self)
  ParallelLoader.next_item(self, device)
  ParallelLoader.close(self)
  ParallelLoader.send_cpu_data_to_device(self, batches, device)
  PerDeviceQueue(device, loader_prefetch_size, device_prefetch_size)
  PerDeviceLoader(loader, device)
  PerDeviceLoader.next(self)
torch_xla.distributed.xla_multiprocessing
  spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method='spawn')
  MpModelWrapper(model)
  MpModelWrapper.to(self, device)
  MpSerialExecutor()
  MpSerialExecutor.run(self, fn)
  create_optimized_replica_groups()
torch_xla.distributed.xla_backend
  ProcessGroupXla(prefix_store, rank, size, timeout)
torch_xla.distributed.data_parallel
  DataParallel(network, device_ids=None, **kwargs)
  Context(device)
  Context.getattr_or(self, name, defval)
torch_xla.debug.metrics
  metrics_report()
  short_metrics_report(counter_names=None, metric_names=None)
  clear_all()
  clear_counters()
  clear_metrics()
  counter_names()
  counter_value(name)
  metric_names()
  metric_data(name)
  executed_fallback_ops()
torch_xla.debug.profiler
  Trace(name, **kwargs)
  StepTrace(name, **kwargs)
  trace_me(scope)
  set_tracer_marked_step(value)
  get_tracer_marked_step()
  start_server(port, only_on_master=True)
  trace_detached(*args, **kwargs)
torch_xla.debug.metrics_saver
  save_metrics(metrics_file=None)
torch_xla.debug.graph_saver
  save_tensors_graph(save_dir, name, tensors)
torch_xla.debug.model_comparator
  compare_tensors(tensor1, tensor2, rtol=1e-05, atol=1e-08, max_diffs=25)
  configure(save_dir)
  save(name, tensor, step=None)
  tensor_file_compare(path1, path2, rtol=1e-05, atol=1e-08, max_diffs=25)
  compare(save_dir1, save_dir2, rtol=1e-05, atol=1e-08, max_diffs=25)
torch_xla.debug.frame_parser_util
  parse_frame_content(line)
  create_report(frames)
  parse_frames(lines)
  process_frames(fname)
torch_xla.debug.metrics_compare_utils
  parse_metrics_report(report, dehumanize=True)
  get_data_points_from_metrics_reports(metrics_reports)
  compare_metrics(data_points, metrics_report, config={'base_expression': 'v <= v_mean + (v_stddev * 2.0)'})
torch_xla.utils.serialization
  save(data, path, master_only=True, global_master=False)
  load(path)
  TensorReference(tid)
torch_xla.utils.checkpoint
  checkpoint(function, *args, use_reentrant=True, **kwargs)
  get_device_states(*args)
  set_device_states(devices, states)
torch_xla.utils.checkpoint_tagger
  CheckpointTagger(remover=None)
  CheckpointTagger.tag(self, name, path)
  CheckpointTagger.save_to_json(self)
  CheckpointTagger.load_from_json(str_json, remover=None)
torch_xla.utils.closures
  ClosureHandler()
  ClosureHandler.run(self, closure)
  ClosureHandler.run_all(self, closures)
  AsyncClosureHandler(max_queue_size=100)
  AsyncClosureHandler.start_event_loop(self)
  AsyncClosureHandler.run(self, closure)
torch_xla.utils.dlpack
  to_dlpack(xla_tensor)
  from_dlpack(ext_tensor)
torch_xla.utils.keyd_queue
  KeydQueue(maxsize=1024)
  KeydQueue.put(self, key, item)
  KeydQueue.get(self, key)
  Queue(maxsize=1024)
  Queue.put(self, item)
  Queue.get(self)
torch_xla.utils.buffer_donor_context
  alias_with_buffer_donor_config(should_alias=True)
torch_xla.utils.utils
  SampleGenerator(data, sample_count)
  FnDataGenerator(func, batch_size, gen_tensor, dims=None, count=1)
  Cleaner(func)
  LazyProperty(gen_fn)
  TmpFolder()
  DataWrapper()
  as_list(t)
  getenv_as(name, type, defval=None)
  for_each_instance(value, select_fn, fn)
  for_each_instance_rewrite(value, select_fn, fn)
  shape(inputs)
  flatten_nested_tuple(inputs)
  list_copy_append(ilist, item)
  null_print(*args, **kwargs)
  eprint(*args, **kwargs)
  get_print_fn(debug=None)
  timed(fn, msg='', printfn=eprint)
  get_free_tcp_ports(n=1)
  parallel_work(num_workers, fn, *args)
  TimedScope(msg='', printfn=eprint)
  check_env_flag(name, default='')
torch_xla.test.test_utils
  get_summary_writer(logdir)
  write_to_summary(summary_writer, global_step=None, dict_to_write={}, write_xla_metrics=False)
  close_summary_writer(summary_writer)
  print_training_update(device, step, loss, rate, global_rate, epoch=None, summary_writer=None)
  print_test_update(device, accuracy, epoch=None, step=None)
  now(format='%H:%M:%S')
  mp_test(func)
torch_xla.amp
  GradScaler(init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True, use_zero_grad=False)
torch_xla.amp.syncfree
  Adam.step(self, closure=None, found_inf=None)
  AdamW.step(self, closure=None, found_inf=None)
  SGD.step(self, closure=None, found_inf=None)
torch_xla.amp.syncfree._functional
  adam_step(found_inf, state_steps, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, *, amsgrad, beta1, beta2, lr, weight_decay, eps, maximize, use_adamw)
  sgd_step(found_inf, state_steps, params, d_p_list, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov, maximize)
torch_xla.experimental
  eager_mode(enable)
  eager_mode_context(enable)
  is_eager_mode()
  compile(f=None)
torch_xla.experimental.pjrt
  broadcast_master_param(model)
  using_pjrt()
  device_type()
torch_xla.experimental.custom_kernel
  flash_attention(q, k, v, causal=False, q_segment_ids=None, kv_segment_ids=None, sm_scale=1.0, *, ab=None, partition_spec=None, mesh=None)
  paged_attention(q, k_pages, v_pages, lengths, page_indices, pages_per_compute_block, megacore_mode=None, attn_logits_soft_cap=None)
  multi_queries_paged_attention(q, k_pages, v_pages, lengths, page_indices, effective_q_lens, num_kv_pages_per_compute_block, num_queries_per_compute_block, use_kernel=True, attn_logits_soft_cap=None)
  ragged_paged_attention(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, *, sm_scale=1.0, sliding_window=None, soft_cap=None, mask_value=None, k_scale=None, v_scale=None, use_kernel=True, num_kv_pages_per_block=None, num_queries_per_block=None, vmem_limit_bytes=None)
  gmm(lhs, rhs, group_sizes, tiling=(512, 512, 512), group_offset=None, transpose_rhs=False)
  tgmm(lhs, rhs, group_sizes, tiling=(512, 512, 512), group_offset=None, num_actual_groups=None)
  gmm_backward(grad, lhs, rhs, group_sizes, tiling=(512, 512, 512))
  repeat_with_fixed_output_size(input, repeats, total_repeat_length)
  quantized_matmul_int8(x, w, scalar, zero_point=None, quant_block_size=None, quantize_activation=False, batch_block_size=None, out_block_size=None, in_block_size=None)
torch_xla.experimental.callback
  on_ready_callback(tensor, callback)
  on_ready_event(tensor)
torch_xla.experimental.deprecation
  deprecated(module, new, old_name=None, extra_msg=None)
  mark_deprecated(new, extra_msg=None)
  register_deprecated(module, new)
torch_xla.experimental.gradient_accumulation
  gradient_accumulation(train_step, iterable_tensors, model, *carried_tensors)
torch_xla.experimental.fori_loop
  fori_loop(lower, upper, body_fun, *input_value)
torch_xla.experimental.scan
  scan(fn, init, xs)
torch_xla.experimental.gru
  GRU(*args, **kwargs)
torch_xla.experimental.quantized
  xla_quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype)
  xla_quantize_per_channel(input, scale, zero_point, axis, quant_min, quant_max, dtype)
  xla_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype)
torch_xla.experimental.xla_quantized_matmul
  quantized_matmul_xla(x, w, scaler, zero_point=None, block_size=-1, int4_weight=False, quantize_activation=False)
  XlaQuantizedLinear(input_dim, output_dim, is_symmetric=False, block_size=-1, int4_weight=False, quantize_activation=False)
  XlaQuantizedLinear.load_quantized_weight(self, weight, weight_scaler, zero_point=None)
"""


def rows():
    module = None
    for line in TABLE.strip().splitlines():
        if line.startswith("  "):
            yield module, line.strip()
        else:
            module = line


def shown(parameter):
    """name=default, where functions show their name only."""
    text = ("*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if parameter.kind is parameter.VAR_KEYWORD else "") + parameter.name
    if parameter.default is not parameter.empty:
        default = parameter.default
        text += "=" + (default.__name__ if inspect.isfunction(default) else repr(default))
    return text


@pytest.mark.parametrize("module, row", list(rows()), ids=lambda text: text.split("(")[0])
def test_signature(module, row):
    name, wanted = re.match(r"([\w.]+)\((.*)\)$", row).groups()
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    # A name from a function of the same signature in the row.
    namespace = {"eprint": lambda: 0}
    namespace["eprint"].__name__ = "eprint"
    exec(f"def wanted({wanted}): pass", namespace)
    expected = [shown(p) for p in inspect.signature(namespace["wanted"]).parameters.values()]
    actual = inspect.signature(found).parameters.values()
    assert [shown(p) for p in actual][:len(expected)] == expected
    assert all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY)
               for p in list(actual)[len(expected):]), "a further parameter without a default"
    documentation = found.__doc__
    assert documentation and documentation.strip(), "no docstring"


def test_constants():
    import torch_xla.core.xla_model as xm
    assert (xm.REDUCE_SUM, xm.REDUCE_MUL, xm.REDUCE_AND, xm.REDUCE_OR, xm.REDUCE_MIN, xm.REDUCE_MAX) == (
        "sum", "mul", "and", "or", "min", "max")
