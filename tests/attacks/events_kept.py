"""L4: B makes private tensors, whose events A does not see and should not lose others for."""

import client
from harness import A, B
from unread_replies import fill

CREATES = 5000
GAP = 11


def happen():
    """Makes a tensor, and returns the sequence number of its event."""
    connection, watching = client.Connection(), client.Connection()
    watching.ask("Subscribe")
    tensor = client.identity(connection.create("mine").body.info.tensor)
    while True:
        event = watching.answer_to(0).body
        if client.identity(event.tensor) == tensor:
            return event.sequence


def read(sequence):
    """The first event that is kept from there on: its kind, and its number. A gap before it tells of B's, of which A may
    see those of clients."""
    connection = client.Connection()
    connection.ask("Subscribe", **{"from": sequence})
    event = connection.answer_to(0).body
    if event.kind == GAP:
        event = connection.answer_to(0).body
    return event.kind, event.sequence


def one_user_does_not_push_out_the_events_of_another(pond, report):
    pond = pond()
    a, b = pond.actor(A), pond.actor(B)
    sequence = a.call(happen)
    report.check(a.call(read, sequence) == [1, sequence], "A reads its event again")
    b.call(fill, CREATES)
    kind, found = a.call(read, sequence)
    report.check(kind == 1 and found == sequence, f"also after {CREATES} private creates of B",
                 "the event" if kind == 1 else "a gap" if kind == GAP else kind)
