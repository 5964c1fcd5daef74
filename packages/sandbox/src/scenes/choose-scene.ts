import type { Random } from '../random.ts';
import { mentioned } from '../words.ts';
import { city } from './city.ts';
import { horizon } from './horizon.ts';
import { orbits } from './orbits.ts';
import { petals } from './petals.ts';
import { ribbons } from './ribbons.ts';
import type { Scene } from './scene.ts';
import { tiles } from './tiles.ts';
import { waves } from './waves.ts';

const SCENES: Scene[] = [horizon, orbits, waves, city, petals, ribbons, tiles];

/** The first scene that the prompt mentions, or a random one. */
export function chooseScene(text: string, random: Random): Scene {
  const fallback = random.pick(SCENES);
  return mentioned(text, SCENES)[0] ?? fallback;
}
