"""
Runs OpenAI's Python client, unchanged, against a service with the sandbox.

    pip install openai
    python scripts/check-openai-python.py http://127.0.0.1:3000 dr_…

Prints one line for each check. Without the package it says that it checks nothing, and succeeds.
"""

import base64
import sys
import warnings

try:
    import openai
except ImportError:
    print("skipped: the package openai is not installed (pip install openai)")
    sys.exit(0)

# The package warns that OpenAI will end its videos.
warnings.simplefilter("ignore", DeprecationWarning)

url, key = sys.argv[1:3]
client = openai.OpenAI(base_url=f"{url}/v1", api_key=key)
failed = 0


def check(name, passed):
    global failed
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    failed += not passed


def throws(name, kind, call, **expected):
    """Checks that the call raises the typed error with these properties."""
    try:
        call()
    except openai.APIError as error:
        found = {field: getattr(error, field) for field in expected}
        passed = type(error) is kind and found == expected
        check(f"{name}: {kind.__name__}" + ("" if passed else f", not {type(error).__name__} {found}"), passed)
    else:
        check(f"{name}: {kind.__name__}, not an answer", False)


def is_png(picture):
    return base64.b64decode(picture.b64_json).startswith(b"\x89PNG")


images = client.images
made = images.generate(model="gpt-image-2", prompt="A lighthouse", size="1024x1024")
check("images.generate", is_png(made.data[0]) and made.size == "1024x1024")
png = base64.b64decode(made.data[0].b64_json)
two = images.generate(prompt="A lighthouse", n=2, quality="low", output_format="webp", output_compression=80)
check("images.generate of two as WebP", [base64.b64decode(d.b64_json)[8:12] for d in two.data] == [b"WEBP"] * 2)
check("images.generate as links", images.generate(prompt="A hut", response_format="url").data[0].url.startswith(url))
check("images.edit with 1 file", is_png(images.edit(image=("a.png", png), prompt="Make it blue").data[0]))
files = [(f"{at}.png", png) for at in range(16)]
check("images.edit with 16 files", is_png(images.edit(image=files, prompt="Make it blue").data[0]))

types = [e.type for e in images.generate(prompt="A harbour", stream=True, partial_images=2)]
check(
    "images.generate as a stream with partial images",
    types == ["image_generation.partial_image"] * 2 + ["image_generation.completed"],
)
types = [e.type for e in images.edit(image=("a.png", png), prompt="Blue", stream=True, partial_images=1)]
check("images.edit as a stream", types == ["image_edit.partial_image", "image_edit.completed"])

fails = "x #fail:provider_rejected"
bad, missing = openai.BadRequestError, openai.NotFoundError
throws("a wrong size", bad, lambda: images.generate(prompt="x", size="100x1000"), param="size", code="invalid_value")
throws("17 files", bad, lambda: images.edit(image=files + files[:1], prompt="x"), status_code=400)
throws("a transparent background", bad, lambda: images.generate(prompt="x", background="transparent"), param="background")
throws("another model", bad, lambda: images.generate(prompt="x", model="gpt-image-1.5"), code="model_not_found")
throws("a refused picture", bad, lambda: images.generate(prompt=fails), code="provider_rejected")
throws("an error in a stream", openai.APIError, lambda: list(images.generate(prompt=fails, stream=True)), code="provider_rejected")
throws("an unknown video", missing, lambda: client.videos.retrieve("task_" + "0" * 26), code="task_not_found")
stranger = openai.OpenAI(base_url=f"{url}/v1", api_key="dr_wrong")
throws("a wrong key", openai.AuthenticationError, lambda: stranger.images.generate(prompt="x"), status_code=401)

videos = client.videos
film = videos.create_and_poll(model="sora-2", prompt="A boat", seconds="1", size="1280x720")
check("videos.create_and_poll", film.status == "completed" and film.progress == 100)
check("videos.download_content", videos.download_content(film.id).read()[4:8] == b"ftyp")
thumbnail = videos.download_content(film.id, variant="thumbnail").read()
check("videos.download_content of the thumbnail", thumbnail[8:12] == b"WEBP")
check("videos.list", videos.list(limit=1).data[0].id == film.id)
from_picture = videos.create(prompt="It moves #hang", input_reference=("a.png", png), seconds="1")
check("videos.create with input_reference", from_picture.status == "queued")
throws(
    "the content of an unfinished video",
    openai.ConflictError,
    lambda: videos.download_content(from_picture.id),
    code="result_not_ready",
)
remix = videos.remix(film.id, prompt="A boat at night #hang")
check("videos.remix", remix.remixed_from_video_id == film.id)
for one in (from_picture, remix, film):
    check("videos.delete", videos.delete(one.id).deleted)
throws("a deleted video", missing, lambda: videos.retrieve(film.id), code="task_not_found")

print(f"{failed} failed, with openai {openai.__version__}")
sys.exit(failed > 0)
