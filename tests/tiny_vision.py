"""Vision models of the sizes of toys, saved as the hub has the real ones: nothing has to be downloaded."""

from __future__ import annotations

import numpy as np
from PIL import Image as Pillow

SIDE = 32  # pixels


def pictures(count, seed=0):
    """Pictures of noise, of different sizes."""
    random = np.random.default_rng(seed)
    return [Pillow.fromarray(random.integers(0, 256, (*random.integers(20, 60, 2), 3), np.uint8)) for _ in range(count)]


def save_clip(folder, seed=0):
    """CLIP with a tokenizer of single letters, laid out as openai/clip-vit-base-patch32 is."""
    import torch
    from transformers import CLIPConfig, CLIPModel, CLIPProcessor, CLIPTokenizer
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    letters = [chr(number) for number in range(33, 127)]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": len(words) - 2, "eos_token_id": len(words) - 1}
    torch.manual_seed(seed)
    config = CLIPConfig(
        text_config=tower | ends | {"vocab_size": len(words), "max_position_embeddings": 32},
        vision_config=tower | {"image_size": SIDE, "patch_size": 8},
        projection_dim=16,
    )
    CLIPModel(config).save_pretrained(folder)
    tokenizer = CLIPTokenizer(vocab={word: number for number, word in enumerate(words)}, merges=[], model_max_length=32)
    images = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def save_siglip(folder):
    """SigLIP with a tokenizer of words, laid out as google/siglip2-base-patch16-224 is."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, SiglipConfig, SiglipModel, SiglipProcessor
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    words = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, "a": 2, "cat": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", model_max_length=16, model_input_names=["input_ids"]
    )
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = SiglipConfig(
        text_config=tower | {"vocab_size": 4, "max_position_embeddings": 16, "projection_size": 32},
        vision_config=tower | {"image_size": SIDE, "patch_size": 8},
    )
    SiglipModel(config).save_pretrained(folder)
    images = SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    SiglipProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def save_vit(folder):
    """A vision transformer, laid out as google/vit-base-patch16-224-in21k is."""
    import torch
    from transformers import ViTConfig, ViTModel
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    torch.manual_seed(0)
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ViTModel(ViTConfig(**tower, image_size=SIDE, patch_size=8)).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    return folder


def save_dino(folder):
    """DINOv2, laid out as facebook/dinov2-base is."""
    import torch
    from transformers import Dinov2Config, Dinov2Model
    from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil

    torch.manual_seed(0)
    config = Dinov2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=SIDE, patch_size=8)
    Dinov2Model(config).save_pretrained(folder)
    BitImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}).save_pretrained(
        folder
    )
    return folder


def save_resnet(folder):
    """A residual network, laid out as microsoft/resnet-18 is."""
    import torch
    from transformers import ResNetConfig, ResNetModel
    from transformers.models.convnext.image_processing_pil_convnext import ConvNextImageProcessorPil

    torch.manual_seed(0)
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    ResNetModel(config).save_pretrained(folder)
    ConvNextImageProcessorPil(size={"shortest_edge": SIDE}).save_pretrained(folder)
    return folder
