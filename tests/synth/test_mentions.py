"""What can be spoken of as "that account": the only one that a reader could take it for."""

from random import Random

import pytest
from banking_scenes import FIRST, NEW, account

from proverl.envs import load_server
from proverl.synth.chains.chain import Argument, ChainStep
from proverl.synth.chains.mentions import Mentions

ACCOUNT = ("banking.Account",)


def mentions(server="banking"):
    return Mentions(load_server(server), 0.0, Random(0))


def step(name, phrase, content, server="banking", **arguments):
    return ChainStep(load_server(server).functions[name].tool, phrase, arguments, content)


def opened(phrase):
    customer = Argument("CUS-10000", entity="banking.Customer")
    return step("open_account", phrase, {"account_id": NEW, "balance": 0.0, "name": "Trip"}, customer_id=customer)


LOOKED_AT = step("list_cards", "list the cards of {account_id}", {"cards": []}, account_id=account(FIRST))


@pytest.mark.parametrize(
    ("before", "phrase", "words"),
    [
        ([], "give {customer_id} a place to save", {"that account", "this account"}),
        ([LOOKED_AT], "open a savings account for {customer_id}", {"that account", "this account"}),
        ([LOOKED_AT], "give {customer_id} a place to save", {None}),  # "that account" would be the one looked at
    ],
)
def test_a_result_is_spoken_of_where_it_is_not_taken_for_what_the_user_named(before, phrase, words):
    known = mentions()
    for index, earlier in enumerate([*before, opened(phrase)]):
        known.add(index, earlier)
    found = known.recall(ACCOUNT, [])
    assert (found.words if found else None) in words


def test_what_came_out_of_a_named_path_is_not_that_item():
    known = mentions("filesystem")
    paths = {
        "path": Argument("/home/a/x.tar", entity="filesystem.Archive"),
        "destination": Argument("/home/a", entity="filesystem.Directory"),
    }
    phrase = "extract {path} into {destination}"
    known.add(0, step("extract_archive", phrase, {"entries": 3, "path": "/home/a/x"}, "filesystem", **paths))
    assert known.recall(("filesystem.Path",), []) is None


@pytest.mark.parametrize(("couriers", "words"), [(1, {"that food order", "this food order"}), (2, {None})])
def test_the_one_order_in_a_list_of_couriers_is_not_that_order(couriers, words):
    known = mentions("food_delivery")
    free = {"courier_id": "COU-20000", "food_order_id": None, "name": "B", "status": "available", "vehicle": "car"}
    busy = {**free, "courier_id": "COU-10000", "food_order_id": "FOR-10000"}
    known.add(0, step("list_couriers", "list the couriers", {"couriers": [busy, free][:couriers]}, "food_delivery"))
    found = known.recall(("food_delivery.FoodOrder",), [])
    assert (found.words if found else None) in words


POSTS = [{"post_id": f"PST-{n}", "profile_id": f"PRF-{n}"} for n in range(10000, 10004)]
FEED = ("get_feed", "show my feed", "social_media", "social_media.Post", "post")
FOLDER = ("list_directory", "list {path}", "filesystem", "filesystem.Path", "item")


def path(name):
    return {"path": f"/home/a/{name}"}


@pytest.mark.parametrize(
    ("call", "content", "order"),
    [
        (FEED, {"posts": [*POSTS[:3], POSTS[3] | {"quoted_post_id": "PST-9"}]}, [post["post_id"] for post in POSTS]),
        (FEED, {"posts": [POSTS[0], POSTS[1], POSTS[0]]}, None),  # "the second" could be the third
        (FOLDER, {"links": [path("x"), path("y")]}, ["/home/a/x", "/home/a/y"]),
        (FOLDER, {"files": [path("b")], "links": [path("x"), path("y")]}, None),
    ],
)
def test_a_place_counts_what_the_list_shows(call, content, order):
    name, phrase, server, kind, noun = call
    for seed in range(30):
        known = Mentions(load_server(server), 1.0, Random(seed))
        known.add(0, step(name, phrase, content, server))
        found = known.recall((kind,), [])
        if order is None:
            assert found is None
            continue
        place = {"first": 0, "second": 1, "last": -1}[found.words.removesuffix(" on the list").split()[1]]
        assert (found.value, noun in found.words) == (order[place], True)
