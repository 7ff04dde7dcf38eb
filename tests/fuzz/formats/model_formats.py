"""Models in folders, and recipes to train them."""

from __future__ import annotations

import numpy as np

from tests.fuzz.subject import VECTORS, subject


@subject("recipe, TOML", anything=True)
class RecipeToml:
    @staticmethod
    def write(folder):
        (folder / "recipe.toml").write_text('recipe = "simcse"\ntemperature = 0.05\nbatch = 16\nnormalize = "query"\n')

    @staticmethod
    def read(folder):
        from offsphere.learning.encoders.recipe_file import recipe_from

        return recipe_from(file=folder / "recipe.toml")


@subject("recipe, YAML", anything=True)
class RecipeYaml:
    @staticmethod
    def write(folder):
        (folder / "recipe.yaml").write_text("temperature: 0.05\nbatch: 16\nnormalize: [1, 0.5]\n# é\n")

    @staticmethod
    def read(folder):
        from offsphere.learning.encoders.recipe_file import recipe_from

        return recipe_from(file=folder / "recipe.yaml")


@subject("model2vec folder", anything=True)
class Model2Vec:
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

        rows = load_model2vec(folder, "fuzzed").encode(["w1 w2 w11", "w3", "", "unknown words"], "document")
        assert rows.shape[0] == 4
        return rows


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
