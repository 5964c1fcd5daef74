/** Pixels by ratio. Each row has a size for each resolution, in the order of the table's heading. */
type Rows = Record<string, string>;

const GPT_IMAGE: Rows = {
  auto: '1024x1024 2048x2048 2880x2880', // the square, because there is no reference image
  '1:1': '1024x1024 2048x2048 2880x2880',
  '5:4': '1280x1024 1920x1536 3200x2560',
  '4:5': '1024x1280 1536x1920 2560x3200',
  '4:3': '1280x960 2048x1536 3264x2448',
  '3:4': '960x1280 1536x2048 2448x3264',
  '3:2': '1536x1024 2016x1344 3504x2336',
  '2:3': '1024x1536 1344x2016 2336x3504',
  '16:9': '1536x864 2048x1152 3840x2160',
  '9:16': '864x1536 1152x2048 2160x3840',
  '21:9': '1568x672 2688x1152 3808x1632',
};

const NANO_BANANA: Rows = {
  auto: '2048x2048 4096x4096',
  '1:1': '2048x2048 4096x4096',
  '4:3': '2400x1792 4800x3584',
  '3:4': '1792x2400 3584x4800',
  '3:2': '2528x1696 5056x3392',
  '2:3': '1696x2528 3392x5056',
  '16:9': '2752x1536 5504x3072',
  '9:16': '1536x2752 3072x5504',
  '21:9': '3168x1344 6336x2688',
};

const VIDEO: Rows = {
  '1:1': '960x960 1440x1440 3840x3840',
  '4:3': '1112x834 1664x1248 3840x2880',
  '3:4': '834x1112 1248x1664 2880x3840',
  '16:9': '1280x720 1920x1080 3840x2160',
  '9:16': '720x1280 1080x1920 2160x3840',
  '21:9': '1470x630 2206x946 3840x1646',
};

/**
 * The sizes that the API promises for each model, ratio and resolution: `"gpt-image-2 3:2 1K": "1536x1024"`. They are
 * literals, because a test that uses the product's own table cannot find an error in that table.
 */
export const PROMISED_SIZES: Readonly<Record<string, string>> = {
  ...table('gpt-image-2', ['1K', '2K', '4K'], GPT_IMAGE),
  ...table('nano-banana-2', ['2K', '4K'], NANO_BANANA),
  ...table('nano-banana-pro', ['2K', '4K'], NANO_BANANA),
  ...table('sora-2', ['720P', '1080P', '4K'], VIDEO),
  ...table('seedance-2', ['720p', '1080p'], VIDEO),
};

function table(model: string, resolutions: string[], rows: Rows): Record<string, string> {
  const cells = Object.entries(rows).flatMap(([ratio, row]) =>
    resolutions.map((resolution, at) => [`${model} ${ratio} ${resolution}`, row.split(' ')[at] as string] as const),
  );
  return Object.fromEntries(cells);
}
