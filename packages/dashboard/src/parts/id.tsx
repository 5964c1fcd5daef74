import { shortId } from '../format/id.ts';
import { CopyButton } from './copy-button.tsx';

/** A shortened id with a button that copies the whole id. */
export function Id({ id }: { id: string }) {
  return (
    <span className="mono" title={id}>
      {shortId(id)}
      <CopyButton text={id} label="Copy id" small />
    </span>
  );
}
