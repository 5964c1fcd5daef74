/** Code of receivers that verify an event before they use it. The code reads the secret from the environment. */
export const VERIFY_SNIPPETS = {
  TypeScript: `// npm install standardwebhooks
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.DARKROOM_WEBHOOK_SECRET);

createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(400).end();
    return;
  }
  response.writeHead(204).end();
  console.log(event.type, event.data.task_id);
}).listen(4000);
`,
  Python: `# pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["DARKROOM_WEBHOOK_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = webhook.verify(body, headers)
        except WebhookVerificationError:
            self.send_response(400)
        else:
            self.send_response(204)
            print(event["type"], event["data"].get("task_id"), flush=True)
        self.end_headers()


HTTPServer(("", 4000), Receiver).serve_forever()
`,
} as const;

export type VerifyLanguage = keyof typeof VERIFY_SNIPPETS;
