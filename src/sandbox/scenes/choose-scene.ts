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

/** The kind of picture the prompt speaks of, else one by lot. */
export function chooseScene(text: string, random: Random): Scene {
  const lot = random.pick(SCENES);
  return mentioned(text, SCENES)[0] ?? lot;
}
