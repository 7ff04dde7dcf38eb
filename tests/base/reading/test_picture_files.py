"""Pictures of every kind become red, green and blue; what cannot be read is told in one line that names it."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Pillow

from offsphere.base.errors import DataError
from offsphere.base.reading.picture_files import check_whole, picture_of_pixels, read_picture, read_picture_header


def encoded(picture, kind="PNG", **options):
    stream = BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


@pytest.fixture
def photo():
    """Noise does not compress, so that a file of it can be cut anywhere."""
    return Pillow.fromarray(np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8))


def test_a_plain_picture_is_what_transformers_reads(photo, tmp_path):
    load_image = pytest.importorskip("transformers.image_utils").load_image
    path = tmp_path / "photo.jpg"
    photo.save(path)
    np.testing.assert_array_equal(read_picture(path, "photo"), load_image(str(path)))


def test_a_photo_is_turned_as_its_camera_was_held(photo):
    exif = Pillow.Exif()
    exif[0x0112] = 6  # Orientation: turn by 90 degrees clockwise to show (EXIF 2.3, table 4)
    turned = read_picture(encoded(photo, exif=exif), "photo")
    np.testing.assert_array_equal(turned, photo.transpose(Pillow.Transpose.ROTATE_270))


def test_sixteen_bits_become_eight_without_being_cut_off():
    deep = np.linspace(0, 65535, 256, dtype=np.uint16).reshape(16, 16)
    file = encoded(Pillow.fromarray(deep))
    assert read_picture_header(file, "deep").converted == ("16-bit",)
    read = np.asarray(read_picture(file, "deep"))
    assert read.shape == (16, 16, 3)
    np.testing.assert_allclose(read[:, :, 0], deep / 257, atol=1)


def test_what_is_clear_becomes_white_and_what_is_half_clear_half_white():
    file = encoded(Pillow.fromarray(np.array([[[200, 0, 0, 255], [200, 0, 0, 0], [0, 0, 0, 128]]], np.uint8)))
    assert read_picture_header(file, "clear").converted == ("transparent",)
    np.testing.assert_array_equal(read_picture(file, "clear"), [[[200, 0, 0], [255, 255, 255], [127, 127, 127]]])


def test_a_palette_with_a_clear_colour_is_laid_on_white():
    palette = Pillow.new("P", (2, 1))
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.putpixel((1, 0), 1)
    file = encoded(palette, transparency=1)
    assert [read_picture(file, "palette").getpixel((x, 0)) for x in (0, 1)] == [(255, 0, 0), (255, 255, 255)]


def test_printed_colours_become_those_of_a_screen():
    file = encoded(Pillow.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG")
    assert read_picture_header(file, "print").converted == ("CMYK",)
    red, green, blue = read_picture(file, "print").getpixel((4, 4))
    assert red > 240
    assert max(green, blue) < 15


def test_the_first_frame_of_an_animation_is_taken():
    frames = [Pillow.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    file = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert "animated" in read_picture_header(file, "film").converted
    assert read_picture(file, "film").getpixel((0, 0)) == (255, 0, 0)


def test_one_pixel_is_a_picture():
    assert read_picture(encoded(Pillow.new("L", (1, 1), 7)), "dot").getpixel((0, 0)) == (7, 7, 7)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_truncated_picture_is_named(photo, kind, tmp_path):
    path = tmp_path / "half.img"
    file = encoded(photo, kind)
    path.write_bytes(file[: len(file) // 2])
    for read in (read_picture, check_whole):
        with pytest.raises(DataError, match=r"half\.img .*--ignore-broken"):
            read(path, str(path))


def test_what_is_no_picture_is_named_and_no_other_program_is_asked():
    for content in (b"", b"hello", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"):
        with pytest.raises(DataError, match=r"note\.txt is no picture that can be read"):
            read_picture(content, "note.txt")


def test_a_picture_that_would_fill_the_memory_is_refused_at_the_limit_of_pillow(monkeypatch):
    monkeypatch.setattr(Pillow, "MAX_IMAGE_PIXELS", 1_000)
    assert read_picture(encoded(Pillow.new("L", (40, 25))), "large").size == (40, 25)
    for size in ((40, 26), (100, 100)):
        with pytest.raises(DataError, match=r"bomb\.png is refused: it claims more than 1,000 pixels"):
            read_picture_header(encoded(Pillow.new("L", size)), "bomb.png")


def test_pixels_that_are_fractions_are_refused():
    file = encoded(Pillow.fromarray(np.ones((2, 2), np.float32)), "TIFF")
    with pytest.raises(DataError, match="fractions, whose scale nobody knows"):
        read_picture(file, "film.tif")


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((2, 2), np.float32), "pixels are of float32, expected uint8"),
        (np.zeros((2, 2, 2), np.uint8), r"an array of shape \(2, 2, 2\) is no picture"),
        (np.zeros(4, np.uint8), "is no picture"),
        (np.zeros((0, 2), np.uint8), "is no picture"),
    ],
)
def test_an_array_that_is_no_picture_is_refused(pixels, message):
    with pytest.raises(DataError, match=f"row 3: .*{message}|row 3: {message}"):
        picture_of_pixels(pixels, "row 3")


@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 1), (3, 2, 3), (3, 2, 4)])
def test_arrays_of_all_usual_shapes_are_pictures(shape):
    assert np.asarray(picture_of_pixels(np.full(shape, 255, np.uint8), "array")).tolist() == [[[255] * 3] * 2] * 3
