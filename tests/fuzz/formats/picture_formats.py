"""Pictures, and tasks that are made of them."""

from __future__ import annotations

import json

import numpy as np

from tests.fuzz.subject import SUBJECTS, Subject, subject


class Picture:
    """A picture of one format: what Pillow makes of it, turned as its camera was held and laid on white."""

    def __init__(self, kind):
        self.kind = kind

    def write(self, folder):
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "picture", self.kind)

    @staticmethod
    def read(folder):
        from offsphere.base.reading.picture_files import read_picture

        return np.asarray(read_picture(folder / "picture", "picture"))

    @staticmethod
    def reference(folder):
        from PIL import Image, ImageOps

        with Image.open(folder / "picture") as opened:
            picture = ImageOps.exif_transpose(opened)
        if picture.mode.startswith("I"):
            picture = Image.fromarray((np.asarray(picture).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8))
        if picture.has_transparency_data:
            clear = picture.convert("RGBA")
            picture = Image.new("RGBA", clear.size, "white")
            picture.alpha_composite(clear)
        return np.asarray(picture.convert("RGB"))


for _kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"):
    _picture = Picture(_kind)
    SUBJECTS[f"picture, {_kind}"] = Subject(_picture.write, _picture.read, _picture.reference)


@subject("idx")
class Idx:
    @staticmethod
    def write(folder):
        numbers = np.arange(24, dtype=np.uint8)
        (folder / "numbers").write_bytes(b"\0\0\x08\x03" + np.array([2, 3, 4], ">u4").tobytes() + numbers.tobytes())

    @staticmethod
    def read(folder):
        from offsphere.base.reading.idx_files import read_idx

        return read_idx(folder / "numbers")

    @staticmethod
    def reference(folder):
        content = (folder / "numbers").read_bytes()
        assert content[:3] == b"\0\0\x08"
        shape = np.frombuffer(content, ">u4", content[3], offset=4)
        return np.frombuffer(content[4 + 4 * content[3] :], np.uint8).reshape(shape)


@subject("captions")
class Captions:
    @staticmethod
    def write(folder):
        np.savez(folder / "images.npz", images=np.arange(4 * 12, dtype=np.uint8).reshape(4, 2, 2, 3))
        rows = [{"image": n, "caption": f"picture é {n}"} for n in range(4)]
        (folder / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        return list(task.query_texts), [image.pixels() for image in task.document_texts]

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "captions.jsonl").read_text("utf-8-sig").split("\n") if line.strip()]
        entries = [json.loads(line) for line in lines]
        with np.load(folder / "images.npz", allow_pickle=False) as archive:
            pixels = archive["images"]
        grey = pixels.ndim == 3
        rows = dict.fromkeys(entry["image"] for entry in entries)
        return (
            [entry["caption"] for entry in entries],
            [np.repeat(pixels[row][..., None], 3, axis=-1) if grey else pixels[row] for row in rows],
        )


def _pictures(folder, count):
    """Pictures of one colour each, and their names."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        Image.new("RGB", (5, 4), (40 * number, 0, 9)).save(folder / f"{number}.png")


def _of_pillow(path):
    """The pixels of a picture of one colour, as Pillow reads them."""
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def _read_pictures(folder):
    from offsphere.data import load_task

    task = load_task(folder)
    return list(task.query_texts), [image.pixels() for image in task.document_texts]


@subject("Karpathy's JSON")
class Karpathy:
    @staticmethod
    def write(folder):
        _pictures(folder / "val2014", 3)
        images = [
            {
                "filename": f"{number}.png",
                "filepath": "val2014",
                "split": "test",
                "sentences": [{"raw": f"picture é {number}", "tokens": ["picture"]}],
            }
            for number in range(3)
        ]
        (folder / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))

    read = staticmethod(_read_pictures)

    @staticmethod
    def reference(folder):
        content = json.loads((folder / "dataset_coco.json").read_text("utf-8-sig"))
        entries = [entry for entry in content["images"] if entry["split"] == "test"]
        captions = [sentence["raw"] for entry in entries for sentence in entry["sentences"]]
        names = dict.fromkeys(entry["filename"] for entry in entries)
        return captions, [_of_pillow(folder / "val2014" / name) for name in names]


@subject("table of pictures, saved by datasets", anything=True)
class PictureTable:
    @staticmethod
    def write(folder):
        import datasets
        from PIL import Image

        pictures = [Image.new("RGB", (5, 4), (40 * number, 0, 9)) for number in range(3)]
        columns = {"image": pictures, "caption": [f"picture é {number}" for number in range(3)]}
        features = datasets.Features({"image": datasets.Image(), "caption": datasets.Value("string")})
        datasets.Dataset.from_dict(columns, features=features).save_to_disk(folder / "table")

    @staticmethod
    def read(folder):
        return _read_pictures(folder / "table")


@subject("folders of classes")
class ClassFolders:
    @staticmethod
    def write(folder):
        for name in ("cats", "dogs"):
            _pictures(folder / name, 2)

    @staticmethod
    def read(folder):
        from offsphere.data.load import load_labelled

        items = load_labelled(folder)
        return [items.classes[number] for number in items.labels], [image.pixels() for image in items.items]

    @staticmethod
    def reference(folder):
        paths = sorted(folder.rglob("*.png"))
        return [path.parent.name for path in paths], [_of_pillow(path) for path in paths]


@subject("arrays of pictures, npz")
class PictureArchive:
    @staticmethod
    def write(folder):
        pixels = np.arange(6 * 12, dtype=np.uint8).reshape(6, 2, 2, 3)
        np.savez(folder / "shades.npz", images=pixels, labels=np.array([7, 7, 9, 9, 1, 1]))

    @staticmethod
    def read(folder):
        from offsphere.data.load import load_labelled

        items = load_labelled(folder / "shades.npz")
        return [items.classes[label] for label in items.labels], [image.pixels() for image in items.items]

    @staticmethod
    def reference(folder):
        with np.load(folder / "shades.npz", allow_pickle=False) as archive:
            pixels = archive["images" if "images" in archive.files else "x"]
            labels = archive["labels" if "labels" in archive.files else "y"]
        if pixels.ndim == 3:
            pixels = np.repeat(pixels[..., None], 3, axis=-1)
        return [str(label) for label in labels.ravel()], list(pixels)
