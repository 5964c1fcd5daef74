import { sizeTable, type SizeTable } from '../definition/sizes.ts';

/**
 * Pixels of the video models. 720p and 1080p are the sizes of Ark's Seedance 2.0. In 4K the longest side is 3840. All
 * sides are even, as H.264 4:2:0 requires.
 * @param resolutions how the model spells 720p, 1080p and 4K; fewer when it ends below 4K
 */
export const videoSizes = (...resolutions: string[]): SizeTable =>
  sizeTable(resolutions, {
    '16:9': ['1280x720', '1920x1080', '3840x2160'],
    '4:3': ['1112x834', '1664x1248', '3840x2880'],
    '1:1': ['960x960', '1440x1440', '3840x3840'],
    '3:4': ['834x1112', '1248x1664', '2880x3840'],
    '9:16': ['720x1280', '1080x1920', '2160x3840'],
    '21:9': ['1470x630', '2206x946', '3840x1646'],
  });
