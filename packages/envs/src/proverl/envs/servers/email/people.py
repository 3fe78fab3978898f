"""Whom the user writes with: colleagues, clients, friends, mailing lists, services, and people not yet saved."""

from dataclasses import dataclass

from proverl.envs import Draft, names
from proverl.envs.names import folded
from proverl.envs.servers.email import stories, words
from proverl.envs.servers.email.tables import EmailContact
from proverl.envs.state import Row

_COLLEAGUES, _CLIENTS, _FRIENDS = 11, 9, 7
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "ı": "i", "'": "", " ": "."})


@dataclass
class Circle:
    """The contacts by what they are to the user; `me` is the user's own first name."""

    me: str
    colleagues: list[Row]
    clients: list[Row]
    friends: list[Row]
    lists: list[Row]
    services: list[Row]
    strangers: list[Row]
    spammers: list[Row]

    @property
    def reachable(self) -> list[Row]:
        """Saved contacts that take emails."""
        saved = [*self.colleagues, *self.clients, *self.friends, *self.lists]
        return [row for row in saved if row["bounced_on"] is None]


def invite(draft: Draft) -> Circle:
    """Draw the contacts; a colleague and a stranger share a name, two addresses no longer exist."""
    rng = draft.rng
    me, *others = names.full_names(rng, _COLLEAGUES + _CLIENTS + _FRIENDS + 2, namesakes=0)
    _, domain = rng.choice(words.EMPLOYERS)

    def person(name: str, at: str, saved: bool = True) -> Row:
        return _contact(draft, name, f"{folded(name).translate(_PLAIN)}@{at}", "person", saved)

    colleagues = [person(others.pop(), domain) for _ in range(_COLLEAGUES)]
    clients = [person(others.pop(), rng.choice(words.CLIENTS)[1]) for _ in range(_CLIENTS)]
    friends = [person(others.pop(), rng.choice(words.PRIVATE_DOMAINS)) for _ in range(_FRIENDS)]
    namesake = person(colleagues[0]["name"], rng.choice(words.PRIVATE_DOMAINS))
    strangers = [person(others.pop(), rng.choice(words.PRIVATE_DOMAINS), saved=False)]
    for row in (clients[-1], colleagues[-1]):
        row["bounced_on"] = draft.day(-rng.randint(4, 30))
    lists = [_contact(draft, name, f"{local}@{domain}", "mailing_list") for name, local in words.MAILING_LISTS]
    services = [_contact(draft, name, address, "service") for name, address, _ in stories.SERVICES]
    spammers = [_contact(draft, name, address, "person", saved=False) for name, address, _ in stories.SPAM]
    return Circle(me.split()[0], colleagues, clients, [*friends, namesake], lists, services, strangers, spammers)


def unanswerable(draft: Draft) -> set[str]:
    """Ids of the contacts whose emails nobody answers: they take none, speak to all, or can't be reached any more."""
    return {row["id"] for row in draft.rows[EmailContact] if row["kind"] != "person" or row["bounced_on"]}


def _contact(draft: Draft, name: str, address: str, kind: str, saved: bool = True) -> Row:
    return draft.add(
        EmailContact, name=name, folded=folded(name), address=address, kind=kind, saved=saved, bounced_on=None
    )
