"""How near is equal: five tolerances, each with its reason. A test that needs a sixth should ask why."""

# The same arithmetic in another order. Doubles carry 2e-16 and a tree of 50 links adds up some thousand products.
ROUNDING = 1e-12

# Another engine's answer, in SI units. Ours and theirs differ by about 1e-12 of the largest entry (forces of some
# thousand newtons); a wrong term shows at 1e-3. 1e-9 is far from both.
JUDGE = 1e-9

# A derivative taken by central differences. With steps of 1e-5 truncation and rounding both cost about 1e-10 of the
# quantity's size, and the quantities are of order 1 to 1e3.
DIFFERENCE = 1e-6

# Undisturbed playback, in radians and metres: what the animator keyed comes back. A thousandth of a pixel.
PLAYBACK = 1e-6

# Continuous-time theory against a simulation in steps, as a share of the predicted quantity: first-order stepping at
# 60 Hz and more is within a few per cent, and a wrong law is not.
THEORY = 0.03
