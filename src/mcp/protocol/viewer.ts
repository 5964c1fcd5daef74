import { readFile } from 'node:fs/promises';
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';
import { VIEWER_TYPE, VIEWER_URI } from '../contract/apps.ts';

let page: Promise<string> | undefined;

/** The page that shows a task. Its policy allows it to load nothing, because it gets files through its host. */
export async function readViewer(): Promise<ReadResourceResult> {
  page ??= readFile(`${ROOT_FOLDER}dist/viewer/index.html`, 'utf8').catch((error: unknown) => {
    page = undefined; // read again next time
    throw error;
  });
  const text = await page;
  const policy = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
  const _meta = { ui: { csp: policy, prefersBorder: true } };
  return { contents: [{ uri: VIEWER_URI, mimeType: VIEWER_TYPE, text, _meta }] };
}
