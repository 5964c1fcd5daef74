import { isFinal, type Output, type Task } from './task.ts';

const byId = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

export const page = {
  again: byId<HTMLButtonElement>('again'),
  change: byId<HTMLButtonElement>('change'),
  open: byId<HTMLButtonElement>('open'),
  vary: byId('vary'),
  words: byId<HTMLTextAreaElement>('words'),
};
const stage = byId('stage');
const working = byId('working');
const bar = byId<HTMLProgressElement>('progress');
const acts = byId('acts');

export function showTask(task: Task): void {
  showState(stateOf(task));
  working.hidden = isFinal(task);
  if (task.status === 'running' && task.progress > 0) bar.value = task.progress;
}

/** Shows a text, and hides the progress indicator. */
export function showState(text: string): void {
  byId('state').textContent = text;
  working.hidden = true;
}

export function showWorking(): void {
  showState('Working.');
  working.hidden = false;
  bar.removeAttribute('value');
  stage.hidden = true;
  acts.hidden = true;
  showVary(false);
}

export function showVary(isShown: boolean): void {
  page.vary.hidden = !isShown;
  page.change.setAttribute('aria-expanded', String(isShown));
}

export function showPrompt(prompt: string | undefined): void {
  byId('prompt').textContent = prompt ?? '';
}

export function showActs(can: { call: boolean; open: boolean }): void {
  acts.hidden = !can.call && !can.open;
  page.again.hidden = !can.call;
  page.change.hidden = !can.call;
  page.open.hidden = !can.open;
}

function stateOf(task: Task): string {
  if (task.status === 'queued') return `Waiting to run, ${task.model}.`;
  if (task.status === 'running') return `Running, ${task.progress} %, ${task.model}.`;
  return task.status === 'succeeded' ? `Done, ${task.model}.` : (task.error?.message ?? 'The task failed.');
}

/** @returns for each output a function that takes the URL of the file and shows the file in place of the preview */
export function showOutputs(outputs: Output[], previews: string[], alt: string): ((url: string) => void)[] {
  const places = outputs.map((output, at) => {
    const place = document.createElement('figure');
    place.style.aspectRatio = `${output.width} / ${output.height}`;
    place.append(pictureOf(previews[at], alt));
    return place;
  });
  stage.replaceChildren(...places);
  stage.hidden = places.length === 0;
  return places.map(
    (place, at) => (url) =>
      place.replaceChildren(outputs[at]!.type === 'video' ? filmOf(url, alt) : pictureOf(url, alt)),
  );
}

function pictureOf(url: string | undefined, alt: string): HTMLElement {
  if (url === undefined) return document.createElement('span');
  return Object.assign(document.createElement('img'), { src: url, alt });
}

function filmOf(src: string, label: string): HTMLElement {
  const film = Object.assign(document.createElement('video'), { src, controls: true, loop: true, muted: true });
  film.playsInline = true;
  film.setAttribute('aria-label', label);
  return film;
}
