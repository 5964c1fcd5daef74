import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { InputImage, ProviderError, ProviderRequest, Run } from '../../../src/providers/contract/provider.ts';
import { TEST_FOLDER } from '../test-context.ts';

/** A run that records the calls of a provider and stores nothing. */
export class RecordedRun implements Run {
  readonly scratchDir = mkdtempSync(join(tmpdir(), 'darkroom-spec-'));
  /** The calls `submitting` and `submitted <id>`, in order. */
  readonly calls: string[] = [];
  readonly percents: number[] = [];
  /** Tokens of each report: input and output. */
  readonly reportedTokens: [number, number][] = [];
  requestId: string | null = null;
  partialImages = 0;
  readonly partials: Buffer[] = [];
  sentSeeds: number[] | null = null;
  private readonly controller = new AbortController();

  constructor(
    readonly upstreamId: string | null = null,
    readonly submittedBefore = false,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  progress(percent: number): void {
    this.percents.push(percent);
  }

  tokens({ input, output }: { input: number; output: number }): void {
    this.reportedTokens.push([input, output]);
  }

  partialImage(image: Buffer): void {
    this.partials.push(image);
  }

  /** How often a paid call has checked that the run still holds its task. */
  checks = 0;

  async assertHeld(): Promise<void> {
    this.checks += 1;
  }

  async submitting(): Promise<void> {
    this.calls.push('submitting');
  }

  async callingAgain(): Promise<void> {
    this.calls.push('calling again');
  }

  fewer(made: number, unknown: number): void {
    this.calls.push(`fewer: ${made}, ${unknown} unknown`);
  }

  seeds(ofOutputs: readonly number[]): void {
    this.sentSeeds = [...ofOutputs];
  }

  async submitted(upstreamId: string, requestId: string | null = null): Promise<void> {
    this.calls.push(`submitted ${upstreamId}`);
    this.requestId = requestId;
  }

  /** How often `resubmitting` may be called. */
  attemptsLeft = 1;

  async resubmitting(): Promise<boolean> {
    this.calls.push('resubmitting');
    return this.attemptsLeft-- > 0;
  }

  /** The images for which an upstream was given a link. */
  readonly linked: InputImage[] = [];

  async linkTo(image: InputImage): Promise<string> {
    return `https://darkroom.example/image-${this.linked.push(image)}`;
  }

  async releaseImages(): Promise<void> {}

  polling<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }

  stop(reason: unknown): void {
    this.controller.abort(reason);
  }

  close(): void {
    rmSync(this.scratchDir, { recursive: true, force: true });
  }
}

/** A reference picture as the service passes it to a provider: already fetched and checked. */
export async function inputImage(
  width: number,
  height: number,
  format: 'png' | 'jpeg' | 'webp' = 'png',
): Promise<InputImage> {
  const canvas = sharp({ create: { width, height, channels: 3, background: '#3366aa' } });
  return imageFile(await canvas.toFormat(format).toBuffer(), { contentType: `image/${format}`, width, height });
}

let folder: string | undefined;

/** A reference picture with any bytes. */
export function imageFile(bytes: Buffer, facts: Omit<InputImage, 'path' | 'size'>): InputImage {
  folder ??= mkdtempSync(join(process.env[TEST_FOLDER] ?? tmpdir(), 'images-'));
  const path = join(folder, randomUUID());
  writeFileSync(path, bytes);
  return { path, size: bytes.length, ...facts };
}

type Changes = Partial<Omit<ProviderRequest, 'input' | 'upstream'>> & {
  input?: Partial<ProviderRequest['input']>;
  upstream?: Partial<ProviderRequest['upstream']>;
};

export function requestFor(base: ProviderRequest, { input, upstream, ...rest }: Changes = {}): ProviderRequest {
  return { ...base, ...rest, input: { ...base.input, ...input }, upstream: { ...base.upstream, ...upstream } };
}

/** The error of a generation. @throws if the generation succeeds */
export async function failureOf(generation: Promise<unknown>): Promise<ProviderError> {
  const made = await generation.then(
    () => 'made' as const,
    (error: unknown) => error as ProviderError,
  );
  if (made === 'made') throw new Error('The generation succeeded; it should have failed.');
  return made;
}
