"""M7: a get with the number of a lease that is on something else, of a tensor and of a version."""

import uuid

import client
import manifests
from harness import A, MIB


def numbers():
    connection = client.Connection()
    tensors = {name: client.identity(connection.create(name).body.info.tensor) for name in "xy"}
    connection.get("x", lease=1).close()

    def again(**target):
        try:
            answer = connection.get(lease=1, **target)
        except client.Failure as failure:
            return failure.kind
        answer.close()
        return client.text(answer.body.info.name)
    return {"the same by name": again(name="x"), "the same by UUID": again(tensor=tensors["x"]),
            "another by name": again(name="y"), "another by UUID": again(tensor=tensors["y"]),
            "a name that is not there": again(name="z"), "a UUID that is not there": again(tensor=uuid.uuid4())}


def versions():
    """Two models; a get of the one with the number of a lease on the other."""
    connection = client.Connection()
    for model in ("m1", "m2"):
        version, parts = uuid.uuid4(), [client.table("PartSpec", bytes=2 * MIB)]
        connection.ask("VersionStage", version=version, model=model, audience=client.USER, parts=parts).close()
        manifests.commit(connection, version, [2 * MIB], activate=True).close()

    def get(model):
        try:
            answer = connection.ask("VersionGet", model=model, lease=5, mode=client.RO)
        except client.Failure as failure:
            return failure.kind
        answer.close()
        return client.text(answer.body.info.model)
    return [get(model) for model in ("m1", "m1", "m2", "m3")]


def a_lease_number_means_one_tensor(pond, report):
    a = pond().actor(A)
    answers = a.call(numbers)
    for what, answer in answers.items():
        if "same" in what:
            report.check(answer == "x", f"a get of {what} with its lease is a repeat", answer)
        else:
            report.check(answer in ("invalid", "not_found"), f"a get of {what} with a lease on 'x' is refused",
                         answer if answer in client.KINDS.values() else f"answered with '{answer}'")
    first, again, *others = a.call(versions)
    report.check((first, again) == ("m1", "m1"), "a get of the same version with its lease is a repeat", again)
    for answer in others:
        report.check(answer in ("invalid", "not_found"), "a get of another model with a lease on a version of 'm1' is refused",
                     answer if answer in client.KINDS.values() else f"answered with '{answer}'")
