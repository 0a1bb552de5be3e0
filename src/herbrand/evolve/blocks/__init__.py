"""Building blocks of games, and the designs composed of them."""
