/** The path of the screen that shows an id; null if the text is no id, or no screen shows it. */
export function targetOf(text: string): string | null {
  if (/^task_[0-9a-z]{26}$/.test(text)) return `/tasks/${text}`;
  const output = /^file_(?<task>[0-9a-z]{26})_(?<index>\d+)$/.exec(text)?.groups;
  if (output) return `/tasks/task_${output['task']}?output=${Number(output['index']) + 1}`;
  if (/^we_[0-9a-z]{26}$/.test(text)) return `/webhooks/${text}`;
  if (/^evt_[0-9a-z]{26}$/.test(text)) return `/webhooks/-/events/${text}`;
  if (/^key_[0-9a-z]{26}$/.test(text)) return `/keys/${text}`;
  return null;
}
