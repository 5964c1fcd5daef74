import sharp from 'sharp';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { catalog } from '../../src/models/catalog.ts';
import type { OutputBody } from '../support/clients/api.ts';
import { joinService, startOwnService, type TestService } from '../support/service.ts';
import { PROMISED_SIZES } from '../support/promised-sizes.ts';

/** All shapes take minutes, mostly for the 4K videos; without this variable each model renders one. */
const LONG = process.env.DARKROOM_TEST_LONG === '1';

interface Shape {
  model: string;
  kind: 'image' | 'video';
  /** The shortest film, in seconds. */
  duration: number;
  aspect_ratio: string;
  resolution: string;
}

const every: Shape[] = catalog.models.flatMap(({ id, kind, parameters }) => {
  const allowed = (name: string) => (parameters.properties[name]?.enum ?? []) as string[];
  const duration = parameters.properties.duration?.minimum ?? 0;
  return allowed('resolution').flatMap((resolution) =>
    allowed('aspect_ratio').map((aspect_ratio) => ({ model: id, kind, duration, aspect_ratio, resolution })),
  );
});

const nameOf = ({ model, aspect_ratio, resolution }: Shape) => `${model} ${aspect_ratio} ${resolution}`;

/** The short form: each model once, at its first ratio and smallest resolution. */
const first = every.filter((shape, at) => every.findIndex(({ model }) => model === shape.model) === at);

describe('every model at every ratio and resolution', () => {
  let service: TestService;
  beforeAll(async () => {
    service = LONG ? await startOwnService({ TASK_DEADLINE_VIDEO_S: '600' }) : await joinService();
  });
  afterAll(() => service.close());

  it('has a promised size for each, and promises no other', () => {
    expect(every.map(nameOf).sort()).toEqual(Object.keys(PROMISED_SIZES).sort());
  });

  it.each((LONG ? every : first).map((shape) => [nameOf(shape), shape] as const))(
    '%s has exactly the promised size, count and duration',
    async (name, { kind, duration, ...shape }) => {
      const asked = {
        ...shape,
        prompt: 'A harbour in the morning',
        ...(kind === 'image' ? { n: 2 } : { duration }),
      };
      const { body } = await service.api.create(asked);
      const task = await service.api.untilFinalWithin(body.task_id, 300_000);
      expect(task).toMatchObject({ status: 'succeeded', progress: 100 });
      const outputs = task.result?.outputs as OutputBody[];
      expect(outputs).toHaveLength(kind === 'image' ? 2 : 1);

      const [width, height] = PROMISED_SIZES[name]!.split('x').map(Number);
      const promised = { width, height };
      for (const output of outputs) {
        const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
        expect(bytes.length).toBe(output.size_bytes);
        expect({ width: output.width, height: output.height }).toEqual(promised);
        if (kind === 'image') {
          const { info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
          expect({ width: info.width, height: info.height }).toEqual(promised);
        } else {
          expect(output.duration).toBe(duration);
          expect(await film(bytes)).toEqual({ ...promised, codec: 'avc', frames: 24 * duration, seconds: duration });
        }
      }
    },
    330_000,
  );
});

async function film(bytes: Buffer) {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('There is no video track.');
  const { packetCount } = await track.computePacketStats();
  return {
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    codec: await track.getCodec(),
    frames: packetCount,
    seconds: await input.computeDuration(),
  };
}
