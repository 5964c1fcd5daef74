import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../../errors/api-error.ts';
import { convertImage } from '../../generation/images/convert-image.ts';
import { conversionOf } from '../../generation/images/image-conversions.ts';
import { normaliseMask } from '../../generation/images/mask.ts';
import { probe } from '../../generation/images/probe.ts';
import { parseGeneration } from '../../generation/accept/parse-generation.ts';
import { catalog } from '../../models/catalog.ts';
import { textOf } from '../../models/declaration/fault.ts';
import { imageUrlsOf } from '../../models/definition/parameters.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadModelSettings } from '../../platform/config/config.ts';
import { modelsPath, openModelFolder, today } from '../../providers/bindings/load-models.ts';
import { prepareRequest } from '../../providers/contract/prepare-request.ts';
import { type InputImage, ProviderError, type ProviderRequest } from '../../providers/contract/provider.ts';
import { runAlone } from '../../providers/contract/run-alone.ts';
import { SandboxProvider } from '../../providers/sandbox/sandbox.provider.ts';

/** A request to a model, and the expected result. */
export interface ModelTest {
  model: string;
  name: string;
  input: Record<string, unknown>;
  expect: Readonly<Record<string, unknown>>;
}

/** The result of a request: files of one size, or an error code. */
export interface Made {
  outputs?: number;
  width?: number;
  height?: number;
  duration?: number;
  content_type?: string;
  error?: string;
}

const USUAL: Omit<ModelTest, 'model'> = { name: 'a prompt', input: { prompt: 'A red bicycle' }, expect: {} };

/**
 * Loads the folder of models, see `modelsPath`, and returns the tests of its models. A model that declares no test gets
 * one test with only a prompt.
 * @param ids none: every model of the folder
 * @throws Error for a fault, and for an unknown id
 */
export async function testsOf(ids: readonly string[]): Promise<ModelTest[]> {
  const settings = loadModelSettings();
  const path = modelsPath(settings);
  const { models, faults } = path
    ? await openModelFolder(path, settings, today).read()
    : { models: [] as Model[], faults: [] };
  if (faults.length > 0) throw new Error(faults.map(textOf).join('\n'));
  catalog.declare(models);
  const wanted = ids.length === 0 ? models : ids.map(named);
  return wanted.flatMap(({ id, document }) => {
    const { tests = [] } = document.declaration as { tests?: Partial<ModelTest>[] };
    const own = tests.map((test, at) => ({ ...USUAL, name: `tests[${at}]`, ...test }));
    return (own.length > 0 ? own : [USUAL]).map((test) => ({ ...test, model: id }));
  });
}

function named(id: string): Model {
  const model = catalog.find(id);
  if (model) return model;
  throw new Error(`There is no model ${id}.`);
}

/** @returns the reasons why the test fails; empty when it passes */
export function reasons({ expect }: ModelTest, made: Made): string[] {
  const wanted: Readonly<Record<string, unknown>> = 'error' in expect ? expect : { ...expect, error: undefined };
  return Object.entries(wanted)
    .filter(([name, value]) => made[name as keyof Made] !== value)
    .map(([name, value]) =>
      value === undefined
        ? `${name} ${made[name as keyof Made]}`
        : `${name} ${made[name as keyof Made] ?? 'none'}, not ${value}`,
    );
}

/** Runs requests in the sandbox: without a service, and at no cost. Close it afterwards. */
export class SandboxTests {
  private readonly sandbox = new SandboxProvider();

  close(): Promise<void> {
    return this.sandbox.onModuleDestroy();
  }

  async make(test: ModelTest): Promise<Made> {
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-model-test-'));
    try {
      return await this.makeIn(folder, test);
    } catch (error) {
      if (error instanceof ApiError || error instanceof ProviderError) return { error: error.code };
      throw error;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  private async makeIn(folder: string, test: ModelTest): Promise<Made> {
    const caller = { models: [[test.model]] }; // permits also a model with `access: listed`
    const { model, input } = parseGeneration({ ...test.input, model: test.model }, caller, () => undefined);
    const images = await imagesOf(model, input as unknown as Record<string, unknown>, folder);
    const request: ProviderRequest = {
      taskId: 'task_test',
      model: model.id,
      kind: model.kind,
      input,
      images,
      upstream: { model: model.id, baseUrl: '', apiKey: null, durationPolicy: 'exact', pollIntervalMs: null },
    };
    const outputs = await prepareRequest(this.sandbox, request).generate(runAlone(folder));
    const { wanted } = conversionOf({ api_key_id: '', input: input as unknown as Record<string, unknown> });
    const files = await Promise.all(outputs.map((output) => (wanted ? convertImage(output, wanted) : output)));
    const [first] = await Promise.all(files.map(probe));
    const { width, height, duration, contentType } = first!;
    return { outputs: outputs.length, width, height, ...(duration && { duration }), content_type: contentType };
  }
}

async function imagesOf(
  model: Model,
  input: Record<string, unknown>,
  folder: string,
): Promise<ProviderRequest['images']> {
  const fields = imageUrlsOf(model, input);
  const images = await Promise.all(fields.map(({ url, param }, at) => imageFrom(url, param, join(folder, `in-${at}`))));
  const only = (name: string) => images[fields.findIndex(({ param }) => param === name)] ?? null;
  const single = ['first_frame_image_url', 'last_frame_image_url', 'mask'];
  const references = images.filter((_, at) => !single.includes(fields[at]!.param));
  const mask = only('mask');
  return {
    references,
    firstFrame: only('first_frame_image_url'),
    lastFrame: only('last_frame_image_url'),
    mask: mask && references[0] ? await normaliseMask(mask, references[0], folder) : null,
  };
}

async function imageFrom(url: string, param: string, path: string): Promise<InputImage> {
  if (!/^data:/i.test(url)) throw new Error(`${param} must be a data: URL where nothing is fetched; see --pay.`);
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  await writeFile(path, bytes);
  try {
    const { default: sharp } = await import('sharp');
    const { format, width, height } = await sharp(path).metadata();
    const contentType = `image/${format}` as InputImage['contentType'];
    return { path, size: bytes.length, contentType, width, height };
  } catch (cause) {
    throw new ProviderError('reference_image_invalid', { param, cause });
  }
}
