import os

from darkroom_client import AuthenticatedClient
from darkroom_client.api.files import get_file
from darkroom_client.api.generations import create_generation
from darkroom_client.models import GptImage2Request, SucceededTask

client = AuthenticatedClient(base_url=os.environ["DARKROOM_URL"], token=os.environ["DARKROOM_API_KEY"])
request = GptImage2Request.from_dict({"model": "gpt-image-2", "prompt": "A lighthouse", "resolution": "1K"})
task = create_generation.sync(client=client, body=request, prefer="wait=30")
assert isinstance(task, SucceededTask), task
content = get_file.sync_detailed(client=client, id=task.result.outputs[0].id)
assert content.parsed.payload.read()[1:4] == b"PNG", content
print(content.headers["content-type"])
