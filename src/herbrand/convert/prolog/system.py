"""System predicates of SWI-Prolog: relations of a game with the same name and arity are renamed.

Redefining a system predicate is possible for most, but the compiler replaces calls of some,
such as `number/1`, before it looks for another definition.
"""

from __future__ import annotations

__all__ = ["SYSTEM"]

_NAMES = {
    0: """
        ! abolish_all_tables abolish_monotonic_tables abolish_nonincremental_tables abolish_private_tables
        abolish_shared_tables abort answer_count_restraint at_end_of_stream attach_packs break compiling
        fail false flush_output garbage_collect garbage_collect_atoms garbage_collect_clauses halt
        initialize known_licenses license mutex_statistics mutex_unlock_all nl noprotocol notrace
        print_toplevel_variables prolog prolog_interrupt radial_restraint reload_library_index repeat
        reset_profiler seen told trace tracing trim_heap trim_stacks true ttyflush undefined version
    """,
    1: """
        <meta-call> \\+ abolish abolish_module_tables abolish_nonincremental_tables abolish_table_subgoals
        acyclic_term append assert asserta assertz at_end_of_stream at_halt atom atomic attach_packs
        attvar autoload autoload_path call call_continuation callable cancel_halt close
        close_shared_object compile_aux_clauses compile_predicates compound consult context_module
        current_arithmetic_function current_atom current_engine current_flag current_input current_key
        current_locale current_module current_output current_predicate current_transaction current_trie
        cyclic_term del_attrs delete_directory delete_file det deterministic discontiguous dynamic
        engine_destroy engine_fetch engine_self engine_yield ensure_loaded erase exists_directory
        exists_file exists_source export fill_buffer float flush_output format gc_file_search_cache get
        get0 get_byte get_char get_code get_single_char get_time ground halt ignore import initialization
        integer is_absolute_file_name is_dict is_engine is_list is_most_general_term is_stream is_thread
        is_trie leash license load_files locale_destroy make_directory make_library_index malloc_property
        message_queue_create message_queue_destroy meta_predicate module module_transparent multifile
        mutex_create mutex_destroy mutex_lock mutex_trylock mutex_unlock nb_delete nl non_terminal nonvar
        noprofile not not_exists notrace number once open_null_stream peek_byte peek_char peek_code print
        prolog_current_choice prolog_current_frame prolog_cut_to prolog_debug prolog_nodebug
        prolog_skip_frame prompt1 protocol protocola protocolling public put put_byte put_char put_code
        qcompile random_property rational read redefine_system_predicate reexport require residual_goals
        retract retractall see seeing set_end_of_stream set_input set_locale set_malloc set_module
        set_output set_prolog_gc_thread set_random shell shift shift_for_copy sig_atomic sig_block
        sig_pending sig_unblock skip sleep snapshot source_file string style_check tab table tabled_call
        tell telling thread_alias thread_detach thread_exit thread_get_message thread_initialization
        thread_join thread_local thread_peek_message thread_self throw tnot transaction
        transaction_updates trie_destroy trie_new undo unload_file unsetenv untable use_foreign_library
        use_module var verbose_expansion version visible volatile with_tty_raw write write_canonical
        writeln writeq zip_lock zip_unlock
    """,
    2: """
        *-> , -> ; < = =.. =< == =@= =\\= > >= ?= @ @< @=< @> @>= [|] \\= \\== \\=@= abolish
        absolute_file_name access_file apply assert asserta assertz atom_chars atom_codes atom_length
        atom_number atom_prefix atom_string atomic_list_concat atomics_to_string attach_packs autoload
        b_getval b_setval blob byte_count call call_cleanup call_residue_vars call_shared_object_function
        char_code char_conversion char_type character_count clause clause_property close code_type
        collation_key copy_predicate_clauses copy_stream_data copy_term copy_term_nat current_blob
        current_char_conversion current_format_predicate current_functor current_predicate
        current_prolog_flag current_resource current_table date_time_stamp dcg_translate_rule
        default_module del_attr delete_import_module directory_files downcase_atom duplicate_term
        dwim_match dwim_predicate dynamic engine_next engine_next_reified engine_post exists_source
        expand_file_name expand_file_search_path expand_goal expand_term fast_read fast_term_serialized
        fast_write file_base_name file_directory_name float_class forall format format_predicate freeze
        frozen get get0 get_attrs get_byte get_char get_code get_flag getenv goal_expansion import_module
        initialization instance is is_dict keysort length license line_count line_position load_files
        locale_property make_library_index memberchk message_queue_create message_queue_property
        message_queue_set message_to_string module_property msort mutex_create mutex_property name
        nb_current nb_getval nb_linkval nb_setval nonground normalize_space number_chars number_codes
        number_string open_resource open_shared_object open_string peek_byte peek_char peek_code phrase
        predicate_option_mode predicate_option_type predicate_property print print_message profiler
        prolog_alert_signal prolog_listen prolog_load_context prolog_skip_level prolog_stack_property
        prolog_to_os_filename prolog_unlisten prompt put put_attrs put_byte put_char put_code qcompile
        read read_term read_term_with_history recorda recorded recordz reexport rename_file rule same_file
        same_term set_flag set_prolog_flag set_prolog_stack set_stream set_stream_position setenv shell
        sig_remove size_file skip sort source_file source_file_property source_location statistics
        stream_property string_chars string_codes string_length string_lower string_upper subsumes_term
        succ tab term_attvars term_expansion term_hash term_singletons term_string term_to_atom
        term_variables text_to_string thread_create thread_get_message thread_idle thread_join
        thread_peek_message thread_property thread_send_message thread_setconcurrency thread_signal
        thread_update thread_wait time_file tmp_file transaction trie_gen trie_gen_compiled trie_insert
        trie_property trie_term tty_goto tty_put tty_size unify_with_occurs_check unwrap_predicate
        upcase_atom use_foreign_library use_module var_number var_property variant_hash variant_sha1
        wildcard_match with_mutex with_output_to working_directory write write_canonical write_term
        writeln writeq zip_clone zip_close_ zipper_goto
    """,
    3: """
        absolute_file_name add_import_module arg atom_concat atom_to_term atomic_concat atomic_list_concat
        atomics_to_string b_set_dict bagof between bounded_number call call_cleanup call_dcg
        call_with_depth_limit call_with_inference_limit catch catch_with_backtrace clause compare
        compound_name_arguments compound_name_arity copy_stream_data copy_term create_prolog_flag
        current_op current_signal dict_create dict_pairs dwim_match engine_create engine_post
        file_name_extension findall flag format format_time functor get_attr get_dict get_string_code
        locale_create nb_link_dict nb_linkarg nb_set_dict nb_setarg nth_clause numbervars on_signal op
        open open_resource open_shared_object peek_string phrase plus print_message_lines
        prolog_choice_attribute prolog_frame_attribute prolog_listen put_attr put_dict rational
        read_clause read_link read_pending_chars read_pending_codes read_string read_term
        read_term_from_atom recorda recorded recordz register_iri_scheme reset rule select_dict
        set_prolog_IO set_system_IO setarg setlocale setof setup_call_cleanup size_abstract_term
        stamp_date_time start_abstract_tabling start_subsumptive_tabling start_tabling stream_pair
        stream_position_data string_bytes string_code string_concat strip_module sub_atom_icasechk
        term_string term_variables thread_affinity thread_create thread_get_message thread_send_message
        thread_statistics tmp_file_stream transaction trie_delete trie_gen trie_gen_compiled trie_insert
        trie_lookup trie_update tty_get_capability unifiable wait_for_input wildcard_match write_length
        write_term zip_file_info_ zip_open_stream zipper_open_current
    """,
    4: """
        call copy_term copy_term_nat dcg_translate_rule del_dict divmod engine_create expand_goal
        expand_term findall findnsols float_parts format_time functor goal_expansion
        nth_integer_root_and_remainder numbervars open put_dict seek setup_call_catcher_cleanup sort
        split_string term_expansion term_hash trie_insert zipper_open_new_file_in_zip
    """,
    5: """
        call findnsols get_dict open_xterm read_string start_moded_tabling sub_atom sub_string
    """,
    6: """
        call
    """,
    7: """
        call
    """,
    8: """
        call
    """,
}

SYSTEM = frozenset((name, arity) for arity, names in _NAMES.items() for name in names.split())
"""Name and arity of the predicates of module `system` in SWI-Prolog 9.0, without those with a `$`."""
