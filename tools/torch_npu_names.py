# SPDX-License-Identifier: Apache-2.0
"""The public names of ``torch.npu`` in Ascend's torch_npu, by what they are for.

Source: ``__all__`` of torch_npu/npu/__init__.py in Ascend/pytorch at 9e73e708, its streams.py and amp/.
"""

_NAMES = {
    "Devices": """
        is_initialized init synchronize device_count can_device_access_peer set_device current_device
        get_device_name get_device_properties get_device_capability mem_get_info is_available device device_of
        utilization
    """,
    "Streams and events": """
        StreamContext stream set_stream current_stream default_stream Stream Event
    """,
    "Random numbers": """
        manual_seed manual_seed_all seed seed_all initial_seed get_rng_state set_rng_state get_rng_state_all
        set_rng_state_all
    """,
    "Memory": """
        empty_cache memory_stats memory_stats_as_nested_dict reset_accumulated_memory_stats
        reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached memory_allocated
        max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached
        memory_snapshot memory_summary caching_allocator_alloc caching_allocator_delete
        get_per_process_memory_fraction set_per_process_memory_fraction host_empty_cache host_memory_stats
        host_memory_stats_as_nested_dict reset_accumulated_host_memory_stats reset_peak_host_memory_stats
        MemPool use_mem_pool get_allocator_backend NPUPluggableAllocator change_current_allocator
    """,
    "Mixed precision": """
        get_amp_supported_dtype is_autocast_enabled is_bf16_supported set_autocast_enabled get_autocast_dtype
        set_autocast_dtype
    """,
    "Typed tensors and storages": """
        BoolStorage ByteStorage ShortStorage LongStorage IntStorage HalfStorage CharStorage DoubleStorage
        FloatStorage BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
        ShortTensor BFloat16Tensor BFloat16Storage
    """,
    "Graphs": """
        NPUGraph graph graph_pool_handle is_current_stream_capturing make_graphed_callables
        graph_task_group_begin graph_task_group_end graph_task_update_begin graph_task_update_end
        NpuGraphOpHandler register_npu_graph_handler super_kernel_scope_begin super_kernel_scope_end
    """,
    "Options, diagnostics, hardware": """
        set_dump set_sync_debug_mode get_sync_debug_mode init_dump finalize_dump empty_virt_addr_cache
        set_option CubeMathType set_aoe set_compile_mode set_mm_bmm_format_nd get_mm_bmm_format_nd
        get_npu_overflow_flag clear_npu_overflow_flag stress_detect is_jit_compile_false current_blas_handle
        stop_device restart_device check_uce_in_memory config matmul conv enable_deterministic_with_backward
        disable_deterministic_with_backward mstx SyncLaunchStream ExternalEvent ExternalStream
        set_device_limit get_device_limit set_stream_limit reset_stream_limit get_stream_limit ipc_collect
        obfuscation_initialize obfuscation_finalize obfuscation_calculate set_op_timeout_ms
        set_deterministic_level use_compatible_impl are_compatible_impl_enabled npurt
    """,
    "Methods of streams and events": """
        Stream.wait_event Stream.wait_stream Stream.record_event Stream.query Stream.synchronize
        Stream.set_data_preprocess_stream Event.record Event.wait Event.query Event.elapsed_time
        Event.recorded_time Event.synchronize Event.ipc_handle Event.from_ipc_handle
    """,
    "Reachable, though not public": """
        amp.autocast amp.GradScaler amp.custom_fwd amp.custom_bwd default_generators is_support_inf_nan
        _lazy_init _lazy_call _is_in_bad_fork random memory streams npu_config
    """,
}

#: Names by the heading under which docs/coverage.md lists them; with a dot where they are of a class or module.
NAMES = {heading: tuple(names.split()) for heading, names in _NAMES.items()}
