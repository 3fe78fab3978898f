"""The social network: what its tools do together, every refusal, its laws on corrupted states."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

NETWORK = load_server("social_media")
ME = "PRF-00001"


class Network:
    """A session, and shorthands for what a caller can find out."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([NETWORK], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def everyone(self) -> list[str]:
        return [row["profile_id"] for row in self.read("search_profiles", limit=100)["profiles"]]

    def profiles(self, **wanted: Any) -> list[str]:
        """Other profiles whose details are as wanted."""
        rows = [self.read("get_profile", profile_id=row) for row in self.everyone() if row != ME]
        return [row["profile_id"] for row in rows if wanted.items() <= row.items()]

    def connections(self, kind: str, **of: str) -> list[str]:
        return [row["profile_id"] for row in self.read("list_connections", kind=kind, limit=50, **of)["profiles"]]

    def stranger(self) -> str:
        return self.profiles(relation="none", visibility="public")[0]

    def posts(self, **narrow: Any) -> list[dict[str, Any]]:
        return self.read("search_posts", limit=50, **narrow)["posts"]

    def feed(self, **how: Any) -> list[dict[str, Any]]:
        return self.read("get_feed", limit=50, **how)["posts"]

    def comments(self, post_id: str) -> list[dict[str, Any]]:
        return self.read("list_post_comments", post_id=post_id, limit=50)["comments"]

    def post(self, **how: Any) -> str:
        return self.read("create_post", **{"text": "Hello there", **how})["post_id"]

    def open_post(self) -> str:
        """Somebody else's post that everybody may comment on, found by trying."""
        return next(row for row in self.others() if Network().call("create_post_comment", **comment(row)).ok)

    def others(self) -> list[str]:
        return [row["post_id"] for row in self.posts() if row["profile_id"] != ME]


@pytest.fixture
def network() -> Network:
    return Network()


def comment(post_id: str, **more: str) -> dict[str, Any]:
    return {"post_id": post_id, "text": "Brilliant, well done.", **more}


# What the tools do


def test_following_a_public_profile_fills_the_feed_and_unfollowing_empties_it(network):
    author = next(
        row for row in network.profiles(relation="none", visibility="public") if network.posts(profile_id=row)
    )
    followers = network.read("get_profile", profile_id=author)["followers"]
    assert network.read("follow_profile", profile_id=author)["status"] == "following"
    assert author in {row["profile_id"] for row in network.feed()}
    seen = network.read("get_profile", profile_id=author)
    assert (seen["followers"], seen["relation"]) == (followers + 1, "following")
    assert network.read("unfollow_profile", profile_id=author)["status"] == "not_following"
    assert author not in {row["profile_id"] for row in network.feed()}


def test_a_private_profile_is_asked_and_shows_nothing_until_it_agrees(network):
    private = network.profiles(relation="none", visibility="private")[0]
    assert network.read("follow_profile", profile_id=private)["status"] == "requested"
    assert private in network.connections("requested")
    assert "has not answered" in network.call("search_posts", profile_id=private).message
    network.read("unfollow_profile", profile_id=private)
    assert private not in network.connections("requested")


def test_a_block_ends_follows_in_both_directions_and_hides_posts_and_comments(network):
    friend = next(row for row in network.connections("following") if row in network.profiles(follows_you=True))
    network.read("block_profile", profile_id=friend)
    assert friend in network.connections("blocked")
    assert friend not in network.connections("followers") + network.connections("following")
    assert friend not in {row["profile_id"] for row in network.posts() + network.feed()}
    talkers = {row["profile_id"] for post in network.posts() for row in network.comments(post["post_id"])}
    assert friend not in talkers
    network.read("unblock_profile", profile_id=friend)
    assert network.read("get_profile", profile_id=friend)["relation"] == "none"


def test_the_feed_has_only_posts_of_followed_profiles_newest_or_most_popular_first(network):
    following = set(network.connections("following"))
    latest, top = network.feed(), network.feed(sort="top")
    assert {row["profile_id"] for row in latest} <= following
    assert [row["posted_at"] for row in latest] == sorted((row["posted_at"] for row in latest), reverse=True)
    assert [row["reactions"] for row in top] == sorted((row["reactions"] for row in top), reverse=True)
    week_ago = (network.session.now - timedelta(days=7)).date().isoformat()
    assert all(row["posted_at"] >= week_ago for row in top)


def test_searches_take_case_lightly_and_wildcards_literally(network):
    assert network.posts(query="THANK YOU") == network.posts(query="thank you") != []
    assert network.posts(query="%") == []
    name = network.read("search_profiles", limit=1)["profiles"][0]["name"]
    assert name in [row["name"] for row in network.read("search_profiles", name=name.upper())["profiles"]]


def test_a_new_post_is_found_shared_and_forgotten_when_it_is_deleted(network):
    first = network.post()
    second = network.post(text="As I said", quoted_post_id=first)
    newest = network.posts(profile_id=ME)[0]
    assert (newest["post_id"], newest["quoted_post_id"]) == (second, first)
    network.read("create_post_comment", **comment(first))
    network.read("delete_post", post_id=first)
    assert "quoted_post_id" not in network.posts(profile_id=ME)[0]
    assert network.call("list_post_comments", post_id=first).code == ErrorCode.NOT_FOUND


def test_another_reaction_replaces_the_first(network):
    post = next(row for row in network.posts() if row["profile_id"] != ME)
    counts = [
        network.read("react_to_post", post_id=post["post_id"], reaction=kind)["reactions"]
        for kind in ("wow", "sad", "funny")
    ]
    assert len(set(counts)) == 1
    assert counts[0] - post["reactions"] in (0, 1)


def test_a_comment_is_answered_below_the_post(network):
    post = network.open_post()
    before = network.comments(post)
    made = network.read("create_post_comment", **comment(post))["post_comment_id"]
    reply = network.read("create_post_comment", **comment(post, text="Really!", reply_to_id=made))["post_comment_id"]
    added = network.comments(post)[len(before) :]
    assert [row["post_comment_id"] for row in added] == [made, reply]
    assert (added[0]["profile_id"], added[1]["reply_to_id"]) == (ME, made)


def test_authors_comment_on_their_own_posts_even_when_comments_are_closed(network):
    assert network.call("create_post_comment", **comment(network.post(comments_by="nobody"))).ok


def test_a_private_profile_posts_for_its_followers(network):
    network.read("update_profile", visibility="private")
    assert network.read("create_post", text="Just us")["audience"] == "followers"


def test_a_new_name_is_found_and_what_is_not_given_stays(network):
    before = network.read("get_profile", profile_id=ME)
    network.read("update_profile", display_name="Captain Tulip")
    after = network.read("get_profile", profile_id=ME)
    assert after == {**before, "name": "Captain Tulip"}
    assert ME in [row["profile_id"] for row in network.read("search_profiles", name="captain")["profiles"]]


def test_profile_numbers_are_those_of_the_lists(network):
    for profile in network.profiles(visibility="public", relation="none")[:5]:
        seen = network.read("get_profile", profile_id=profile)
        assert seen["followers"] == len(network.connections("followers", profile_id=profile))
        assert seen["following"] == len(network.connections("following", profile_id=profile))


# Refusals


def known(network: Network) -> list[str]:
    """Every profile that some list names."""
    lists = [network.connections(kind) for kind in ("followers", "following", "requested", "blocked")]
    for profile in network.profiles(visibility="public"):
        for kind in ("followers", "following"):
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
    profile = network.connections("blocked")[0]
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


def of(profile_id: str) -> dict[str, Any]:
    return {"profile_id": profile_id}


Case = Callable[[Network], dict[str, Any]]
REFUSALS: list[tuple[str, Case, str]] = [  # tool, its arguments in a world, part of the message
    ("get_profile", lambda n: refused(n, "get_profile", "is suspended"), "choose another one with search_profiles"),
    ("get_profile", lambda n: refused(n, "get_profile", "has blocked you"), "can't be seen; choose another one"),
    ("search_posts", lambda n: of(n.connections("blocked")[0]), "unblock_profile shows its posts again"),
    ("search_posts", lambda n: refused(n, "search_posts", "is private"), "profile PRF-"),
    ("list_post_comments", lambda n: {"post_id": blocked_author(n)}, "unblock_profile shows its posts again"),
    ("list_post_comments", kept_from, "only; follow_profile makes you one"),
    ("list_connections", lambda n: {"kind": "blocked", **of(n.stranger())}, "leave profile_id out to list your own"),
    ("follow_profile", lambda n: of(ME), "is your own profile and you can't follow yourself"),
    ("follow_profile", lambda n: of(n.connections("blocked")[0]), "unblock_profile it before you follow it"),
    ("follow_profile", lambda n: of(n.profiles(relation="following")[0]), "already; unfollow_profile ends that"),
    ("follow_profile", lambda n: refused(n, "follow_profile", "have asked"), "unfollow_profile withdraws that"),
    ("follow_profile", lambda n: of(followed(n)), "you have followed 20 profiles today, the most allowed"),
    ("unfollow_profile", lambda n: of(n.stranger()), "with the kind following shows whom you follow"),
    ("block_profile", lambda n: of(ME), "you can't block yourself"),
    ("block_profile", lambda n: of(n.connections("blocked")[0]), "already; unblock_profile lifts that"),
    ("block_profile", lambda n: of(unblocked(n)), "it can be blocked again two days after that"),
    ("unblock_profile", lambda n: of(n.stranger()), "with the kind blocked shows whom you did"),
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


# Laws


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("INSERT INTO block SELECT follower_id, followed_id, since, NULL FROM follow WHERE followed_id = 'PRF-00001'",
         "blocks_end_follows"),
        ("UPDATE follow SET accepted = 0", "only_private_profiles_are_asked"),
        ("UPDATE comment SET post_id = (SELECT min(id) FROM post) WHERE reply_to_id IS NOT NULL",
         "answers_stay_under_their_comment"),
        ("UPDATE comment SET posted_at = '2020-01-01T00:00'", "nothing_is_older_than_what_it_is_about"),
        ("UPDATE post SET audience = 'followers'", "only_public_posts_are_shared"),
        ("UPDATE post SET comments_by = 'nobody'", "closed_posts_have_only_their_authors_comments"),
    ],
)  # fmt: skip
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in NETWORK.invariants if check.__name__ == law)
    with NETWORK.storage.connect(NETWORK.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        network = Network(5)
        calls = [
            ("create_post", {"text": "One"}),
            ("create_post", {"text": "Two"}),
            ("follow_profile", of(network.stranger())),
            ("react_to_post", {"post_id": network.others()[0], "reaction": "wow"}),
            ("block_profile", of(network.profiles(relation="none")[-1])),
            ("update_profile", {"bio": "Hello"}),
        ]
        assert all(network.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(network.session.digest())
    assert len(digests) == 1
