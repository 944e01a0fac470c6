# SPDX-License-Identifier: MIT
"""The books that are on a new shelf."""

from __future__ import annotations

from books import NewBook

BOOKS = [
    NewBook("Pride and Prejudice", "Jane Austen", 1813, "978-0-14-143951-8"),
    NewBook("Frankenstein", "Mary Shelley", 1818, "978-0-14-143947-1"),
    NewBook("Jane Eyre", "Charlotte Brontë", 1847, "978-0-14-144114-6"),
    NewBook("Moby-Dick", "Herman Melville", 1851, "978-0-14-243724-7"),
    NewBook("Middlemarch", "George Eliot", 1871, "978-0-14-143954-9"),
    NewBook("Nineteen Eighty-Four", "George Orwell", 1949, "978-0-451-52493-5"),
    NewBook("Fahrenheit 451", "Ray Bradbury", 1953, "978-1-4516-7331-9"),
    NewBook("Things Fall Apart", "Chinua Achebe", 1958, "978-0-385-47454-2"),
    NewBook("One Hundred Years of Solitude", "Gabriel García Márquez", 1967, "978-0-06-088328-7"),
    NewBook("The Left Hand of Darkness", "Ursula K. Le Guin", 1969, "978-0-441-47812-5"),
    NewBook("Invisible Cities", "Italo Calvino", 1972, "978-0-15-645380-6"),
    NewBook("The C Programming Language", "Brian Kernighan, Dennis Ritchie", 1978, "0-13-110362-8"),
    NewBook("Kindred", "Octavia E. Butler", 1979, "978-0-8070-8369-7"),
    NewBook("Beloved", "Toni Morrison", 1987, "978-1-4000-3341-6"),
]
