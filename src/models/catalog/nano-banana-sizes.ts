import { sizeTable } from '../definition/sizes.ts';

/** What Gemini's image models make of `imageSize` and `aspectRatio`. */
export const NANO_BANANA_SIZES = sizeTable(['2K', '4K'], {
  '1:1': ['2048x2048', '4096x4096'],
  '2:3': ['1696x2528', '3392x5056'],
  '3:2': ['2528x1696', '5056x3392'],
  '3:4': ['1792x2400', '3584x4800'],
  '4:3': ['2400x1792', '4800x3584'],
  '9:16': ['1536x2752', '3072x5504'],
  '16:9': ['2752x1536', '5504x3072'],
  '21:9': ['3168x1344', '6336x2688'],
});
