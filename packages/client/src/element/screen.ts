import type { FailedTask, SucceededTask, Task } from '../types.gen.ts';
import type { TaskLabels } from './labels.ts';
import { make } from './make.ts';
import { outputsOf } from './outputs.ts';
import { sharedSheet } from './sheet.ts';

export interface Shown {
  labels: TaskLabels;
  /** The text alternative of the outputs; null: the prompt is their text alternative. */
  alt: string | null;
  /** Reads the task again, because its outputs then have new links. */
  reread: () => Promise<Task>;
}

/** What `<darkroom-task>` draws in its shadow root. */
export class Screen {
  private readonly progress = make('progress', 'progress', { max: 100 });
  private readonly status = make('span', 'status');
  private readonly percent = make('span', 'percent');
  private readonly waiting = make('div', 'frame');
  private readonly content = make('div', 'content');
  /**
   * Screen readers speak this text when the status changes, but not when only the percentage changes. The text is empty
   * after a failure, because screen readers then speak the alert of the failure.
   */
  private readonly announcement = make('p', 'announcement', { role: 'status' });

  constructor(root: ShadowRoot) {
    root.adoptedStyleSheets = [sharedSheet()];
    const text = make('p', 'text');
    text.append(this.status, ' ', this.percent);
    this.waiting.append(this.progress, text);
    this.content.append(this.waiting);
    root.append(this.content, this.announcement);
  }

  /** Shows the element as it is before the first state is known. */
  clear({ labels }: Shown): void {
    this.showProgress(labels.queued, null);
    this.announcement.textContent = '';
  }

  show(task: Task, shown: Shown): void {
    const { labels } = shown;
    if (task.status === 'succeeded') this.replace(this.result(task, shown));
    else if (task.status === 'failed') this.replace(failure(task, labels));
    else {
      this.showProgress(labels[task.status], task.status === 'running' ? task.progress : null);
      this.keepPlace(task);
    }
    this.announce(task.status === 'failed' ? '' : labels[task.status]);
  }

  showUnreadable({ labels }: Shown, again: () => void): void {
    const frame = make('div', 'frame');
    const button = make('button', 'again', { type: 'button', textContent: labels.again });
    button.addEventListener('click', again);
    frame.append(make('p', 'failure', { role: 'alert', textContent: labels.unreadable }), button);
    this.replace(frame);
    this.announce('');
  }

  private showProgress(status: string, percent: number | null): void {
    if (!this.waiting.isConnected) this.replace(this.waiting);
    this.progress.ariaLabel = status;
    this.status.textContent = status;
    this.percent.textContent = percent === null ? '' : `${percent} %`;
    if (percent === null) this.progress.removeAttribute('value');
    else this.progress.value = percent;
  }

  /**
   * Gives the frame the aspect ratio of the request, so that the page does not jump when the output replaces the frame.
   * With several outputs, or without a ratio, the frame keeps its own shape.
   */
  private keepPlace({ input }: Task): void {
    const [, width, height] = /^([0-9]{1,4}):([0-9]{1,4})$/.exec(String(input['aspect_ratio'])) ?? [];
    const isOne = (input['n'] ?? 1) === 1;
    this.waiting.style.aspectRatio = isOne && width !== undefined ? `${width} / ${height}` : '';
  }

  private result(task: SucceededTask, { alt, labels, reread }: Shown): HTMLElement {
    const { prompt } = task.input;
    const texts = { alt: alt ?? (typeof prompt === 'string' ? prompt : ''), expired: labels.expired };
    return outputsOf(task, texts, async (index) => {
      const next = await reread();
      return next.status === 'succeeded' ? (next.result.outputs[index]?.url ?? null) : null;
    });
  }

  private replace(element: HTMLElement): void {
    this.content.replaceChildren(element);
  }

  private announce(text: string): void {
    if (this.announcement.textContent !== text) this.announcement.textContent = text;
  }
}

function failure({ error }: FailedTask, labels: TaskLabels): HTMLElement {
  const frame = make('div', 'frame');
  const text = make('div', 'failure', { role: 'alert' });
  text.append(
    make('p', 'message', { textContent: labels.failed }),
    make('p', 'code', { textContent: `${labels.code} ${error.code}` }),
  );
  frame.append(text);
  return frame;
}
