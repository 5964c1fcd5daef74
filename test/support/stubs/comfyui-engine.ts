import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';

interface Node {
  class_type: string;
  inputs: Record<string, unknown>;
}

export type Graph = Record<string, Node>;

export interface QueueItem {
  number: number;
  id: string;
  graph: Graph;
  clientId: string | undefined;
}

interface FileRef {
  filename: string;
  subfolder: string;
  type: string;
}

type Publish = (clientId: string | undefined, type: string, data: Record<string, unknown>) => void;

/** The part of ComfyUI that executes: one queue, one run at a time, node by node, with files and history. */
export class ComfyuiEngine {
  readonly files = new Map<string, Buffer>();
  readonly pending: QueueItem[] = [];
  running: QueueItem | null = null;
  history: Record<string, object> = {};
  /** Milliseconds for each node. */
  nodeMs = 5;
  /** How many steps a sampler takes. */
  steps = 4;
  /** While this is true, no sampler ends. */
  held = false;
  /** Whether the next run fails in its sampler. */
  failing = false;
  /** The files of the next results. */
  outputs: 'as asked' | 'none' | 'temp' | 'one less' = 'as asked';
  /** Whether every picture has 8x8 pixels, whatever the request says. */
  tiny = false;
  /** The file that a video node saves. */
  film: Buffer = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1');
  /** The runs that have ended, in order. */
  readonly ends: { id: string; how: 'success' | 'error' | 'interrupted' }[] = [];
  private interrupted = false;
  private made = 0;
  private closed = false;

  private readonly publish: Publish;

  constructor(publish: Publish) {
    this.publish = publish;
  }

  put(item: QueueItem): void {
    this.pending.push(item);
    void this.work();
  }

  /** Removes a run from the queue. @returns false if it is not in the queue */
  delete(id: string): boolean {
    const at = this.pending.findIndex((item) => item.id === id);
    if (at >= 0) this.pending.splice(at, 1);
    return at >= 0;
  }

  interrupt(): void {
    this.interrupted = true;
  }

  /** Drops everything, as a restart of the server does. */
  forget(): void {
    this.pending.length = 0;
    this.interrupted = true;
    this.history = {};
    this.running = null;
  }

  close(): void {
    this.closed = true;
    this.pending.length = 0;
    this.interrupted = true;
  }

  private async work(): Promise<void> {
    while (!this.running) {
      const item = this.pending.shift();
      if (!item) return;
      this.running = item;
      this.interrupted = false;
      await this.execute(item);
      if (this.running !== item && this.running !== null) return; // the server forgot the run, and another loop works
      this.running = null;
    }
  }

  private async execute(item: QueueItem): Promise<void> {
    const { id, graph, clientId } = item;
    const send = (type: string, data: Record<string, unknown>) => {
      if (this.running === item) this.publish(clientId, type, { ...data, prompt_id: id });
    };
    const messages: unknown[] = [];
    const record = (event: string, data: Record<string, unknown>) => {
      messages.push([event, { ...data, prompt_id: id }]);
      send(event, data);
    };
    const outputs: Record<string, unknown> = {};
    const nodes: Record<string, unknown> = {};
    record('execution_start', {});
    record('execution_cached', { nodes: [] });
    let how: 'success' | 'error' | 'interrupted' = 'success';
    for (const [node, { class_type: type, inputs }] of Object.entries(graph)) {
      send('executing', { node });
      const steps = /Sampler/.test(type) && type !== 'KSamplerSelect' ? this.steps : 1;
      for (let value = 1; value <= steps; value++) {
        await this.wait(this.nodeMs);
        if (this.isStopped(item)) break;
        if (steps === 1) continue;
        send('progress', { value, max: steps, node });
        nodes[node] = { value, max: steps, state: 'running', node_id: node, prompt_id: id };
        send('progress_state', { nodes: { ...nodes } });
      }
      if (steps > 1) await this.whileHeld(item);
      if (this.isStopped(item)) {
        record('execution_interrupted', { node_id: node, node_type: type, executed: [] });
        how = 'interrupted';
      } else if (this.failing && steps > 1) {
        this.failing = false;
        record('execution_error', {
          node_id: node,
          node_type: type,
          exception_type: 'torch.OutOfMemoryError',
          exception_message: 'Allocation on device 0 would exceed allowed memory.',
          traceback: ['…'],
        });
        how = 'error';
      }
      if (how !== 'success') break;
      nodes[node] = { value: 1, max: 1, state: 'finished', node_id: node, prompt_id: id };
      send('progress_state', { nodes: { ...nodes } });
      const output = await this.save(type, inputs, graph);
      if (output) {
        outputs[node] = output;
        send('executed', { node, output });
      }
    }
    if (how === 'success') record('execution_success', {});
    // ComfyUI writes the history a moment after the last message on the socket. "executing null" follows after that.
    await this.wait(3);
    if (this.running !== item || this.closed) return; // the server forgot the run
    const status = { status_str: how === 'success' ? 'success' : 'error', completed: how === 'success', messages };
    this.history[id] = { prompt: [item.number, id, graph, {}, []], outputs, status };
    this.ends.push({ id, how });
    this.running = null;
    send('executing', { node: null });
  }

  private async whileHeld(item: QueueItem): Promise<void> {
    while (this.held && !this.isStopped(item)) await this.wait(5);
  }

  private isStopped(item: QueueItem): boolean {
    return this.interrupted || this.running !== item;
  }

  private wait(ms: number): Promise<void> {
    return sleep(ms);
  }

  private async save(type: string, inputs: Record<string, unknown>, graph: Graph): Promise<object | null> {
    if (type === 'SaveVideo') {
      const images = this.outputs === 'none' ? [] : [this.keep('mp4', this.film)];
      return { images, animated: [true] };
    }
    if (type !== 'SaveImage') return null;
    const latent = Object.values(graph).find(({ class_type }) => /^Empty.*Latent/.test(class_type))?.inputs ?? {};
    const { width = 64, height = 64, batch_size: batch = 1 } = latent as Record<string, number>;
    const count = { 'as asked': batch, none: 0, temp: batch, 'one less': batch - 1 }[this.outputs];
    const images: FileRef[] = [];
    for (let i = 0; i < count; i++) {
      const shade = (this.made * 40) % 255;
      const background = { r: shade, g: 80, b: 120 };
      const size = this.tiny ? { width: 8, height: 8 } : { width, height };
      const png = await sharp({ create: { ...size, channels: 3, background } })
        .png({ compressionLevel: 1 })
        .toBuffer();
      images.push(this.keep('png', png, String(inputs.filename_prefix ?? 'ComfyUI')));
    }
    return { images };
  }

  private keep(extension: string, bytes: Buffer, prefix = 'video/ComfyUI'): FileRef {
    const at = prefix.lastIndexOf('/');
    this.made += 1;
    const filename = `${prefix.slice(at + 1)}_${String(this.made).padStart(5, '0')}_.${extension}`;
    const subfolder = at < 0 ? '' : prefix.slice(0, at);
    const type = this.outputs === 'temp' ? 'temp' : 'output';
    this.files.set(`${type}/${subfolder}/${filename}`, bytes);
    return { filename, subfolder, type };
  }
}
