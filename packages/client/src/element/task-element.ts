import { follow } from '../follow.ts';
import { Transport } from '../http/transport.ts';
import type { Task } from '../types.gen.ts';
import { ENGLISH, type TaskLabels } from './labels.ts';
import { Screen, type Shown } from './screen.ts';

export type { TaskLabels } from './labels.ts';

/** How many seconds the service may wait for the end of the task before it answers a read. */
const READ_WAIT_S = 5;
const READ_TIMEOUT_MS = 20_000;

const isFinal = ({ status }: Task): boolean => status === 'succeeded' || status === 'failed';

/** A server that renders pages has no `HTMLElement`. The module still loads on it, but then defines no element. */
const Base = (globalThis.HTMLElement ?? Object) as typeof HTMLElement;

/**
 * `<darkroom-task src="/pictures/task_…">`: the progress of a task, then its images or videos, or its failure.
 *
 * The page's own server answers `src` like `GET /v1/tasks/{task_id}`, and `src` + `/events` like the stream of events
 * of a task. That server checks the rights of the visitor, and forwards both requests with its API key, because no page
 * may hold the key.
 *
 * Attributes: `src`; `alt`, what the output shows, by default the prompt; `poll`, without a value, if the server has no
 * stream of events. The element itself sets `status`. Events: `darkroom-change` at each state (`detail` is the task),
 * `darkroom-end` at the final one, `darkroom-error` if the task cannot be read. Parts:
 * `::part(frame|progress|status|percent|outputs|output|image|video|failure|message|code|again|expired)`. Properties:
 * `--darkroom-accent`, `--darkroom-surface`, `--darkroom-danger`, `--darkroom-radius`, `--darkroom-gap`.
 */
export class DarkroomTask extends Base {
  static readonly observedAttributes: readonly string[] = ['src', 'alt', 'poll'];

  /** The newest state that was read; null before the first read. */
  task: Task | null = null;
  /** Whether following the task has ended with an error. */
  private isUnreadable = false;
  private screen: Screen | null = null;
  private reading: AbortController | null = null;
  private givenFetch: typeof fetch | undefined;
  private givenLabels: Partial<TaskLabels> = {};

  get src(): string {
    return this.getAttribute('src') ?? '';
  }
  set src(url: string) {
    this.setAttribute('src', url);
  }

  /** A function that the element calls instead of the global `fetch`, for instance to add the visitor's token. */
  get fetch(): typeof fetch | undefined {
    return this.givenFetch;
  }
  set fetch(given: typeof fetch | undefined) {
    this.givenFetch = given;
    this.restart();
  }

  /** Texts for pages in another language. A text that is left out stays English. */
  get labels(): Partial<TaskLabels> {
    return this.givenLabels;
  }
  set labels(given: Partial<TaskLabels>) {
    this.givenLabels = given;
    this.redraw();
  }

  connectedCallback(): void {
    this.screen ??= new Screen(this.attachShadow({ mode: 'open' }));
    this.restart();
  }

  disconnectedCallback(): void {
    this.reading?.abort();
  }

  attributeChangedCallback(name: string): void {
    if (name === 'alt') this.redraw();
    else this.restart();
  }

  private restart(): void {
    this.reading?.abort();
    if (!this.isConnected || !this.screen) return;
    this.task = null;
    this.isUnreadable = false;
    this.removeAttribute('status');
    this.screen.clear(this.shown());
    if (this.src === '') return;
    const reading = new AbortController();
    this.reading = reading;
    void this.read(reading.signal);
  }

  private async read(signal: AbortSignal): Promise<void> {
    try {
      const { transport, path, query, events } = this.source();
      const read = (given: AbortSignal | undefined, waits: boolean) =>
        transport.json<Task>('GET', path, {
          query: { ...query, ...(waits && { wait: READ_WAIT_S }) },
          timeoutMs: READ_TIMEOUT_MS,
          signal: given,
        });
      for await (const task of follow<Task>(transport, { id: path, events, isFinal, read }, signal)) {
        if (signal.aborted) return;
        this.accept(task);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.isUnreadable = true;
      this.redraw();
      this.dispatch('darkroom-error', error);
    }
  }

  private accept(task: Task): void {
    this.task = task;
    this.setAttribute('status', task.status);
    this.screen?.show(task, this.shown());
    this.dispatch('darkroom-change', task);
    if (isFinal(task)) this.dispatch('darkroom-end', task);
  }

  private redraw(): void {
    if (this.isUnreadable) this.screen?.showUnreadable(this.shown(), () => this.restart());
    else if (this.task) this.screen?.show(this.task, this.shown());
    else this.screen?.clear(this.shown());
  }

  private shown(): Shown {
    const labels = { ...ENGLISH, ...this.givenLabels };
    return { labels, alt: this.getAttribute('alt'), reread: () => this.reread() };
  }

  private reread(): Promise<Task> {
    const { transport, path, query } = this.source();
    return transport.json<Task>('GET', path, { query });
  }

  /** Every request carries the query of `src`, which may contain a token. */
  private source() {
    const { origin, pathname, search, searchParams } = new URL(this.src, document.baseURI);
    const transport = new Transport({ baseUrl: origin, ...(this.givenFetch && { fetch: this.givenFetch }) });
    const events = this.hasAttribute('poll') ? null : `${pathname}/events${search}`;
    return { transport, path: pathname, query: Object.fromEntries(searchParams), events };
  }

  private dispatch(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'darkroom-task': DarkroomTask;
  }
  interface HTMLElementEventMap {
    'darkroom-change': CustomEvent<Task>;
    'darkroom-end': CustomEvent<Task>;
    'darkroom-error': CustomEvent<unknown>;
  }
}

if (globalThis.customElements && !customElements.get('darkroom-task'))
  customElements.define('darkroom-task', DarkroomTask);
