"""Text on made-up subjects: English sentences whose nouns, verbs and adjectives are of one subject or another."""

import random

_FRAMES = (
    "the {n} of the {n} is {a} and {v} with the {n} in every {n}",
    "it has been said that a {a} {n} can {v} the {n} for many years",
    "when you {v} the {n}, the {a} {n} will be there before the {n}",
    "in most cases this {n} does not {v} but there are {a} {n} which may",
    "some people {v} their {n} at the {n} and others have a {a} {n}",
    "from the first {n} to the last they {v} about the {a} {n} of it",
)
_SUBJECTS = {
    "cats": (
        "cat whisker paw kitten fur claw tail litter mouse vet purr nap collar basket breed".split(),
        "purr scratch groom stalk pounce feed hunt sleep chase lick".split(),
        "furry feral tame striped playful sleepy hungry silky curious old".split(),
    ),
    "ships": (
        "ship harbour mast sail anchor crew captain deck cargo voyage port hull wave storm rope".split(),
        "sail anchor load steer drift moor launch board tow repair".split(),
        "wooden stormy heavy maritime tidal coastal rusty swift naval salty".split(),
    ),
    "bread": (
        "bread dough flour yeast oven crust loaf baker kitchen butter salt grain mill recipe crumb".split(),
        "bake knead mix rise cut spread weigh heat taste cool".split(),
        "warm fresh crusty sour sweet white brown soft thick golden".split(),
    ),
}


def text(subject: str, sentences: int, seed: int = 1) -> list[str]:
    """Return paragraphs of five sentences. Some words are of other subjects: no text is pure."""
    chance = random.Random(f"{subject} {seed}")

    def word(kind: int) -> str:
        of = subject if chance.random() < 0.85 else chance.choice(list(_SUBJECTS))
        return chance.choice(_SUBJECTS[of][kind])

    found = []
    for _ in range(sentences):
        frame = chance.choice(_FRAMES)
        for kind, mark in enumerate(("{n}", "{v}", "{a}")):
            while mark in frame:
                frame = frame.replace(mark, word(kind), 1)
        found.append(frame.capitalize() + ".")
    return [" ".join(found[place : place + 5]) for place in range(0, sentences, 5)]
