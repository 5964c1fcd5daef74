import { Lamp } from '../../parts/lamp.tsx';
import { Button } from '../../parts/button.tsx';
import styles from './create.module.css';

const EXAMPLES = [
  'A lighthouse at dusk, oil on canvas, heavy clouds breaking over the sea',
  'Product photo of a ceramic teapot on linen, soft window light, 85 mm',
  'Isometric map of a small harbour town, flat colours, clean lines',
];

/** Before the first run: three prompts to begin with. */
export function Examples({ onChoose }: { onChoose(prompt: string): void }) {
  return (
    <div className={styles.start}>
      <Lamp lit={false} size={40} />
      <h2>Describe a picture or a film</h2>
      <p>What you make appears here, live. Begin with one of these:</p>
      <div className={styles.examples}>
        {EXAMPLES.map((prompt) => (
          <Button key={prompt} onClick={() => onChoose(prompt)}>
            {prompt}
          </Button>
        ))}
      </div>
    </div>
  );
}
