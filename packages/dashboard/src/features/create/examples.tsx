import { Clapperboard } from 'lucide-react';
import { useRef } from 'react';
import { IMAGE_TYPES } from '../../api/upload.ts';
import { Lamp } from '../../parts/lamp.tsx';
import { Button } from '../../parts/button.tsx';
import styles from './create.module.css';

const EXAMPLES = [
  'A lighthouse at dusk, oil on canvas, heavy clouds breaking over the sea',
  'Product photo of a ceramic teapot on linen, soft window light, 85 mm',
  'Isometric map of a small harbour town, flat colours, clean lines',
];

interface Props {
  onChoose(prompt: string): void;
  /** Uploads the user's picture to make a film of it; null: no model can do that, or the key may not create tasks. */
  onPicture: ((file: File) => void) | null;
}

/** Shown before the first run: prompts to begin with, and a button that makes a film of a picture. */
export function Examples({ onChoose, onPicture }: Props) {
  const input = useRef<HTMLInputElement>(null);
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
        {onPicture && (
          <>
            <input
              ref={input}
              hidden
              type="file"
              accept={IMAGE_TYPES.join(',')}
              onChange={({ target }) => {
                [...(target.files ?? [])].forEach(onPicture);
                target.value = ''; // so that the same file can be chosen again
              }}
            />
            <Button onClick={() => input.current?.click()}>
              <Clapperboard aria-hidden /> Make a film of a picture of yours
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
