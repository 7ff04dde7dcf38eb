"""The JavaScript that draws charts in a page: Vega, Vega-Lite and Vega-Embed, less than a megabyte.

It is made by vl-convert, which also has fonts and a JavaScript engine, 84 MB in all. So it is put beside this file when
the package is built (``scripts/build_bundle.py``, which knows this file by its path), and who only wants pages needs
nothing of the rest.
"""

from __future__ import annotations

BUILT = "vega.js"


def made_bundle() -> str:
    """Make the bundle for the Vega-Lite that the installed Altair writes, or the newest one there is."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    bundle: str = vl_convert.javascript_bundle(vl_version=wanted if wanted in known else known[-1])  # type: ignore[call-arg]
    return bundle
