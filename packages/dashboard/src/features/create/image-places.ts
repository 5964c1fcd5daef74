import { type Control, controlsOf, imagesOf, isImage, type ModelSchema, roomOf, type Values } from './schema-rules.ts';

/**
 * Puts each image into the field `name` if that field has room. Otherwise the image goes into the first field with room
 * that takes a picture on its own (the field of a mask does not). If all these fields are full, the image replaces the
 * image of the first one, but only if that field is for a single image. An image that is already in one of the fields
 * is skipped.
 * @param unseen images that the user has not seen in the form yet. They and `images` are not replaced
 * @returns the values, and how many images found no field
 */
export function withImages(
  schema: ModelSchema,
  values: Values,
  images: readonly string[],
  { name, unseen }: { name: string | null; unseen: readonly string[] },
): { values: Values; left: number } {
  let next = values;
  let left = 0;
  const kept = new Set([...unseen, ...images]);
  for (const image of images) {
    const places = placesOf(schema, next, name);
    if (places.some((place) => imagesOf(next[place.name]).includes(image))) continue;
    const place = places.find((each) => imagesOf(next[each.name]).length < roomOf(each)) ?? places[0];
    const here = place ? imagesOf(next[place.name]) : [];
    const isReplaceable = place?.kind === 'image' && !here.some((each) => kept.has(each));
    if (!place || (here.length >= roomOf(place) && !isReplaceable)) left++;
    else next = { ...next, [place.name]: place.kind === 'image' ? image : [...here, image] };
  }
  return { values: next, left };
}

/** The field `name`, then all other fields that take a picture on its own and that the other values do not disable. */
function placesOf(schema: ModelSchema, values: Values, name: string | null): Control[] {
  const isOpen = ({ kind, disabled }: Control) => isImage(kind) && disabled === null;
  const alone = new Set(
    controlsOf(schema, withoutImages(schema, values))
      .filter(isOpen)
      .map((each) => each.name),
  );
  const controls = controlsOf(schema, values);
  const named = controls.filter((each) => each.name === name && isImage(each.kind));
  return [...named, ...controls.filter((each) => isOpen(each) && alone.has(each.name) && each.name !== name)];
}

/** The first field of a model that takes a picture on its own (the field of a mask does not); null: there is none. */
export function imagePlaceOf(schema: ModelSchema, values: Values = {}): Control | null {
  const places = controlsOf(schema, withoutImages(schema, values));
  return places.find(({ kind, disabled }) => isImage(kind) && disabled === null) ?? null;
}

function withoutImages(schema: ModelSchema, values: Values): Values {
  const names = new Set(controlsOf(schema, values).flatMap(({ kind, name }) => (isImage(kind) ? [name] : [])));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}
