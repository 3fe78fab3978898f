"""People and places that start states are made of, the same for every server, and how names are compared."""

import unicodedata
from random import Random

FIRST_NAMES = (
    "Aino", "Aisha", "Amara", "Ana", "Anna", "Björn", "Bram", "Carlos", "Chiara", "Chloé", "Daan", "Daniel", "Diego",
    "Elif", "Emma", "Ethan", "Fatima", "Femke", "Grace", "Hana", "Hannah", "Hugo", "Ines", "Ingrid", "Ivan", "Jonas",
    "José", "Katarzyna", "Kenji", "Lars", "Léa", "Liam", "Lotte", "Lucía", "Lukas", "Łukasz", "Marta", "Mateo", "Mei",
    "Mira", "Nneka", "Noah", "Noor", "Nora", "Oliver", "Omar", "Pavel", "Petra", "Priya", "Rahul", "Rasmus", "Samuel",
    "Sofia", "Søren", "Tomás", "Viktor", "Wei", "Yuki", "Yusuf", "Zainab", "Zoë",
)  # fmt: skip
LAST_NAMES = (
    "Adeyemi", "Almeida", "Aziz", "Bakker", "Bennett", "Berg", "Bianchi", "Chen", "Claes", "Diallo", "Dubois",
    "Eriksen", "Eze", "Farouk", "Fernández", "Fischer", "García", "Haddad", "Horvat", "Jansen", "Karim", "Kaya", "Kim",
    "Korhonen", "Kowalska", "Lindqvist", "Maes", "Mehta", "Morales", "Moreau", "Müller", "Murphy", "Nielsen", "Novak",
    "O'Brien", "Okafor", "Ortiz", "Peeters", "Petrov", "Raman", "Rossi", "Sato", "Schmidt", "Souza", "Suzuki", "Tanaka",
    "Vargas", "Walker", "Weber", "Yılmaz", "Zhang",
)  # fmt: skip
CITIES = (
    "Amsterdam", "Antwerp", "Barcelona", "Berlin", "Bruges", "Brussels", "Copenhagen", "Dublin", "Ghent", "Hamburg",
    "Helsinki", "Köln", "Kraków", "Leuven", "Lisbon", "Lyon", "Madrid", "Milan", "Munich", "Oslo", "Paris", "Porto",
    "Prague", "Rome", "Rotterdam", "Seville", "Stockholm", "Turku", "Utrecht", "Vienna", "Warsaw", "Zürich",
)  # fmt: skip
STREETS = (
    "Station Street", "Mill Lane", "Harbour Road", "Market Square", "Park Avenue", "Linden Street", "Church Street",
    "Rue du Midi", "Kanaalstraat", "Calle Mayor", "Via Roma", "Bergweg", "Rua Nova", "Schulstraße", "Ringvägen",
    "Castle Hill", "Orchard Close", "Quai Saint-Michel", "Nieuwstraat", "Old Bridge Road",
)  # fmt: skip


def full_names(rng: Random, count: int, namesakes: int = 1) -> list[str]:
    """`count` full names, all different but for the last `namesakes`, which repeat the first ones."""
    pairs = rng.sample(range(len(FIRST_NAMES) * len(LAST_NAMES)), count - namesakes)
    names = [f"{FIRST_NAMES[pair % len(FIRST_NAMES)]} {LAST_NAMES[pair // len(FIRST_NAMES)]}" for pair in pairs]
    return names + names[:namesakes]


_WHOLE = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})  # Unicode has no accent to drop


def folded(text: str) -> str:
    """Lower case without accents, so that `Muller` finds `Müller` and `soren` finds `Søren`."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_WHOLE))
    return "".join(char for char in plain if not unicodedata.combining(char))
