"""Every refusal of the social network, with what would be right."""

from collections.abc import Callable
from typing import Any

import pytest
from social_circle import ME, Network, comment, of

from proverl.core import ErrorCode


@pytest.fixture
def network() -> Network:
    return Network()


def known(network: Network) -> list[str]:
    """Every profile that some list names."""
    lists = [
        network.connections(kind) for kind in ("followers", "followed_profiles", "follow_requests", "blocked_profiles")
    ]
    for profile in network.profiles(visibility="public"):
        for kind in ("followers", "followed_profiles"):
            result = network.call("list_connections", kind=kind, profile_id=profile, limit=50)
            lists.append([row["profile_id"] for row in result.content["profiles"]] if result.ok else [])
    return sorted({profile for rows in lists for profile in rows})


def refused(network: Network, tool: str, reason: str) -> dict[str, Any]:
    """A profile for which the tool is refused for that reason, in the first world that has one."""
    for seed in range(3, 12):
        network.session = Network(seed).session
        for profile in known(network):
            if reason in Network(seed).call(tool, profile_id=profile).message:
                return {"profile_id": profile}
    raise AssertionError(reason)


def hostile(network: Network, tool: str, reason: str, **arguments: Any) -> dict[str, Any]:
    """A readable post for which the tool is refused for that reason."""
    for seed in range(3, 12):
        network.session = Network(seed).session
        for post in network.others():
            if reason in Network(seed).call(tool, post_id=post, **arguments).message:
                return {"post_id": post, **arguments}
    raise AssertionError(reason)


def for_followers(network: Network) -> tuple[str, str]:
    """A public profile that the user follows, and a post of it that only followers may read."""
    for seed in range(3, 12):
        network.session, probe = Network(seed).session, Network(seed)
        for author in network.profiles(relation="following"):
            readable = {row["post_id"] for row in network.posts(profile_id=author)}
            probe.read("unfollow_profile", profile_id=author)
            result = probe.call("search_posts", profile_id=author, limit=50)
            lost = readable - {row["post_id"] for row in result.content["posts"]} if result.ok else None
            if lost:
                return author, min(lost)
    raise AssertionError("everybody writes for everybody")


def kept_from(network: Network) -> dict[str, Any]:
    author, post = for_followers(network)
    network.read("unfollow_profile", profile_id=author)
    return {"post_id": post}


def posted(network: Network, times: int) -> Network:
    for number in range(times):
        network.post(text=f"Number {number}")
    return network


def followed(network: Network) -> str:
    """A profile that is one too many today."""
    for profile in network.profiles(relation="none"):
        if "the most allowed" in network.call("follow_profile", profile_id=profile).message:
            return profile
    raise AssertionError("no limit")


def unblocked(network: Network) -> str:
    profile = network.connections("blocked_profiles")[0]
    network.read("unblock_profile", profile_id=profile)
    return profile


def renamed(network: Network) -> Network:
    network.read("update_profile", display_name="Lou")
    return network


def private(network: Network) -> Network:
    network.read("update_profile", visibility="private")
    return network


def commented(network: Network, **more: str) -> dict[str, Any]:
    post = network.open_post()
    network.read("create_post_comment", **comment(post))
    return comment(post, **more)


def blocked_author(network: Network) -> str:
    post = next(row for row in network.posts() if row["profile_id"] != ME)
    network.read("block_profile", profile_id=post["profile_id"])
    return post["post_id"]


def reply_elsewhere(network: Network) -> dict[str, Any]:
    first, second = network.post(text="One"), network.post(text="Two")
    made = network.read("create_post_comment", **comment(first))["post_comment_id"]
    return comment(second, reply_to_id=made)


def reply_to_a_reply(network: Network) -> dict[str, Any]:
    post = network.post()
    made = network.read("create_post_comment", **comment(post))["post_comment_id"]
    reply = network.read("create_post_comment", **comment(post, text="Yes", reply_to_id=made))["post_comment_id"]
    return comment(post, text="No", reply_to_id=reply)


def reply_to_somebody_blocked(network: Network) -> dict[str, Any]:
    for post in network.posts(profile_id=ME):
        for row in network.comments(post["post_id"]):
            if row["profile_id"] != ME:
                network.read("block_profile", profile_id=row["profile_id"])
                return comment(post["post_id"], reply_to_id=row["post_comment_id"])
    raise AssertionError("nobody commented")


Case = Callable[[Network], dict[str, Any]]
REFUSALS: list[tuple[str, Case, str]] = [  # tool, its arguments in a world, part of the message
    ("get_profile", lambda n: refused(n, "get_profile", "is suspended"), "choose another one with search_profiles"),
    ("get_profile", lambda n: refused(n, "get_profile", "has blocked you"), "can't be seen; choose another one"),
    ("search_posts", lambda n: of(n.connections("blocked_profiles")[0]), "unblock_profile shows its posts again"),
    ("search_posts", lambda n: refused(n, "search_posts", "is private"), "profile PRF-"),
    ("list_post_comments", lambda n: {"post_id": blocked_author(n)}, "unblock_profile shows its posts again"),
    ("list_post_comments", kept_from, "only; follow_profile makes you one"),
    (
        "list_connections",
        lambda n: {"kind": "blocked_profiles", **of(n.stranger())},
        "leave profile_id out to list your own",
    ),
    ("follow_profile", lambda n: of(ME), "is your own profile and you can't follow yourself"),
    ("follow_profile", lambda n: of(n.connections("blocked_profiles")[0]), "unblock_profile it before you follow it"),
    ("follow_profile", lambda n: of(n.profiles(relation="following")[0]), "already; unfollow_profile ends that"),
    ("follow_profile", lambda n: refused(n, "follow_profile", "have asked"), "unfollow_profile withdraws that"),
    ("follow_profile", lambda n: of(followed(n)), "you have followed 20 profiles today, the most allowed"),
    ("unfollow_profile", lambda n: of(n.stranger()), "shows your followed_profiles"),
    ("block_profile", lambda n: of(ME), "you can't block yourself"),
    ("block_profile", lambda n: of(n.connections("blocked_profiles")[0]), "already; unblock_profile lifts that"),
    ("block_profile", lambda n: of(unblocked(n)), "it can be blocked again two days after that"),
    ("unblock_profile", lambda n: of(n.stranger()), "shows your blocked_profiles"),
    ("update_profile", lambda n: {}, "that changes nothing; give a display name"),
    ("update_profile", lambda n: {"visibility": "public"}, "that changes nothing"),
    ("update_profile", lambda n: {"bio": "  "}, "the bio is blank; write something"),
    ("update_profile", lambda n: renamed(n) and {"display_name": "Mo"}, "it can be changed again from"),
    ("create_post", lambda n: {"text": "\n \n"}, "the post is blank; write something that can be read"),
    ("create_post", lambda n: {"text": "#a #b #c #d #e #f"}, "has 6 hashtags; leave at most 5"),
    ("create_post", lambda n: n.post() and {"text": " Hello there"}, "write something new"),
    ("create_post", lambda n: posted(n, 20) and {"text": "More"}, "posted 20 times today, the most allowed"),
    ("create_post", lambda n: private(n) and {"text": "Hi", "audience": "public"}, "update_profile makes it public"),
    (
        "create_post",
        lambda n: {"text": "Look", "quoted_post_id": for_followers(n)[1]},
        "only public posts can be shared",
    ),
    ("delete_post", lambda n: {"post_id": n.others()[0]}, "only your own posts can be deleted"),
    ("react_to_post", lambda n: {"post_id": n.post(), "reaction": "love"}, "react to posts of others"),
    (
        "react_to_post",
        lambda n: hostile(n, "react_to_post", "already", reaction="like"),
        "choose another one to change",
    ),
    (
        "create_post_comment",
        lambda n: hostile(n, "create_post_comment", "closed", text="Oh"),
        "react_to_post is possible",
    ),
    ("create_post_comment", lambda n: hostile(n, "create_post_comment", "only followers", text="Oh"), "makes you one"),
    ("create_post_comment", lambda n: comment(n.open_post(), text=" "), "the comment is blank"),
    ("create_post_comment", commented, "already, as PCM-"),
    ("create_post_comment", reply_elsewhere, "answer it there"),
    ("create_post_comment", reply_to_a_reply, "replies go one level deep, so answer PCM-"),
    ("create_post_comment", reply_to_somebody_blocked, "answer one that list_post_comments shows"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSALS, ids=[f"{case[0]}: {case[2]}" for case in REFUSALS])
def test_the_network_refuses_and_says_what_would_be_right(network, name, arguments, message):
    wrong = arguments(network)
    before = network.session.digest()
    result = network.call(name, **wrong)
    assert result.code == ErrorCode.REJECTED, result
    assert message in result.message
    assert network.session.digest() == before
