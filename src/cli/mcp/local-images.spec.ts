import { jest } from '@jest/globals';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defaultFolders, ImageFolders } from './image-folders.ts';
import { LocalImages } from './local-images.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const SECRET = '-----BEGIN OPENSSH PRIVATE KEY-----';

describe('images of this machine', () => {
  let root: string;
  let open: string;
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'darkroom-images-')));
    open = join(root, 'open');
    mkdirSync(join(open, 'deep'), { recursive: true });
    mkdirSync(join(root, 'open-not'));
    writeFileSync(join(root, 'id_ed25519'), SECRET);
    writeFileSync(join(root, 'private.png'), PNG);
    writeFileSync(join(root, 'open-not/in.png'), PNG);
    writeFileSync(join(open, 'in.png'), PNG);
    writeFileSync(join(open, 'deep/in.png'), PNG);
    writeFileSync(join(open, '..in.png'), PNG);
    writeFileSync(join(open, 'notes.png'), SECRET);
    writeFileSync(join(open, 'empty.png'), '');
    writeFileSync(join(open, 'large.png'), Buffer.concat([PNG, Buffer.alloc(20_000_000)]));
    symlinkSync(join(root, 'id_ed25519'), join(open, 'cat.png'));
    symlinkSync(join(root, 'private.png'), join(open, 'out.png'));
    symlinkSync(root, join(open, 'up'));
    symlinkSync(join(open, 'in.png'), join(open, 'inside.png'));
    symlinkSync(open, join(root, 'alias'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const upload = jest.fn(async (_bytes: unknown, _options: unknown) => ({ id: 'file_1' }));
  beforeEach(() => upload.mockClear());
  const replace = (image: string, folders = [open]) =>
    new LocalImages({ upload } as never, new ImageFolders(folders)).replaceIn({ reference_images: [image] });

  it.each(['in.png', 'deep/in.png', 'deep/../in.png', '..in.png', 'inside.png'])('are uploaded: %s', async (name) => {
    expect(await replace(join(open, name))).toEqual({ reference_images: ['file_1'] });
    expect(upload).toHaveBeenCalledWith(PNG, { filename: name.split('/').at(-1) });
  });

  it('may be named by a URL, and below a folder that is a link', async () => {
    const url = pathToFileURL(join(open, 'in.png')).href;
    expect(await replace(url)).toEqual({ reference_images: ['file_1'] });
    for (const folder of [join(root, 'alias'), open]) {
      expect(await replace(join(folder, 'in.png'), [join(root, 'alias')])).toEqual({ reference_images: ['file_1'] });
    }
  });

  it('get one answer, whether they are not there, not allowed or no image, and no byte leaves', async () => {
    const names = [
      join(root, 'id_ed25519'),
      join(root, 'private.png'),
      join(root, 'absent.png'),
      join(root, 'open-not/in.png'),
      ...['../private.png', 'absent.png', 'cat.png', 'out.png', 'up/private.png', 'notes.png', 'empty.png', 'deep'].map(
        (name) => join(open, name),
      ),
      `${open}/../private.png`,
      'file://host/share/in.png',
      'file:%00',
      '/dev/null',
      '/dev',
    ];
    for (const name of names) {
      await expect(replace(name)).rejects.toMatchObject({
        param: 'reference_images[0]',
        message: `reference_images[0]: It must be the path of a JPEG, PNG or WebP file below ${open}, an https link or the id of a file.`,
      });
    }
    expect(upload).not.toHaveBeenCalled();
  });

  it('are refused above 20 MB, with the number in the message', async () => {
    await expect(replace(join(open, 'large.png'))).rejects.toThrow('more than 20000000 bytes');
    expect(upload).not.toHaveBeenCalled();
  });

  it('are none without a folder', async () => {
    await expect(replace(join(open, 'in.png'), [])).rejects.toThrow('was started without --images <folder>');
  });

  it('are by default below the working folder, but not below one with the home folder in it', () => {
    const home = join(root, 'home');
    expect(defaultFolders(join(home, 'work'), home)).toEqual([join(home, 'work')]);
    for (const wide of [home, root, dirname(root), '/']) expect(defaultFolders(wide, home)).toEqual([]);
  });
});
