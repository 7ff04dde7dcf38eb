"""Training on pictures: SimCLR steps against a plain hand-written PyTorch loop.

The same untrained tower, changes by kornia, NT-Xent and AdamW: at least 0.95 times the loop's steps a second.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from harness import Clock, Goals, quick
from torch.nn import functional

import offsphere as osp
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.ranking_task import RankingTask
from offsphere.learning.adapters.adapter_recipe import BETAS
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.judging import TaskJudge
from offsphere.learning.encoders.picture_views import changes_of

SIDE, WIDTH, TEMPERATURE, RATE = 32, 64, 0.1, 1e-3
BATCH = 128


class Nobody(TaskJudge):
    """Measures nothing: the plain loop does not either."""

    def values(self, model: object) -> tuple[float, float]:  # noqa: ARG002
        """A value of zero."""
        return 0.0, 0.0


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    steps = 3 if small else 20
    pixels = np.random.default_rng(0).integers(0, 256, (steps * BATCH, SIDE, SIDE, 3), np.uint8)
    clock = Clock()
    clock.run({"plain loop": lambda: plain(pixels, steps), "ours": lambda: ours(pixels, steps)}, 1 if small else 3)
    print(f"{steps} steps of {BATCH} pictures of {SIDE} x {SIDE}, two views each")
    clock.show()
    for kind, times in (("wall", clock.wall), ("CPU", clock.cpu)):
        goals.at_least(f"steps a second, ours / plain loop, {kind}", times["plain loop"] / times["ours"], 0.95)
    goals.finish()


def plain(pixels: np.ndarray, steps: int) -> None:
    """What one would write: pictures in memory, two views, both through the tower, NT-Xent, AdamW."""
    tower = osp.image_tower("resnet", SIDE, WIDTH).train()
    changes = changes_of("augmented", (SIDE, SIDE))
    pictures = torch.from_numpy(pixels).permute(0, 3, 1, 2)
    optimizer = torch.optim.AdamW(tower.parameters(), lr=RATE, betas=BETAS, weight_decay=0.01)
    order = torch.randperm(len(pictures))
    for step in range(steps):
        batch = pictures[order[step * BATCH : (step + 1) * BATCH]].float() / 255
        views = []
        for _ in range(2):
            with torch.no_grad():
                features = {"pixel_values": (changes(batch) - 0.5) / 0.5, "modality": "image"}
            views.append(functional.normalize(tower(features)["sentence_embedding"]))
        rows = torch.cat(views)
        scores = (rows @ rows.T / TEMPERATURE).fill_diagonal_(float("-inf"))
        targets = torch.arange(2 * BATCH).roll(BATCH)
        loss = functional.cross_entropy(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(tower.parameters(), 1.0)
        optimizer.step()


def ours(pixels: np.ndarray, steps: int) -> None:
    """The same through the trainer, without evaluation and dynamics."""
    recipe = osp.recipe_with(
        "simclr", batch=BATCH, steps=steps, rate=RATE, temperature=TEMPERATURE, dynamics_every=0, evaluate_every=steps
    )
    images = [osp.Image.of(picture, f"p{row}") for row, picture in enumerate(pixels)]
    ids = [image.name for image in images]
    judged = [Judgment(ids[row], ids[row], 1.0, "") for row in range(16)]
    task = RankingTask.build("pictures", ItemList(ids[:16], images[:16]), ItemList(ids, images), judged)
    data = text_data(task)
    setup = EncoderSetup.of(osp.image_tower("resnet", SIDE, WIDTH), data, recipe, seed=0)
    fit(setup.model, recipe, setup.pairs, Nobody(data.held_out.task, data.metric), seed=0)


if __name__ == "__main__":
    main()
