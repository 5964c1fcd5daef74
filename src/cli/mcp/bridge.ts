import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { BadImage, IMAGE_ARGUMENTS, type LocalImages } from './local-images.ts';
import { INVALID_REQUEST, isMessage, isRequest, PARSE_ERROR, rpcError, type RpcMessage, toolFailure } from './rpc.ts';
import type { RpcClient } from './rpc-client.ts';
import type { SavedOutputs } from './saved-outputs.ts';

interface Parts {
  client: RpcClient;
  images: LocalImages;
  /** null: outputs are not saved. */
  outputs: SavedOutputs | null;
}

/**
 * Passes the messages of one MCP client between stdio and a service. The tools are those of the service. The bridge
 * adds what needs this machine: paths in image arguments, and outputs saved as files.
 */
export class Bridge {
  private readonly open = new Map<RpcMessage['id'], AbortController>();

  constructor(
    private readonly parts: Parts,
    private readonly output: Writable,
  ) {}

  /** Runs until the client closes its end of the input. Then aborts the requests in flight. */
  async run(input: Readable): Promise<void> {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (line.trim() !== '') this.take(line);
    }
    for (const controller of this.open.values()) controller.abort();
  }

  private take(line: string): void {
    let given: unknown;
    try {
      given = JSON.parse(line);
    } catch {
      this.write(rpcError(null, 'The line is not JSON.', undefined, PARSE_ERROR));
      return;
    }
    for (const message of [given].flat()) {
      if (isMessage(message)) void this.pass(message);
      else this.write(rpcError(null, 'The line is no message of JSON-RPC.', undefined, INVALID_REQUEST));
    }
  }

  private async pass(message: RpcMessage): Promise<void> {
    if (message.method === 'notifications/cancelled') {
      // Over HTTP, closing the stream cancels a request, so the notification itself is not passed on.
      this.open.get(message.params?.requestId as RpcMessage['id'])?.abort();
      return;
    }
    const controller = new AbortController();
    if (isRequest(message)) this.open.set(message.id, controller);
    try {
      const sent = message.method === 'tools/call' ? await this.withUploads(message) : message;
      for await (const answer of this.parts.client.send(sent, controller.signal)) {
        const shown = await this.finished(message, answer);
        if (!controller.signal.aborted) this.write(shown);
      }
    } catch (error) {
      if (error instanceof BadImage) {
        const { param, message: text } = error;
        this.write(toolFailure(message.id, { code: 'invalid_value', param, message: text }));
      } else this.write(rpcError(message.id, (error as Error).message));
    } finally {
      if (this.open.get(message.id) === controller) this.open.delete(message.id);
    }
  }

  private async withUploads(message: RpcMessage): Promise<RpcMessage> {
    const given = message.params?.arguments;
    if (typeof given !== 'object' || given === null) return message;
    const replaced = await this.parts.images.replaceIn(given as Record<string, unknown>);
    return { ...message, params: { ...message.params, arguments: replaced } };
  }

  private async finished({ method }: RpcMessage, answer: RpcMessage): Promise<RpcMessage> {
    const { result } = answer;
    if (result === undefined) return answer;
    if (method === 'tools/list') return { ...answer, result: withPaths(result) };
    const { outputs, client } = this.parts;
    if (method === 'tools/call') {
      const saved = outputs === null ? result : await outputs.saveIn(result);
      return { ...answer, result: client.knowsLinks ? saved : withTexts(saved) };
    }
    if (outputs === null) return answer;
    const inner = method === 'tasks/get' ? result.result : undefined;
    if (typeof inner !== 'object' || inner === null) return answer;
    return { ...answer, result: { ...result, result: await outputs.saveIn(inner as Record<string, unknown>) } };
  }

  private write(message: RpcMessage): void {
    this.output.write(`${JSON.stringify(message)}\n`);
  }
}

/** Turns links into texts, for a client whose revision has no links. */
function withTexts(result: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(result.content)) return result;
  const content = (result.content as { type: string; name?: string; uri?: string }[]).map((block) =>
    block.type === 'resource_link' ? { type: 'text', text: `${block.name}: ${block.uri}` } : block,
  );
  return { ...result, content };
}

interface Argument {
  description?: string;
  items?: Argument;
}

/** Tells the agent that images may be files of this machine. */
function withPaths(result: Record<string, unknown>): Record<string, unknown> {
  const tools = result.tools as { inputSchema: { properties: Record<string, Argument> } }[];
  for (const { inputSchema } of tools) {
    for (const name of IMAGE_ARGUMENTS) {
      const argument = inputSchema.properties[name];
      if (argument) argument.description = `${argument.description} Also the path of an image on this machine.`;
    }
  }
  return result;
}
