"""M7: a get with the number of a lease that is on something else."""

import uuid

import client
from harness import A


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


def a_lease_number_means_one_tensor(pond, report):
    answers = pond().actor(A).call(numbers)
    for what, answer in answers.items():
        if "same" in what:
            report.check(answer == "x", f"a get of {what} with its lease is a repeat", answer)
        else:
            report.check(answer in ("invalid", "not_found"), f"a get of {what} with a lease on 'x' is refused",
                         answer if answer in client.KINDS.values() else f"answered with '{answer}'")
