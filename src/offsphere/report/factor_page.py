"""The page of the experiment with learned factors."""

from __future__ import annotations

from importlib.resources import files

from offsphere.factors.experiment import Experiment
from offsphere.report.raster import picture


def factors_to_html(found: Experiment) -> str:
    """One file that needs nothing else."""
    import jinja2
    from markupsafe import Markup

    here = files("offsphere.report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((here / "factors.html").read_text("utf-8"))
    style = Markup((here / "page.css").read_text("utf-8"))  # noqa: S704  # ours, not the user's
    panels = [(panel, picture(panel.cosines)) for panel in found.panels]
    return template.render(found=found, panels=panels, style=style)
