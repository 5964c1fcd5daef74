import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import styles from './control.module.css';
import { IconButton } from './icon-button.tsx';
import { TextInput } from './text-input.tsx';

export function SecretInput(props: ComponentProps<'input'>) {
  const [shown, setShown] = useState(false);
  return (
    <div className={styles.secret}>
      <TextInput {...props} type={shown ? 'text' : 'password'} spellCheck={false} />
      <IconButton label={shown ? 'Hide' : 'Show'} aria-pressed={shown} onClick={() => setShown(!shown)}>
        {shown ? <EyeOff /> : <Eye />}
      </IconButton>
    </div>
  );
}
