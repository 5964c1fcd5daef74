import { jest } from '@jest/globals';
import { createCanvas } from '@napi-rs/canvas';
import { layOutFilmEdge } from './film-edge.ts';
import { frameOf } from './scenes/scene.ts';

it.each([
  ['A cat', ['DARKROOM · M · 1A · A CAT']],
  ['शाम, समुद्र', ['DARKROOM · M · 1A']],
])('writes of the title %s what the fonts can write', (title, written) => {
  const context = createCanvas(320, 180).getContext('2d');
  const write = jest.spyOn(context, 'fillText');
  layOutFilmEdge(frameOf(320, 180), { model: 'm', number: 1, title, measures: '' }).paint(context);
  expect(write.mock.calls.map(([text]) => text).filter(Boolean)).toEqual(written);
});
