"""Questions and small talk that no tool of any server serves."""

from random import Random

_COUNTRIES = [
    "Australia",
    "Brazil",
    "Canada",
    "Denmark",
    "Egypt",
    "Finland",
    "Ghana",
    "Hungary",
    "Iceland",
    "Japan",
    "Kenya",
    "Latvia",
    "Morocco",
    "Norway",
    "Oman",
    "Peru",
    "Qatar",
    "Romania",
    "Senegal",
    "Thailand",
    "Uruguay",
    "Vietnam",
    "Zambia",
]
_ANIMALS = ["penguins", "otters", "camels", "octopuses", "hedgehogs", "parrots", "snails", "giraffes", "bats", "goats"]
_WORDS = [
    "ubiquitous",
    "serendipity",
    "laconic",
    "ephemeral",
    "candid",
    "gregarious",
    "obsolete",
    "frugal",
    "nebulous",
    "stoic",
]
_LANGUAGES = ["Spanish", "German", "Japanese", "Swahili", "Portuguese", "Finnish", "Welsh", "Turkish"]
_GREETINGS = ("good morning", "thank you very much", "where is the library", "happy birthday", "see you soon")
_STAINS = ("red wine", "coffee", "grass", "ink", "chocolate", "beetroot")
_CLOTHS = ("a shirt", "a linen tablecloth", "a wool jumper", "the sofa", "a pair of jeans")
_BOOKS = ("Pride and Prejudice", "Moby-Dick", "Dracula", "Middlemarch", "Don Quixote", "War and Peace", "Frankenstein")
_FOODS = ("an egg", "brown rice", "a sweet potato", "lentils", "corn on the cob", "asparagus")
_WHYS = (
    "the sky is blue",
    "cats purr",
    "bread rises",
    "leaves change colour",
    "the moon has phases",
    "ice floats",
    "onions make us cry",
    "we yawn",
    "metal feels colder than wood",
)
_PAIRS = (
    ("a llama", "an alpaca"),
    ("a crocodile", "an alligator"),
    ("jam", "marmalade"),
    ("a violin", "a viola"),
    ("weather", "climate"),
    ("a comet", "an asteroid"),
)
_BATTLES = ("Hastings", "Waterloo", "Marathon", "Agincourt", "Gettysburg", "Trafalgar")
_PETS = ("a ginger cat", "a shy greyhound", "a talkative parrot", "a black rabbit", "an old tortoise")
_TEMPLATES = (
    "What's the capital of {country}?",
    "Which language do most people speak in {country}?",
    "Can you tell me a joke about {animals}?",
    "Tell me a fun fact about {animals}.",
    "What does '{word}' mean?",
    "Use the word '{word}' in a sentence.",
    "How do you say '{greeting}' in {language}?",
    "How do I get {stain} stains out of {cloth}?",
    "Who wrote {book}?",
    "Is {book} worth reading?",
    "How long should I cook {food}?",
    "Explain in one sentence why {why}.",
    "Why is it that {why}?",
    "What's the difference between {one} and {other}?",
    "Who won the battle of {battle}?",
    "What's a good name for {pet}?",
    "What is {a} times {b}?",
    "What's {a} plus {b}, off the top of your head?",
    "Write me a two-line poem about {animals}.",
    "Give me three words that rhyme with '{rhyme}'.",
    "Is {fruit} a fruit or a vegetable?",
    "Which planet is number {place} from the sun?",
)
_PLAIN = ("", "", "")
_TURNS = ("Something else. ", "By the way. ", "One thing before I forget. ")  # away from what was spoken of
_ASKING = (  # before questions only
    "Quick question. ",
    "I've always wondered. ",
    "Just out of curiosity. ",
    "My daughter asked me this. ",
    "This came up in a quiz. ",
)


def unrelated(rng: Random) -> str:
    """One question or wish, drawn from many thousands."""
    one, other = rng.choice(_PAIRS)
    return rng.choice(_TEMPLATES).format(
        country=rng.choice(_COUNTRIES),
        animals=rng.choice(_ANIMALS),
        word=rng.choice(_WORDS),
        greeting=rng.choice(_GREETINGS),
        language=rng.choice(_LANGUAGES),
        stain=rng.choice(_STAINS),
        cloth=rng.choice(_CLOTHS),
        book=rng.choice(_BOOKS),
        food=rng.choice(_FOODS),
        why=rng.choice(_WHYS),
        one=one,
        other=other,
        battle=rng.choice(_BATTLES),
        pet=rng.choice(_PETS),
        a=rng.randint(11, 99),
        b=rng.randint(11, 99),
        rhyme=rng.choice(("light", "stone", "moon", "rain", "tree", "gold")),
        fruit=rng.choice(("a tomato", "a pumpkin", "a cucumber", "rhubarb", "an olive")),
        place=rng.choice(("two", "four", "five", "six", "seven")),
    )


def opened(question: str, first: bool, rng: Random) -> str:
    """The same with words before it that fit the `first` or a later turn of a conversation."""
    asking = _ASKING if question.endswith("?") and not question.startswith("Can you") else ()
    return rng.choice((*_PLAIN, *asking, *(() if first else _TURNS))) + question
