"""How different people ask: whole sentences around a request, `{p}` as it stands or `{P}` with a capital letter."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """A persona's ways: frames around the request, and what may stand before and behind it in the first turn."""

    frames: tuple[str, ...]
    greetings: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()


VOICES: dict[str, Voice] = {
    "plain": Voice(("{P}.", "Please {p}.", "{P}, please.")),
    "polite": Voice(
        ("Could you {p}?", "Would you please {p}?", "I'd like you to {p}, please.", "Can you {p} for me?"),
    ),
    "brisk": Voice(("{P}.", "I need you to {p}.", "Quick one: {p}.")),
    "chatty": Voice(("Hi! Could you {p}?", "Hey, can you {p}?", "Hello, I'd love it if you could {p}.")),
    "formal": Voice(
        (
            "I would like you to {p}.",
            "Kindly {p}.",
            "I would be grateful if you could {p}.",
            "May I ask you to {p}?",
            "Would it be possible for you to {p}?",
            "I am asking you to {p}.",
            "Please be so kind as to {p}.",
        ),
        ("Good morning.", "Good afternoon.", "Hello.", "Good evening."),
        ("Thank you in advance.", "Many thanks.", "I appreciate your help.", "Thank you for your time."),
    ),
    "busy": Voice(
        (
            "{P}.",
            "Need you to {p}.",
            "{P}, thanks.",
            "Between meetings, so just {p}.",
            "No time to do it myself: {p}.",
            "{P} for me, will you?",
            "Next on my list: {p}.",
            "I've got two minutes. {P}.",
        ),
        ("Hi.", "Morning.", "Hey.", "OK."),
        ("I have to run.", "It can't wait.", "Quickly, please.", "Cheers."),
    ),
    "unsure": Voice(
        (
            "I'm not sure how this works, but could you {p}?",
            "Is it possible to {p}?",
            "I think I need you to {p}.",
            "Would you be able to {p}?",
            "Could you maybe {p}?",
            "How do I get you to {p}? Please just do it.",
            "I was told that you can help me. Please {p}.",
            "I've never done this before. Can you {p}?",
        ),
        ("Hi there.", "Hello!", "Excuse me.", "Sorry to bother you."),
        ("I hope that makes sense.", "Thanks for bearing with me.", "Let me know if I got that wrong."),
    ),
    "warm": Voice(
        (
            "Could you do me a favour and {p}?",
            "I'd be so glad if you could {p}.",
            "Would you mind taking care of something? {P}, please.",
            "Can I get you to {p}?",
            "When you have a moment, please {p}.",
            "It would be a big help if you could {p}.",
            "Let's {p}.",
            "I was hoping you could {p}.",
        ),
        ("Hi!", "Hello there!", "Hey, good to have you.", "Good morning!", "Hope you're well."),
        ("Thanks a lot!", "You're a star.", "That'd be great.", "Thank you so much."),
    ),
    "direct": Voice(
        (
            "{P}.",
            "Please {p}.",
            "I want you to {p}.",
            "Go ahead and {p}.",
            "{P}, please.",
            "Your task: {p}.",
            "What I need: {p}.",
            "First of all, {p}.",
            "Start like this: {p}.",
        ),
        ("Hello.", "Hi.", "Good day.", "New request."),
        ("Tell me when it's done.", "That's all for now.", "Let me know how it went.", "Thanks."),
    ),
    "courteous": Voice(
        (
            "Could you {p}?",
            "Would you please {p}?",
            "Can you {p} for me?",
            "Might you {p}?",
            "If it's no trouble, could you {p}?",
            "Would you be so good as to {p}?",
            "Could I trouble you to {p}?",
            "Please {p} when you can.",
        ),
        ("Hello.", "Good morning.", "Hi there.", "Pardon the interruption."),
        ("Thank you.", "Much obliged.", "Thanks for your help.", "I'd appreciate it."),
    ),
    "curt": Voice(
        (
            "{P}.",
            "{P}. Now, please.",
            "Just {p}.",
            "I need you to {p}.",
            "Do this: {p}.",
            "Quick one: {p}.",
            "{P}, ok?",
            "Can't do it myself. {P}.",
            "{P}. Nothing else.",
        ),
        ("Hey.", "OK.", "Right.", "So."),
        ("Be quick.", "Quickly.", "ASAP.", "That's it."),
    ),
    "friendly": Voice(
        (
            "Could you {p}?",
            "Can you {p}?",
            "I'd love it if you could {p}.",
            "Mind helping me out? {P}, please.",
            "Any chance you could {p}?",
            "Could you quickly {p}?",
            "I've got a small job for you: {p}.",
            "How about this: you {p}, and I get some coffee.",
            "I'd really like you to {p}.",
        ),
        ("Hi!", "Hey!", "Hello!", "Hey there!", "Hi again!", "Happy to see you online."),
        ("Thanks!", "You're the best.", "Cheers!", "Thanks a million.", "Much appreciated!"),
    ),
}

FOLLOW_UPS: dict[str, tuple[str, ...]] = {
    "plain": (
        "Now {p}.",
        "Next, {p}.",
        "Thanks. Now {p}.",
        "Great, {p}.",
        "Then {p}.",
        "After that, please {p}.",
        "Also, {p}.",
    ),
    "varied": (
        "Now {p}.",
        "Next, {p}.",
        "Thanks. Now {p}.",
        "Perfect. Then {p}, please.",
        "One more thing: {p}.",
        "Good. Could you also {p}?",
        "And while you're at it, {p}.",
        "All right, now please {p}.",
        "Okay. After that, {p}.",
        "That's what I needed. Can you {p} as well?",
        "Very good. Next, {p}.",
        "Also, would you {p}?",
        "Before I forget: {p}.",
        "Fine. I'd also like you to {p}.",
        "Thank you. The last thing is to {p}.",
        "And {p}, please.",
    ),
    "refused": (
        "Too bad. Then {p}.",
        "Okay, never mind that. {P} instead.",
        "Hm, all right. In that case {p}.",
        "Leave it, then. Please {p}.",
        "I see. Then let's go on: {p}.",
        "Fair enough. {P}, please.",
    ),
}

AGAIN = ("do the same for {}", "the same for {}", "{} as well")
JOINS = (", then ", " and then ", ", and after that ", "; then ")
THENS = (
    "Then {p}.",
    "After that, {p}.",
    "Also {p}.",
    "And {p}.",
    "Next, {p}.",
    "I'd also like you to {p}.",
    "Once that's done, {p}.",
)
LASTS = (
    "Finally, {p}.",
    "And finally, {p}.",
    "Last, {p}.",
    "Then {p}, and that's it.",
    "At the end, {p}.",
    "After that, {p}.",
)
INSTEAD = (
    "; if that isn't possible, ",
    "; if that doesn't work, ",
    "; should that be refused, ",
    " - if it won't let you, ",
    ", or if that fails, ",
)

# what the user says who was asked for the one thing that was missing
TELLS = (
    "It's {v}.",
    "{v}, please.",
    "The {n} is {v}.",
    "Oh, sorry: {v}.",
    "Right, the {n} is {v}.",
    "{v}.",
    "Let's say {v}.",
)

# and for everything
ANSWERS = (
    "Sure: {p}.",
    "Of course. {P}.",
    "Oh, right. {P}, please.",
    "Here is all of it: {p}.",
    "Sorry, I meant: {p}.",
    "To be precise, {p}.",
    "I should have said so: {p}.",
    "In full: {p}.",
    "All right, please {p}.",
    "Okay then, {p}.",
)
