import { shortId } from '../format/id.ts';
import { CopyButton } from './copy-button.tsx';

/** An id cut in the middle, copied whole. */
export function Id({ id }: { id: string }) {
  return (
    <span className="mono" title={id}>
      {shortId(id)}
      <CopyButton text={id} label="Copy id" small />
    </span>
  );
}
