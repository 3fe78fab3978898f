"""Scenes at a bank as the state machine would set them, made by hand."""

from random import Random

from proverl.core import ErrorCode
from proverl.envs import load_server, start_time
from proverl.synth.chains.chain import Argument, ChainStep, Refused
from proverl.synth.chains.sampler import sample_entities
from proverl.synth.scene import Ask, Information, Scene, Vague

SEED = 0
ACCOUNTS = sample_entities("banking", SEED)["banking.Account"]
FIRST, SECOND, THIRD = (str(account) for account in ACCOUNTS[:3])
NEW = "ACC-99999"  # what only a result knows


def tool(name):
    return load_server("banking").functions[name].tool


def account(value, **how):
    return Argument(value, entity="banking.Account", **how)


def step(name, **arguments):
    return ChainStep(tool(name), "", arguments, {})


def transfer(**changes):
    arguments = {"from_account_id": account(FIRST), "to_account_id": account(SECOND), "amount": Argument(250)}
    return step("transfer_funds", **{**arguments, **changes})


def to_the_new_one(words="that account"):
    return transfer(to_account_id=account(NEW, origin=(0, "account_id"), words=words))


def refused_transfer(kind):
    return Refused(tool("transfer_funds"), "", transfer().arguments, ErrorCode.REJECTED, "no cover", kind, "amount")


def vague(information, withheld=""):
    return Vague(transfer(), "", information, withheld)


MISSING = vague(Information.MISSING, "to_account_id")
MINIMAL = vague(Information.MINIMAL)


def scene(*asks, turn=0, messages=(), number=0):
    return Scene(
        "banking",
        SEED,
        "chatty",
        start_time(SEED).date(),
        "Act for the user with these tools.",
        asks or (Ask((transfer(),)),),
        (tool("transfer_funds"), tool("get_account")),
        Random(f"scene{number}"),
        turn=turn,
        messages=list(messages),
    )
