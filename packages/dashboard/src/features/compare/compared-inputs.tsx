/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- a table that CSS draws as cards loses its roles */
import { useState } from 'react';
import { plural } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Given } from '../../viewer/given.tsx';
import { type Chosen, inputsOf, outputId } from './chosen.ts';
import styles from './compare.module.css';

interface Props {
  chosen: readonly Chosen[];
  /** The input of each task, in the order of `chosen`. */
  inputs: readonly Record<string, unknown>[];
}

/** The inputs of the compared tasks, a column for each output. Equal inputs are hidden until somebody asks for them. */
export function ComparedInputs({ chosen, inputs }: Props) {
  const [withEqual, setWithEqual] = useState(false);
  const rows = inputsOf(inputs);
  const equal = rows.filter(({ differs }) => !differs).length;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <div className={styles.inputs} role="region" aria-label="Inputs" tabIndex={0}>
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              Input
            </th>
            {chosen.map((each, at) => (
              <th key={outputId(each)} scope="col" role="columnheader">
                {at + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows
            .filter(({ differs }) => differs || withEqual)
            .map(({ name, differs }) => (
              <tr key={name} role="row" data-differs={differs}>
                <th scope="row" role="rowheader" className="mono">
                  {name}
                  {differs && <span className={styles.mark}>differs</span>}
                </th>
                {inputs.map((input, at) => (
                  <td key={at} role="cell" data-output={at + 1}>
                    <Given value={input[name]} />
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      {equal > 0 && (
        <Button variant="quiet" aria-expanded={withEqual} onClick={() => setWithEqual(!withEqual)}>
          {withEqual ? 'Hide equal inputs' : `Show ${plural(equal, 'equal input')}`}
        </Button>
      )}
    </div>
  );
}
