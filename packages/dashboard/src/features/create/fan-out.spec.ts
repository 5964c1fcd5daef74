import { fanOf, targetsOf } from './fan-out.ts';

const model = (id: string, resolutions: string[], kind = 'IMAGE') => ({
  id,
  kind,
  available: true,
  parameters: {
    properties: {
      prompt: { type: 'string', maxLength: 32_000 },
      resolution: { type: 'string', enum: resolutions, default: resolutions[0] },
    },
  },
});
const large = model('large', ['1K', '4K']);
const small = model('small', ['1K']);
const film = model('film', ['720p'], 'VIDEO');
const models = [large, small, film];

describe('one request to several models', () => {
  it('goes only to available models of the kind, and at most eight times', () => {
    const draft = { model: 'large', values: {}, also: ['film', 'small', 'gone', 'large'], repeat: 99 };
    expect(fanOf(draft, models, large)).toEqual({ also: ['small'], repeat: 8 });
    expect(fanOf({ model: 'large', values: {}, repeat: 0 }, models, large)).toEqual({ also: [], repeat: 1 });
  });

  it('asks each model for what it has, and says what it has not', () => {
    const values = { prompt: 'A kite', resolution: '4K' };
    expect(targetsOf(models, large, values, { also: ['small'], repeat: 2 })).toEqual([
      { model: 'large', request: { model: 'large', prompt: 'A kite', resolution: '4K' }, notes: [] },
      {
        model: 'small',
        request: { model: 'small', prompt: 'A kite' },
        notes: ['Resolution 4K → 1K: small has no 4K'],
      },
    ]);
  });
});
