"""What the characters of the sample scenes look like: a person, a cartoon person, a dog."""

from __future__ import annotations

from sample_scenes.shapes import Piece, capsule, egg

COLOURS = {  # linear red, green, blue
    "shirt": (0.055, 0.22, 0.55), "trousers": (0.045, 0.05, 0.08), "skin": (0.76, 0.42, 0.27),
    "shoe": (0.75, 0.75, 0.72), "hair": (0.06, 0.03, 0.015), "eye": (0.01, 0.01, 0.01),
    "suit": (0.80, 0.23, 0.05), "glove": (0.85, 0.80, 0.70), "fur": (0.50, 0.23, 0.07), "pale": (0.80, 0.62, 0.40),
    "dark": (0.05, 0.03, 0.02), "weight": (0.12, 0.12, 0.13),
}


def person(shirt: str = "shirt") -> list[Piece]:
    """1.75 m; facing +x, arms and legs hanging straight down at rest."""
    pieces = [
        egg("pelvis", (0.0, 0.0, 0.0), (0.105, 0.15, 0.10), "trousers"),
        capsule("spine", (0.0, 0.0, -0.02), (0.0, 0.0, 0.16), 0.105, 0.11, shirt, 1.3),
        egg("chest", (0.0, 0.0, 0.10), (0.115, 0.175, 0.165), shirt),
        capsule("neck", (0.0, 0.0, -0.03), (0.01, 0.0, 0.10), 0.055, 0.05, "skin"),
        egg("head", (0.015, 0.0, 0.11), (0.098, 0.08, 0.125), "skin"),
        egg("head", (-0.012, 0.0, 0.145), (0.098, 0.086, 0.105), "hair"),
        egg("head", (0.115, 0.0, 0.09), (0.02, 0.014, 0.018), "skin"),
    ]
    for side, y in (("L", 1.0), ("R", -1.0)):
        pieces += [
            egg("head", (0.102, 0.033 * y, 0.125), (0.012, 0.013, 0.017), "eye"),
            capsule(f"thigh.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.41), 0.09, 0.06, "trousers"),
            capsule(f"shank.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.38), 0.06, 0.043, "trousers"),
            capsule(f"foot.{side}", (-0.02, 0.0, -0.032), (0.12, 0.0, -0.042), 0.038, 0.028, "shoe", 1.15),
            capsule(f"foot.{side}", (0.0, 0.0, 0.02), (0.01, 0.0, -0.03), 0.04, 0.042, "shoe"),
            capsule(f"toes.{side}", (0.0, 0.0, -0.002), (0.06, 0.0, -0.004), 0.026, 0.022, "shoe", 1.4),
            capsule(f"upperarm.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.27), 0.058, 0.043, shirt),
            capsule(f"forearm.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.24), 0.043, 0.032, "skin"),
            egg(f"hand.{side}", (0.005, 0.0, -0.085), (0.03, 0.022, 0.085), "skin"),
            egg(f"hand.{side}", (0.035, 0.0, -0.06), (0.016, 0.015, 0.04), "skin"),
        ]
    return pieces


def cartoon() -> list[Piece]:
    """The same bones with a large head, hands and shoes."""
    pieces = [
        egg("pelvis", (0.0, 0.0, 0.02), (0.14, 0.17, 0.13), "suit"),
        egg("spine", (0.01, 0.0, 0.06), (0.15, 0.18, 0.15), "suit"),
        egg("chest", (0.0, 0.0, 0.10), (0.12, 0.16, 0.15), "suit"),
        capsule("neck", (0.0, 0.0, 0.0), (0.0, 0.0, 0.10), 0.045, 0.045, "skin"),
        egg("head", (0.02, 0.0, 0.16), (0.17, 0.165, 0.185), "skin"),
        egg("head", (-0.02, 0.0, 0.215), (0.165, 0.172, 0.155), "hair"),
        egg("head", (0.195, 0.0, 0.13), (0.035, 0.032, 0.032), "suit"),
    ]
    for side, y in (("L", 1.0), ("R", -1.0)):
        pieces += [
            egg("head", (0.165, 0.06 * y, 0.19), (0.022, 0.024, 0.04), "eye"),
            capsule(f"thigh.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.41), 0.075, 0.055, "suit"),
            capsule(f"shank.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.38), 0.055, 0.05, "suit"),
            egg(f"foot.{side}", (0.05, 0.0, -0.025), (0.135, 0.075, 0.046), "shoe"),
            egg(f"toes.{side}", (0.03, 0.0, 0.004), (0.085, 0.078, 0.029), "shoe"),
            capsule(f"upperarm.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.28), 0.05, 0.042, "suit"),
            capsule(f"forearm.{side}", (0.0, 0.0, 0.0), (0.0, 0.0, -0.24), 0.042, 0.04, "suit"),
            egg(f"hand.{side}", (0.0, 0.0, -0.08), (0.06, 0.05, 0.09), "glove"),
        ]
    return pieces


def dog() -> list[Piece]:
    """As large as a shepherd dog; at rest its legs are straight."""
    pieces = [
        egg("pelvis", (0.02, 0.0, -0.01), (0.17, 0.105, 0.115), "fur"),
        capsule("loin", (-0.05, 0.0, -0.01), (0.20, 0.0, -0.01), 0.10, 0.105, "fur"),
        egg("chest", (0.06, 0.0, -0.03), (0.20, 0.115, 0.145), "fur"),
        egg("chest", (0.09, 0.0, -0.09), (0.14, 0.085, 0.09), "pale"),
        capsule("neck1", (-0.02, 0.0, -0.03), (0.10, 0.0, 0.09), 0.095, 0.075, "fur"),
        capsule("neck2", (0.0, 0.0, 0.0), (0.08, 0.0, 0.09), 0.075, 0.068, "fur"),
        egg("head", (0.045, 0.0, 0.005), (0.095, 0.075, 0.075), "fur"),
        capsule("head", (0.09, 0.0, -0.015), (0.19, 0.0, -0.035), 0.045, 0.032, "pale"),
        egg("head", (0.222, 0.0, -0.022), (0.02, 0.02, 0.016), "dark"),
        capsule("tail1", (0.04, 0.0, 0.0), (-0.14, 0.0, -0.06), 0.04, 0.036, "fur"),
        capsule("tail2", (0.0, 0.0, 0.0), (-0.16, 0.0, -0.05), 0.036, 0.018, "pale"),
    ]
    for side, y in (("L", 1.0), ("R", -1.0)):
        pieces += [
            egg("head", (0.105, 0.042 * y, 0.03), (0.011, 0.011, 0.013), "eye"),
            egg("head", (0.0, 0.05 * y, 0.085), (0.022, 0.026, 0.055), "dark"),
        ]
        for end, lengths, thick in (("hind", (0.20, 0.21, 0.13), 0.072), ("front", (0.18, 0.20, 0.09), 0.055)):
            a, b, c = lengths
            pieces += [
                capsule(f"{end}_upper.{side}", (0, 0, 0.0), (0, 0, -a), thick, 0.042, "fur"),
                capsule(f"{end}_lower.{side}", (0, 0, 0), (0, 0, -b), 0.042, 0.028, "fur"),
                capsule(f"{end}_meta.{side}", (0, 0, 0), (0, 0, -c), 0.028, 0.026, "pale"),
                egg(f"{end}_paw.{side}", (0.03, 0.0, -0.003), (0.05, 0.034, 0.027), "pale"),
            ]
    return pieces
