import { useQuery } from '../../live/use-query.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Given } from '../../viewer/given.tsx';
import { type Detail, ModelParameters } from './task.documents.ts';
import styles from './task.module.css';

interface Parameters {
  properties?: Record<string, { default?: unknown; description?: string; const?: unknown }>;
}

/** Every parameter of the model: the given values, and in grey the defaults. */
export function TaskInputTab({ detail }: { detail: Detail }) {
  const { data } = useQuery(ModelParameters, { id: detail.model });
  const given = detail.input as Record<string, unknown>;
  const fields = (data?.model.parameters as Parameters | undefined)?.properties ?? {};
  const names = [...new Set([...Object.keys(given), ...Object.keys(fields)])].filter(
    (name) => fields[name]?.const === undefined && name !== 'metadata' && name !== 'parent_task_id',
  );
  return (
    <>
      <p className={styles.caption}>
        <span>The request, with the defaults of {detail.model} in grey</span>
        <CopyButton text={JSON.stringify({ model: detail.model, ...given }, null, 2)} label="Copy JSON" />
      </p>
      <dl className={styles.inputs}>
        {names.map((name) => {
          const isGiven = name in given;
          const value = isGiven ? given[name] : fields[name]?.default;
          return (
            <div key={name} data-default={!isGiven}>
              <dt className="mono">{name}</dt>
              <dd>
                <Given value={value} />
              </dd>
              {!isGiven && value !== undefined && <span className="visually-hidden">the default</span>}
            </div>
          );
        })}
        {Object.entries(detail.metadata as Record<string, string>).map(([name, value]) => (
          <div key={`metadata.${name}`}>
            <dt className="mono">metadata.{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
