"""Models in folders, and recipes to train them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict

import numpy as np

from tests.fuzz.subject import VECTORS, subject


class Recipe:
    """Fields of a recipe: those of the file say what it says, and all others what the recipe that it names says."""

    file = ""

    @classmethod
    def read(cls, folder):
        from offsphere.learning.encoders.recipe_file import recipe_from

        return asdict(recipe_from(file=folder / cls.file))

    @staticmethod
    def same(value, right):
        from offsphere.learning.encoders.named_recipes import recipe_with

        usual = asdict(recipe_with(right.get("recipe"))) | right
        usual.pop("recipe", None)
        return value.keys() == usual.keys() and all(_is_meant(value[name], usual[name]) for name in usual)


def _is_meant(value, written):
    """Whether a field has the value that somebody wrote, be it as a text."""
    if isinstance(written, list):
        written = tuple(written)
    if not isinstance(written, str):
        return value == written
    if isinstance(value, str):
        return value.casefold().replace("_", "-") == written.strip().casefold().replace("_", "-")
    if value is None or isinstance(value, bool):
        return str(value).casefold() == written.strip().casefold()
    parts = value if isinstance(value, tuple) else (value,)
    return [str(part) for part in parts] == written.split(",") or [*map(float, written.split(","))] == [*parts]


@subject("recipe, TOML")
class RecipeToml(Recipe):
    file = "recipe.toml"

    @staticmethod
    def write(folder):
        (folder / "recipe.toml").write_text('recipe = "simcse"\ntemperature = 0.05\nbatch = 16\nnormalize = "query"\n')

    @staticmethod
    def reference(folder):
        return tomllib.loads((folder / "recipe.toml").read_text("utf-8-sig"))


@subject("recipe, YAML")
class RecipeYaml(Recipe):
    file = "recipe.yaml"

    @staticmethod
    def write(folder):
        (folder / "recipe.yaml").write_text("temperature: 0.05\nbatch: 16\nnormalize: [1, 0.5]\n# é\n")

    @staticmethod
    def reference(folder):
        import yaml

        return yaml.safe_load((folder / "recipe.yaml").read_text("utf-8-sig"))


@subject("model2vec folder")
class Model2Vec:
    TEXTS = ("w1 w2 w11", "w3", "", "unknown words")

    @staticmethod
    def write(folder):
        from safetensors.numpy import save_file
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace

        words = {"[UNK]": 0, **{f"w{number}": number for number in range(1, 12)}}
        tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))  # no password
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.save(str(folder / "tokenizer.json"))
        numbers = {"embeddings": VECTORS, "mapping": np.arange(12), "weights": np.linspace(0.1, 1, 12)}
        save_file(numbers, folder / "model.safetensors")
        (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": true, "max_length": 512}')

    @staticmethod
    def read(folder):
        from offsphere.encode.static import load_model2vec

        return load_model2vec(folder, "fuzzed").encode(Model2Vec.TEXTS, "document")

    @staticmethod
    def reference(folder):
        """The mean that model2vec describes, by the packages that made the two files."""
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        tensors = load_file(folder / "model.safetensors")
        table = tensors["embeddings"].astype(np.float64)
        mapping = tensors.get("mapping", np.arange(len(table)))
        weights = tensors.get("weights", np.ones(len(mapping))).astype(np.float64)
        words = Tokenizer.from_file(str(folder / "tokenizer.json"))
        words.no_padding()
        words.no_truncation()
        content = json.loads(words.to_str())["model"]
        unknown = words.token_to_id(content["unk_token"]) if content.get("unk_token") is not None else None
        length = json.loads((folder / "config.json").read_text("utf-8-sig")).get("max_length", 512)
        longest = None if length is None else length * int(np.median([len(word) for word in words.get_vocab()]))
        rows = np.zeros((len(Model2Vec.TEXTS), table.shape[1]))
        for row, text in enumerate(Model2Vec.TEXTS):
            numbers = words.encode(text[:longest], add_special_tokens=False).ids[:length]
            known = [number for number in numbers if number != unknown]
            if known:
                rows[row] = (weights[known, None] * table[mapping[known]]).mean(axis=0)
        return rows

    @staticmethod
    def same(value, right):
        tolerance = 1e-5 * max(1.0, float(np.abs(right).max(initial=0)))
        return value.shape == right.shape and bool(np.allclose(value, right, rtol=1e-5, atol=tolerance))


@subject("sentence-transformers folder", anything=True)
class SentenceFolder:
    """Its configuration and its weights: whatever stands there, no code but ours runs, and vectors or one line come."""

    @staticmethod
    def write(folder):
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace

        tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "w1": 1, "w2": 2}, unk_token="[UNK]"))  # no password
        tokenizer.pre_tokenizer = Whitespace()
        stage = StaticEmbedding(tokenizer, embedding_weights=VECTORS[:3])
        SentenceTransformer(modules=[stage, Normalize()], prompts={"query": "w1 ", "document": ""}).save(str(folder))

    @staticmethod
    def read(folder):
        from offsphere.encode import load_encoder

        rows = load_encoder(str(folder)).encode(["w1 w2", "w2", ""], "query")
        assert len(rows) == 3
        return rows
