"""What one user may have of a pond, as SECURITY.md says it, and which test shows which finding.

The settings are smaller than the defaults, so that an attack reaches them within seconds. A program that does not know a
setting passes it over.
"""

import pathlib
import re

MIB = 1 << 20

# One account for each user.
CLIENTS_PER_USER = 300  # silent ones included
CONNECTIONS_PER_USER = 1000
DESCRIPTORS_IN_FLIGHT_PART = 4  # one user's and all users' together: at most this part of the daemon's open files
REPLY_BYTES_PER_USER = 16 * MIB  # until they are read
WAITS_PER_USER = 2048
LEASES_PER_USER = 3000
LEASES_PER_CLIENT = 2000
# Of the pond.
CLIENTS = 1500


def promised(row):
    """A number of the table in SECURITY.md about all attacks at once, which is its only place."""
    text = (pathlib.Path(__file__).parent / "SECURITY.md").read_text(encoding="utf-8")
    return int(re.search(rf"^\| {re.escape(row)} \| ([\d,]+)[^|]* \|$", text, re.MULTILINE)[1].replace(",", ""))


RESIDENT_MIB = promised("its memory")
DESCRIPTORS = promised("its open descriptors")
WORK_MS = promised("its work between a request of another user and the answer")
SETTLED_SECONDS = promised("from the end of the attackers' processes until nothing of theirs is counted")
RESIDENT_MIB_KEPT = promised("memory that it keeps then, beyond what it had before")

SETTINGS = {
    "limits.clients": CLIENTS,
    "limits.clients_per_user": CLIENTS_PER_USER,
    "limits.connections_per_user": CONNECTIONS_PER_USER,
    "limits.reply_bytes_per_user": REPLY_BYTES_PER_USER,
    "limits.waits_per_user": WAITS_PER_USER,
    "limits.leases_per_user": LEASES_PER_USER,
    "limits.leases_per_client": LEASES_PER_CLIENT,
}

FINDINGS = {
    "H1": ("silent_clients", "clients_that_hung_up_count_for_their_user"),
    "H2": ("descriptors_in_flight", "descriptors_that_one_user_does_not_read_stop_nobody"),
    "H3": ("unread_replies", "replies_count_until_they_are_read"),
    "H4": ("fallthrough", "a_bare_name_is_the_callers_own"),
    "H5": ("ledger_file", "a_member_that_harms_the_ledger_ends_no_other_program"),
    "H6": ("slices", "a_large_answer_is_made_in_slices"),
    "M1": ("waiters", "requests_that_wait_are_counted_and_cost_others_nothing"),
    "M2": ("identity", "an_identity_cannot_be_taken"),
    "M3": ("mover_rights", "the_mover_has_the_callers_rights"),
    "M4": ("mover_turns", "users_take_turns_at_the_mover"),
    "M5": ("admin_bytes", "the_operator_moves_no_private_bytes"),
    "M6": ("gpu_lock", "nobody_keeps_a_card_from_roots_pond"),
    "M7": ("lease_number", "a_lease_number_means_one_tensor"),
    "M8": ("fill_run", "users_cannot_fill_the_runtime_folder"),
    "M9": ("removed_folder", "a_pond_whose_folder_was_removed_comes_back"),
    "L1": ("keeper_stopped", "a_stopped_keeper_delays_nobody"),
    "L2": ("keeper_stopped", "a_silent_process_keeps_nothing_that_it_never_had"),
    "L3": ("soft_slabs", "a_reader_cannot_truncate_a_slab"),
    "L4": ("events_kept", "one_user_does_not_push_out_the_events_of_another"),
    "L5": ("names", "a_group_of_one_user_takes_no_name_from_another"),
    "L6": ("names", "names_that_look_the_same_are_refused"),
    "L7": ("commands", "a_save_that_was_killed_leaves_nothing"),
    "L8": ("commands", "a_wait_that_ended_while_the_daemon_was_away_is_a_timeout"),
    "L9": ("manifests", "a_commit_is_checked"),
    "L10": ("words", "a_broken_ledger_is_named"),
    "L11": ("words", "nonsense_is_called_invalid"),
    "L12": ("unread_replies", "leases_are_counted_for_each_user"),
    "L13": ("unread_replies", "memory_is_given_back_after_listings"),
    "L14": ("descriptors_in_flight", "unread_descriptors_cost_no_work"),
    "HOSTS": ("hosts", "few_hosts_whose_contexts_are_on_the_users_account"),
    "ADOPTED": ("hosts", "memory_of_the_pond_is_not_taken_for_a_users"),
    "P1": ("planted", "what_another_user_planted_is_not_used"),
    "ONE": ("siege", "all_attacks_of_one_user_at_once_cost_the_others_nothing"),
    "ALL": ("siege", "all_attacks_at_once_cost_the_others_nothing"),
}
ALONE = {"ONE", "ALL"}
