import { App, applyDocumentTheme, applyHostFonts, applyHostStyleVariables } from '@modelcontextprotocol/ext-apps';
import { page, showActs, showOutputs, showPrompt, showState, showTask, showVary, showWorking } from './page.ts';
import { type Answer, answerOf, call, findUnfinished, readFile } from './server.ts';
import { isFinal, type Task } from './task.ts';
import './viewer.css';

const POLL_MS = 1_000;
/**
 * The pause between searches for the task. A search calls `list_tasks` up to two times, and each call counts towards
 * the API key's limit of reads.
 */
const SEARCH_MS = 3_000;
/** How far the clocks of the page and of the service may differ. */
const CLOCKS_S = 60;

const app = new App({ name: 'darkroom-viewer', version: '1.0.0' }, {});
const openedS = Date.now() / 1000;
/** Rises with each call and each result that the page shows. Answers requested before the last rise are dropped. */
let turn = 0;
let shown: Task | null = null;

const pause = (ms = POLL_MS) => new Promise((resolve) => setTimeout(resolve, ms));
const mayCall = () => app.getHostCapabilities()?.serverTools !== undefined;
const mayOpen = () => app.getHostCapabilities()?.openLinks !== undefined;

/**
 * The host passes on the arguments of a call before the call is answered. Until the answer comes, the page looks for
 * the task of the call among the unfinished tasks.
 */
app.ontoolinput = async ({ arguments: given = {} }) => {
  const mine = ++turn;
  const { prompt, task_id: id } = given as { prompt?: string; task_id?: string };
  showWorking();
  showPrompt(prompt);
  const isNew = (task: Task) => task.created_at > openedS - CLOCKS_S;
  const matches = (task: Task) =>
    task.task_id === id || (isNew(task) && (id ? task.parent_task_id === id : task.input.prompt === prompt));
  const isShown = () => mine === turn;
  let found: Task | null = null;
  while (isShown() && mayCall()) {
    const look: Promise<Task | null> = found ? readTask(found.task_id) : findUnfinished(app, matches);
    found = (await look.catch(() => null)) ?? found;
    if (isShown() && found) showTask(found);
    await pause(found ? POLL_MS : SEARCH_MS);
  }
};

app.ontoolresult = (result) => void show(answerOf(result));
app.ontoolcancelled = () => {
  turn += 1;
  showState('The call was cancelled. Its task may go on.');
};
app.onhostcontextchanged = (context) => {
  if (context.theme) applyDocumentTheme(context.theme);
  if (context.styles?.variables) applyHostStyleVariables(context.styles.variables);
  if (context.styles?.css?.fonts) applyHostFonts(context.styles.css.fonts);
};

async function show({ task, previews, refusal }: Answer): Promise<void> {
  const mine = ++turn;
  if (!task) {
    showState(refusal ?? 'There is nothing to show.');
    if (shown) showActs({ call: mayCall(), open: false });
    return;
  }
  showPrompt(task.input.prompt);
  if (!isFinal(task)) {
    showWorking();
    await follow(task, mine);
    return;
  }
  shown = task;
  showTask(task);
  const outputs = (task.result?.outputs ?? []).filter(({ url }) => url !== null); // without a link there is no preview
  const replace = showOutputs(outputs, previews, task.input.prompt ?? '');
  showActs({ call: mayCall(), open: mayOpen() && outputs.some(({ url }) => url !== null) });
  for (const [at, output] of outputs.entries()) {
    const url = await readFile(app, output);
    if (mine !== turn) return;
    if (url) replace[at]!(url);
  }
}

const readTask = async (id: string): Promise<Task | null> =>
  (await call(app, 'get_task', { task_id: id, wait_s: 0, preview: 'none' })).task;

async function follow(first: Task, mine: number): Promise<void> {
  let task = first;
  showTask(task);
  while (mayCall() && !isFinal(task)) {
    await pause();
    if (mine !== turn) return;
    const answer = await call(app, 'get_task', { task_id: task.task_id, wait_s: 0, preview: 'none' }).catch(() => null);
    if (mine !== turn) return;
    if (answer?.refusal) {
      await show(answer);
      return;
    }
    task = answer?.task ?? task; // a failed poll: keep the state until the next poll
    showTask(task);
  }
  if (!isFinal(task)) return;
  const last = await call(app, 'get_task', { task_id: task.task_id, wait_s: 0 }).catch(() => null);
  if (mine !== turn) return;
  await show(last?.task ? last : { task, previews: [], refusal: null });
  await tell(task);
}

/** Tells the chat's model that a task has ended, because only the viewer has followed the task. */
async function tell({ task_id: id, status, input }: Task): Promise<void> {
  if (!app.getHostCapabilities()?.updateModelContext) return;
  const text = `The viewer shows the task ${id} (${status}), prompt: ${input.prompt ?? ''}`;
  await app.updateModelContext({ content: [{ type: 'text', text }] }).catch(() => undefined);
}

async function make(changes: { prompt?: string }): Promise<void> {
  if (!shown) return;
  const mine = ++turn;
  showWorking();
  const given = { task_id: shown.task_id, ...changes, wait_s: 0 };
  const answer = await call(app, 'retry_task', given).catch((error: unknown): Answer => {
    return { task: null, previews: [], refusal: error instanceof Error ? error.message : String(error) };
  });
  if (mine === turn) await show(answer);
}

page.again.addEventListener('click', () => void make({}));
/**
 * The first click shows the field for the prompt, the second sends the prompt. There is no form, because a host may
 * forbid its pages to submit one.
 */
page.change.addEventListener('click', () => {
  if (!page.vary.hidden) {
    const prompt = page.words.value.trim();
    if (prompt) void make({ prompt });
    return;
  }
  page.words.value = shown?.input.prompt ?? '';
  showVary(true);
  page.words.focus();
});
page.open.addEventListener('click', () => {
  const url = shown?.result?.outputs.find((output) => output.url !== null)?.url;
  if (url) void app.openLink({ url });
});

await app.connect();
const context = app.getHostContext();
if (context) app.onhostcontextchanged(context);
