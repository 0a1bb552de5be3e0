"""Drawings as pixels, by the library resvg (extra `pictures`).

resvg knows neither variables nor media queries of CSS, so it gets the style sheet of one theme. Letters are
those of the first font below that the system has; where it has none of them, names are left out.
"""

from __future__ import annotations

from io import BytesIO
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, Literal

from herbrand.draw.style import STYLE, VARIABLES, plain_style
from herbrand.errors import optional_import

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.draw.svg import Drawing

__all__ = ["pixels", "png"]

MAX_PIXELS: Final = 16_000_000
"""Larger pictures are made smaller; four bytes each."""
_FONTS: Final = (
    "Inter,'Segoe UI',Helvetica,Arial,'DejaVu Sans','Liberation Sans','Noto Sans',Roboto,sans-serif"
)


def png(drawing: Drawing, *, theme: Literal["light", "dark"] = "light", zoom: float = 1.0) -> bytes:
    """Return a drawing as a PNG file.

    `zoom` is in pixels for each unit of the drawing; the picture has 16 million pixels at most. Raises
    `MissingExtra` without resvg.
    """
    with optional_import("a picture of pixels", "pictures"):
        from resvg_py import svg_to_bytes
    area = max(1.0, drawing.width * drawing.height)
    zoom = min(zoom, sqrt(MAX_PIXELS / area))
    svg = drawing.svg.replace(STYLE, plain_style(theme, _FONTS), 1)
    return bytes(svg_to_bytes(svg_string=svg, background=VARIABLES[theme]["paper"], zoom=zoom))


def pixels(drawing: Drawing, *, theme: Literal["light", "dark"] = "light", zoom: float = 1.0) -> NDArray[Any]:
    """Return a drawing as an array of pixels, uint8 [height, width, 3]: red, green, blue.

    The arguments and errors are those of `png`.
    """
    import numpy as np

    picture = png(drawing, theme=theme, zoom=zoom)
    with optional_import("a picture of pixels", "pictures"):
        from PIL import Image
    with Image.open(BytesIO(picture)) as image:
        return np.array(image.convert("RGB"), np.uint8)
