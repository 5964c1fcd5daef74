import { jest } from '@jest/globals';
import { LocalImages } from './local-images.ts';

describe('images of this machine', () => {
  it.each(['/dev/null', '/dev'])('are files: %s is not read', async (path) => {
    const upload = jest.fn(async () => ({ id: 'file_1' }));
    const images = new LocalImages({ upload } as never);
    await expect(images.replaceIn({ reference_images: [path] })).rejects.toMatchObject({
      param: 'reference_images[0]',
    });
    expect(upload).not.toHaveBeenCalled();
  });
});
