import type { OutputFile } from '../../tasks/read/task-files.ts';
import { sharePage } from './share-page.ts';
import type { SharedFile } from './shared-files.ts';

const picture = (prompt: unknown, model = 'ink'): SharedFile => ({
  kind: 'image',
  content: { contentType: 'image/png' } as SharedFile['content'],
  width: 3000,
  height: 2000,
  output: {
    task: { model, input: { prompt } },
    output: { type: 'image', width: 3000, height: 2000 },
  } as unknown as OutputFile,
});
const upload: SharedFile = { ...picture(null), output: null };
const page = (files: (SharedFile | null)[], showPrompt = true) =>
  sharePage({ url: 'https://darkroom.example/s/t', token: 't', files, showPrompt, expiresAt: new Date(0) });

describe('the page of a share', () => {
  it('shows a prompt that all files have once', () => {
    expect(page([picture('a lamp'), picture('a lamp')]).match(/class="prompt"/g)).toHaveLength(1);
    expect(page([picture('a lamp'), picture('a boat')]).match(/class="prompt"/g)).toHaveLength(2);
    expect(page([picture('a lamp'), upload]).match(/class="prompt"/g)).toHaveLength(1);
  });

  it('shows no prompt unless asked', () => {
    expect(page([picture('a lamp'), picture('a boat')], false)).not.toMatch(/a lamp|a boat/);
  });

  it.each(['<b>', '"quoted"', "it's", '&lt;', '</title>', '</style><script>'])('escapes %s everywhere', (text) => {
    const html = page([picture(`qx${text}`, `qm${text}`)]);
    expect(html).not.toContain(`qx${text}`);
    expect(html).not.toContain(`qm${text}`);
    expect(html).not.toContain('<script');
  });

  it('shortens a long prompt for chats, and breaks no character', () => {
    const [, description] = /og:description" content="([^"]*)"/.exec(page([picture('🦊'.repeat(400))]))!;
    expect(description).toBe(`${'🦊'.repeat(299)}…`);
  });

  it('says what is deleted, and counts what is there', () => {
    const html = page([null, upload, picture('x')]);
    expect(html).toContain('<h1>2 pictures</h1>');
    expect(html.match(/This file is deleted/g)).toHaveLength(1);
    expect(html).toContain('src="t/1"');
    expect(html).toContain('content="https://darkroom.example/s/t/1"');
  });
});
