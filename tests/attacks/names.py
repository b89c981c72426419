"""L5 and L6: names of groups, and names that look like others."""

import unicodedata
import uuid

import client
from actor import kept
from harness import A, B


def join(name, limit):
    connection = client.Connection()
    kept.append(connection)
    return client.refused(connection.ask, "GroupJoin", token=uuid.uuid4(), name=name, limit=limit)


def a_group_of_one_user_takes_no_name_from_another(pond, report):
    pond = pond()
    refusal = pond.actor(B).call(join, "train", 1 << 30)
    report.check(refusal is None, "B makes a group 'train'", refusal)
    refusal = pond.actor(A).call(join, "train", 2 << 30)
    report.check(refusal is None, "A makes a group 'train' of its own", refusal or "made")


def greet(program):
    connection = client.Connection(program=program)
    connection.create(lease=1).close()
    kept.append(connection)


def make(names):
    connection = client.Connection()
    return [client.refused(connection.create, name) for name in names]


def names_that_look_the_same_are_refused(pond, report):
    hidden = ["\u202e", "\u200b", "\ufeff", "\u00ad", "\U000e0041", "\u2066", "\u200d"]
    pond = pond()
    a = pond.actor(A)
    for character, refusal in zip(hidden, a.call(make, [f"na{each}me" for each in hidden])):
        what = f"U+{ord(character):04X} {unicodedata.name(character)}"
        report.check(refusal == "invalid", f"a name with {what} is invalid", refusal or "made")
    b = pond.actor(B)
    b.call(greet, "pro\u009bgram\u200b\ufeff")
    for arguments, hidden in ((["ps", "--json"], "\u009b"), (["ps"], "\u009b\u200b\ufeff")):
        said = pond.cli(*arguments)[1]
        raw = [f"U+{ord(each):04X}" for each in hidden if each in said]
        report.check("gram" in said and not raw, f"`millpond {' '.join(arguments)}` escapes them in a program's name",
                     ", ".join(raw) or None)
    for name, refusal in zip(("größe/名前", "a.b-c_d"), a.call(make, ["größe/名前", "a.b-c_d"])):
        report.check(refusal is None, f"'{name}' is a name", refusal or "made")
