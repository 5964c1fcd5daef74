import { Code } from 'lucide-react';
import { MOD } from '../../keys/shortcuts.ts';
import { Button } from '../../parts/button.tsx';
import type { Model } from './create.documents.ts';
import styles from './create.module.css';
import type { Target } from './fan-out.ts';
import { useCost } from './use-cost.ts';

interface Props {
  models: readonly Model[];
  targets: readonly Target[];
  repeat: number;
  mayCreate: boolean;
  /** On a phone the code of the request is behind a button. */
  onCode(): void;
}

/** The button that sends, with what it sends and costs. */
export function SubmitBar({ models, targets, repeat, mayCreate, onCode }: Props) {
  const cost = useCost(models, targets, repeat);
  const count = targets.length * repeat;
  return (
    <div className={styles.submit}>
      <div className={styles.submitRow}>
        <Button type="submit" variant="primary" disabled={!mayCreate}>
          {count > 1 ? `Generate ${count} tasks` : 'Generate'} <kbd>{MOD}Enter</kbd>
        </Button>
        <Button className={styles.codeButton} onClick={onCode}>
          <Code aria-hidden /> Code
        </Button>
        {cost && <span className={styles.cost}>{cost.text}</span>}
      </div>
      {cost && !cost.withinBudget && (
        <span className={styles.cost}>The budget of this key has no room for it now.</span>
      )}
      {!mayCreate && <span className={styles.cost}>This key lacks the scope generations:write.</span>}
    </div>
  );
}
