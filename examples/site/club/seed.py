# SPDX-License-Identifier: MIT
"""Example data: a few books, members and notes."""

from __future__ import annotations

import time

import aiosqlite

DAY_S = 24 * 60 * 60
CURRENT = "Middlemarch"
BOOKS = (
    ("Frankenstein", "Mary Shelley", 1818, 280, "A student makes a man, and runs away from him."),
    ("Pride and Prejudice", "Jane Austen", 1813, 432, "Two people are wrong about each other."),
    ("Persuasion", "Jane Austen", 1817, 249, "Eight years after a no, he is back in the county."),
    (
        "Jane Eyre",
        "Charlotte Brontë",
        1847,
        532,
        "A governess, a locked attic, and a will of iron.",
    ),
    ("Wuthering Heights", "Emily Brontë", 1847, 416, "Two houses on the moor, and no peace."),
    ("Middlemarch", "George Eliot", 1871, 880, "A whole town, and what became of its good plans."),
    ("Bleak House", "Charles Dickens", 1853, 1036, "A lawsuit that outlives its parties."),
    ("Great Expectations", "Charles Dickens", 1861, 544, "A fortune comes, its giver unnamed."),
    ("Moby-Dick", "Herman Melville", 1851, 720, "A captain, a whale, and all there is to say."),
    ("Walden", "Henry David Thoreau", 1854, 352, "Two years in a hut, with visitors."),
    ("Little Women", "Louisa May Alcott", 1868, 449, "Four sisters and one winter of war."),
    ("Madame Bovary", "Gustave Flaubert", 1857, 384, "She has read too many novels."),
    ("Anna Karenina", "Leo Tolstoy", 1878, 864, "Two marriages, and one train."),
    ("War and Peace", "Leo Tolstoy", 1869, 1296, "Five families, and Napoleon on his way."),
    ("The Idiot", "Fyodor Dostoevsky", 1869, 656, "A good man comes to Petersburg."),
    ("Crime and Punishment", "Fyodor Dostoevsky", 1866, 592, "The axe, and then the thinking."),
    ("Fathers and Sons", "Ivan Turgenev", 1862, 240, "The young bring home new ideas."),
    ("Dead Souls", "Nikolai Gogol", 1842, 464, "Why does he buy serfs who have died?"),
    ("Effi Briest", "Theodor Fontane", 1895, 256, "Letters are found in a drawer."),
    ("Hunger", "Knut Hamsun", 1890, 208, "A writer, a town, and nothing to eat."),
    ("Dracula", "Bram Stoker", 1897, 488, "Diaries, telegrams, and a guest from the east."),
    ("The Time Machine", "H. G. Wells", 1895, 128, "Dinner guests hear of the year 802,701."),
    ("Heart of Darkness", "Joseph Conrad", 1899, 112, "A boat goes up the river to find Kurtz."),
    ("The Awakening", "Kate Chopin", 1899, 224, "A summer at the sea, and no way back."),
)
# They have no password, so nobody can log in as one of them.
MEMBERS = ("Hanna", "Tomás", "Oskar", "Mei")
# Book, member, page, days ago, text.
NOTES = (
    (
        "Middlemarch",
        "Mei",
        194,
        1,
        "The wedding journey to Rome. I had to put the book away for a day here.",
    ),
    (
        "Middlemarch",
        "Hanna",
        12,
        3,
        "I had forgotten how funny the first chapters are. Does anybody"
        " else hear Mr. Brooke when a politician speaks?",
    ),
    ("Middlemarch", "Oskar", None, 5, "Half way through. Lydgate worries me more than Dorothea."),
    (
        "Frankenstein",
        "Tomás",
        99,
        9,
        "The part that the creature tells is the best of the book, and no film has it.",
    ),
    ("Persuasion", "Hanna", 237, 16, "The letter. That is all I have to say."),
    (
        "Moby-Dick",
        "Oskar",
        145,
        24,
        "You may skip the chapter on the types of whales. I did not, and do not regret it.",
    ),
    (
        "The Time Machine",
        "Mei",
        None,
        40,
        "Short enough for one evening, and then I could not sleep.",
    ),
)
READINGS = (
    ("Frankenstein", "Hanna Tomás Oskar"), ("Persuasion", "Hanna Mei"), ("Moby-Dick", "Oskar"),
    ("Pride and Prejudice", "Hanna Mei Tomás Oskar"), ("The Time Machine", "Mei Oskar"),
    ("Anna Karenina", "Tomás Mei"), ("Dracula", "Oskar Hanna"), ("Middlemarch", "Mei"),
)  # fmt: skip


async def seed(connection: aiosqlite.Connection) -> None:
    """Fills the database if it has no books."""
    # If several workers start at the same time, only one does it.
    await connection.execute("BEGIN IMMEDIATE")
    [[is_filled]] = await connection.execute_fetchall("SELECT EXISTS (SELECT 1 FROM books)")
    if not is_filled:
        await _fill(connection)
    await connection.execute("COMMIT")


async def _fill(connection: aiosqlite.Connection) -> None:
    book_ids = {book[0]: number for number, book in enumerate(BOOKS, 1)}
    member_ids = {name: number for number, name in enumerate(MEMBERS, 1)}
    now = int(time.time())
    await connection.executemany(
        "INSERT INTO books (id, title, author, year, pages, about, is_current)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(book_ids[book[0]], *book, book[0] == CURRENT) for book in BOOKS],
    )
    await connection.executemany(
        "INSERT INTO members (id, name, password) VALUES (?, ?, '')",
        [(number, name) for name, number in member_ids.items()],
    )
    await connection.executemany(
        "INSERT INTO notes (book_id, member_id, page, written, text) VALUES (?, ?, ?, ?, ?)",
        [
            (book_ids[title], member_ids[name], page, now - days * DAY_S, text)
            for title, name, page, days, text in NOTES
        ],
    )
    await connection.executemany(
        "INSERT INTO readings (book_id, member_id) VALUES (?, ?)",
        [
            (book_ids[title], member_ids[name])
            for title, names in READINGS
            for name in names.split()
        ],
    )
