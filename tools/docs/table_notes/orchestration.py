"""Notes on tasks, graphs, schedules, partitions and notifications."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_REPORTS = "tests/contract/scheduler/test_reports.py"
_LEASES = "tests/contract/scheduler/test_leases.py"
_QUEUE = "tests/contract/scheduler/test_queue.py"
_SOURCE_FILES = "tests/contract/ledger/test_source_files.py"
_RACING = "tests/postgres/test_queue_racing.py"
_LIFE = "tests/property/dispatch/test_lifecycle.py"
_DERIVED = "It is worked out again from definitions and facts."
_EVENTS = "tests/contract/notifications/test_events.py"
_KILLED = "tests/faults/test_killed_events.py"

_SCHEDULES = "tests/contract/scheduler/test_schedules.py"
_TRIGGERS = "tests/contract/scheduler/test_triggers.py"
_RECEIVED = "tests/contract/scheduler/test_received_events.py"
_STREAMS = "tests/contract/insight/test_streams.py"
_DISPATCHER = "tests/faults/test_killed_dispatcher.py"
_ALERTS_RAISED = "tests/contract/notifications/test_raised_alerts.py"
_ALERTS_SENT = "tests/contract/notifications/test_sent_alerts.py"
_KILLED_ALERTS = "tests/faults/test_killed_alerts.py"

DISPATCH_NOTES: dict[str, TableNote] = {
    "task_transitions": TableNote(
        Family.ORCHESTRATION,
        "Every change of a task's state: when, by whom, and why.",
        (
            Invariant(
                "The changes of a task are numbered without gaps, from its first.",
                constraints=("pk_task_transitions", "task_transitions_task_id_fkey"),
                tests=(f"{_LIFE}::test_tasks_live_as_the_model_says",),
            ),
            Invariant(
                "A task goes to one worker, and a stale ticket does nothing.",
                tests=(
                    f"{_LEASES}::test_a_stale_ticket_does_nothing",
                    f"{_RACING}::test_each_task_goes_to_one_of_many_workers",
                ),
            ),
            Invariant(
                "A job has never more attempts under way than it allows.",
                tests=(
                    f"{_QUEUE}::test_a_job_has_no_more_attempts_than_it_allows",
                    f"{_RACING}::test_no_more_than_the_limit_of_a_job_ever_runs",
                ),
            ),
        ),
    ),
    "task_results": TableNote(
        Family.ORCHESTRATION,
        "How an attempt ended that is no move of a table, and the answer that its report got.",
        (
            Invariant(
                "An attempt ends once; the same report again gets the same answer.",
                constraints=(
                    "task_results_pkey",
                    "task_results_run_id_fkey",
                    "ck_task_results_status",
                ),
                tests=(
                    f"{_REPORTS}::test_a_hundred_at_once_are_one",
                    f"{_REPORTS}::test_the_same_again_gets_the_first_answer",
                ),
            ),
            Invariant(
                "Another report, or one on an attempt that somebody gave up, changes nothing.",
                tests=(
                    f"{_REPORTS}::test_another_report_on_the_same_attempt_is_refused",
                    f"{_REPORTS}::test_who_slept_past_his_lease_comes_too_late",
                    "tests/faults/test_workers_killed.py"
                    "::test_a_worker_that_slept_past_its_lease_comes_too_late",
                ),
            ),
        ),
    ),
    "output_materializations": TableNote(
        Family.ORCHESTRATION,
        "What a job that builds no dataset brought forth, with what its operator says of it.",
        (
            Invariant(
                "An output is there once for each key of its job.",
                constraints=(
                    "pk_output_materializations",
                    "output_materializations_task_id_fkey",
                ),
                tests=(f"{_REPORTS}::test_an_output_is_there_once_for_each_key",),
            ),
            Invariant(
                "A success brings what its job promises and no more; a failure brings nothing.",
                tests=(
                    f"{_REPORTS}::test_a_report_that_is_not_as_promised_leaves_the_attempt_open",
                ),
            ),
        ),
    ),
    "dag_activations": TableNote(
        Family.ORCHESTRATION,
        "Which version of the graph was active from when on; the last one is.",
        (
            Invariant(
                "One version of the graph is active in an organisation.",
                constraints=("pk_dag_activations", "dag_activations_dag_version_id_fkey"),
                tests=(
                    "tests/contract/scheduler/test_deploy.py::test_of_many_deployments_at_once_one_counts",
                ),
            ),
        ),
    ),
    "job_switches": TableNote(
        Family.CONTROL,
        "Jobs that an operator switched off, and on again, whatever their definition says.",
        (
            Invariant(
                "The last switch of a job counts.",
                constraints=("pk_job_switches",),
                tests=(
                    "tests/contract/scheduler/test_launch.py"
                    "::test_a_switch_is_shown_with_the_job_and_kept_once",
                ),
            ),
        ),
    ),
    "job_schedules": TableNote(
        Family.CONTROL,
        "When a job is due next by its schedule, under which definition.",
        (
            Invariant("A job has one next time.", constraints=("pk_job_schedules",)),
            Invariant(
                "It is of the latest definition that any dispatcher read.",
                tests=(
                    f"{_SCHEDULES}::test_who_read_the_definitions_before_puts_no_old_schedule_back",
                ),
            ),
            Invariant(
                "It moves on with the launch of the time that was due, or not at all.",
                tests=(
                    f"{_DISPATCHER}::test_nothing_is_lost_and_nothing_is_launched_twice",
                    f"{_SCHEDULES}::test_two_dispatchers_start_each_time_once",
                ),
            ),
        ),
        not_in_lake=_DERIVED,
    ),
    "trigger_cursors": TableNote(
        Family.ORCHESTRATION,
        "How far a job has come with what it watches: versions of datasets, files, other jobs.",
        (
            Invariant("A job has one place in each.", constraints=("pk_trigger_cursors",)),
            Invariant(
                "What is there and was not launched for is found by the next turn.",
                tests=(
                    f"{_TRIGGERS}::test_a_version_that_nobody_heard_of_is_found_by_whoever_looks",
                    f"{_TRIGGERS}::test_many_dispatchers_start_each_job_once",
                ),
            ),
        ),
        not_in_lake=_DERIVED,
    ),
    "stream_reports": TableNote(
        Family.ORCHESTRATION,
        "The last report of each streaming query: its state, its last micro-batch and its backlog.",
        (
            Invariant(
                "A query has one report, the last.",
                constraints=("pk_stream_reports",),
                tests=(f"{_STREAMS}::test_the_last_report_of_a_query_counts",),
            ),
        ),
        not_in_lake="A query that runs reports itself again; its runs are in the lake.",
    ),
    "received_events": TableNote(
        Family.CONTROL,
        "Events that other systems sent, as they came.",
        (
            Invariant(
                "An event of a source is taken once.",
                constraints=("pk_received_events", "uq_received_events_ordinal"),
                tests=(f"{_RECEIVED}::test_an_event_sent_by_many_at_once_starts_one_job",),
            ),
            Invariant(
                "It is kept with the tasks that it starts, or not at all.",
                tests=(
                    f"{_DISPATCHER}::test_an_event_that_got_no_answer_is_sent_again_and_starts_one_job",
                ),
            ),
        ),
    ),
    "partition_versions": TableNote(
        Family.ORCHESTRATION,
        "Of each partition that a version brought or replaced: rows, bytes, where it lies, and"
        " under which settings and schema it was made.",
        (
            Invariant(
                "A version brings a partition once.",
                constraints=("pk_partition_versions",),
            ),
            Invariant(
                "The partitions of what is published have the rows of its version.",
                tests=(
                    "tests/contract/promotion/test_partition_versions.py"
                    "::test_partitions_that_do_not_add_up_are_found",
                ),
            ),
        ),
    ),
    "source_files": TableNote(
        Family.ORCHESTRATION,
        "Which files of its source a version read or forgot, compared with the version before it"
        " in number.",
        (
            Invariant(
                "A version changes the record of a file once.", constraints=("pk_source_files",)
            ),
            Invariant(
                "The rows up to a version add up to all files that it has read, whatever was rolled"
                " back between.",
                tests=(f"{_SOURCE_FILES}::test_every_version_has_the_files_that_it_read",),
            ),
            Invariant(
                "They are the files of the position that its run reported.",
                tests=(f"{_SOURCE_FILES}::test_files_that_do_not_add_up_are_found",),
            ),
        ),
    ),
    "invalidations": TableNote(
        Family.ORCHESTRATION,
        "What has to be built again, why, and whose change caused it.",
        (Invariant("An invalidation is recorded once.", constraints=("invalidations_pkey",)),),
    ),
    "invalidation_progress": TableNote(
        Family.ORCHESTRATION,
        "Which dependents have caught up with an invalidation, and by which run.",
        (
            Invariant(
                "A dependent answers an invalidation once.",
                constraints=(
                    "pk_invalidation_progress",
                    "ck_invalidation_progress_outcome",
                    "invalidation_progress_invalidation_id_fkey",
                ),
            ),
        ),
    ),
    "invalidation_ends": TableNote(
        Family.ORCHESTRATION,
        "Invalidations that all have caught up with, and those that were withdrawn.",
        (
            Invariant(
                "It is done exactly when all whom it reaches have a version that saw the repair.",
                tests=(
                    "tests/property/dispatch/test_invalidations.py"
                    "::test_who_has_caught_up_is_who_has_a_version_that_saw_the_repair",
                ),
            ),
            Invariant(
                "An invalidation ends once.",
                constraints=(
                    "invalidation_ends_pkey",
                    "ck_invalidation_ends_outcome",
                    "invalidation_ends_invalidation_id_fkey",
                ),
            ),
        ),
    ),
}

NOTIFICATION_NOTES: dict[str, TableNote] = {
    "notifications": TableNote(
        Family.OURS,
        "Alerts and events, by topic. Alerts: blocks, warnings, SLA breaches, failures and"
        " rollbacks. Events: what happened, for other systems; written once an event channel is"
        " open. The payload is JSON: an event's data, or the other fields of an alert. The subject"
        " of an alert is its dataset's name at the time; only alerts have a severity.",
        (
            Invariant(
                "It is written together with its cause, and once: equal content has the same key.",
                constraints=(
                    "notifications_pkey",
                    "uq_notifications_dedupe",
                    "ck_notifications_topic",
                    "ck_notifications_severity",
                ),
                tests=(
                    f"{_ALERTS_RAISED}::test_a_block_is_told_with_its_decision",
                    f"{_ALERTS_RAISED}::test_what_is_late_is_told_once_until_it_ends",
                    f"{_EVENTS}::test_the_fact_and_its_event_are_one_transaction",
                    f"{_EVENTS}::test_every_channel_tells_the_same_bytes",
                ),
            ),
            Invariant(
                "It contains no row values and no engine messages.",
                tests=(
                    f"{_ALERTS_RAISED}::test_what_an_engine_said_is_not_told",
                    f"{_ALERTS_RAISED}::test_what_a_rule_observed_is_not_told",
                ),
            ),
        ),
    ),
    "notification_channels": TableNote(
        Family.OURS,
        "When each channel was opened.",
        (
            Invariant(
                "A new channel delivers nothing older.",
                constraints=("pk_notification_channels", "ck_notification_channels_topic"),
                tests=(
                    f"{_ALERTS_SENT}::test_a_new_channel_tells_nothing_of_before",
                    f"{_EVENTS}::test_a_new_channel_tells_nothing_of_before",
                ),
            ),
        ),
    ),
    "notification_deliveries": TableNote(
        Family.OURS,
        "Every delivery attempt of a channel, and its outcome.",
        (
            Invariant(
                "A channel delivers a notification once, whichever processes try and die; a webhook"
                " may receive it again with the same id.",
                constraints=(
                    "pk_notification_deliveries",
                    "ck_notification_deliveries_outcome",
                    "notification_deliveries_notification_id_fkey",
                ),
                tests=(
                    f"{_ALERTS_SENT}::test_two_processes_tell_an_alert_once",
                    f"{_KILLED_ALERTS}::test_a_file_has_each_alert_once",
                    f"{_KILLED}::test_an_event_is_told_at_least_once_under_one_id",
                ),
            ),
            Invariant(
                "A notification is given up after the channel's attempts.",
                tests=(f"{_EVENTS}::test_after_so_many_attempts_it_is_given_up",),
            ),
            Invariant(
                "A rebuilt State delivers nothing older.",
                tests=(
                    f"{_ALERTS_SENT}::test_a_rebuilt_state_tells_nothing_again",
                    f"{_EVENTS}::test_a_rebuilt_state_has_its_events_and_sends_none_again",
                ),
            ),
        ),
    ),
}
