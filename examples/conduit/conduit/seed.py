# SPDX-License-Identifier: MIT
"""Example data for an empty database in development: a few users and their articles."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.passwords import hash_password
from conduit.queries.articles import add_article, favorite
from conduit.queries.comments import add_comment
from conduit.queries.users import add_user, follow
from conduit.schemas import NewArticle
from conduit.tables import User, now

# The password of all users.
PASSWORD = "conduit-demo"  # noqa: S105
USERS = {
    "ada": "Grows vegetables on a roof, and counts everything.",
    "bruno": "Bakes at night, cycles by day.",
    "chiara": "Repairs what others throw away.",
    "demo": None,
}

FOLLOWS = (("demo", "ada"), ("demo", "bruno"), ("ada", "chiara"), ("chiara", "bruno"))
# Author, title, description, body and tags; newest first.
ARTICLES = (
    (
        "ada",
        "Tomatoes on the seventh floor",
        "What wind, sun and an elevator that is often broken teach about gardening.",
        "The wind is the first thing you notice, and the last one you get used to. A plant that "
        "would stand at ground level needs **two stakes** up here.\n\n## What worked\n\n- pots "
        "that are wider than they are high\n- mulch, against the sun\n- watering before eight\n\n"
        "Of twelve plants, nine had tomatoes. I count that as a success.",
        ["balcony", "garden"],
    ),
    (
        "bruno",
        "A loaf that waits for you",
        "Slow dough for people with a day job.",
        "Mix flour, water, salt and *very* little yeast before you go to bed. In the morning, fold "
        "it twice and leave for work.\n\nIn the evening it is ready, and so are you: 250 degrees, "
        "a pot with a lid, 45 minutes.",
        ["baking", "bread"],
    ),
    (
        "chiara",
        "The radio that only hummed",
        "One capacitor, three evenings.",
        "It was on the sidewalk with a note: *works, nearly*. It hummed.\n\nThe first evening went "
        "into finding a schematic, the second into doubting it. On the third I replaced the "
        "capacitor that I should have begun with.",
        ["electronics", "repair"],
    ),
    (
        "ada",
        "Rain, measured",
        "A bucket, a ruler and a spreadsheet.",
        "The forecast said four millimeters. My bucket said eleven. Both were right: it depends on "
        "which side of the chimney you ask.\n\n> Measure where the plants are, not where it is "
        "convenient.",
        ["garden", "weather"],
    ),
    (
        "bruno",
        "Forty kilometers for a bag of rye",
        "The mill is worth the hill.",
        "There is a mill behind the second hill that still turns on Saturdays. The flour is gray, "
        "smells of hay, and takes more water than any recipe admits.",
        ["bread", "cycling"],
    ),
    (
        "chiara",
        "How to open what has no screws",
        "Clips, glue, and patience.",
        "1. Warm it.\n2. Find the seam with a guitar pick.\n3. Stop when you hear a crack, and "
        "listen where it came from.\n\nMost things can be opened. Closing them again is the art.",
        ["repair", "tools"],
    ),
    (
        "bruno",
        "A puncture, twice",
        "Why to look for the thorn first.",
        "The second tube lasted four minutes. The thorn was still in the tire.",
        ["cycling", "repair"],
    ),
    (
        "ada",
        "Seeds for next year",
        "Which ones to keep, and how.",
        "Keep the seeds of the plant that you liked best, not of the last one that is left. Dry "
        "them on paper, write the year on it, and believe what you wrote.",
        ["garden", "seeds"],
    ),
    (
        "chiara",
        "My five tools",
        "What is always in the bag.",
        "A screwdriver with a long shaft, side cutters, a multimeter, tape, and a pencil. The "
        "pencil is used most.",
        ["tools"],
    ),
    (
        "bruno",
        "What the oven forgets",
        "On thermometers.",
        "An oven says 250 and means *somewhere above 200*. A thermometer for ten euros has done "
        "more for my bread than any flour.",
        ["baking", "tools"],
    ),
    (
        "ada",
        "Bees above the traffic",
        "Who comes up here, and for what.",
        "Lavender brings the most, borage the largest. In June I counted thirty in a minute, all "
        "of whom had taken the stairs.",
        ["balcony", "bees"],
    ),
    (
        "chiara",
        "Is it worth it?",
        "A short calculation about an old kettle.",
        "Parts: three euros. Time: two hours. A new one: twenty euros. It isn't worth it, and I "
        "would do it again.",
        ["repair"],
    ),
)
FAVORITES = {0: ("bruno", "chiara", "demo"), 1: ("ada", "demo"), 2: ("bruno",), 5: ("ada",)}
COMMENTS = {
    0: (("bruno", "Nine of twelve! What did the other three die of?"), ("ada", "The elevator.")),
    1: (("chiara", "It waited for two days. It forgave me."),),
    2: (("ada", "It is always the capacitor."),),
}


async def seed(session: AsyncSession) -> None:
    """Fills the database, unless it has users."""
    if await session.scalar(select(func.count()).select_from(User)):
        return
    hashed = await hash_password(PASSWORD)
    users: dict[str, User] = {}
    for name, bio in USERS.items():
        user = await add_user(session, name, f"{name}@example.com", hashed)
        user.bio = bio
        users[name] = user
    for follower, followed in FOLLOWS:
        await follow(session, users[follower], users[followed])
    # Oldest first, so that the ids are in chronological order.
    for number, (author, title, description, body, tags) in reversed([*enumerate(ARTICLES)]):
        new = NewArticle(title, description, body, tags)
        article = await add_article(session, users[author], new)
        article.created_at = article.updated_at = now() - timedelta(hours=7 * number + 1)
        for name in FAVORITES.get(number, ()):
            await favorite(session, users[name], article)
        for name, comment in COMMENTS.get(number, ()):
            await add_comment(session, article, users[name], comment)
