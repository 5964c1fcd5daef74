import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import styles from './copy-button.module.css';
import { cx } from './class-names.ts';
import { copyText } from './copy-text.ts';

interface Props {
  text: string | (() => string);
  label?: string;
  /** Whether the button is an icon in a line of text. */
  small?: boolean;
}

export function CopyButton({ text, label = 'Copy', small }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(typeof text === 'string' ? text : text()).then(() => setCopied(true));
  const icon = copied ? <Check aria-hidden /> : <Copy aria-hidden />;
  if (small) {
    return (
      <button
        type="button"
        className={cx(styles.small, copied && styles.done)}
        aria-label={copied ? 'Copied' : label}
        title={label}
        onClick={copy}
      >
        {icon}
      </button>
    );
  }
  return (
    <Button onClick={copy} aria-live="polite">
      {icon} {copied ? 'Copied' : label}
    </Button>
  );
}
