# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface in other languages, the Blender way: a table per language that Blender looks labels up in.

A language is one more table in WORDS. What is missing from it stays English; a test holds that every entry is a label
of the interface. Operators' names are looked up in a context of their own, so each entry is given in both.
"""

from typing import Any

import bpy

WORDS: dict[str, dict[str, str]] = {
    "de_DE": {
        # panels
        "Character": "Figur",
        "Push, Load, Ground": "Stoß, Last, Boden",
        "Check": "Prüfen",
        "Controller": "Regler",
        "Preview and Bake": "Vorschau und Backen",
        "See": "Ansehen",
        "Dials": "Einstellungen",
        "Path and Range": "Weg und Bereich",
        # buttons
        "Set Up Character": "Figur einrichten",
        "Set Up Again": "Neu einrichten",
        "Remove from Character": "Von der Figur entfernen",
        "Push": "Stoß",
        "Load": "Last",
        "Ground": "Boden",
        "Add Push": "Stoß hinzufügen",
        "Add Load": "Last hinzufügen",
        "Add Ground": "Boden hinzufügen",
        "Check Motion": "Bewegung prüfen",
        "Override Contact": "Kontakt festlegen",
        "Preview": "Vorschau",
        "Hide Preview": "Vorschau verbergen",
        "Bake": "Backen",
        "Back to Original": "Zurück zum Original",
        "Save Preset": "Vorgabe speichern",
        "Load Preset": "Vorgabe laden",
        "Copy to Other Side": "Auf die andere Seite kopieren",
        "Remove Overlay": "Überlagerung entfernen",
        "Go There": "Dorthin",
        # values
        "Total kg": "Kilogramm gesamt",
        "Build": "Körperbau",
        "Firmness": "Festigkeit",
        "Physics amount": "Anteil der Physik",
        "Keep the path of": "Weg halten von",
        "Ease in": "Einblenden",
        "Ease out": "Ausblenden",
        "Let go": "Loslassen",
        "Limp": "Schlaff",
        "Get up": "Aufstehen",
        "Force fields": "Kraftfelder",
        "Friction": "Reibung",
        "Strength": "Stärke",
        "Fewer keys": "Weniger Keyframes",
        "Output": "Ergebnis",
        "Contact forces": "Bodenkräfte",
        "Centre of mass": "Schwerpunkt",
        "Balance": "Gleichgewicht",
        "Effort": "Anstrengung",
        "Helper force": "Hilfskraft",
        "Contact bars": "Kontaktbalken",
        "Ghost colour": "Farbe des Geists",
    },
}
NAME = __package__


def table() -> dict[str, dict[tuple[str, str], str]]:
    """As Blender wants it: (context, English) -> word."""
    known: Any = bpy.app.translations.contexts
    return {language: {(context, english): word for english, word in words.items()
                       for context in (known.default, known.operator_default)}
            for language, words in WORDS.items()}


def register() -> None:
    told: Any = table()
    bpy.app.translations.register(NAME, told)


def unregister() -> None:
    bpy.app.translations.unregister(NAME)
