"""The social network: what its tools do together, its laws on corrupted states, calls in any order."""

from datetime import timedelta

import pytest
from social_circle import ME, NETWORK, Network, comment, of
from sqlalchemy import text

from proverl.core import ErrorCode
from proverl.envs import Context, start_time


@pytest.fixture
def network() -> Network:
    return Network()


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
    assert private in network.connections("follow_requests")
    assert "has not answered" in network.call("search_posts", profile_id=private).message
    network.read("unfollow_profile", profile_id=private)
    assert private not in network.connections("follow_requests")


def test_a_block_ends_follows_in_both_directions_and_hides_posts_and_comments(network):
    friend = next(row for row in network.connections("followed_profiles") if row in network.profiles(follows_you=True))
    network.read("block_profile", profile_id=friend)
    assert friend in network.connections("blocked_profiles")
    assert friend not in network.connections("followers") + network.connections("followed_profiles")
    assert friend not in {row["profile_id"] for row in network.posts() + network.feed()}
    talkers = {row["profile_id"] for post in network.posts() for row in network.comments(post["post_id"])}
    assert friend not in talkers
    network.read("unblock_profile", profile_id=friend)
    assert network.read("get_profile", profile_id=friend)["relation"] == "none"


def test_the_feed_has_only_posts_of_followed_profiles_newest_or_most_popular_first(network):
    following = set(network.connections("followed_profiles"))
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
        assert seen["following"] == len(network.connections("followed_profiles", profile_id=profile))


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
