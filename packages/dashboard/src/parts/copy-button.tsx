import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import styles from './copy-button.module.css';
import { cx } from './class-names.ts';

interface Props {
  text: string | (() => string);
  label?: string;
  /** An icon in a line of text. */
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

/** The clipboard is refused to pages without https other than on localhost: then the old way. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  copyBySelection(text);
}

function copyBySelection(text: string): void {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
